#!/bin/sh
# Compiles ompt.c with clang, whose OpenMP runtime has the interface for tools, and runs it with the tool;
# then with GCC's, which has not. Rows come in no fixed order from threads, so they are sorted. Exit code 77:
# there is no clang with OpenMP.
#
#     ompt.sh SHOW EXPECTED SOURCE INCLUDE LIBRARY_FOLDER TOOL

here=$(dirname "$0")
show=$1
expected=$2
source=$3
include=$4
libraries=$5
tool=$6
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# run COMPILER EXPECTED
run()
{
    "$1" -g -O1 -fopenmp "$source" -I"$include" -L"$libraries" -lscope_profiler \
        -Wl,-rpath,"$libraries" -rdynamic -o "$work/program" || return 1
    (cd "$work" && OMP_TOOL_LIBRARIES=$tool ./program >out 2>&1; echo "exit code $?" >>out
        grep -v '^exit code 0' out
        head_of_show=$("$show" ompt_rank00000.h5)
        echo "$head_of_show" | sed -n 1p
        echo "$head_of_show" | sed 1d | sed 's/thread [0-9]*:/thread:/' | grep '^[^ ]' | LC_ALL=C sort
        echo "$head_of_show" | sed 's/thread [0-9]*:/thread:/' | grep '^ ' | LC_ALL=C sort) >"$work/all"
    rm -f "$work"/*.h5
    diff -u "$2" "$work/all"
}

printf 'int main(void) { return 0; }\n' >"$work/empty.c"
clang -fopenmp "$work/empty.c" -o "$work/empty" 2>"$work/why" || { head -n 1 "$work/why"; exit 77; }
grep -v '^#' "$expected" >"$work/expected"
run clang "$work/expected" || exit 1
grep -v 'omp parallel\|omp work\|OpenMP' "$work/expected" >"$work/expected_gcc"
{
    sed '/^ /d' "$work/expected_gcc"
    printf '  inner: 8\n  step > inner: 4\n  step: 4\n'
} >"$work/plain"
run "${CC:-cc}" "$work/plain"
