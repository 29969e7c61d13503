"""Several runs as one."""

from __future__ import annotations

from ._lanes import copy_lanes
from ._records import store, store_memory
from ._results import Run
from .results import ProfilingResults, set_metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any


def merge(
    roots: list[ProfilingResults], label: str | None, file_path: str | os.PathLike[str] | None
) -> ProfilingResults:
    """As :func:`scope_profiler.merge_results`, of runs that are all root."""
    if not roots:
        raise ValueError("merge_results() needs at least one result set of a root rank")
    run = Run.create()
    metadata: dict[str, Any] = {}
    seen: set[str] = set()
    for results in roots:
        for name, region in results._regions.items():
            if name in seen:
                raise ValueError(f"region {name!r} appears in more than one result set")
            seen.add(name)
            for row in region._rows.values():
                run.add_row_of(results._run, row)
        for key, value in results.metadata.items():
            metadata.setdefault(key, value)
    if label is not None:
        metadata["label"] = label
    copy_lanes(run, [results._run for results in roots])
    set_metadata(run, metadata)
    run.set_num_ranks(max(results.num_ranks for results in roots))
    merged = ProfilingResults._from_run(
        run,
        file_path=file_path if file_path is not None else roots[0].file_path,
        event_data_available=all(results.has_event_data for results in roots),
    )
    merged.metadata = metadata
    for results in reversed(roots):
        merged._likwid.update(results._likwid)
        merged._likwid_environment.update(results._likwid_environment)
        merged._perf_events.update(results._perf_events)
        merged._cpu.update(results._cpu)
        merged._line_profile.update(results._line_profile)
        merged._memory.update(results._memory)
    store(
        run,
        merged._likwid,
        merged._perf_events,
        merged._line_profile,
        merged._likwid_environment,
        merged._cpu,
    )
    store_memory(run, merged._memory)
    return merged
