"""Which calls automatic tracing records, and under which names. The extension asks once for each code
object and each C function; everything else about tracing is in the extension."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import CodeType
    from typing import Any

_OWN_MODULES = (__name__.partition(".")[0] + ".",)
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

    def c_function(self, function: Any, owner: type | None) -> str | None:
        """Name of the region of a builtin function or method that recorded code calls, None: it is not
        recorded. Those that are called come along with the functions that `include` chooses; `exclude`
        leaves them out by name.

        Args:
            function: The function, or a method of a class or of an object.
            owner: The class that defines the method; None: it is a function.
        """
        if owner is not None:
            name = f"{owner.__module__}.{owner.__qualname__}.{function.__name__}"
        else:
            name = f"{_module_of(function)}.{function.__qualname__}"
        return None if name.startswith(_OWN_MODULES) or self._is_excluded(name) else name

    def _is_main(self, file: str, module: Any) -> bool:
        return file == self._main_file and module == "__main__"

    def _is_chosen(self, name: str) -> bool:
        if self._include and not _matches(name, self._include):
            return False
        return not self._is_excluded(name)

    def _is_excluded(self, name: str) -> bool:
        return bool(self._exclude) and _matches(name, self._exclude)


def _module_of(function: Any) -> str:
    """Of a C function; one made for an object is named after the class of that by the interpreter."""
    bound_to = function.__self__
    module = function.__module__
    if not isinstance(module, str) and bound_to is not None:
        kind = type(bound_to)
        module = (bound_to if issubclass(kind, type) else kind).__module__
    return module if isinstance(module, str) else "<unknown>"


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    from fnmatch import fnmatchcase

    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _qualified_name(code: CodeType) -> str:
    return getattr(code, "co_qualname", code.co_name)


_default_rules = Rules()


def default_rules() -> Rules:
    """What functions decorated with `recursive=True` trace by. The extension asks before the first
    one starts to; by then the options of the environment have to hold."""
    from . import tracing

    tracing.options()
    return _default_rules


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
        max_depth: As for :class:`scope_profiler.tracing.TracingOptions`, as are the next two; None: as
            the options say that hold for the process.
        min_duration_ns: In nanoseconds.
        c_calls: Record calls of C functions, too.
        **rules: As for :class:`Rules`.

    Raises:
        RuntimeError: At entry: another manager traces, or the interpreter cannot be traced.
    """

    def __init__(
        self,
        manager: Any,
        region_name: str,
        max_depth: int | None = None,
        min_duration_ns: int | None = None,
        c_calls: bool | None = None,
        **rules: Any,
    ) -> None:
        from . import tracing

        if min_duration_ns is not None and (type(min_duration_ns) is not int or min_duration_ns < 0):
            raise ValueError(f"min_duration_ns must be an integer >= 0, got {min_duration_ns!r}")
        held = tracing.options()
        limits = tracing.TracingOptions(
            held.max_depth if max_depth is None else max_depth,
            f"{held.min_duration_ns if min_duration_ns is None else min_duration_ns}ns",
            held.c_calls if c_calls is None else c_calls,
        )
        self._manager = manager
        self._region_name = region_name
        self._limits = (limits.max_depth or 0, limits.min_duration_ns, limits.c_calls)
        self._rules = Rules(**rules)
        self._profiler: Any = None
        self._region: Any = None
        self._end_lines: Any = None

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
            lines = self._manager._config._lines
            if lines is not None:
                self._end_lines = lines.start_tracing(self._rules)
        return self

    def __exit__(self, *exc_info: Any) -> None:
        if self._profiler is not None:
            from . import _recorder

            if self._end_lines is not None:
                self._end_lines()
            _recorder.trace_check(self._profiler)
            _recorder.trace_stop(self._profiler)
            self._region.__exit__(*exc_info)
