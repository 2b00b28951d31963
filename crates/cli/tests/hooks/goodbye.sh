#!/bin/sh
# SessionEnd: writes at once, then tries to do something slow.
cat > "$CLAUDE_PROJECT_DIR/ended.json"
sleep 600
touch "$CLAUDE_PROJECT_DIR/too-late"
