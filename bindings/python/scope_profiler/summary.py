"""The summary table: its rows, its columns and its text.

Rows and text are made by the results library; here are the filters by Python's regular
expressions and the choice of the stream.
"""

from __future__ import annotations

import sys

from . import _columns
from ._counters import (
    likwid_tables,
    perf_event_tables,
    print_likwid_table,
    print_likwid_tables,
    print_perf_event_tables,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TextIO

    from .mpi_region import MPIRegion
    from .results import Patterns, ProfilingResults, Ranks

__all__ = [
    "format_region_table",
    "gpu_timing_warnings",
    "likwid_tables",
    "normalize_region_table_columns",
    "perf_event_tables",
    "print_likwid_table",
    "print_likwid_tables",
    "print_perf_event_tables",
    "print_region_table",
    "region_row",
    "region_rows",
]

#: Public column keys with their headers, in the order of the table.
COLUMN_HEADERS = {
    "region": "region",
    "ranks": "ranks",
    "calls": "n",
    "total": "total [s]",
    "percent": "% session",
    "parent_percent": "% parent",
    "avg": "avg/call [s]",
    "min": "min [s]",
    "max": "max [s]",
    "first": "first [s]",
    "last": "last [s]",
    "std": "std [s]",
    "p50": "p50 [s]",
    "p95": "p95 [s]",
    "p99": "p99 [s]",
    "imbalance": "imbalance [%]",
    "gpu_total": "gpu total [s]",
    "gpu_avg": "gpu avg [s]",
}

PERCENTAGE_MODES = ("coverage", "exclusive")


def normalize_region_table_columns(
    columns: Iterable[str] | str | None = None,
) -> tuple[str, ...] | None:
    """Returns the public keys of chosen columns; None (the default set) stays None.

    Args:
        columns: Keys of :data:`COLUMN_HEADERS`; ``name`` is accepted for ``region``.

    Raises:
        ValueError: A key that does not exist, or none at all.
    """
    if columns is None:
        return None
    given = [columns] if isinstance(columns, str) else list(columns)
    keys = tuple("region" if key == "name" else key for key in given)
    if not keys:
        raise ValueError("At least one region summary column must be selected.")
    unknown = [key for key in keys if key not in COLUMN_HEADERS]
    if unknown:
        raise ValueError(
            f"Unknown region summary column(s) {', '.join(map(repr, unknown))}; "
            f"choose from {', '.join(COLUMN_HEADERS)}"
        )
    return keys


def _check_percentage_mode(percentage_mode: str) -> None:
    if percentage_mode not in PERCENTAGE_MODES:
        raise ValueError("percentage_mode must be 'coverage' or 'exclusive'")


def selection(
    results: ProfilingResults,
    include: Patterns,
    exclude: Patterns,
    ranks: Ranks,
    sort: str,
    percentage_mode: str,
    reduction: str,
) -> dict[str, Any]:
    """Which regions and ranks, in which order: what every question about rows takes of `Run`."""
    _check_percentage_mode(percentage_mode)
    has_filter = include is not None or exclude is not None
    return {
        "names": results._names(include, exclude) if has_filter else None,
        "ranks": _columns.checked_ranks(ranks),
        "sort": sort,
        "exclusive_percent": percentage_mode == "exclusive",
        "reduction": reduction,
    }


def summary_text(
    results: ProfilingResults,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
    sort: str = "start",
    title: str | None = None,
    stream: TextIO | None = None,
    suppress_notes: bool = False,
    columns: Iterable[str] | str | None = None,
    percentage_mode: str = "coverage",
    reduction: str = "pooled",
    min_percent: float = 0.0,
) -> str:
    """Returns the summary table of a run with the box below it, colored if `stream` is a terminal.

    The arguments are those of :meth:`ProfilingResults.print_summary`; rows with less than
    `min_percent` of the total of the largest row are only counted.
    """
    from .results import relative

    path = None if results._is_in_memory else results.file_path
    return results._run.summary_text(
        **selection(results, include, exclude, ranks, sort, percentage_mode, reduction),
        columns=normalize_region_table_columns(columns),
        suppress_notes=suppress_notes,
        color=is_terminal(stream),
        title=results.default_title() if title is None else title,
        file_path=None if path is None else relative(path),
        min_percent=min_percent,
    )


def region_rows(
    results: ProfilingResults,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
    sort: str = "start",
    percentage_mode: str = "coverage",
    reduction: str = "pooled",
) -> list[dict[str, Any]]:
    """Returns the rows of the summary table, one per call path pooled over the ranks.

    Keys: ``name``, ``call_path``, ``num_ranks``, ``calls``, ``total``, ``coverage``,
    ``exclusive``, ``avg``, ``min``, ``max``, ``first``, ``last``, ``std``, ``p50``, ``p95``,
    ``p99`` (seconds), ``imbalance`` (percent), ``depth``, ``recursive``, ``start``,
    ``parent_coverage``; with device times also ``gpu_total`` and ``gpu_avg``. What is not known
    is None.
    """
    return results._run.summary_rows(
        **selection(results, include, exclude, ranks, sort, percentage_mode, reduction)
    )


def _coverage(region: MPIRegion) -> float:
    """Seconds in which the region was active, summed over ranks: nested calls count once."""
    import numpy as np

    covered = 0
    for rank in region.ranks:
        part = region[rank]
        if part.stored_summary is not None or part.num_calls == 0:
            covered += part._statistics.total
            continue
        starts, ends = part.start_times_ns, part.end_times_ns
        reached = np.maximum.accumulate(ends)
        since = np.maximum(starts[1:], reached[:-1])
        covered += int(ends[0] - starts[0] + np.maximum(ends[1:] - since, 0).sum())
    return covered / _columns.NS_PER_S


def region_row(
    region: MPIRegion, ranks: Ranks = None, *, include_exclusive: bool = False
) -> dict[str, Any]:
    """Returns the row of one region taken alone, pooled over the ranks.

    Args:
        region: The region.
        ranks: One rank, several, or None for all.
        include_exclusive: Also tell the exclusive time, which may need the calls of all regions.
    """
    from .mpi_region import MPIRegion
    from .region import exclusive_or_none

    chosen = _columns.checked_ranks(ranks)
    if chosen is not None:
        rows = [(rank, row) for rank, row in region._rows.items() if rank in chosen]
        region = MPIRegion._of(region._run, region._index, region.name, rows)
    is_known = region.num_calls > 0
    row = {
        "name": region.name,
        "call_path": region.name,
        "num_ranks": len(region),
        "calls": region.num_calls,
        "total": region.total_duration if is_known else None,
        "coverage": _coverage(region) if is_known else None,
        "exclusive": exclusive_or_none(region) if include_exclusive and is_known else None,
        "avg": region.average_duration if is_known else None,
        "min": region.min_duration if is_known else None,
        "max": region.max_duration if is_known else None,
        "first": region.first_duration if is_known else None,
        "last": region.last_duration if is_known else None,
        "std": region.std_duration if is_known else None,
        "p50": region.p50_duration if is_known else None,
        "p95": region.p95_duration if is_known else None,
        "p99": region.p99_duration if is_known else None,
        "imbalance": region.rank_imbalance_pct,
        "depth": 0,
        "recursive": False,
        "start": region.first_start_time,
        "parent_coverage": None,
    }
    if region.has_gpu_timing:
        row["gpu_total"] = region.gpu_total_duration
        row["gpu_avg"] = region.gpu_average_duration
    return row


def format_region_table(
    rows: Sequence[Mapping[str, Any]], columns: Iterable[str] | str | None = None
) -> tuple[list[tuple[str, str]], list[list[str]]]:
    """Returns the columns of a table as (key, header) pairs, and its cells line by line.

    Args:
        rows: Rows of :func:`region_rows`.
        columns: Columns to show; see :func:`normalize_region_table_columns`.
    """
    from ._results import format_cells

    return format_cells([dict(row) for row in rows], normalize_region_table_columns(columns))


def print_region_table(
    rows: Sequence[Mapping[str, Any]],
    title: str | None = None,
    stream: TextIO | None = None,
    suppress_notes: bool = False,
    total_time: float | None = None,
    columns: Iterable[str] | str | None = None,
    percentage_mode: str = "coverage",
    file_path: str | None = None,
) -> None:
    """Prints rows of :func:`region_rows` as a table.

    Args:
        rows: The rows.
        title: Title in the box below the table.
        stream: Where to print; default standard output.
        suppress_notes: Leave out the box below the table.
        total_time: What counts as 100 %, in seconds; default the session row.
        columns: Columns to show; see :func:`normalize_region_table_columns`.
        percentage_mode: ``coverage`` or ``exclusive``.
        file_path: Path for the command hints in the box.
    """
    from ._results import format_rows

    _check_percentage_mode(percentage_mode)
    text = format_rows(
        [dict(row) for row in rows],
        exclusive_percent=percentage_mode == "exclusive",
        columns=normalize_region_table_columns(columns),
        suppress_notes=suppress_notes,
        color=is_terminal(stream),
        title=title,
        file_path=None if file_path is None else str(file_path),
        total_time=total_time,
    )
    write_text(text, stream)


def gpu_timing_warnings(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns warnings about rows whose device time exceeds the time on the host."""
    names = [
        str(row["name"])
        for row in rows
        if row.get("gpu_total") is not None and row["gpu_total"] > (row.get("total") or 0.0)
    ]
    if not names:
        return []
    return [
        "device time above host time in "
        + ", ".join(names)
        + ": these regions start asynchronous GPU work and return before it ends"
    ]


def is_terminal(stream: TextIO | None) -> bool:
    """Whether text written to `stream` (None: standard output) is seen in a terminal."""
    target = sys.stdout if stream is None else stream
    try:
        return bool(target.isatty())
    except (AttributeError, ValueError):
        return False


def write_text(text: str, stream: TextIO | None) -> None:
    """Writes to `stream` (None: standard output); what its encoding lacks becomes ``?``."""
    target = sys.stdout if stream is None else stream
    if target is None:
        return
    try:
        target.write(text)
    except UnicodeEncodeError:
        encoding = target.encoding or "ascii"
        target.write(text.encode(encoding, "replace").decode(encoding))
