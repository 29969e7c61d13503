"""Compares what the installed libraries export with what the installed headers declare: the two sets
are the same, but for the private node of the recorder that this tree's language bindings use.

Usage: check_exports.py PREFIX
"""

import re
import subprocess
import sys
from pathlib import Path

DECLARATION = re.compile(r"SP_API\b[^;{()]*?\b(sp_\w+)\s*\(")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
SHARED = {"sp_error_string", "sp_version"}  # declared once, in both libraries
LIBRARIES = {"libscope_profiler.so.1": ("scope_profiler.h",),
             "libscope_results.so.1": ("scope_results.h", "scope_live.h")}


def declared(headers):
    texts = (COMMENT.sub("", header.read_text(encoding="utf-8")) for header in headers)
    return {name for text in texts for name in DECLARATION.findall(text)} | SHARED


def exported(library):
    """Names without their version; the private node and the nodes themselves left out."""
    command = ["nm", "-D", "--defined-only", "--with-symbol-versions", str(library)]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    symbols = [line.split()[-1].replace("@@", "@").partition("@") for line in out.splitlines()]
    return {name for name, _, node in symbols if "PRIVATE" not in node and name != node
            and not name.startswith("SCOPE_")}


def main():
    prefix = Path(sys.argv[1])
    wrong = 0
    for library, headers in LIBRARIES.items():
        says = declared([prefix / "include" / header for header in headers])
        has = exported(prefix / "lib" / library)
        header = " and ".join(headers)
        for name in sorted(says - has):
            print(f"{library} lacks {name}, declared in {header}")
        for name in sorted(has - says):
            print(f"{library} exports {name}, not declared in {header}")
        wrong += len(says ^ has)
    print(f"exports: {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
