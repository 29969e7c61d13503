#!/bin/sh
# Makes a virtual environment with the package in it. The core is taken as built by
# tools/build_core.sh; only the extensions are compiled for this Python.
# Usage: tools/install_python.sh VENV PYTHON REQUIREMENTS

set -e
cd "$(dirname "$0")/.."
venv=$1
python=$2
requirements=$3
name=$(basename "$venv")
pip="$venv/bin/python -m pip --disable-pip-version-check"

if ! "$venv/bin/python" -c '' 2>/dev/null; then
    rm -rf "$venv"
    echo "making $venv with $python"
    "$python" -m venv "$venv"
fi
tools/stamp.sh "$venv/.stamp-$(basename "$requirements")" requirements-build.txt "$requirements" -- \
    tools/quiet.sh "$name-requirements" $pip install --prefer-binary -r "$requirements"

tag=$("$venv/bin/python" -c 'import sys; print(sys.implementation.cache_tag)')
tools/stamp.sh "$venv/.stamp-package" \
    build/prefix bindings/python src/session/binding.h src/session/settings_table.h \
    pyproject.toml CMakeLists.txt cmake -- \
    tools/quiet.sh "$name-package" $pip install --no-build-isolation --no-deps --force-reinstall . \
    --config-settings=build-dir="build/extension-$tag" \
    --config-settings=cmake.define.SCOPE_PROFILER_CORE_DIR="$PWD/build/prefix"
