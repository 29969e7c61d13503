#!/bin/sh
# Runs heat_mpi.py on several numbers of ranks, one profile each: strong_4.h5, weak_4.h5, ...
#
#     examples/heat/scaling.sh strong 1 2 4     the same grid for all
#     examples/heat/scaling.sh weak 1 2 4       as many points for each rank
#     scope-profiler inspect strong_*.h5
#
# N: intervals a side on one rank (default 256). MPIRUN: the launcher with its options.

set -e
here=$(cd "$(dirname "$0")" && pwd)
kind=$1
case $kind in
strong | weak) shift ;;
*) sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
for ranks in "${@:-1}"; do
    n=${N:-256}
    # A side grows with the root of the number of ranks; it must be even.
    [ "$kind" = strong ] || n=$(awk "BEGIN { printf \"%d\", 2 * int($n * sqrt($ranks) / 2 + 0.5) }")
    ${MPIRUN:-mpirun} -n "$ranks" scope-profiler run -q -o "${kind}_$ranks.h5" --label "$ranks ranks" \
        "$here/heat_mpi.py" --n "$n" --steps "${STEPS:-400}" --every 0
done
