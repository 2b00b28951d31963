#!/usr/bin/env python3
"""PreToolUse: refuses commands that delete too much. Exit code 2, the reason on standard error."""
import json
import re
import sys

DANGEROUS = [r"\brm\s+.*-[a-z]*r[a-z]*f", r"\bgit\s+push\s+.*--force", r">\s*/dev/sd"]

data = json.load(sys.stdin)
if data.get("tool_name") != "Bash":
    sys.exit(0)
command = data.get("tool_input", {}).get("command", "")
for pattern in DANGEROUS:
    if re.search(pattern, command):
        print(f"blocked by policy: {pattern}", file=sys.stderr)
        sys.exit(2)
sys.exit(0)
