#!/usr/bin/env python3
"""PermissionDenied: a denied command may be tried again once its dry run was looked at."""
import json
import sys

data = json.load(sys.stdin)
assert data["tool_name"] == "Bash" and data["reason"]
print(json.dumps({"hookSpecificOutput": {"hookEventName": "PermissionDenied", "retry": True}}))
