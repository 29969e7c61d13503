"""Where a region is defined: the path as stored, and the text of the definition."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable


def _inside(path: str, folder: str) -> str | None:
    """Path relative to a folder that contains it."""
    prefix = folder if folder.endswith(os.sep) else folder + os.sep
    return path[len(prefix) :] if path.startswith(prefix) and len(path) > len(prefix) else None


def _relative(path: str, folder: str, home: str) -> str | None:
    """Path relative to a folder, unless that would tell as much as the whole path: from the root, or
    from above the home directory into it."""
    relative = _inside(path, folder)
    if relative is None or folder == os.sep:
        return None
    is_above_home = _inside(home, folder) is not None
    return None if is_above_home and _inside(path, home) is not None else relative


def minimal_path(filename: str) -> str:
    """Path that tells nothing about the machine: relative to the current folder when the file lies
    there, else to the deepest folder of the module path that holds it, else the name alone."""
    if filename.startswith("<"):
        return filename
    path = os.path.abspath(filename)
    home = os.path.expanduser("~")
    folders = sorted({os.path.abspath(folder) for folder in sys.path if folder}, key=len)
    try:
        folders.append(os.getcwd())
    except OSError:
        pass
    for folder in reversed(folders):
        relative = _relative(path, folder, home)
        if relative is not None:
            return relative
    return os.path.basename(path)


def full_path(filename: str) -> str:
    """Absolute path."""
    return filename if filename.startswith("<") else os.path.abspath(filename)


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", ())
    return min([node.lineno, *(item.lineno for item in decorators)])


def _statements(lines: list[str]) -> dict[int, int]:
    """Last line of the outermost statement that starts at a line."""
    import ast

    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        return {}
    ends: dict[int, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            ends.setdefault(_first_line(node), node.end_lineno or node.lineno)
    return ends


class _Texts:
    """Source texts, each file parsed once."""

    def __init__(self) -> None:
        self._ends: dict[str, dict[int, int]] = {}

    def text(self, filename: str, line: int) -> str | None:
        """Text of the statement that starts at a line: a whole `with` block or function."""
        import linecache
        import textwrap

        lines = linecache.getlines(filename)
        if not 0 < line <= len(lines):
            return None
        if filename not in self._ends:
            self._ends[filename] = _statements(lines)
        end = self._ends[filename].get(line, line)
        return textwrap.dedent("".join(lines[line - 1 : end])).rstrip("\n")


def locator(detail: str, wants_text: bool) -> Callable[[str, int], tuple[str, str | None]]:
    """Function that regions ask for their place: (file, line) -> (path as stored, text or None)."""
    path_of = full_path if detail == "full" else minimal_path
    texts = _Texts() if wants_text else None

    def locate(filename: str, line: int) -> tuple[str, str | None]:
        text = texts.text(filename, line) if texts is not None else None
        return path_of(filename).encode("utf-8", "replace").decode("utf-8"), text

    return locate
