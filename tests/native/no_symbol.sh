#!/bin/sh
# Fails when a program holds or needs a symbol of the profiler, or needs its library.
#
#     no_symbol.sh PROGRAM

found=$({ nm "$1"; nm -D "$1"; readelf -d "$1" | grep NEEDED; } 2>/dev/null |
    grep -E '(^|[^a-z])_*sp_|[0-9]sp[0-9]|scope_profiler')
[ -z "$found" ] && exec "$1"
echo "$found"
exit 1
