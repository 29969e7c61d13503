"""Following threads by themselves, without recording anything."""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_UNKNOWN = -1


class ThreadRecord:
    """A thread as it is now. Times in ns of the monotonic clock, -1 unknown or still alive.

    Attributes:
        index: Number of the thread, in the order in which threads became known.
        name: Its name.
        ident: Its number in Python.
        native_id: Its number in the system.
        daemon: Whether the program ends without waiting for it.
        start_ns: When it became known.
        end_ns: When it ended.
        cpu_ns: CPU time that it has used; of a thread that has ended, all of it.
    """

    def __init__(self, index: int, thread: threading.Thread) -> None:
        self.index = index
        self.name = thread.name
        self.ident = threading.get_ident()
        self.native_id = threading.get_native_id()
        self.daemon = thread.daemon
        self.start_ns = time.perf_counter_ns()
        self.end_ns = _UNKNOWN
        self._cpu_ns = _UNKNOWN

    @property
    def alive(self) -> bool:
        """Whether the thread has not ended."""
        return self.end_ns == _UNKNOWN

    @property
    def cpu_ns(self) -> int:
        """CPU time that the thread has used so far."""
        if not self.alive:
            return self._cpu_ns
        try:
            return time.clock_gettime_ns(time.pthread_getcpuclockid(self.ident))
        except (AttributeError, OSError):
            return _UNKNOWN

    def end(self) -> None:
        """Notes the end; on the thread itself, as the last thing it does."""
        self._cpu_ns = time.thread_time_ns()
        self.end_ns = time.perf_counter_ns()

    def __repr__(self) -> str:
        state = "alive" if self.alive else "finished"
        return f"ThreadRecord(index={self.index}, name={self.name!r}, ident={self.ident}, {state})"


class _EndOfThread:
    """Sits among the thread's own variables, which go when it ends."""

    def __init__(self, record: ThreadRecord) -> None:
        self.record = record

    def __del__(self) -> None:
        if self.record.ident == threading.get_ident():
            self.record.end()


class ConcurrencyTracker:
    """Follows the threads of the process: who they are, how long they live, what CPU time they take.

    A run with ``track_threads=True`` needs none of it: the recorder knows its threads itself. While
    installed, threads register before their first line; a hook of others is called on. In the child
    of a fork it is as if never installed. All methods may be called from any thread.

    Args:
        track_async: Follow tasks, too.

    Raises:
        RuntimeError: Tasks are wanted, which this build cannot follow.
    """

    def __init__(self, track_async: bool = False) -> None:
        if track_async:
            raise RuntimeError("track_async is not available in this build of scope_profiler")
        self._hook: Any = None
        self._previous: Any = None
        self._forget()
        _trackers.add(self)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._records: list[ThreadRecord] = []
        self._own = threading.local()

    @property
    def threads(self) -> list[ThreadRecord]:
        """The threads known so far."""
        return list(self._records)

    @property
    def tasks(self) -> list[Any]:
        """The tasks known so far; none, because they are not followed."""
        return []

    def current_thread(self) -> ThreadRecord:
        """Returns the record of the calling thread, which becomes known by it."""
        mark = getattr(self._own, "mark", None)
        if mark is None:
            with self._lock:
                record = ThreadRecord(len(self._records), threading.current_thread())
                self._records.append(record)
            mark = self._own.mark = _EndOfThread(record)
        return mark.record

    def install(self) -> None:
        """From now on every new thread becomes known. Harmless when it is installed."""
        if self._hook is not None:
            return
        self._previous = previous = threading.getprofile()

        def begin(frame: FrameType, event: Any, argument: Any) -> None:
            sys.setprofile(previous)
            self.current_thread()
            if previous is not None:
                previous(frame, event, argument)

        self._hook = begin
        threading.setprofile(begin)

    def uninstall(self) -> None:
        """New threads are left alone again. Harmless when it is not installed."""
        hook, self._hook = self._hook, None
        if hook is not None and threading.getprofile() is hook:
            threading.setprofile(self._previous)
        self._previous = None

    def instrument_loop(self, loop: Any) -> None:
        """Has the tasks of a loop of another kind than asyncio's followed, too.

        Without effect while no tasks are followed.
        """

    def snapshot(self, origin_ns: int = 0) -> dict[str, dict[str, Any]]:
        """Returns columns of what is known, the threads' and the tasks', as arrays and lists.

        Args:
            origin_ns: Start of the times that are returned; those not known stay -1.
        """
        import numpy as np

        records = self.threads

        def shifted(times: list[int]) -> Any:
            return np.array([t if t == _UNKNOWN else t - origin_ns for t in times], dtype=np.int64)

        def numbers(name: str) -> Any:
            return np.array([getattr(record, name) for record in records], dtype=np.int64)

        none = np.array([], dtype=np.int64)
        task_numbers = (
            "index", "thread_index", "created_ns", "done_ns", "steps", "running_ns", "suspended_ns",
        )  # fmt: skip
        return {
            "threads": {
                "index": numbers("index"),
                "ident": numbers("ident"),
                "native_id": numbers("native_id"),
                "name": [record.name for record in records],
                "daemon": np.array([record.daemon for record in records], dtype=np.int8),
                "start_ns": shifted([record.start_ns for record in records]),
                "end_ns": shifted([record.end_ns for record in records]),
                "cpu_ns": numbers("cpu_ns"),
            },
            "tasks": {
                **dict.fromkeys(task_numbers, none), "kind": [], "name": [], "coro_name": [],
            },
        }  # fmt: skip


_trackers: weakref.WeakSet[ConcurrencyTracker] = weakref.WeakSet()


def _stand_down() -> None:
    """In the child of a fork: its threads are others than those that were followed."""
    for tracker in list(_trackers):
        tracker._forget()
        tracker.uninstall()


os.register_at_fork(after_in_child=_stand_down)
