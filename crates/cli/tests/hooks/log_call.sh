#!/bin/bash
# PostToolUse, async: keeps a log that nobody waits for.
input=$(cat)
sleep 0.2
echo "$input" >> "$CLAUDE_PROJECT_DIR/calls.jsonl"
echo '{"systemMessage": "a call was logged"}'
