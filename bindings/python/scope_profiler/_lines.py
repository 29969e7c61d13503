"""Time by line. Functions are timed by the package line_profiler; code that has no function of its own
(the body of a `with` block, a cell of a notebook, the top of a script) and traced functions, which must
stay as they are, by a trace function here.

line_profiler counts on every thread for itself, so what a thread begins it ends. Nothing here runs
unless `use_line_profiler` is set.
"""

from __future__ import annotations

import inspect
import linecache
import os
import sys
import threading
from time import perf_counter_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType
    from typing import Any, TextIO

_OWN_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_NANOSECOND = 1e-9
# Before 3.12 line_profiler takes the thread's trace function; since then it has one of its own.
_SHARES_TRACE = sys.version_info < (3, 12)

# File, first line and name of a function; and line -> [passes, ticks].
_Key = tuple[str, int, str]
_Lines = dict[int, list[int]]


def _key_of(code: CodeType) -> _Key:
    return code.co_filename, code.co_firstlineno, getattr(code, "co_qualname", code.co_name)


# ---- frames ------------------------------------------------------------------------------------


class _FrameLines:
    """Trace function of one frame: adds the time of each line to the regions that are open in it.

    A region counts from the first line that begins after it was entered.
    """

    __slots__ = ("_key", "_regions", "_line", "_start", "inner")

    def __init__(self, frame: FrameType, inner: Any) -> None:
        self._key = _key_of(frame.f_code)
        self._regions: dict[RegionLines, list[Any]] = {}  # region -> [entries, line, counts already]
        self._line: int | None = None
        self._start = 0
        self.inner = inner  # the trace function that was there before

    def add(self, region: RegionLines, line: int) -> None:
        entry = self._regions.setdefault(region, [0, line, False])
        entry[0] += 1

    def remove(self, region: RegionLines) -> bool:
        """Ends an entry; returns whether the frame has none left."""
        entry = self._regions[region]
        entry[0] -= 1
        if entry[0] == 0:
            # After an exception the line that raised it is still to be counted.
            if entry[2] and self._line is not None and self._line != entry[1]:
                region._add(self._key, self._line, perf_counter_ns() - self._start)
            del self._regions[region]
        return not self._regions

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        now = perf_counter_ns()
        if event != "exception":
            self._end_line(now - self._start)
            self._line = frame.f_lineno if event == "line" else None
        if self.inner is not None:
            self.inner = self.inner(frame, event, arg)
        if event != "exception":
            self._start = perf_counter_ns()
        return self

    def _end_line(self, spent: int) -> None:
        for region, entry in self._regions.items():
            if entry[2] and self._line is not None:
                region._add(self._key, self._line, spent)
            entry[2] = True


def _is_line_profiler(trace: Any) -> bool:
    return type(trace).__name__ == "_LineProfilerManager"


class _Thread(threading.local):
    """What one thread times, and the trace function that it had before."""

    def __init__(self) -> None:
        #: What is to be undone at the end of each open call: (region, function or None).
        self.open: list[tuple[RegionLines, Callable[[], None] | None]] = []
        self.frames: dict[FrameType, _FrameLines] = {}
        self.choose: Callable[[FrameType], RegionLines | None] | None = None
        self._previous: Any = None
        self._uses = 0

    @property
    def is_tracing(self) -> bool:
        return self._uses > 0

    def start(self) -> None:
        if self._uses == 0:
            self._previous = sys.gettrace()
            sys.settrace(self._on_call)
        self._uses += 1

    def stop(self) -> None:
        self._uses -= 1
        if self._uses == 0 and sys.gettrace() == self._on_call:
            sys.settrace(self._previous)

    def _on_call(self, frame: FrameType, event: str, arg: Any) -> Any:
        if self._uses == 0:  # put back by another tool that was switched off after this one
            sys.settrace(self._previous)
            return None
        inner = None if self._previous is None else self._previous(frame, event, arg)
        timer = self.frames.get(frame)
        if timer is None and self.choose is not None:
            region = self.choose(frame)
            if region is not None:
                timer = _FrameLines(frame, inner)
                timer.add(region, -1)
                timer._end_line(0)
        if timer is None:
            return inner
        timer.inner = inner
        return timer

    def enter_frame(self, frame: FrameType, region: RegionLines) -> Callable[[], None]:
        """Times the lines of a frame from now on; returns what ends it."""
        timer = self.frames.get(frame)
        if timer is None:
            self.start()
            inner = frame.f_trace
            if inner is None and _is_line_profiler(self._previous):
                inner = self._previous
            timer = self.frames[frame] = _FrameLines(frame, inner)
            frame.f_trace = timer
        timer.add(region, frame.f_lineno)
        return lambda: self._leave_frame(frame, region)

    def _leave_frame(self, frame: FrameType, region: RegionLines) -> None:
        timer = self.frames[frame]
        if timer.remove(region):
            del self.frames[frame]
            if frame.f_trace is timer:
                frame.f_trace = None if _is_line_profiler(timer.inner) else timer.inner
            self.stop()


