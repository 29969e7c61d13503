"""The calls of one rank as a tree: who called whom, and how much time was its own.

Recorded parents are used where every region of the rank has them; otherwise the nesting is found
from the intervals, one lane (thread or task) at a time.
"""

from __future__ import annotations

from collections import namedtuple

from . import _columns
from ._results import NestingError, Run
from .mpi_region import MPIRegion, color_of
from .region import Region

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ._columns import IntArray

    Regions = Any  # ProfilingResults, a mapping of names to MPIRegion, or MPIRegions

__all__ = [
    "CallArrays",
    "NestingError",
    "build_call_arrays",
    "build_call_stack",
    "call_stack_children",
    "call_stack_roots",
    "exclusive_totals_ns",
    "regions_from_snapshot",
    "split_by_lane",
]


class CallArrays(
    namedtuple(
        "CallArrays",
        "names source_files source_lines region_index call_index start_ns end_ns depth parent "
        "exclusive_ns lane",
    )
):
    """All calls of one rank, sorted by start ascending, then end descending.

    ``names``, ``source_files`` and ``source_lines`` are lists with one entry per region; the other
    fields are arrays of shape (len(self),). ``parent`` is an index into them, -1 for a root. ``lane`` is
    empty when lanes were not recorded.
    """

    __slots__ = ()

    def __new__(
        cls,
        names: Sequence[str],
        source_files: Sequence[str | None],
        source_lines: Sequence[int | None],
        region_index: IntArray,
        call_index: IntArray,
        start_ns: IntArray,
        end_ns: IntArray,
        depth: IntArray,
        parent: IntArray,
        exclusive_ns: IntArray,
        lane: IntArray | None = None,
    ) -> CallArrays:
        return super().__new__(
            cls, names, source_files, source_lines, region_index, call_index, start_ns, end_ns,
            depth, parent, exclusive_ns, _columns.empty() if lane is None else lane,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.start_ns)

    def _replace(self, **changes: Any) -> CallArrays:
        """As of any named tuple, whose own version takes len() for the number of fields."""
        return CallArrays(**{**self._asdict(), **changes})


def _members(regions: Regions) -> list[MPIRegion]:
    return list(regions.values()) if hasattr(regions, "values") else list(regions)


def _joint_run(regions: Regions, rank: int) -> tuple[Run, list[tuple[str, int]]]:
    """A run that holds exactly these regions on `rank`, and their (name, row) in order.

    Regions of a run that kept totals have no calls and are left out.
    """
    members = [
        region for region in _members(regions) if rank in region and not region[rank].is_aggregate
    ]
    runs = {id(region._run): region._run for region in members}
    if len(runs) == 1:
        (run,) = runs.values()
        rows = [(region.name, region._rows[rank]) for region in members]
        recorded = sum(
            1 for group in run.rows_by_region() for row_rank, _ in group if row_rank == rank
        )
        if recorded == len(rows):
            return run, rows
    run = Run.create()
    rows = [
        (
            region.name,
            run.add_row_of(region._run, region._rows[rank], region=region.name, rank=rank),
        )
        for region in members
    ]
    return run, rows


def arrays_of(run: Run, rank: int, rows: Sequence[tuple[str, int]]) -> CallArrays:
    """Returns the calls of `rank`, whose regions are the (name, row) pairs `rows`."""
    import numpy as np

    if not rows:
        return CallArrays([], [], [], *[_columns.empty()] * 7)
    tree = run.call_tree(rank)
    index_of_row = np.full(run.num_rows, -1, dtype=np.int64)
    records = [run.row(row) for _, row in rows]
    for index, (_, row) in enumerate(rows):
        index_of_row[row] = index
    return CallArrays(
        names=[name for name, _ in rows],
        source_files=[record.source_file for record in records],
        source_lines=[record.source_line for record in records],
        region_index=index_of_row[_columns.view(tree.row)],
        call_index=_columns.view(tree.call_index).astype(np.int64),
        start_ns=_columns.view(tree.start_ns),
        end_ns=_columns.view(tree.end_ns),
        depth=_columns.view(tree.depth).astype(np.int64),
        parent=_columns.view(tree.parent),
        exclusive_ns=_columns.view(tree.exclusive_ns),
        lane=_columns.empty() if tree.lane is None else _columns.view(tree.lane),
    )


