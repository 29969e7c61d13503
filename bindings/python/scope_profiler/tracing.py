"""What automatic tracing leaves out and what it takes in besides Python calls.

The options hold for everything that traces in this process: `run_script`, `profile_script` and functions
decorated with `recursive=True`, by hand or by `instrument` under the setting `recursive_profile`. What
`scope-profiler run` is told wins for the program that it runs.

    from scope_profiler import tracing

    tracing.configure(max_depth=20, min_duration="20us", c_calls=True)

The environment gives what holds from the start: SCOPE_PROFILER_TRACE_MAX_DEPTH,
SCOPE_PROFILER_TRACE_MIN_DURATION and SCOPE_PROFILER_TRACE_C_CALLS (1, true, yes or on).
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["TracingOptions", "configure", "options", "parse_duration"]

_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "": 1_000_000_000}
_LONGEST_NS = 2**63 - 1


def parse_duration(value: Any, name: str = "min_duration") -> int:
    """Nanoseconds of a duration.

    Args:
        value: Text such as ``"20us"``, ``"1.5ms"`` or ``"2s"``, or a number of seconds.
        name: What the value is called in an error.

    Raises:
        ValueError: It is no duration.
    """
    text = value if isinstance(value, str) else repr(value)
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?(?:e-?[0-9]+)?|\.[0-9]+) *(ns|us|ms|s|)", text)
    if match is None or isinstance(value, bool):
        raise ValueError(f"{name} {value!r} is no time; write 20us, 1.5ms or 2s")
    number = float(match[1]) * _UNITS[match[2]]
    if number > _LONGEST_NS:
        raise ValueError(f"{name} {value!r} is longer than 292 years")
    return round(number)


class TracingOptions:
    """Options of automatic tracing; unchangeable.

    Attributes:
        max_depth: Traced calls nested deeper are not recorded; None: all are.
        min_duration_ns: Calls shorter than this are folded into their parents; 0: none are.
        c_calls: Builtin functions and methods that traced code calls are recorded, too.
    """

    __slots__ = ("c_calls", "max_depth", "min_duration_ns")

    max_depth: int | None
    min_duration_ns: int
    c_calls: bool

    def __init__(
        self, max_depth: int | None = None, min_duration: Any = None, c_calls: bool = False
    ) -> None:
        """Checks what is given; `min_duration` as for :func:`parse_duration`, None: 0.

        Raises:
            ValueError: One of them makes no sense.
        """
        if max_depth is not None and (type(max_depth) is not int or max_depth < 1):
            raise ValueError(f"max_depth must be a positive integer or None, got {max_depth!r}")
        if not isinstance(c_calls, bool):
            raise ValueError(f"c_calls must be True or False, got {c_calls!r}")
        set_field = object.__setattr__
        set_field(self, "max_depth", max_depth)
        set_field(self, "min_duration_ns", 0 if min_duration is None else parse_duration(min_duration))
        set_field(self, "c_calls", c_calls)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"tracing options do not change; give {name} to tracing.configure()")

    def __repr__(self) -> str:
        return (
            f"TracingOptions(max_depth={self.max_depth}, min_duration='{self.min_duration_ns}ns', "
            f"c_calls={self.c_calls})"
        )


class Configured:
    """What :func:`configure` returns: as a context manager it puts back, at its end, what held before."""

    def __init__(self, options: TracingOptions, before: TracingOptions) -> None:
        self.options = options
        self._before = before

    def __enter__(self) -> TracingOptions:
        return self.options

    def __exit__(self, *exc_info: object) -> None:
        _set(self._before)


_current: TracingOptions | None = None


def _of_environment() -> TracingOptions:
    environment = os.environ
    depth = environment.get("SCOPE_PROFILER_TRACE_MAX_DEPTH", "")
    if depth and (not depth.isdecimal() or int(depth) < 1):
        raise ValueError(f"SCOPE_PROFILER_TRACE_MAX_DEPTH must be a positive integer, got {depth!r}")
    shortest = environment.get("SCOPE_PROFILER_TRACE_MIN_DURATION", "")
    if shortest:
        parse_duration(shortest, "SCOPE_PROFILER_TRACE_MIN_DURATION")
    c_calls = environment.get("SCOPE_PROFILER_TRACE_C_CALLS", "").lower()
    return TracingOptions(
        int(depth) if depth else None, shortest or None, c_calls in ("1", "true", "yes", "on")
    )


def _set(options: TracingOptions) -> None:
    from ._recorder import trace_defaults

    global _current
    trace_defaults(options.max_depth or 0, options.min_duration_ns, options.c_calls)
    _current = options


def options() -> TracingOptions:
    """The options that hold now: those last configured, else those of the environment.

    Raises:
        ValueError: The environment makes no sense.
    """
    if _current is None:
        _set(_of_environment())
    assert _current is not None
    return _current


def configure(
    *, max_depth: int | None = None, min_duration: Any = None, c_calls: bool = False
) -> Configured:
    """Sets the options for this process, from the next time that tracing starts.

    Args:
        max_depth: Traced calls nested deeper are not recorded; None: all are.
        min_duration: Calls shorter than this are folded into their parents and counted: text such as
            ``"20us"`` or a number of seconds; None: none are.
        c_calls: Record the builtin functions and methods that traced code calls, too.

    Returns:
        A context manager that puts back what held before, for who wants that.

    Raises:
        ValueError: One of them makes no sense; nothing has changed.
    """
    given = TracingOptions(max_depth, min_duration, c_calls)
    before = options()
    _set(given)
    return Configured(given, before)
