#!/bin/sh
# Builds the C core as it is installed and puts it into build/prefix. Incremental.

set -e
cd "$(dirname "$0")/.."
. tools/generator.sh

[ -f build/release/CMakeCache.txt ] || cmake --preset release
cmake --build --preset release --parallel "$(nproc)"
cmake --install build/release >build/install.log
