#!/bin/sh
# The checks of the tree itself: include edges, lengths, public headers, words; and their own tests.

cd "$(dirname "$0")/.." || exit 1
status=0
for check in includes lengths headers words; do
    python3 tools/check_$check.py || status=1
done
python3 -B -m unittest discover -s tests/tools || status=1
exit $status
