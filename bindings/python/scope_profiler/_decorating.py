"""From a function to a decorated one: its name, the kind of its calls, what it is wrapped in."""

from __future__ import annotations

import sys
from types import MethodType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .profile_manager import ProfileManager

# Code flags of functions whose calls run in steps, and what the extension calls them.
_STEPWISE = ((0x200, 3), (0x80, 2), (0x100, 4), (0x20, 1))


def default_name(function: Any) -> str:
    """Name of a region for a function: its own, or that of what it wraps."""
    while True:
        name = getattr(function, "__name__", None)
        if isinstance(name, str):
            return name
        inner = getattr(function, "func", None) or getattr(function, "fget", None)
        inner = inner or getattr(function, "__func__", None)
        if inner is None:
            return type(function).__name__
        function = inner


def kind_of(function: Any) -> int:
    """How the extension has to treat the calls of a function."""
    functools = sys.modules.get("functools")
    while True:
        if isinstance(function, MethodType):
            function = function.__func__
        elif functools is not None and isinstance(function, functools.partial):
            function = function.func
        else:
            break
    flags = getattr(getattr(function, "__code__", None), "co_flags", 0)
    return next((kind for flag, kind in _STEPWISE if flags & flag), 0)


def decorated(
    manager: ProfileManager, function: Any, name: str, options: tuple[Any, bool, Any, bool | None]
) -> Any:
    """The function, or whatever holds one, with its calls recorded by a manager."""

    def again(inner: Any) -> Any:
        return decorated(manager, inner, name, options)

    if isinstance(function, (classmethod, staticmethod)):
        return type(function)(again(function.__func__))
    if isinstance(function, property):
        parts = (function.fget, function.fset, function.fdel)
        return type(function)(
            *(None if part is None else again(part) for part in parts), function.__doc__
        )
    functools = sys.modules.get("functools")
    if functools is not None and isinstance(function, functools.cached_property):
        return type(function)(again(function.func))
    if functools is not None and isinstance(function, functools.partialmethod):
        return functools.partialmethod(again(function.func), *function.args, **function.keywords)
    if not callable(function):
        raise TypeError(f"profile() needs a callable, got {function!r}")
    metadata, record_outcome, tags, recursive = options
    return manager._profiler.decorate(
        function, name, tags, metadata, bool(record_outcome), kind_of(function), recursive
    )
