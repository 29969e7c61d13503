#!/bin/sh
# Prints the Python that .venv is made from: $PYTHON, else the first of python3 and its versioned
# names that has venv and the headers. With a version such as 3.12 as argument: an interpreter of that
# version on PATH, in /usr/bin or among pyenv's versions. Prints the reason on stderr and fails when
# there is none.

wanted=${1:-}

# Says why $1 cannot be used, nothing when it can.
trouble()
{
    "$1" - "$wanted" 2>/dev/null <<'EOF' || echo "does not run"
import os, sys, sysconfig
have = "%d.%d" % sys.version_info[:2]
wanted = sys.argv[1]
header = os.path.join(sysconfig.get_path("include"), "Python.h")
try:
    import ensurepip, venv
    missing = ""
except ImportError:
    missing = "has no venv and ensurepip"
if sys.implementation.name != "cpython" or sys.version_info < (3, 10) or (wanted and have != wanted):
    print("is not CPython", wanted or ">= 3.10")
elif missing:
    print(missing)
elif not os.path.exists(header):
    print("has no headers (%s)" % header)
EOF
}

if [ -n "$wanted" ]; then
    candidates="python$wanted /usr/bin/python$wanted"
    for folder in "${PYENV_ROOT:-$HOME/.pyenv}/versions/$wanted".*; do
        candidates="$candidates $folder/bin/python3"
    done
else
    candidates="${PYTHON:-python3 /usr/bin/python3 python3.13 python3.12 python3.11 python3.10}"
fi

reasons=
for candidate in $candidates; do
    path=$(command -v "$candidate") || continue
    reason=$(trouble "$path")
    if [ -z "$reason" ]; then
        # A shim on PATH changes with the folder; the interpreter it stands for does not.
        "$path" -c 'import sys; print(sys.executable)'
        exit 0
    fi
    [ "$reason" = "does not run" ] || reasons="$reasons $path $reason;"
done
echo "no usable python${wanted:-3}:${reasons:- not found}" >&2
exit 1
