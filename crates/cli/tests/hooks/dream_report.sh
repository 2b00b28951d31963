#!/bin/sh
# DreamStart and DreamEnd: one line each.
cat >> "$CLAUDE_PROJECT_DIR/dreams.jsonl"
echo >> "$CLAUDE_PROJECT_DIR/dreams.jsonl"
