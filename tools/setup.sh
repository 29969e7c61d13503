#!/bin/sh
# Finds what a build needs from the system and installs what is missing: as root through apt-get, else
# it names the packages in one line and fails. `tools/setup.sh test` also asks for what only the tests
# need, `tools/setup.sh extra` for what only the long ones do. Prints nothing when nothing is missing.

cd "$(dirname "$0")/.." || exit 1
purpose=${1:-build}

has()
{
    command -v "$1" >/dev/null 2>&1
}

has_cmake()
{
    has cmake && cmake --version | awk 'NR == 1 { split($3, v, "."); exit !(v[1] > 3 || v[2] >= 25) }'
}

# Compiles an empty program in the language $1 that includes the header $2; $3: further flags.
compiles()
{
    echo "#include <$2>" | cc -x "$1" $3 -fsyntax-only - >/dev/null 2>&1
}

has_hdf5()
{
    compiles c hdf5.h "-I${HDF5_ROOT:-/usr}/include -I/usr/include/hdf5/serial" ||
        { has pkg-config && compiles c hdf5.h "$(pkg-config --cflags hdf5 2>/dev/null)"; }
}

missing_packages()
{
    compiles c stdio.h || printf ' gcc libc6-dev'
    has_cmake || printf ' cmake'
    has make || has ninja || printf ' make'
    has pkg-config || printf ' pkg-config'
    has_hdf5 || printf ' libhdf5-dev'
    tools/find_python.sh >/dev/null 2>&1 || printf ' python3 python3-venv python3-dev'
    if [ "$purpose" = test ]; then
        compiles c++ string || printf ' g++'
    fi
}

# Nice to have, never a reason to fail: a quicker build tool, codecs that files may use, a compiler for
# the Fortran module, a parser of settings files; for the tests the two MPI libraries, with what compiling
# against them takes, the browser in which reports are tested, and a second reader of manual pages.
optional_packages()
{
    has ninja || printf ' ninja-build'
    pkg-config --exists zlib || printf ' zlib1g-dev'
    pkg-config --exists libdeflate || printf ' libdeflate-dev'
    pkg-config --exists liblzf || printf ' liblzf-dev'
    pkg-config --exists libzstd || printf ' libzstd-dev'
    has gfortran || printf ' gfortran'
    if [ "$purpose" = test ]; then
        has mpirun.openmpi || printf ' openmpi-bin'
        has mpirun.mpich || printf ' mpich'
        has mandoc || printf ' mandoc'
        has mpicc.openmpi || printf ' libopenmpi-dev'
        has mpicc.mpich || printf ' libmpich-dev'
    fi
    # Settings files of native programs.
    compiles c++ string || printf ' g++'
    compiles c++ toml++/toml.h -std=c++17 || printf ' libtomlplusplus-dev'
    # A second compiler, and an OpenMP runtime with an interface for tools: large, so only for the long
    # tests.
    if [ "$purpose" = extra ]; then
        has clang || printf ' clang'
        ls /usr/lib/llvm-*/lib/clang/*/include/omp-tools.h >/dev/null 2>&1 || printf ' libomp-dev'
    fi
}

browser_packages()
{
    [ "$purpose" = test ] || return
    has chromium || has chromium-browser || has google-chrome || printf ' chromium fonts-dejavu-core'
}

install_packages()
{
    DEBIAN_FRONTEND=noninteractive tools/quiet.sh apt-install apt-get install -y -q --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "$@"
}

# install_optional NAME PACKAGES: once; what cannot be had is not asked for again.
install_optional()
{
    asked=build/$1-packages-$purpose
    [ -n "$2" ] && [ "$(cat "$asked" 2>/dev/null)" != "$2" ] || return 0
    echo "installing, optional:$2"
    install_packages $2 2>/dev/null || echo "  not to be had, left out"
    mkdir -p build && echo "$2" >"$asked"
}

missing=$(missing_packages)
if [ "$(id -u)" -ne 0 ] || ! has apt-get; then
    [ -z "$missing" ] && exit 0
    echo "missing:$missing (Debian's names); install them, e.g. apt-get install$missing" >&2
    exit 1
fi

if [ -n "$missing" ]; then
    echo "installing:$missing"
    if ! install_packages $missing 2>/dev/null; then
        tools/quiet.sh apt-update apt-get update
        install_packages $missing
    fi
    missing=$(missing_packages)
fi
if [ -n "$missing" ]; then
    echo "still missing after apt-get install:$missing" >&2
    exit 1
fi
install_optional optional "$(optional_packages)"
install_optional browser "$(browser_packages)"