def build_call_arrays(regions: Regions, rank: int = 0) -> CallArrays:
    """Returns the calls of one rank with their depth, parent and exclusive time.

    Calls that touch are siblings; a call without length belongs to the call around it; of two
    equal intervals the one of the earlier region is the parent.

    Args:
        regions: A results object, a mapping of names to regions, or regions.
        rank: Rank whose calls are wanted.

    Raises:
        NestingError: Two calls of one lane overlap without nesting.
        EventDataUnavailableError: Only the stored statistics were read.
    """
    for region in _members(regions):
        if rank in region:
            region[rank]._check_events()
    run, rows = _joint_run(regions, rank)
    return arrays_of(run, rank, rows)


def _parents_first(arrays: CallArrays) -> Iterable[int]:
    """Positions such that a call comes after its parent.

    That is the order of the arrays, except where recorded parents have the same interval as a
    child that sorts before them.
    """
    import numpy as np

    positions = np.arange(len(arrays))
    if bool((arrays.parent < positions).all()):
        return range(len(arrays))
    order: list[int] = np.argsort(arrays.depth, kind="stable").tolist()
    return order


def select(arrays: CallArrays, names: Iterable[str]) -> CallArrays:
    """Keeps the calls of some regions; a call goes to the nearest kept call around it."""
    import numpy as np

    wanted = set(names)
    keep_region = np.array([name in wanted for name in arrays.names], dtype=bool)
    keep = keep_region[arrays.region_index] if len(arrays) else np.empty(0, dtype=bool)
    if bool(keep.all()):
        return arrays
    new_index = np.cumsum(keep) - 1
    parents = arrays.parent.tolist()
    kept = keep.tolist()
    depth = [0] * len(kept)
    for i in _parents_first(arrays):
        parent = parents[i]
        if parent < 0:
            continue
        if not kept[parent]:
            parents[i] = parents[parent]  # already the nearest kept call around it
        if parents[i] >= 0:
            depth[i] = depth[parents[i]] + 1
    parent_array = np.array(parents, dtype=np.int64)[keep]
    return arrays._replace(
        region_index=arrays.region_index[keep],
        call_index=arrays.call_index[keep],
        start_ns=arrays.start_ns[keep],
        end_ns=arrays.end_ns[keep],
        depth=np.array(depth, dtype=np.int64)[keep],
        parent=np.where(parent_array >= 0, new_index[parent_array], -1),
        exclusive_ns=arrays.exclusive_ns[keep],
        lane=arrays.lane[keep] if len(arrays.lane) else arrays.lane,
    )


def stack_of(arrays: CallArrays, origin_ns: int = 0) -> list[dict[str, Any]]:
    """Returns one dictionary per call of `arrays`, times counted from `origin_ns`."""
    names = arrays.names
    colors = [color_of(name) for name in names]
    regions = arrays.region_index.tolist()
    parents = arrays.parent.tolist()
    paths = [""] * len(parents)
    for i in _parents_first(arrays):
        name = names[regions[i]]
        paths[i] = name if parents[i] < 0 else f"{paths[parents[i]]} > {name}"
    columns = zip(
        regions,
        arrays.call_index.tolist(),
        _columns.seconds(arrays.start_ns - origin_ns).tolist(),
        _columns.seconds(arrays.end_ns - origin_ns).tolist(),
        _columns.seconds(arrays.end_ns - arrays.start_ns).tolist(),
        _columns.seconds(arrays.exclusive_ns).tolist(),
        arrays.depth.tolist(),
        parents,
        paths,
        arrays.lane.tolist() if len(arrays.lane) else [-1] * len(arrays),
    )
    return [
        {
            "call_id": call_id,
            "name": names[region],
            "call_index": index,
            "start": start,
            "end": end,
            "duration": duration,
            "inclusive_duration": duration,
            "exclusive_duration": own,
            "depth": depth,
            "parent": None if parent < 0 else parent,
            "call_path": path,
            "source_file": arrays.source_files[region],
            "source_lineno": arrays.source_lines[region],
            "lane": lane,
            "color": colors[region],
        }
        for call_id, (
            region, index, start, end, duration, own, depth, parent, path, lane,
        ) in enumerate(columns)
    ]  # fmt: skip


