#!/bin/sh
# PostToolUse: says at once that nobody need wait, then does something slow.
cat > /dev/null
echo '{"async": true, "asyncTimeout": 300000}'
until [ -e "$CLAUDE_PROJECT_DIR/released" ]; do sleep 0.02; done
touch "$CLAUDE_PROJECT_DIR/was-released"
echo '{"systemMessage": "the slow part is done"}'
