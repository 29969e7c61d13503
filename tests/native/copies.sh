#!/bin/sh
# Runs copies.c with two copies of the library: the one built and a copy of the file, as it is or with
# another version written into it (a number of the same length, so that nothing moves).
#
#     copies.sh SHOW EXPECTED PROGRAM LIBRARY VERSION OTHER_VERSION [early]

here=$(dirname "$0")
show=$1
expected=$2
program=$3
library=$4
version=$5
other=$6
shift 6
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
second=$work/libscope_profiler.so.1
LC_ALL=C sed "s/$(echo "$version" | sed 's/\./\\./g')/$other/g" "$library" >"$second" || exit 1
sed "s|SECOND|$second|; s|FIRST|$library|; s|VERSION|$version|" "$expected" >"$work/expected"
"$here/compare.sh" "$show" "$work/expected" "$program" "$library" "$second" "$@"
