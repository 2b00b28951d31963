#!/bin/bash
# PostToolUse, asyncRewake: a linter so slow that the model has said it is finished. Exit code 2 wakes it.
input=$(cat)
field() { python3 -c 'import json,sys; print(eval("json.load(sys.stdin)" + sys.argv[1]))' "$1" <<< "$input"; }
path=$(field '["tool_input"]["file_path"]')
transcript=$(field '["transcript_path"]')
until grep -q '"finished"' "$transcript"; do sleep 0.02; done
if grep -q 'XXX' "$path" 2>/dev/null; then
  echo "lint: $path still has a XXX" >&2
  exit 2
fi
exit 0
