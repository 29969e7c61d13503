#!/bin/sh
# Runs a program in an empty folder and compares its output, what it says on standard error and what
# the files it leaves hold with an expected text.
#
#     compare.sh SHOW EXPECTED PROGRAM [ARGUMENT...]
#
# Lines of the expected text that begin with '#' are comments.

show=$1
expected=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

"$@" >out 2>err
code=$?
{
    [ "$code" -eq 0 ] || echo "exit code $code"
    cat out
    sed 's/^/stderr: /' err
    for file in *.h5 *.spt; do
        [ ! -e "$file" ] || "$show" "$file" || echo "show failed on $file"
    done
} >all
grep -v '^#' "$expected" | diff -u - all
