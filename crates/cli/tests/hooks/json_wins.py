#!/usr/bin/env python3
"""PreToolUse: prints its decision and then fails while it cleans up. The JSON counts."""
import json
import sys

json.load(sys.stdin)
print(json.dumps({
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "decided before the clean-up failed",
    }
}))
sys.exit(1)
