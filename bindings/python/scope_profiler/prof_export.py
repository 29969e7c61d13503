"""Runs as statistics of cProfile, for pstats and what is built on it, and as flame graphs."""

from __future__ import annotations

import marshal
import pstats
from pathlib import Path

from . import _columns
from ._export import file_names, root_runs, selection
from ._plain import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from ._export import Data
    from .results import Patterns, ProfilingResults, Ranks

    Key = tuple[str, int, str]
    Sums = tuple[int, int, float, float]
    Stats = dict[Key, tuple[int, int, float, float, dict[Key, Sums]]]

__all__ = [
    "ScopeProfile",
    "build_pstats",
    "build_pstats_dict",
    "export_flamegraph_svg",
    "export_prof",
    "load_prof",
    "to_pstats",
    "write_prof_file",
]


class ScopeProfile:
    """Statistics in the form that :class:`pstats.Stats` takes in the place of a profiler.

    Attributes:
        stats: {(file, line, name): (primitive calls, calls, own s, cumulative s, callers)}.
    """

    def __init__(self, stats: Stats) -> None:
        self.stats = stats

    def create_stats(self) -> None:
        """Does nothing: the statistics are there already. pstats calls it."""

    def dump_stats(self, path: str | os.PathLike[str]) -> None:
        """Writes the statistics as a file that pstats reads."""
        write_prof_file(path, self.stats)


# ---- from dictionaries of calls --------------------------------------------------------------


def _key(call: Mapping[str, Any], call_paths: bool) -> Key:
    name = call["call_path"] if call_paths else call["name"]
    file = call.get("source_file")
    return (file, call.get("source_lineno") or 0, name) if file else ("~", 0, name)


def _add(table: dict[Any, list[float]], key: Any, call: Mapping[str, Any], outermost: bool) -> None:
    sums = table.setdefault(key, [0, 0, 0.0, 0.0])
    sums[0] += outermost
    sums[1] += 1
    sums[2] += call["exclusive_duration"]
    sums[3] += call["inclusive_duration"] if outermost else 0.0


def build_pstats_dict(
    calls: Sequence[Mapping[str, Any]], root_name: str | None = None, call_paths: bool = True
) -> Stats:
    """Sums up calls as cProfile does.

    Args:
        calls: Calls as of :meth:`ProfilingResults.call_stack`, parents before children.
        root_name: Name of an entry that calls everything at the top; None adds none.
        call_paths: One entry a call path ``a > b``; otherwise one a region.

    Returns:
        {(file, line, name): (primitive calls, calls, own s, cumulative s, callers)}; empty without
        calls. Of a region that calls itself only the outermost calls are primitive, and only their
        time is cumulative.
    """
    if not calls:
        return {}
    root: Key | None = None if root_name is None else ("~", 0, root_name)
    entries: dict[Key, list[float]] = {}
    edges: dict[tuple[Key, Key], list[float]] = {}
    open_keys: dict[Key, int] = {}
    open_edges: dict[tuple[Key, Key], int] = {}
    stack: list[tuple[Any, Key, tuple[Key, Key] | None]] = []
    for call in calls:
        while stack and stack[-1][0] != call["parent"]:
            _, left, left_edge = stack.pop()
            open_keys[left] -= 1
            if left_edge is not None:
                open_edges[left_edge] -= 1
        key = _key(call, call_paths)
        caller = stack[-1][1] if stack else root
        edge = None if caller is None else (caller, key)
        _add(entries, key, call, open_keys.get(key, 0) == 0)
        open_keys[key] = open_keys.get(key, 0) + 1
        if edge is not None:
            _add(edges, edge, call, open_edges.get(edge, 0) == 0)
            open_edges[edge] = open_edges.get(edge, 0) + 1
        stack.append((call["call_id"], key, edge))
    top = sum(call["inclusive_duration"] for call in calls if call["parent"] is None)
    return _stats_of(entries, edges, root, top)


def _stats_of(
    entries: dict[Key, list[float]],
    edges: dict[tuple[Key, Key], list[float]],
    root: Key | None,
    top: float,
) -> Stats:
    callers: dict[Key, dict[Key, Sums]] = {}
    for (caller, key), (primitive, count, own, cumulative) in edges.items():
        # The two counts stand the other way round here, as cProfile has them.
        callers.setdefault(key, {})[caller] = (int(count), int(primitive), own, cumulative)
    stats: Stats = {} if root is None else {root: (1, 1, 0.0, top, {})}
    for key, (primitive, count, own, cumulative) in entries.items():
        stats[key] = (int(primitive), int(count), own, cumulative, callers.get(key, {}))
    return stats


def build_pstats(
    calls: Sequence[Mapping[str, Any]], root_name: str | None = None, call_paths: bool = True
) -> pstats.Stats:
    """Returns calls summed up by :func:`build_pstats_dict` as a :class:`pstats.Stats`."""
    return _stats(build_pstats_dict(calls, root_name, call_paths))


