#!/bin/sh
# Builds a stranger's programs against an installed core in three ways - find_package, pkg-config, the
# bare compiler - in C, C++ and Fortran, and runs them in pairs: one records a file, the other reads it.
# Then once more after the core was moved, since everything in it is relative to its own place. Also
# builds the source tree as a part of a stranger's project, compares the exported symbols with the
# headers, and looks at what the recorder needs.
# Usage: tests/package/run.sh PREFIX

set -e
here=$(cd "$(dirname "$0")" && pwd)
prefix=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# try FOLDER HOW RECORD INSPECT: runs a pair of programs that was built there, if it was.
try()
{
    [ -x "$1/$3" ] && [ -x "$1/$4" ] || return 0
    rm -f "$1"/profile_rank00000.*
    "$1/$3" "$1/profile"
    "$1/$4" "$1"/profile_rank00000.*
    echo "$2, $3: ok"
}

try_all()
{
    try "$1" "$2" record inspect
    try "$1" "$2" record_static inspect_static
    for record in record_along record_cpp record_header_only record_fortran; do
        try "$1" "$2" $record inspect
    done
    rm -rf "$1"
}

find_package()
{
    cmake -S "$here/find_package" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/cmake.log"
    cmake --build "$work/cmake" >>"$work/cmake.log" || { cat "$work/cmake.log"; return 1; }
    try_all "$work/cmake" find_package
}

pkg_config()
{
    mkdir "$work/make"
    PKG_CONFIG_PATH=$prefix/lib/pkgconfig make -s -C "$here/pkg_config" OUT="$work/make"
    try_all "$work/make" pkg-config
}

# compile COMPILER FLAGS PROGRAM SOURCE LIBRARIES
compile()
{
    command -v "$1" >/dev/null || return 0
    "$1" $2 -Wall -Werror -I"$prefix/include" -I"$prefix/include/fortran" -o "$work/cc/$3" \
        "$here/program/$4" -L"$prefix/lib" $5 -Wl,-rpath,"$prefix/lib"
}

plain()
{
    mkdir "$work/cc"
    compile cc -std=c99 record record.c -lscope_profiler
    compile cc -std=c99 inspect inspect.c -lscope_results
    # Along with the file that finds the library itself: beside it, or where a variable says.
    cc -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$prefix/include" -o "$work/cc/record_along" \
        "$here/program/record.c" "$prefix/include/scope_profiler.c"
    compile c++ -std=c++11 record_cpp record.cpp -lscope_profiler
    if [ -e "$prefix/lib/libscope_profiler_fortran.a" ]; then
        compile gfortran -std=f2008 record_fortran record.f90 "-lscope_profiler_fortran -lscope_profiler"
    fi
    try_all "$work/cc" compiler
}

fetch_content()
{
    cmake -S "$here/fetch_content" -B "$work/fetch" \
        -DSCOPE_PROFILER_SOURCE_DIR="$(cd "$here/../.." && pwd)" >"$work/fetch.log"
    cmake --build "$work/fetch" --parallel "$(nproc)" --target record inspect >>"$work/fetch.log" ||
        { cat "$work/fetch.log"; return 1; }
    try_all "$work/fetch" FetchContent
}

# The recorder loads into any program: it needs libc and what belongs to it.
needs()
{
    more=$(readelf -d "$prefix/lib/libscope_profiler.so.1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
        grep -vE '^(libc|libpthread|libm|libdl|ld-linux.*|ld64)\.so\.[0-9]+$') || return 0
    echo "the recorder needs $more"
    return 1
}

python3 "$here/check_exports.py" "$prefix"
needs
find_package
pkg_config
plain
fetch_content
cp -a "$prefix" "$work/moved"
prefix=$work/moved
find_package
pkg_config
plain
