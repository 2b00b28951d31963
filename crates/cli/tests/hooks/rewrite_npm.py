#!/usr/bin/env python3
"""PreToolUse: this project uses another package manager. Changes the call's input."""
import json
import sys

data = json.load(sys.stdin)
tool_input = data["tool_input"]
command = tool_input.get("command", "")
if command.startswith("npm "):
    tool_input["command"] = "echo pnpm " + command[len("npm "):]
    print(json.dumps({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "permissionDecisionReason": "pnpm instead of npm",
            "updatedInput": tool_input,
        }
    }))
