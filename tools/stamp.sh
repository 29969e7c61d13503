#!/bin/sh
# Runs a command unless the contents of the named files and folders are those of its last success.
# Usage: tools/stamp.sh STAMP PATH... -- COMMAND...

stamp=$1
shift
paths=
while [ "$1" != -- ]; do
    paths="$paths $1"
    shift
done
shift

key=$(find $paths -type f ! -name '*.pyc' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
[ "$(cat "$stamp" 2>/dev/null)" = "$key" ] && exit 0
rm -f "$stamp"
"$@" || exit
mkdir -p "$(dirname "$stamp")" && echo "$key" >"$stamp"
