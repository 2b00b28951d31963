#!/usr/bin/env python3
"""PostToolUse: what looks like an address does not reach the model."""
import json
import re
import sys

data = json.load(sys.stdin)
response = data["tool_response"]
text = response if isinstance(response, str) else json.dumps(response)
cleaned = re.sub(r"[\w.]+@[\w.]+", "[address]", text)
if cleaned != text:
    print(json.dumps({
        "hookSpecificOutput": {
            "hookEventName": "PostToolUse",
            "updatedToolOutput": cleaned,
            "additionalContext": "addresses were taken out of this result",
        }
    }))
