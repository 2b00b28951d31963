#!/usr/bin/env python3
"""PostToolBatch: after a round of calls, one check for all of them."""
import json
import os
import sys

data = json.load(sys.stdin)
with open(os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "batches.jsonl"), "a") as file:
    file.write(json.dumps(data) + "\n")
names = [call["tool_name"] for call in data["tool_calls"]]
if any("STOP" in str(call["tool_input"]) for call in data["tool_calls"]):
    print("this round goes too far", file=sys.stderr)
    sys.exit(2)
print(json.dumps({"hookSpecificOutput": {
    "hookEventName": "PostToolBatch",
    "additionalContext": "round of " + ", ".join(names),
}}))
