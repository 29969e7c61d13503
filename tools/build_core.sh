#!/bin/sh
# Builds the C core as it is installed and puts it into build/prefix. Incremental.

set -e
cd "$(dirname "$0")/.."
. tools/generator.sh

tools/quiet.sh core-configure cmake --preset release
tools/quiet.sh core-build cmake --build --preset release --parallel "$(nproc)"
tools/quiet.sh core-install cmake --install build/release
