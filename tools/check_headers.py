"""Checks that each public header compiles alone: as C99, as C11 and as C++ from 11 to 20, without a warning;
and the source that programs compile along as C99 and C11.

Usage: check_headers.py [root]. The compilers are $CC and $CXX, else cc and c++.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]
LANGUAGES = [
    (os.environ.get("CC", "cc"), "c", "-std=c99"),
    (os.environ.get("CC", "cc"), "c", "-std=c11"),
    *((os.environ.get("CXX", "c++"), "c++", f"-std=c++{year}") for year in (11, 14, 17, 20)),
]


def compile_alone(header, include, compiler, language, standard):
    """Compiles a file that holds nothing but the include, twice; returns what the compiler said.
    A source is included once."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / ("alone." + language)
        times = 1 if header.endswith(".c") else 2
        source.write_text(f'#include "{header}"\n' * times + "typedef int is_not_empty;\n")
        command = [compiler, "-x", language, standard, *WARNINGS, "-fsyntax-only", f"-I{include}", str(source)]
        try:
            run = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError:
            return f"no compiler {compiler}"
    return None if run.returncode == 0 else run.stderr.strip()


def check(root):
    """Lines of trouble for the headers of root/include."""
    found = []
    include = root / "include"
    not_for = {".hpp": "c", ".c": "c++"}
    for header in sorted(file for suffix in ("h", "hpp", "c") for file in include.glob("*." + suffix)):
        for compiler, language, standard in LANGUAGES:
            if not_for.get(header.suffix) == language:
                continue
            said = compile_alone(header.name, include, compiler, language, standard)
            if said:
                found.append(f"include/{header.name} alone with {standard}:\n{said}")
    return found


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = check(root)
    print("\n".join(found + [f"public headers: {len(found)} wrong"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
