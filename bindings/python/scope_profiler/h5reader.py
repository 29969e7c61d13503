"""Reading HDF5 profiles."""

from __future__ import annotations

import os
from pathlib import Path

from ._plain import shown
from ._results import CorruptProfileError, HDF5SchemaError, Run
from .region import EventDataUnavailableError
from .results import ProfilingResults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = [
    "CorruptProfileError",
    "EventDataUnavailableError",
    "HDF5SchemaError",
    "SummaryDataUnavailable",
    "load_h5",
    "load_h5_summary",
    "read_h5",
    "read_h5_summary",
]


class SummaryDataUnavailable(ValueError):
    """A profile carries no stored statistics, so it cannot be read without its calls."""


def _open(path: str | os.PathLike[str], verbose: bool) -> Run:
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"HDF5 file not found: {file}")
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder, not a profile")
    if verbose:
        print(f"Reading profile {shown(file)}")
    return Run.open(file)


def read_h5(file_path: str | os.PathLike[str], verbose: bool = False) -> ProfilingResults:
    """Reads an HDF5 profile of any schema. Calls are loaded when they are first asked for.

    Args:
        file_path: The file.
        verbose: Say on standard output what is read.

    Raises:
        FileNotFoundError: There is no such file.
        CorruptProfileError: It is not a profile, or truncated or damaged.
        HDF5SchemaError: Its schema version is not valid or too new.
    """
    return ProfilingResults._from_run(_open(file_path, verbose), file_path=file_path)


def read_h5_summary(
    file_path: str | os.PathLike[str],
    verbose: bool = False,
    *,
    fallback: bool = True,
    include_likwid: bool = True,
    include_line_profile: bool = True,
    regions: Iterable[str] | None = None,
    ranks: Iterable[int] | None = None,
) -> ProfilingResults:
    """Reads the stored statistics of an HDF5 profile and none of its calls.

    Args:
        file_path: The file.
        verbose: Say on standard output what is read.
        fallback: Read the whole profile when it carries no statistics.
        include_likwid: Also take over hardware counter results.
        include_line_profile: Also take over line records.
        regions: Names of the regions to take; None takes all.
        ranks: Ranks to take; None takes all.

    Returns:
        Results whose ``has_event_data`` is False.

    Raises:
        SummaryDataUnavailable: The file carries no statistics and `fallback` is False.
    """
    file = _open(file_path, verbose)
    run = Run.create()
    names = None if regions is None else [regions] if isinstance(regions, str) else list(regions)
    chosen = None if ranks is None else list(ranks)
    if run.add_statistics_of(file, regions=names, ranks=chosen):
        results = ProfilingResults._from_run(
            run, file_path=file_path, event_data_available=False, records=file
        )
    elif fallback:
        results = ProfilingResults._from_run(file, file_path=file_path)
    else:
        raise SummaryDataUnavailable(
            f"{file_path} carries no stored statistics; read it whole with read_h5()"
        )
    if not include_likwid:
        results._likwid = {}
    if not include_line_profile:
        results._line_profile = {}
    return results


def _as_arguments(results: ProfilingResults) -> dict[str, Any]:
    """What ProfilingResults takes to build the same run."""
    return {
        "regions": {region.name: region for region in results},
        "metadata": dict(results.metadata),
        "num_ranks": results.num_ranks,
        "likwid": results.get_likwid_regions(),
        "perf_events": results.get_perf_events(),
        "line_profile": dict(results.line_profile),
        "event_data_available": results.has_event_data,
        "threads": results.threads,
        "tasks": results.tasks,
    }


def load_h5(file_path: str | os.PathLike[str], verbose: bool = False) -> dict[str, Any]:
    """Reads an HDF5 profile as the dictionary of arguments of :class:`ProfilingResults`."""
    return _as_arguments(read_h5(file_path, verbose))


def load_h5_summary(
    file_path: str | os.PathLike[str],
    verbose: bool = False,
    *,
    include_likwid: bool = True,
    include_line_profile: bool = True,
    regions: Iterable[str] | None = None,
    ranks: Iterable[int] | None = None,
) -> dict[str, Any]:
    """Reads the stored statistics as :func:`read_h5_summary` without fallback, as arguments."""
    results = read_h5_summary(
        file_path,
        verbose,
        fallback=False,
        include_likwid=include_likwid,
        include_line_profile=include_line_profile,
        regions=regions,
        ranks=ranks,
    )
    return _as_arguments(results)
