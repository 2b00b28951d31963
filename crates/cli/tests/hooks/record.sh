#!/bin/sh
# Any event: keeps what it gets.
input=$(cat)
printf '%s\n' "$input" >> "$CLAUDE_PROJECT_DIR/events.jsonl"
