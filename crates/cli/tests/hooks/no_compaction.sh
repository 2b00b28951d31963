#!/bin/sh
# PreCompact: not while a release is under way.
input=$(cat)
if [ -e "$CLAUDE_PROJECT_DIR/RELEASING" ]; then
  printf '%s\n' "$input" >> "$CLAUDE_PROJECT_DIR/compactions.jsonl"
  echo "no compaction while a release is under way" >&2
  exit 2
fi
exit 0
