#!/bin/sh
# UserPromptSubmit: says whose settings it stands in.
cat > /dev/null
echo "this is from $1"
