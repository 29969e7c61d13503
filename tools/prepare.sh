#!/bin/sh
# From a fresh clone to .venv with the package, the command and Python in it. With `test`, also with
# what the test suite needs.

set -e
cd "$(dirname "$0")/.."
purpose=${1:-build}

tools/setup.sh "$purpose"
tools/build_core.sh
tools/install_python.sh .venv "$(tools/find_python.sh)" "requirements-$purpose.txt"
