#!/bin/sh
# Device times on real hardware, with every back end that works here; run by hand where there is a GPU.
# Status 77 with a line: none is here.

cd "$(dirname "$0")/../.."
python=${1:-.venv/bin/python}
ran=0
for backend in torch cupy; do
    if reason=$("$python" -c "from scope_profiler import gpu_timing as g; g.resolve_gpu_timing_backend('$backend')" 2>&1); then
        "$python" tests/gpu/check.py "$backend" || exit 1
        ran=1
    else
        echo "$backend: left out, $(echo "$reason" | tail -n 1)"
    fi
done
if [ "$ran" = 0 ]; then
    echo "no GPU that torch or cupy can use is here"
    exit 77
fi
