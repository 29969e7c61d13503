#!/bin/sh
# Builds the page of reports from viewer/ and compares it with the one in the tree, which is what the
# library embeds. Needs Node.js 18 or later with npm; with `install` and as root it is installed, else
# the check is skipped (exit 77).

cd "$(dirname "$0")/.." || exit 1

has_node()
{
    command -v npm >/dev/null 2>&1 &&
        node -e 'process.exit(parseInt(process.versions.node) < 18 ? 1 : 0)' 2>/dev/null
}

if ! has_node && [ "${1:-}" = install ] && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    DEBIAN_FRONTEND=noninteractive tools/quiet.sh apt-node apt-get install -y -q --no-install-recommends \
        -o DPkg::Lock::Timeout=300 nodejs npm
fi
if ! has_node; then
    echo "no Node.js 18 with npm: the page of reports is not rebuilt"
    exit 77
fi

# In a folder of its own, so that a running development server keeps its packages.
rm -rf build/viewer && mkdir -p build/viewer && cp -r viewer/. build/viewer && rm -rf build/viewer/node_modules build/viewer/out || exit 1
cd build/viewer || exit 1
if ! npm ci --no-audit --no-fund --loglevel=error; then
    echo "the packages of viewer/package-lock.json cannot be had: the page of reports is not rebuilt"
    exit 77
fi
npm run -s build || exit 1
if ! cmp out/report.html report.html; then
    echo "viewer/report.html is not what its sources give; run: cd viewer && npm ci && npm run update"
    exit 1
fi
echo "viewer/report.html is what its sources give"