# ---- regions -----------------------------------------------------------------------------------


def _python_function(function: Any) -> Any:
    """The function under decorators and descriptors; None for what is not written in Python."""
    while True:
        inner = getattr(function, "__wrapped__", None)
        for name in ("__func__", "func", "fget"):
            if inner is None and not hasattr(function, "__code__"):
                inner = getattr(function, name, None)
        if inner is None:
            break
        function = inner
    return function if hasattr(function, "__code__") else None


class RegionLines:
    """Line timings of one region. The extension calls `enter` and `leave` around each of its calls."""

    def __init__(self, run: LineRun, name: str) -> None:
        self._run = run
        self._name = name
        self._profiler: Any = None
        self._functions: set[Any] = set()
        self._is_for_functions = False
        self._manual: dict[_Key, _Lines] = {}
        self._written: dict[_Key, _Lines] = {}

    def add_function(self, function: Any, is_given: bool = True) -> None:
        """Has the lines of a function timed while the region is open.

        Raises:
            TypeError: The program names it, and it is not written in Python.
        """
        found = _python_function(function)
        if found is None:
            if is_given:
                raise TypeError(f"{function!r} has no lines: it is not written in Python")
            return
        self._is_for_functions = self._is_for_functions or is_given
        if found in self._functions:
            return
        self._functions.add(found)
        if self._profiler is None:
            from line_profiler import LineProfiler

            self._profiler = LineProfiler()
        self._profiler.add_function(found)
        self._run.timed.add(_key_of(found.__code__))

    # ---- calls -------------------------------------------------------------------------------

    def enter(self, is_block: bool = True) -> None:
        """Begins a call. A block of a region without functions has the lines of its frame timed."""
        if self._run.is_paused():
            self.enter_timing_only()
        elif is_block and not self._is_for_functions:
            self.enter_frame()
        elif self._profiler is None:
            self.enter_timing_only()
        else:
            self._enable()

    def _enable(self) -> None:
        thread = self._run.thread
        profiler = self._profiler
        if _SHARES_TRACE and thread.is_tracing:
            # It stands before our trace function now and has to pass on what it gets.
            profiler.wrap_trace = True
        profiler.enable_by_count()
        thread.open.append((self, profiler.disable_by_count))

    def enter_frame(self, frame: FrameType | None = None) -> None:
        """Times the lines of a frame, by default the one that enters the region."""
        thread = self._run.thread
        if frame is None:
            frame = sys._getframe(1)
            while frame.f_back is not None and frame.f_code.co_filename.startswith(_OWN_FOLDER):
                frame = frame.f_back
        thread.open.append((self, thread.enter_frame(frame, self)))

    def enter_timing_only(self) -> None:
        """Begins a call whose lines are not timed."""
        self._run.thread.open.append((self, None))

    def leave(self) -> None:
        """Ends the innermost call of the region on this thread; one begun elsewhere goes on there."""
        entries = self._run.thread.open
        for i in range(len(entries) - 1, -1, -1):
            if entries[i][0] is self:
                undo = entries.pop(i)[1]
                if undo is not None:
                    undo()
                return

    # ---- what was found ----------------------------------------------------------------------

    def _add(self, key: _Key, line: int, ticks: int) -> None:
        if ticks <= 0:
            return
        lines = self._manual.get(key)
        if lines is None:
            lines = self._manual.setdefault(key, {})
        entry = lines.get(line)
        if entry is None:
            entry = lines.setdefault(line, [0, 0])
        entry[0] += 1
        entry[1] += ticks

    def record_line_timing(
        self, filename: str, function: str, first_lineno: int, lineno: int, duration: int
    ) -> None:
        """Adds one pass over a line, in ns; durations of 0 and less are dropped."""
        self._add((filename, first_lineno, function), lineno, duration)

    def _timings(self) -> dict[_Key, _Lines]:
        """All lines in ns."""
        found: dict[_Key, _Lines] = {}
        if self._profiler is not None:
            stats = self._profiler.get_stats()
            scale = stats.unit / _NANOSECOND
            for key, lines in stats.timings.items():
                found[key] = {line: [hits, round(time * scale)] for line, hits, time in lines}
        for key, lines in list(self._manual.items()):
            into = found.setdefault(key, {})
            for line, (hits, ticks) in list(lines.items()):
                entry = into.setdefault(line, [0, 0])
                entry[0] += hits
                entry[1] += ticks
        return found

    def get_stats(self) -> Any:
        """Line timings as line_profiler has them."""
        from line_profiler.line_profiler import LineStats

        timings = {
            key: [(line, *lines[line]) for line in sorted(lines)]
            for key, lines in self._timings().items()
        }
        return LineStats(timings, _NANOSECOND)

    def print_stats(self, stream: TextIO | None = None) -> None:
        """Prints the line timings."""
        self.get_stats().print(stream=stream)

    def manual_line_records(self, unit: float = _NANOSECOND) -> list[dict[str, Any]]:
        """Records of the lines that were not timed through line_profiler, in ticks of `unit` seconds."""
        return [self._record(key, lines, unit) for key, lines in self._manual.items() if lines]

    def records(self, since_written: bool = False) -> Iterator[dict[str, Any]]:
        """One record a function that ran."""
        for key, lines in self._timings().items():
            done = self._written.get(key, {}) if since_written else {}
            new = {
                line: [entry[0] - done.get(line, (0, 0))[0], entry[1] - done.get(line, (0, 0))[1]]
                for line, entry in lines.items()
            }
            new = {line: entry for line, entry in new.items() if entry[0] > 0}
            if new:
                yield self._record(key, new, _NANOSECOND)

    def mark_written(self) -> None:
        """What is known now is in a file; the next one has what comes later."""
        self._written = self._timings()

    def _record(self, key: _Key, lines: _Lines, unit: float) -> dict[str, Any]:
        filename, first, function = key
        numbers = sorted(lines)
        record = {
            "region": self._name,
            "filename": self._run.shown_path(filename),
            "function": function,
            "first_lineno": first,
            "line_numbers": numbers,
            "hits": [lines[line][0] for line in numbers],
            "times": [lines[line][1] * _NANOSECOND / unit for line in numbers],
            "unit": unit,
        }
        start, text = _source_of(filename, first, function, numbers)
        if text:
            record["source"] = text
            record["source_first_lineno"] = start
        return record


