"""Runs as a page for a browser: everything of one, or several compared with the first."""

from __future__ import annotations

import os
from pathlib import Path

from . import _columns
from ._results import report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .results import Patterns, ProfilingResults, Ranks

    Source = ProfilingResults | str | os.PathLike[str]

__all__ = ["create_html_report"]


def _open(data: Source | Iterable[Source]) -> list[ProfilingResults]:
    from .profile_io import load
    from .results import ProfilingResults

    single = isinstance(data, (ProfilingResults, str, os.PathLike))
    sources: Iterable[Source] = [data] if single else data  # type: ignore[list-item,assignment]
    return [one if isinstance(one, ProfilingResults) else load(one) for one in sources]


def create_html_report(
    profiling_data: Source | Iterable[Source],
    filepath: str | os.PathLike[str],
    *,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
    sort: str = "start",
    columns: Sequence[str] | None = None,
    charts_cdn: bool = False,
    include_charts: bool = True,
    individual_reports: bool = True,
) -> Path:
    """Writes a page that needs nothing else: no network, no server.

    Args:
        profiling_data: A run, its file, or several of either. Several become a comparison with the
            first, and by default a page of each, ``<stem>-<number>-<label>.html``, linked.
        filepath: The page; missing folders are made.
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        ranks: One rank, several, or None for all.
        sort: Order of the table as it is shown first.
        columns: Columns of the table as it is shown first; None: the default ones.
        charts_cdn: Accepted for old programs; the page always holds its charts itself.
        include_charts: False leaves tables and texts.
        individual_reports: False: of several runs the comparison alone.

    Returns:
        The path of the page.

    Raises:
        ValueError: No run, a column or sort key that does not exist.
        OSError: A file cannot be read or written.
    """
    del charts_cdn
    runs = _open(profiling_data)
    if not runs:
        raise ValueError("At least one profiling result is required.")
    names = None
    if include is not None or exclude is not None:
        names = list(dict.fromkeys(name for run in runs for name in run._names(include, exclude)))
    from .results import set_metadata

    for run in runs:
        set_metadata(run._run, run.metadata)
    report(
        [run._run for run in runs],
        filepath,
        names=names,
        ranks=_columns.checked_ranks(ranks),
        labels=[run.display_label for run in runs],
        sort=sort,
        columns=columns,
        charts=include_charts,
        individual_reports=individual_reports,
    )
    return Path(filepath)
