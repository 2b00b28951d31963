#!/bin/sh
# Any event: a script that hangs.
sleep 600
echo '{"decision": "block", "reason": "far too late"}'
