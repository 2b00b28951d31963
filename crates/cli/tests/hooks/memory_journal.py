#!/usr/bin/env python3
"""MemorySaved and MemoryRecalled: a journal of what is remembered and what comes back."""
import json
import os
import sys

data = json.load(sys.stdin)
with open(os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "memory.jsonl"), "a") as file:
    file.write(json.dumps(data) + "\n")
