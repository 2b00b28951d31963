#!/usr/bin/env python3
"""SessionStart: loads a style guide that is longer than anybody reads."""
import json
import sys

data = json.load(sys.stdin)
guide = "\n".join(f"rule {number}: be kind to readers" for number in range(2_000))
print(json.dumps({
    "hookSpecificOutput": {
        "hookEventName": "SessionStart",
        "additionalContext": f"source {data['source']}\n{guide}",
        "sessionTitle": "the house style",
        "initialUserMessage": "begin with the open issues",
    },
    "terminalSequence": "\x1b]0;title\x07",
    "suppressOutput": True,
}))
