#!/bin/sh
# Builds a stranger's two programs against an installed core in three ways - find_package, pkg-config,
# the bare compiler - and runs each pair: one records a file, the other reads it. Then once more after
# the core was moved, since everything in it is relative to its own place. Also compares the exported
# symbols with the headers.
# Usage: tests/package/run.sh PREFIX

set -e
here=$(cd "$(dirname "$0")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# try FOLDER HOW [SUFFIX]: runs the pair of programs that was built there.
try()
{
    "$1/record$3" "$1/profile"
    "$1/inspect$3" "$1/profile_rank00000.h5"
    echo "$2$3: ok"
}

find_package()
{
    cmake -S "$here/find_package" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/cmake.log"
    cmake --build "$work/cmake" >>"$work/cmake.log" || { cat "$work/cmake.log"; return 1; }
    try "$work/cmake" find_package
    [ ! -x "$work/cmake/record_static" ] || try "$work/cmake" find_package _static
    rm -rf "$work/cmake"
}

pkg_config()
{
    mkdir "$work/make"
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig make -s -C "$here/pkg_config" OUT="$work/make"
    try "$work/make" pkg-config
    rm -rf "$work/make"
}

plain()
{
    mkdir "$work/cc"
    for program in record:scope_profiler inspect:scope_results; do
        cc -std=c99 -Wall -Werror -I"$prefix/include" -o "$work/cc/${program%:*}" \
            "$here/program/${program%:*}.c" -L"$prefix/lib" "-l${program#*:}" -Wl,-rpath,"$prefix/lib"
    done
    try "$work/cc" cc
    rm -rf "$work/cc"
}

python3 "$here/check_exports.py" "$prefix"
find_package
pkg_config
plain
cp -a "$prefix" "$work/moved"
prefix=$work/moved
find_package
pkg_config
plain
