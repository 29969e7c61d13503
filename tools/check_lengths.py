"""Checks the two hard stops: 100 lines a function, 800 lines a file.

Usage: check_lengths.py [root]. Looks at C, C++, Python and Fortran files of the tree.
"""

import ast
import re
import sys
from pathlib import Path

from tree import tree_files

FUNCTION_LINES = 100
FILE_LINES = 800
C_SUFFIXES = {".c", ".h", ".cpp", ".hpp"}
SUFFIXES = C_SUFFIXES | {".py", ".f90"}

FORTRAN_START = re.compile(r"^\s*(?!end\b)[\w\s()*=,]*\b(subroutine|function)\s+(\w+)\s*\(", re.I)
FORTRAN_END = re.compile(r"^\s*end\s+(subroutine|function)\b", re.I)


# The last line of a signature whose body opens on it.
OPENS_ON_LINE = re.compile(r"[\w ].*\)\s*\{$")


def c_functions(text):
    """Yields (name, first line, last line); a body ends with a brace in column one."""
    lines = text.split("\n")
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{") or (start is None and OPENS_ON_LINE.match(line)):
            start = number
            while start > 1 and lines[start - 2].strip() and lines[start - 2][-1] not in ";}/":
                start -= 1
            head = " ".join(lines[start - 1 : number])
            name = re.search(r"(\w+)\s*\(", head)
        elif line.startswith("}") and start is not None:
            yield (name[1] if name else "?"), start, number
            start = None


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno


def fortran_functions(text):
    open_ones = []
    for number, line in enumerate(text.split("\n"), 1):
        match = FORTRAN_START.match(line)
        if match:
            open_ones.append((match[2], number))
        elif FORTRAN_END.match(line) and open_ones:
            name, start = open_ones.pop()
            yield name, start, number


def functions(suffix, text):
    if suffix in C_SUFFIXES:
        return c_functions(text)
    return python_functions(text) if suffix == ".py" else fortran_functions(text)


def check(root):
    """Lines of trouble for the tree at `root`."""
    found = []
    for path in tree_files(root):
        if path.suffix not in SUFFIXES:
            continue
        text = path.read_text(encoding="utf-8")
        where = path.relative_to(root)
        if text.count("\n") > FILE_LINES:
            found.append(f"{where}: {text.count(chr(10))} lines, at most {FILE_LINES}")
        for name, first, last in functions(path.suffix, text):
            if last - first + 1 > FUNCTION_LINES:
                length = last - first + 1
                found.append(f"{where}:{first}: {name} has {length} lines, at most {FUNCTION_LINES}")
    return found


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = check(root)
    print("\n".join(found + [f"lengths: {len(found)} over"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
