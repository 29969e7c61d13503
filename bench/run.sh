#!/bin/sh
# What `make bench` does after the preparation: builds the benches and measures, on .venv and on every
# other Python that `make test` has prepared. PEER names an interpreter that has the published
# package, VIZTRACER one or more that have VizTracer, for where it cannot be installed. Further arguments
# go to bench.py.

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
for python in .venv/bin/python build/venv-3.*/bin/python; do
    [ ! -x "$python" ] || tools/stamp.sh "${python%/bin/python}/.stamp-bench" requirements-bench.txt -- \
        tools/quiet.sh bench-requirements "$python" -m pip --disable-pip-version-check install \
        --prefer-binary -r requirements-bench.txt || true
done
exec .venv/bin/python bench/bench.py "$@"