def _source_of(filename: str, first: int, function: str, numbers: list[int]) -> tuple[int, str]:
    """First line and text of a function; of code without one, from the first to the last line timed."""
    text = linecache.getlines(filename)
    start, end = (numbers[0], numbers[-1]) if function == "<module>" else (first, numbers[-1])
    if function != "<module>" and 0 < first <= len(text):
        end = max(end, first + len(inspect.getblock(text[first - 1 :])) - 1)
    return start, "".join(text[start - 1 : end])


# ---- runs --------------------------------------------------------------------------------------


class LineRun:
    """Line timings of one configuration."""

    def __init__(self, locate: Callable[[str, int], Any], is_paused: Callable[[], bool]) -> None:
        self.thread = _Thread()
        self.is_paused = is_paused
        #: Functions that line_profiler times; tracing leaves them alone.
        self.timed: set[_Key] = set()
        self._locate = locate
        self._regions: dict[str, RegionLines] = {}

    def region(self, name: str) -> RegionLines | None:
        """What times the lines of a region; None: nothing does."""
        from ._finalize import ROOT_REGION

        if name == ROOT_REGION:
            return None
        return self._regions.setdefault(name, RegionLines(self, name))

    def shown_path(self, filename: str) -> str:
        """A file name as it is stored."""
        if filename.startswith("<"):
            return filename
        return str(self._locate(filename, 1)[0])

    def records(self, since_written: bool) -> list[dict[str, Any]]:
        """Records of all regions; `since_written`: of what is in no file yet."""
        return [
            record for lines in list(self._regions.values()) for record in lines.records(since_written)
        ]

    def mark_written(self) -> None:
        """What is known now is in a file."""
        for lines in list(self._regions.values()):
            lines.mark_written()

    # ---- traced functions --------------------------------------------------------------------

    def start_tracing(self, rules: Callable[[CodeType, Any], str | None]) -> Callable[[], None]:
        """Times the lines of all functions that the rules choose, on this thread and those that start
        from now on; returns what ends it."""
        names: dict[CodeType, RegionLines | None] = {}
        is_on = True

        def choose(frame: FrameType) -> RegionLines | None:
            code = frame.f_code
            if not is_on:
                return None
            if code not in names:
                names[code] = self._traced_region(code, rules(code, frame.f_globals.get("__name__")))
            return names[code]

        def begin_thread(frame: FrameType, event: str, arg: Any) -> Any:
            thread.choose = choose
            sys.settrace(previous)
            thread.start()
            return thread._on_call(frame, event, arg)

        thread = self.thread
        previous = threading.gettrace() if hasattr(threading, "gettrace") else None
        threading.settrace(begin_thread)
        thread.choose = choose
        thread.start()

        def end() -> None:
            nonlocal is_on
            is_on = False
            threading.settrace(previous)  # type: ignore[arg-type]
            thread.choose = None
            thread.stop()

        return end

    def _traced_region(self, code: CodeType, name: str | None) -> RegionLines | None:
        return None if name is None or _key_of(code) in self.timed else self.region(name)
