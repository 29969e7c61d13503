#!/bin/sh
# Compares the variables that the recorder reads (the table in environment.h) with those that the first
# table of the guide explains.
#
#     check_environment.sh HEADER GUIDE

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
sed -n 's/.*X(SP_ENVIRONMENT_[A-Z_]*, "\([A-Z_]*\)").*/\1/p' "$1" | sort >"$work/read"
sed '1,/^## /d' "$2" | sed '/^## /,$d' | sed -n 's/^| `\([A-Z_]*\)` |.*/\1/p' | sort >"$work/explained"
[ -s "$work/read" ] && diff "$work/read" "$work/explained"
