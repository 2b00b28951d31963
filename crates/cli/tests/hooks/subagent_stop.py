#!/usr/bin/env python3
"""SubagentStart and SubagentStop: keeps a record; an agent has to name its sources before it stops."""
import json
import os
import sys

data = json.load(sys.stdin)
with open(os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "agents.jsonl"), "a") as file:
    file.write(json.dumps(data) + "\n")
if data["hook_event_name"] == "SubagentStart":
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "SubagentStart",
        "additionalContext": "agents of this project name their sources",
    }}))
elif "source:" not in data["last_assistant_message"] and not data["stop_hook_active"]:
    print("name your sources", file=sys.stderr)
    sys.exit(2)
