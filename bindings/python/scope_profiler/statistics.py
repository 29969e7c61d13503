"""Statistics of every region as one document, for scripts and other tools."""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import _columns
from ._export import root_runs
from ._plain import finite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .mpi_region import MPIRegion
    from .region import Region
    from .results import Patterns, ProfilingResults, Ranks

__all__ = ["collect_region_statistics", "write_region_statistics_json"]

#: What a file begins with.
_ENVELOPE = {
    "format": "scope-profiler-plot-data",
    "format_version": 1,
    "plot": "region_statistics",
}

_FIELDS = ("average", "min", "max", "first", "last", "std", "total")


def _unique(labels: Iterable[str]) -> list[str]:
    """The labels, those that were there before with a number behind."""
    unique: list[str] = []
    for label in labels:
        number, candidate = 1, label
        while candidate in unique:
            number += 1
            candidate = f"{label} ({number})"
        unique.append(candidate)
    return unique


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
    profiling_data: ProfilingResults | Iterable[ProfilingResults],
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    labels: Iterable[str] | None = None,
) -> dict[str, Any]:
    """Collects the statistics of every region of one or several runs.

    Args:
        profiling_data: A run or several.
        ranks: One rank, several, or None for all.
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        labels: Names of the runs; default their own.

    Returns:
        A document with ``units``, ``filters``, ``common_regions`` (names found in every run) and
        ``files``, one entry per run: ``label``, ``file_path``, ``num_ranks``,
        ``total_time_seconds`` and ``region_statistics`` by name. Names are sorted, durations in
        seconds and None where a rank has no call.

    Raises:
        ValueError: There is no run, or not one label for every run.
    """
    chosen = _columns.checked_ranks(ranks)
    runs = root_runs(profiling_data)
    names = [run.display_label for run in runs] if labels is None else list(labels)
    if len(names) != len(runs):
        raise ValueError("labels must match the number of profiling files.")
    files: list[dict[str, Any]] = []
    for run, label in zip(runs, _unique(names)):
        regions = {region.name: region for region in run.get_regions(include, exclude)}
        files.append(
            {
                "label": label,
                "file_path": None if run.file_path is None else os.path.abspath(run.file_path),
                "num_ranks": run.num_ranks,
                "total_time_seconds": run.total_time,
                "region_statistics": {
                    name: _region_statistics(regions[name], chosen) for name in sorted(regions)
                },
            }
        )
    return {
        "units": {"durations": "seconds"},
        "filters": {"include": _listed(include), "exclude": _listed(exclude), "ranks": chosen},
        "common_regions": _common([list(file["region_statistics"]) for file in files]),
        "files": files,
    }


def _listed(patterns: Patterns) -> str | list[str] | None:
    return patterns if patterns is None or isinstance(patterns, str) else list(patterns)


def _common(names: list[list[str]]) -> list[str]:
    if not names:
        return []
    return [name for name in names[0] if all(name in others for others in names[1:])]


def write_region_statistics_json(
    profiling_data: ProfilingResults | Iterable[ProfilingResults],
    filepath: str | os.PathLike[str],
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    labels: Iterable[str] | None = None,
) -> dict[str, Any]:
    """Writes the document of :func:`collect_region_statistics` as JSON with indent 2.

    Returns:
        The document.
    """
    path = Path(filepath)
    path.parent.mkdir(parents=True, exist_ok=True)
    statistics = collect_region_statistics(profiling_data, ranks, include, exclude, labels)
    document = {**_ENVELOPE, **finite(statistics)}
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return statistics
