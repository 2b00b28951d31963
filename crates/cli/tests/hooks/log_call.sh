#!/bin/bash
# PostToolUse, async: keeps a log that nobody waits for; it ends only when the next call has run.
input=$(cat)
until [ -e "$CLAUDE_PROJECT_DIR/released" ]; do sleep 0.02; done
echo "$input" >> "$CLAUDE_PROJECT_DIR/calls.jsonl"
echo '{"systemMessage": "a call was logged"}'
