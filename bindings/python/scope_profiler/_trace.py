"""Which calls automatic tracing records, and under which names. The extension asks once for each code
object; everything else about tracing is in the extension."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType
    from typing import Any

_OWN_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


def _library_folders() -> tuple[str, ...]:
    """Real paths of the standard library and of all places that packages are installed in."""
    import sysconfig

    names = ("stdlib", "platstdlib", "purelib", "platlib")
    found = [sysconfig.get_path(name) for name in names]
    site = sys.modules.get("site")
    if site is not None:
        found += site.getsitepackages()
        found.append(site.getusersitepackages())
    # The folders of this interpreter's standard library as they are in use: of a virtual environment
    # they are those of the interpreter that it was made from.
    found.append(os.path.dirname(os.__file__))
    folders = {os.path.realpath(path) for path in found if path}
    return tuple(os.path.join(folder, "") for folder in folders)


class _Files:
    """Decides whether a file is the user's own; every file once."""

    def __init__(self) -> None:
        self._known: dict[str, bool] = {}
        self._libraries: tuple[str, ...] = ()

    def is_users(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._look(name)
        return known

    def prepare(self) -> None:
        """Takes what costs time before anything is measured."""
        if not self._libraries:
            self._libraries = _library_folders()

    def _look(self, name: str) -> bool:
        if not name or name.startswith("<"):
            return False
        self.prepare()
        return not os.path.realpath(name).startswith(self._libraries)


_files = _Files()


def _patterns(name: str, given: Iterable[str]) -> tuple[str, ...]:
    patterns = (given,) if isinstance(given, str) else tuple(given)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(f"{name} must be strings, got {pattern!r}")
    return patterns


class Rules:
    """Chooses and names the functions to trace.

    Args:
        only_user_code: Leave out the standard library, installed packages and code without a file.
        include: Shell patterns of region names to take; none: all.
        exclude: Shell patterns of region names to leave out.
        entrypoint: Plain name of a function that is recorded under just that name.
        main_file: File name of code that is the user's although it has no file.
    """

    def __init__(
        self,
        only_user_code: bool = True,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        entrypoint: str | None = None,
        main_file: str | None = None,
    ) -> None:
        self._only_user_code = only_user_code
        self._include = _patterns("include patterns", include)
        self._exclude = _patterns("exclude patterns", exclude)
        self._entrypoint = entrypoint
        self._main_file = main_file

    def __call__(self, code: CodeType, module: Any) -> str | None:
        """Name of the region of a code object; None: its calls are not recorded."""
        file = code.co_filename
        if file.startswith(_OWN_FOLDER):
            return None
        if self._only_user_code and not _files.is_users(file) and not self._is_main(file, module):
            return None
        if self._entrypoint is not None and code.co_name == self._entrypoint:
            return self._entrypoint
        name = f"{module if isinstance(module, str) else '<unknown>'}.{_qualified_name(code)}"
        return name if self._is_chosen(name) else None

    def _is_main(self, file: str, module: Any) -> bool:
        return file == self._main_file and module == "__main__"

    def _is_chosen(self, name: str) -> bool:
        if not self._include and not self._exclude:
            return True
        from fnmatch import fnmatchcase

        if self._include and not any(fnmatchcase(name, pattern) for pattern in self._include):
            return False
        return not any(fnmatchcase(name, pattern) for pattern in self._exclude)


def _qualified_name(code: CodeType) -> str:
    return getattr(code, "co_qualname", code.co_name)


#: What functions decorated with `recursive=True` trace by.
default_rules = Rules()


def folded_metadata(profiler: Any) -> dict[str, Any]:
    """What a run says of traced calls that were too short to be recorded; nothing of none."""
    from ._recorder import folded_calls

    counts = folded_calls(profiler)
    if not counts:
        return {}
    return {
        "folded_calls": sum(counts.values()),
        "folded_regions": [f"{name}: {count}" for name, count in sorted(counts.items())],
    }


class Tracing:
    """A traced stretch of a program: a context manager around it, with a region of its own.

    Args:
        manager: The manager that records; one that is off or not configured traces nothing.
        region_name: Name of the region around everything.
        max_depth: Traced calls nested deeper are not recorded; None: all are.
        min_duration_ns: Calls shorter than this are folded into their parents; 0: none are.
        **rules: As for :class:`Rules`.

    Raises:
        RuntimeError: At entry: another manager traces, or the interpreter cannot be traced.
    """

    def __init__(
        self,
        manager: Any,
        region_name: str,
        max_depth: int | None = None,
        min_duration_ns: int = 0,
        **rules: Any,
    ) -> None:
        if max_depth is not None and (type(max_depth) is not int or max_depth < 1):
            raise ValueError(f"max_depth must be a positive integer or None, got {max_depth!r}")
        if type(min_duration_ns) is not int or min_duration_ns < 0:
            raise ValueError(f"min_duration_ns must be an integer >= 0, got {min_duration_ns!r}")
        self._manager = manager
        self._region_name = region_name
        self._limits = (max_depth or 0, min_duration_ns)
        self._rules = Rules(**rules)
        self._profiler: Any = None
        self._region: Any = None

    def __enter__(self) -> Tracing:
        from . import _recorder

        profiler = self._manager._profiler
        if profiler.is_enabled:
            _files.prepare()
            if not _recorder.trace_start(profiler, self._rules, *self._limits):
                raise RuntimeError("Python calls are traced by another manager of this process")
            self._profiler = profiler
            self._region = profiler.region(self._region_name)
            self._region.__enter__()
        return self

    def __exit__(self, *exc_info: Any) -> None:
        if self._profiler is not None:
            from . import _recorder

            _recorder.trace_check(self._profiler)
            _recorder.trace_stop(self._profiler)
            self._region.__exit__(*exc_info)
