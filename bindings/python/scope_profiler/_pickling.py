"""Runs and regions as pickles, for other processes and copies."""

from __future__ import annotations

from ._records import store, store_memory
from ._results import NestingError
from .mpi_region import MPIRegion
from .region import Region
from .results import ProfilingResults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ._columns import IntArray


def _arguments(region: Region) -> dict[str, Any]:
    """What Region takes to build the same region."""
    arguments: dict[str, Any] = {
        "source_file": region.source_file,
        "source_lineno": region.source_lineno,
        "source_text": region.source_text,
        "tags": region.tags,
    }
    if region.stored_summary is not None:
        return {
            **arguments,
            "start_times": (),
            "end_times": (),
            "aggregate": region.stored_summary,
            "event_data_available": region.has_event_data,
        }
    return {
        **arguments,
        "start_times": region.start_times_ns,
        "end_times": region.end_times_ns,
        "gpu_durations": region.gpu_durations_ns,
        "call_ids": region.call_ids,
        "parent_ids": region.parent_ids,
        "thread_ids": region.thread_ids,
        "task_ids": region.task_ids,
        "await_times": region.await_times_ns,
        "event_metadata": region._recorded_metadata,
    }


def _exclusive(region: Region) -> IntArray | None:
    """Exclusive ns of every call, which the calls of this region alone do not tell."""
    try:
        return region.exclusive_durations_ns if region.has_event_data else None
    except NestingError:
        return None


def _region(arguments: dict[str, Any], exclusive: IntArray | None) -> Region:
    region = Region(**arguments)
    if exclusive is not None and len(exclusive) > 0:
        region._exclusive = lambda: exclusive
    return region


def reduce_region(region: Region) -> tuple[Callable[..., Region], tuple[Any, ...]]:
    """Answer of Region.__reduce__."""
    return _region, (_arguments(region), _exclusive(region))


def _results(
    arguments: dict[str, Any],
    parts: dict[str, dict[int, Any]],
    is_in_memory: bool,
    likwid_environment: dict[int, dict[str, Any]],
    cpu: dict[int, dict[str, Any]],
    memory: dict[int, dict[str, Any]],
) -> ProfilingResults:
    regions = {
        name: MPIRegion(name, {rank: Region(**part) for rank, part in by_rank.items()})
        for name, by_rank in parts.items()
    }
    results = ProfilingResults(regions, **arguments)
    results._is_in_memory = is_in_memory
    results._likwid_environment = likwid_environment
    store(results._run, {}, {}, {}, likwid_environment)
    results._set_cpu(cpu)
    results._memory = memory
    store_memory(results._run, memory)
    return results


def reduce_results(
    results: ProfilingResults,
) -> tuple[Callable[..., ProfilingResults], tuple[Any, ...]]:
    """Answer of ProfilingResults.__reduce__."""
    totals: dict[int, dict[str, int]] = {}
    for region in results:
        for rank in region.ranks:
            total = region[rank]._record.exclusive_total
            if total >= 0:
                totals.setdefault(rank, {})[region.name] = total
    arguments = {
        "metadata": results.metadata,
        "num_ranks": results.num_ranks,
        "likwid": results.get_likwid_regions(),
        "perf_events": results.get_perf_events(),
        "line_profile": results.line_profile,
        "file_path": results.file_path,
        "is_root": results.is_root,
        "exclusive_totals": totals,
        "event_data_available": results.has_event_data,
        "threads": results.threads,
        "tasks": results.tasks,
    }
    parts = {
        region.name: {rank: _arguments(region[rank]) for rank in region.ranks}
        for region in results
    }
    return _results, (
        arguments,
        parts,
        results._is_in_memory,
        results._likwid_environment,
        results.get_cpu(),
        results._memory,
    )
