"""Runs as traces for timeline viewers: Perfetto, chrome://tracing, speedscope."""

from __future__ import annotations

from ._export import export_runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from pathlib import Path

    from ._export import Data
    from .results import Patterns, Ranks

__all__ = ["export_chrome_trace", "export_speedscope"]


def export_chrome_trace(
    profiling_data: Data,
    filepath: str | os.PathLike[str],
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    verbose: bool = True,
) -> list[Path]:
    """Writes each run as trace events; several runs become ``<stem>_<label>.trace.json``.

    Ranks are processes, threads and tasks are lanes. Times are microseconds with three decimals
    since the first call, so no nanosecond is lost.

    Args:
        profiling_data: A run or several.
        filepath: The file.
        ranks: One rank, several, or None for all.
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        verbose: Print the paths.

    Returns:
        The paths; none on ranks that are not root.
    """
    return export_runs("chrome-trace", profiling_data, filepath, include, exclude, ranks, verbose)


def export_speedscope(
    profiling_data: Data,
    filepath: str | os.PathLike[str],
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    verbose: bool = True,
) -> list[Path]:
    """Writes each run as profiles for speedscope, one for each rank or lane.

    Where calls cross, the inner ones are closed at the end of the outer one and opened again.

    Args:
        profiling_data: A run or several.
        filepath: The file.
        ranks: One rank, several, or None for all.
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        verbose: Print the paths.

    Returns:
        The paths; none on ranks that are not root.
    """
    return export_runs("speedscope", profiling_data, filepath, include, exclude, ranks, verbose)
