#!/bin/sh
# The main job from start to end: prepare, build the example against the installed package, run it
# under the profiler. The profile is left at build/demo/heat.h5.

set -e
cd "$(dirname "$0")/.."
. tools/generator.sh

tools/prepare.sh build
core=$(.venv/bin/python -c 'import scope_profiler; print(scope_profiler.__path__[0])')/_core
tools/quiet.sh heat-configure \
    cmake -S examples/heat -B build/heat -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$core"
tools/quiet.sh heat-build cmake --build build/heat

mkdir -p build/demo
HEAT_BUILD=$PWD/build/heat
export HEAT_BUILD
.venv/bin/scope-profiler run -o build/demo/heat.h5 examples/heat/heat.py