def build_call_stack(regions: Regions, rank: int = 0, origin: float = 0.0) -> list[dict[str, Any]]:
    """Returns one dictionary per call of a rank, in the order of :func:`build_call_arrays`.

    Keys: ``call_id`` (position in the list), ``name``, ``call_index``, ``start``, ``end``,
    ``duration``, ``inclusive_duration``, ``exclusive_duration`` (seconds), ``depth``, ``parent``
    (a call_id, None for a root), ``call_path``, ``source_file``, ``source_lineno``, ``lane`` (-1
    when lanes were not recorded), ``color``.

    Args:
        regions: Results, regions by name, or regions.
        rank: The rank.
        origin: Seconds on the clock of the calls that count as 0.

    Raises:
        NestingError: Two calls of one lane overlap without nesting.
    """
    return stack_of(build_call_arrays(regions, rank), _columns.origin_ns(origin))


def call_stack_roots(calls: Sequence[Mapping[str, Any]]) -> list[int]:
    """Returns the ids of the calls of a call stack that have no parent."""
    return [call["call_id"] for call in calls if call["parent"] is None]


_ALL: Any = object()


def call_stack_children(calls: Sequence[Mapping[str, Any]], call_id: int | None = _ALL) -> list[Any]:
    """Returns the ids of the direct children of a call, of None the roots.

    Without a call it returns such a list for every call of the stack, so that the children of
    call ``i`` are ``call_stack_children(calls)[i]``.
    """
    if call_id is not _ALL:
        return [call["call_id"] for call in calls if call["parent"] == call_id]
    children: dict[int, list[int]] = {call["call_id"]: [] for call in calls}
    for call in calls:
        if call["parent"] is not None:
            children[call["parent"]].append(call["call_id"])
    return list(children.values())


def exclusive_totals_ns(regions: Regions, rank: int = 0) -> dict[str, int]:
    """Returns the exclusive time of every region of a rank in ns.

    Args:
        regions: As for :func:`build_call_arrays`, or arrays as for
            :func:`regions_from_snapshot`.
        rank: The rank.

    Raises:
        NestingError: Two calls of one lane overlap without nesting.
    """
    members = _members(regions)
    if not all(isinstance(member, MPIRegion) for member in members):
        members = regions_from_snapshot(regions, rank)
    run, rows = _joint_run(members, rank)
    run.call_tree(rank)  # names both calls if they do not nest, also for rows that need no tree
    return {name: int(_columns.view(run.exclusive(row)).sum()) for name, row in rows}


def regions_from_snapshot(regions: Mapping[str, Sequence[Any]], rank: int = 0) -> list[MPIRegion]:
    """Makes regions of arrays in ns.

    Args:
        regions: For each name the starts, the ends and then as many as there are of device
            times, call ids, parent ids, thread ids, task ids and suspended times, each an array
            or None.
        rank: Rank that the regions belong to.
    """
    return [MPIRegion(name, {rank: Region(*arrays)}) for name, arrays in regions.items()]


def split_by_lane(calls: CallArrays) -> list[tuple[int, CallArrays]]:
    """Splits calls by lane into (lane, calls); without lanes everything belongs to lane -1.

    Parents are indices into the split arrays; a parent on another lane becomes -1.
    """
    import numpy as np

    if not len(calls.lane):
        return [(-1, calls)] if len(calls) else []
    parts = []
    for lane in sorted(set(calls.lane.tolist())):
        keep = calls.lane == lane
        new_index = np.where(keep, np.cumsum(keep) - 1, -1)
        parent = calls.parent[keep]
        part = calls._replace(
            region_index=calls.region_index[keep],
            call_index=calls.call_index[keep],
            start_ns=calls.start_ns[keep],
            end_ns=calls.end_ns[keep],
            depth=calls.depth[keep],
            parent=np.where(parent >= 0, new_index[parent], -1),
            exclusive_ns=calls.exclusive_ns[keep],
            lane=calls.lane[keep],
        )
        parts.append((lane, part))
    return parts
