#!/bin/sh
# Any event: a script that hangs.
sleep 60
echo '{"decision": "block", "reason": "far too late"}'
