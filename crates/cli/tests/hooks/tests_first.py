#!/usr/bin/env python3
"""Stop: the model goes on until the tests have run. Looks at stop_hook_active, so as not to loop for ever."""
import json
import os
import sys

data = json.load(sys.stdin)
log = os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "stops.jsonl")
with open(log, "a") as file:
    file.write(json.dumps(data) + "\n")
if data.get("stop_hook_active"):
    sys.exit(0)
print(json.dumps({"decision": "block", "reason": "run the tests before you stop"}))
