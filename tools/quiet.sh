#!/bin/sh
# Runs a command with its output in a log; shows the end of the log when it fails.
# Usage: tools/quiet.sh NAME COMMAND...   The log is build/logs/NAME.log.

log=build/logs/$1.log
shift
mkdir -p build/logs
"$@" >"$log" 2>&1 </dev/null && exit
code=$?
tail -n 60 "$log" >&2
echo "failed ($log): $*" >&2
exit $code
