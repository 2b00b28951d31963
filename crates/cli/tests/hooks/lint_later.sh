#!/bin/bash
# PostToolUse, asyncRewake: a slow linter. Exit code 2 wakes the model.
path=$(python3 -c 'import json,sys; print(json.load(sys.stdin)["tool_input"].get("file_path", ""))')
sleep 0.3
if grep -q 'XXX' "$path" 2>/dev/null; then
  echo "lint: $path still has a XXX" >&2
  exit 2
fi
exit 0
