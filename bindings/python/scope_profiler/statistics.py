"""Statistics of every region as one document, for scripts and other tools."""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import _columns
from ._plain import finite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .mpi_region import MPIRegion
    from .region import Region
    from .results import Patterns, ProfilingResults, Ranks

__all__ = ["collect_region_statistics", "write_region_statistics_json"]

_FIELDS = ("average", "min", "max", "first", "last", "std", "total")


def _runs(data: ProfilingResults | Iterable[ProfilingResults]) -> list[ProfilingResults]:
    from .results import ProfilingResults

    runs = [data] if isinstance(data, ProfilingResults) else list(data)
    return [run for run in runs if run.is_root]


def _statistics(region: Region | MPIRegion) -> dict[str, Any]:
    count = region.num_calls
    fields: dict[str, Any] = {"count": count}
    for name in _FIELDS:
        fields[f"{name}_duration_seconds"] = getattr(region, f"{name}_duration") if count else None
    return fields


def _region_statistics(region: MPIRegion, ranks: list[int] | None) -> dict[str, Any]:
    from .mpi_region import MPIRegion

    rows = [(rank, row) for rank, row in region._rows.items() if ranks is None or rank in ranks]
    chosen = MPIRegion._of(region._run, region._index, region.name, rows)
    return {
        **_statistics(chosen),
        "per_rank": {str(rank): _statistics(region[rank]) for rank in chosen.ranks},
    }


def collect_region_statistics(
    data: ProfilingResults | Iterable[ProfilingResults],
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
) -> dict[str, Any]:
    """Collects the statistics of every region of one or several runs.

    Args:
        data: A run or several.
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        ranks: One rank, several, or None for all.

    Returns:
        A document with ``units``, ``filters``, ``common_regions`` (names found in every run) and
        ``files``, one entry per run: ``label``, ``file_path``, ``num_ranks``,
        ``total_time_seconds`` and ``region_statistics`` by name. Durations are in seconds, None
        where a rank has no call.
    """
    chosen = _columns.checked_ranks(ranks)
    files: list[dict[str, Any]] = []
    for run in _runs(data):
        regions = run.get_regions(include, exclude)
        files.append(
            {
                "label": run.display_label,
                "file_path": None if run.file_path is None else os.path.abspath(run.file_path),
                "num_ranks": run.num_ranks,
                "total_time_seconds": run.total_time,
                "region_statistics": {
                    region.name: _region_statistics(region, chosen) for region in regions
                },
            }
        )
    return {
        "format": "scope-profiler-plot-data",
        "format_version": 1,
        "plot": "region_statistics",
        "units": {"durations": "seconds"},
        "filters": {"include": _listed(include), "exclude": _listed(exclude), "ranks": chosen},
        "common_regions": _common([list(file["region_statistics"]) for file in files]),
        "files": files,
    }


def _listed(patterns: Patterns) -> list[str] | None:
    if patterns is None:
        return None
    return [patterns] if isinstance(patterns, str) else list(patterns)


def _common(names: list[list[str]]) -> list[str]:
    if not names:
        return []
    return [name for name in names[0] if all(name in others for others in names[1:])]


def write_region_statistics_json(
    data: ProfilingResults | Iterable[ProfilingResults],
    filepath: str | os.PathLike[str],
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
) -> Path:
    """Writes the document of :func:`collect_region_statistics` as JSON with indent 2.

    Returns:
        The path.
    """
    path = Path(filepath)
    path.parent.mkdir(parents=True, exist_ok=True)
    document = finite(collect_region_statistics(data, include, exclude, ranks))
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
