"""Threads and tasks of a run, and the lanes that calls belong to."""

from __future__ import annotations

from collections import namedtuple

from ._tracker import ConcurrencyTracker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._columns import IntArray

__all__ = ["UNKNOWN", "ConcurrencyTracker", "TaskInfo", "ThreadInfo", "lane_ids"]

#: A thread, task or time that is not known.
UNKNOWN = -1

_NS_PER_S = 1e9


def _seconds(value: int) -> float | None:
    return None if value == UNKNOWN else value / _NS_PER_S


class ThreadInfo(
    namedtuple("ThreadInfo", "index rank name ident native_id daemon start_ns end_ns cpu_ns")
):
    """One thread of a rank. Times in ns relative to the start of the run, -1 unknown."""

    __slots__ = ()

    @property
    def start_time(self) -> float | None:
        """Start in seconds after the start of the run, None when not known."""
        return _seconds(self.start_ns)

    @property
    def end_time(self) -> float | None:
        """End in seconds after the start of the run, None while alive."""
        return _seconds(self.end_ns)

    @property
    def cpu_time(self) -> float | None:
        """CPU time in seconds, None when not known."""
        return _seconds(self.cpu_ns)

    @property
    def alive(self) -> bool:
        """Whether the thread was alive when the run was written."""
        return bool(self.end_ns == UNKNOWN)

    @property
    def wall_time(self) -> float | None:
        """Life of the thread in seconds, None while alive or when its start is not known."""
        if self.alive or self.start_ns == UNKNOWN:
            return None
        return _seconds(self.end_ns - self.start_ns)


class TaskInfo(
    namedtuple(
        "TaskInfo",
        "index rank kind name coro_name thread_index created_ns done_ns steps running_ns "
        "suspended_ns",
    )
):
    """One asyncio task or greenlet of a rank (`kind` is ``"task"`` or ``"greenlet"``).

    Times in ns relative to the start of the run, -1 unknown.
    """

    __slots__ = ()

    @property
    def created_time(self) -> float | None:
        """Creation in seconds after the start of the run, None when not known."""
        return _seconds(self.created_ns)

    @property
    def done_time(self) -> float | None:
        """End in seconds after the start of the run, None while unfinished."""
        return _seconds(self.done_ns)

    @property
    def running_time(self) -> float | None:
        """Time in which the task ran, in seconds."""
        return _seconds(self.running_ns)

    @property
    def awaiting_time(self) -> float | None:
        """Time in which the task was suspended, in seconds."""
        return _seconds(self.suspended_ns)

    @property
    def done(self) -> bool:
        """Whether the task had finished when the run was written."""
        return bool(self.done_ns != UNKNOWN)

    @property
    def wall_time(self) -> float | None:
        """Life of the task in seconds, None while unfinished."""
        if not self.done or self.created_ns == UNKNOWN:
            return None
        return _seconds(self.done_ns - self.created_ns)


def lane_ids(
    thread_ids: Sequence[int] | IntArray | None, task_ids: Sequence[int] | IntArray | None
) -> IntArray:
    """Returns the lane of every call.

    A lane is the task when there is one, else ``-2 - thread``; -1 when neither is known.

    Args:
        thread_ids: Thread of every call, -1 unknown; None when not recorded.
        task_ids: Task of every call, -1 outside tasks; None when not recorded.
    """
    import numpy as np

    given = thread_ids if thread_ids is not None else task_ids
    lanes = np.full(0 if given is None else len(given), UNKNOWN, dtype=np.int64)
    if thread_ids is not None:
        threads = np.asarray(thread_ids, dtype=np.int64)
        lanes = np.where(threads >= 0, -2 - threads, UNKNOWN)
    if task_ids is not None:
        tasks = np.asarray(task_ids, dtype=np.int64)
        lanes = np.where(tasks >= 0, tasks, lanes)
    return lanes