def _stats(stats: Stats) -> pstats.Stats:
    if not stats:
        return pstats.Stats()
    return pstats.Stats(ScopeProfile(stats))  # type: ignore[arg-type]


# ---- files -----------------------------------------------------------------------------------


def write_prof_file(path: str | os.PathLike[str], stats: Stats) -> Path:
    """Writes statistics as a file that pstats reads.

    Returns:
        The path.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(marshal.dumps(stats))
    return target


def load_prof(filepath: str | os.PathLike[str]) -> pstats.Stats:
    """Reads a file of :func:`export_prof` or of cProfile.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It holds no statistics.
    """
    file = Path(filepath)
    data = file.read_bytes()
    try:
        stats = marshal.loads(data)
    except (EOFError, TypeError, ValueError) as error:
        raise ValueError(f"{file} holds no statistics of cProfile: {error}") from error
    if not isinstance(stats, dict):
        raise ValueError(f"{file} holds no statistics of cProfile")
    return _stats(stats)


def _chosen_ranks(ranks: Ranks) -> list[int]:
    chosen = _columns.checked_ranks(ranks)
    for rank in chosen or ():
        if rank < 0:
            raise ValueError(f"Invalid rank requested: {rank}")
    return [0] if chosen is None else chosen


def _rank_files(
    data: Data, filepath: str | os.PathLike[str], ranks: Ranks, ending: str
) -> Iterator[tuple[ProfilingResults, int, Path]]:
    """Yields run, rank and path ``<stem>[_<label>]_rank<N><ending>``."""
    target = Path(filepath)
    target = target if target.suffix else target.with_name(target.name + ending)
    for run, path in file_names(target, root_runs(data)):
        for rank in _chosen_ranks(ranks):
            run._check_events()
            yield run, rank, path.with_name(f"{path.stem}_rank{rank}{path.suffix}")


def export_prof(
    profiling_data: Data,
    filepath: str | os.PathLike[str],
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    verbose: bool = True,
    call_paths: bool = True,
) -> list[Path]:
    """Writes ranks as statistics of cProfile: ``<stem>[_<label>]_rank<N>.prof``.

    Args:
        profiling_data: A run or several.
        filepath: The file before rank and label are put into its name.
        ranks: One rank or several; None is rank 0.
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        verbose: Print the paths.
        call_paths: One entry a call path; otherwise one a region.

    Returns:
        The paths; none on ranks that are not root.

    Raises:
        ValueError: No region fits, or a rank does not exist or has no calls.
        NestingError: The calls of a rank cannot be nested.
    """
    paths = []
    for run, rank, path in _rank_files(profiling_data, filepath, ranks, ".prof"):
        run._run.export(
            "prof", path, rank=rank, call_paths=call_paths, **selection(run, include, exclude)
        )
        paths.append(path)
        if verbose:
            print(f"wrote {shown(path)}")
    return paths


def to_pstats(
    profiling_data: Data,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    call_paths: bool = True,
) -> dict[tuple[str, int], pstats.Stats]:
    """Returns ranks as :class:`pstats.Stats` by (label, rank); arguments as :func:`export_prof`."""
    found: dict[tuple[str, int], pstats.Stats] = {}
    for run in root_runs(profiling_data):
        for rank in _chosen_ranks(ranks):
            run._check_events()
            data_of_rank = run._run.prof_bytes(
                rank, call_paths=call_paths, **selection(run, include, exclude)
            )
            label, number = run.display_label, 2
            while (label, rank) in found:
                label, number = f"{run.display_label}_{number}", number + 1
            found[label, rank] = _stats(marshal.loads(data_of_rank))
    return found


def export_flamegraph_svg(
    profiling_data: Data,
    filepath: str | os.PathLike[str],
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    call_paths: bool = True,
    width: float = 1200,
    threshold: float = 0.001,
    scalable: bool = True,
    verbose: bool = True,
) -> list[Path]:
    """Draws ranks as flame graphs: ``<stem>[_<label>]_rank<N>.svg``.

    Args:
        profiling_data: A run or several.
        filepath: The file before rank and label are put into its name.
        ranks: One rank or several; None is rank 0.
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        call_paths: Draw call paths on top of each other; otherwise the regions beside each other.
        width: Of the picture in pixels.
        threshold: Smallest part of the whole that is drawn.
        scalable: Scale the picture to the window.
        verbose: Print the paths.

    Returns:
        The paths; none on ranks that are not root.

    Raises:
        ValueError: No region fits, or a rank does not exist or has no calls.
        NestingError: The calls of a rank cannot be nested.
    """
    paths = []
    for run, rank, path in _rank_files(profiling_data, filepath, ranks, ".svg"):
        run._run.export(
            "flamegraph",
            path,
            rank=rank,
            call_paths=call_paths,
            width=width,
            threshold=threshold * 100 if threshold > 0 else -1.0,
            scalable=scalable,
            **selection(run, include, exclude),
        )
        paths.append(path)
        if verbose:
            print(f"wrote {shown(path)}")
    return paths
