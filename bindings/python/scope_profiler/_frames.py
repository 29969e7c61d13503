"""Statistics and calls as rows of tables and as data frames of pandas."""

from __future__ import annotations

from . import _columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .mpi_region import MPIRegion
    from .region import Region

_EVENT_COLUMNS = ("name", "rank", "call_index", "start", "end", "duration")


def _pandas() -> Any:
    """Returns pandas, or says how to get it."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            "data frames need pandas; install it with: pip install 'scope-profiler[pproc]'"
        ) from error
    return pandas


def summary_row(region: MPIRegion) -> dict[str, Any]:
    """Returns the statistics of a region pooled over ranks, as ProfilingResults.summary."""
    percentiles = {f"p{p}": region.percentile_duration(p) for p in (50, 95, 99)}
    return {
        **region.get_summary(),
        "tags": region.tags,
        **{f"{key}_duration": value for key, value in percentiles.items()},
        "rank_imbalance": region.rank_imbalance,
        "rank_imbalance_pct": region.rank_imbalance_pct,
        **percentiles,
        "imbalance": region.rank_imbalance_pct,
    }


def statistics_frame(regions: Sequence[MPIRegion], per_rank: bool) -> Any:
    """Returns one row per region, or per region and rank."""
    pandas = _pandas()
    if not per_rank:
        return pandas.DataFrame([summary_row(region) for region in regions])
    return pandas.DataFrame(
        [
            {
                "name": region.name,
                "rank": rank,
                **region[rank].get_summary(),
                **{f"p{p}_duration": region[rank].percentile_duration(p) for p in (50, 95, 99)},
            }
            for region in regions
            for rank in region.ranks
        ]
    )


def _event_columns(name: str, rank: int, region: Region, origin_ns: int) -> dict[str, Any]:
    import numpy as np

    starts, ends = region.start_times_ns - origin_ns, region.end_times_ns - origin_ns
    columns: dict[str, Any] = {
        "name": name,
        "rank": rank,
        "call_index": np.arange(len(starts)),
        "start": _columns.seconds(starts),
        "end": _columns.seconds(ends),
        "duration": region.durations,
    }
    for key, values in (
        ("gpu_duration", region.gpu_durations),
        ("call_id", region.call_ids),
        ("parent_id", region.parent_ids),
        ("thread", region.thread_ids),
        ("task", region.task_ids),
        ("await_duration", region.await_times),
        ("metadata", list(region._recorded_metadata) or None),
    ):
        if values is not None:
            columns[key] = values
    return columns


def events_frame(regions: Sequence[MPIRegion], ranks: Sequence[int] | None, origin_ns: int) -> Any:
    """Returns one row per call, sorted by start."""
    pandas = _pandas()
    frames = [
        pandas.DataFrame(_event_columns(region.name, rank, region[rank], origin_ns))
        for region in regions
        for rank in region.ranks
        if ranks is None or rank in ranks
    ]
    if not frames:
        return pandas.DataFrame(columns=list(_EVENT_COLUMNS))
    frame = pandas.concat(frames, ignore_index=True)
    return frame.sort_values("start", kind="stable", ignore_index=True)
