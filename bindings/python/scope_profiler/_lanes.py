"""Lane tables of a run as the objects and rows that users see."""

from __future__ import annotations

from . import _columns
from .concurrency import TaskInfo, ThreadInfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ._results import Run
    from .region import Region


def thread_table(run: Run) -> dict[int, list[ThreadInfo]]:
    """Returns the threads of each rank."""
    table: dict[int, list[ThreadInfo]] = {}
    for row in run.threads():
        info = ThreadInfo(
            row.index, row.rank, row.name, row.ident, row.native_id, row.daemon,
            row.start_ns, row.end_ns, row.cpu_ns,
        )  # fmt: skip
        table.setdefault(row.rank, []).append(info)
    return table


def task_table(run: Run) -> dict[int, list[TaskInfo]]:
    """Returns the tasks of each rank."""
    table: dict[int, list[TaskInfo]] = {}
    for row in run.tasks():
        info = TaskInfo(
            row.index, row.rank, row.kind, row.name, row.coro_name, row.thread_index,
            row.created_ns, row.done_ns, row.steps, row.running_ns, row.suspended_ns,
        )  # fmt: skip
        table.setdefault(row.rank, []).append(info)
    return table


def copy_lanes(run: Run, sources: Iterable[Run]) -> None:
    """Takes over the lane tables of the first source that has them, rank by rank."""
    seen: set[int] = set()
    for source in sources:
        threads, tasks = source.threads(), source.tasks()
        new = {*(row.rank for row in threads), *(row.rank for row in tasks)} - seen
        for thread in threads:
            if thread.rank in new:
                run.add_thread(*thread)
        for task in tasks:
            if task.rank in new:
                run.add_task(*task)
        seen |= new


def lane_label(lane: int, threads: Iterable[ThreadInfo], tasks: Iterable[TaskInfo]) -> str:
    """Returns how a lane is called: a thread, or a task with its thread."""
    names = {info.index: str(info.name) for info in threads}
    if lane == -1:
        return "unknown lane"
    if lane < -1:
        return names.get(-2 - lane) or f"thread {-2 - lane}"
    task = {info.index: info for info in tasks}.get(lane)
    if task is None:
        return f"task {lane}"
    coroutine = str(task.coro_name).rsplit(".", 1)[-1]
    thread = names.get(task.thread_index) or f"thread {task.thread_index}"
    return f"{task.name} ({coroutine}) on {thread}" if coroutine else f"{task.name} on {thread}"


def thread_summary(
    threads: Iterable[ThreadInfo], regions: Iterable[Region]
) -> list[dict[str, Any]]:
    """Returns one dictionary per thread: its times, its calls, its time inside any region."""
    calls: dict[int, int] = {}
    inside: dict[int, int] = {}
    for region in regions:
        column = region.thread_ids
        if column is None:
            continue
        exclusive = region.exclusive_durations_ns
        for index in region.threads:
            mask = column == index
            calls[index] = calls.get(index, 0) + int(mask.sum())
            inside[index] = inside.get(index, 0) + int(exclusive[mask].sum())
    return [
        {
            "index": info.index,
            "name": info.name,
            "alive": info.alive,
            "wall_time": info.wall_time,
            "cpu_time": info.cpu_time,
            "num_calls": calls.get(info.index, 0),
            "region_time": inside.get(info.index, 0) / _columns.NS_PER_S,
        }
        for info in threads
    ]
