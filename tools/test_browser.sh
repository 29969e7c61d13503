#!/bin/sh
# Runs the tests of reports in Chromium. Skipped (exit 77) where Chromium or Playwright cannot be had.

cd "$(dirname "$0")/.." || exit 1
browser=
for name in chromium chromium-browser google-chrome; do
    command -v $name >/dev/null 2>&1 && browser=$name && break
done
if [ -z "$browser" ]; then
    echo "no Chromium: reports are not tested in a browser"
    exit 77
fi
if ! tools/stamp.sh .venv/.stamp-browser requirements-browser.txt -- \
    tools/quiet.sh browser-requirements .venv/bin/python -m pip --disable-pip-version-check install \
    --prefer-binary -r requirements-browser.txt; then
    echo "Playwright cannot be installed: reports are not tested in a browser"
    exit 77
fi
exec .venv/bin/python -m pytest -m browser tests/browser
