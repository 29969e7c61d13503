#!/usr/bin/env bash
# Runs test lanes and prints the time of each. Usage: tools/test.sh GROUP...
#   demo    the main job, twice; the second run is done in seconds
#   quick   checks, C tests, the full Python suite on .venv, reports in a browser, the core suite on
#           every other Python
#   extra   sanitizers, the build without optional parts, a stranger's project, Arrow libraries, long
#           suites, and the Debian release that this machine does not run

set -u
cd "$(dirname "$0")/.."
. tools/generator.sh
. tools/lanes.sh

# Configures, builds and runs the C tests of one preset.
c_tests()
{
    cmake --preset "$1" &&
        cmake --build --preset "$1" --parallel "$(nproc)" &&
        ctest --preset "$1" --parallel "$(nproc)"
}

# The C and C++ tests as clang compiles them, and OpenMP with a runtime that tells tools.
clang_tests()
{
    tools/setup.sh extra
    command -v clang >/dev/null || { echo "no clang"; return 77; }
    c_tests clang
}

# Nobody measures in a test run, but what cannot be built measures nothing.
bench_builds()
{
    cmake --preset bench && cmake --build --preset bench --parallel "$(nproc)"
}

# The core suite on another Python: the extensions are built for it, the core is the same.
core_suite()
{
    local python
    python=$(tools/find_python.sh "$1" 2>&1) || { echo "$python"; return 77; }
    tools/install_python.sh "build/venv-$1" "$python" requirements-test.txt &&
        "build/venv-$1/bin/python" -m pytest -m "not long" tests/python
}

# The package as a stranger installs it: everything from the source tree, nothing prepared.
wheel()
{
    rm -rf build/venv-wheel &&
        "$(tools/find_python.sh)" -m venv build/venv-wheel &&
        build/venv-wheel/bin/python -m pip install -q . &&
        build/venv-wheel/bin/scope-profiler --version &&
        build/venv-wheel/bin/python -c 'import scope_profiler; print(scope_profiler.__version__)'
}

# Calls in the hands of Arrow libraries, none of which may be left out here.
arrow()
{
    tools/install_python.sh build/venv-arrow "$(tools/find_python.sh)" requirements-arrow.txt &&
        build/venv-arrow/bin/python -c 'import duckdb, pandas, polars, pyarrow.parquet' &&
        build/venv-arrow/bin/python -m pytest tests/python/test_results_arrow.py \
            tests/python/test_results_plot_data.py
}

# pytest answers 5 when nothing matches. A test whose package cannot be had says so and is skipped.
long_suite()
{
    tools/stamp.sh .venv/.stamp-long requirements-long.txt -- \
        .venv/bin/python -m pip install -q --prefer-binary -r requirements-long.txt
    .venv/bin/python -m pytest -m long || { [ $? -eq 5 ] && return 77; }
}

demo_group()
{
    lane demo 900 tools/demo.sh
    lane demo-again 90 tools/demo.sh
}

quick_group()
{
    lane setup 900 tools/prepare.sh test
    lane checks 120 tools/check.sh
    lane c-tests 600 c_tests dev
    lane viewer 300 tools/check_viewer.sh
    lane python-full 900 .venv/bin/python -m pytest -m "not long and not browser"
    lane browser 300 tools/test_browser.sh
    local own
    own=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    for version in 3.10 3.11 3.12 3.13; do
        [ "$version" = "$own" ] || lane "python-$version" 600 core_suite $version
    done
}

extra_group()
{
    lane asan 1200 c_tests asan
    lane tsan 1200 c_tests tsan
    lane bare 600 c_tests bare
    lane bench-builds 600 bench_builds
    lane clang 1200 clang_tests
    lane viewer-rebuilt 600 tools/check_viewer.sh install
    lane stranger 300 tests/package/run.sh build/prefix
    lane wheel 600 wheel
    lane stranger-wheel 300 tests/package/run.sh \
        build/venv-wheel/lib/python3*/site-packages/scope_profiler/_core
    lane arrow 900 arrow
    lane python-long 1200 long_suite
    lane other-debian 1500 tools/try_release.sh
}

export -f arrow bench_builds c_tests clang_tests core_suite wheel long_suite
for group in "$@"; do
    "${group}_group"
done
close_lanes
