#!/bin/sh
# What `make bench` does after the preparation: builds the benches and measures, on .venv and on every
# other Python that `make test` has prepared. PEER names an interpreter that has the published
# package, VIZTRACER one or more that have VizTracer. Further arguments go to bench.py.

set -e
cd "$(dirname "$0")/.."
. tools/generator.sh

tools/quiet.sh bench-configure cmake --preset bench
tools/quiet.sh bench-build cmake --build --preset bench --parallel "$(nproc)"

set -- build/bench ${PEER:+--peer "$PEER"} "$@" --python .venv/bin/python
for python in ${VIZTRACER:-}; do
    set -- "$@" --viztracer "$python"
done
for python in build/venv-3.*/bin/python; do
    [ ! -x "$python" ] || set -- "$@" --python "$python"
done
exec .venv/bin/python bench/bench.py "$@"
