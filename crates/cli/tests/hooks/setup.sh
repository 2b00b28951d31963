#!/bin/sh
# Setup: installs what the project needs.
trigger=$(sed -n 's/.*"trigger":"\([a-z]*\)".*/\1/p')
echo "$trigger" >> "$CLAUDE_PROJECT_DIR/setups"
echo '{"hookSpecificOutput":{"hookEventName":"Setup","additionalContext":"dependencies are installed"}}'
