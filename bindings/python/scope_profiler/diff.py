"""Comparing runs: what changed, and whether it is within a budget."""

from __future__ import annotations

from . import _columns
from ._results import compare, compare_rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping
    from typing import Any, TextIO

    from .results import Patterns, ProfilingResults, Ranks

__all__ = [
    "METRICS",
    "SORT_KEYS",
    "check_files",
    "check_rows",
    "diff_files",
    "diff_rows",
    "print_diff_table",
]

#: What can be compared.
METRICS = (
    "total", "avg", "min", "max", "p50", "p95", "p99", "imbalance", "calls", "gpu_total", "gpu_avg",
    "first", "last",
)  # fmt: skip

#: Orders of the rows.
SORT_KEYS = ("delta", "pct", "name")

_KEYS = ("name", "a", "b", "delta", "pct")


def _compare(
    a: ProfilingResults,
    b: ProfilingResults,
    include: Patterns,
    exclude: Patterns,
    ranks: Ranks,
    threshold: float | None,
    **options: Any,
) -> tuple[list[dict[str, Any]], dict[str, Any] | None, bool, str]:
    names = None
    if include is not None or exclude is not None:
        names = list(
            dict.fromkeys([*a._names(include, exclude), *b._names(include, exclude)])
        )
    return compare(
        [a._run],
        [b._run],
        names=names,
        ranks=_columns.checked_ranks(ranks),
        threshold=threshold or 0.0,
        **options,
    )


def _plain(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{key: row[key] for key in _KEYS} for row in rows]


def diff_rows(
    a: ProfilingResults,
    b: ProfilingResults,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
    metric: str = "total",
    sort: str = "delta",
    threshold: float | None = None,
    reduction: str = "pooled",
) -> list[dict[str, Any]]:
    """Compares two runs region by region.

    Args:
        a: The baseline.
        b: The other run.
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        ranks: One rank, several, or None for all.
        metric: One of :data:`METRICS`.
        sort: ``delta`` or ``pct`` (largest change first) or ``name``.
        threshold: Leave out regions that changed by fewer percent.
        reduction: What becomes of several ranks: ``pooled``, ``max``, ``mean``, ``min``, ``sum``.

    Returns:
        Dictionaries with ``name``, ``a``, ``b`` (None where a run lacks the region), ``delta`` (a
        missing side counts as 0) and ``pct`` (None when ``a`` is 0 or missing).

    Raises:
        ValueError: A metric or sort key that does not exist; the text lists the choices.
    """
    rows, _, _, _ = _compare(
        a, b, include, exclude, ranks, threshold, metric=metric, sort=sort, reduction=reduction
    )
    return _plain(rows)


def check_rows(
    a: ProfilingResults,
    b: ProfilingResults,
    max_regression: float = 0.0,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
    metric: str = "total",
    sort: str = "delta",
    threshold: float | None = None,
    fail_on_new: bool = False,
    reduction: str = "pooled",
) -> list[dict[str, Any]]:
    """Returns the rows of :func:`diff_rows` that grew by more than a budget.

    Args:
        a: The baseline.
        b: The other run.
        max_regression: Percent of growth that passes.
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        ranks: One rank, several, or None for all.
        metric: One of :data:`METRICS`.
        sort: ``delta`` or ``pct`` (largest change first) or ``name``.
        threshold: Leave out regions that changed by fewer percent.
        fail_on_new: Regions that only ``b`` has count too.
        reduction: As of :func:`diff_rows`.

    Raises:
        ValueError: A negative budget, or a metric or sort key that does not exist.
    """
    rows, _, _, _ = _compare(
        a, b, include, exclude, ranks, threshold, metric=metric, sort=sort, reduction=reduction,
        max_regression=max_regression, fail_on_new=fail_on_new, is_check=True,
    )  # fmt: skip
    return _plain(row for row in rows if row["violation"])


def print_diff_table(
    rows: Iterable[Mapping[str, Any]],
    label_a: str = "a",
    label_b: str = "b",
    metric: str = "total",
    stream: TextIO | None = None,
) -> None:
    """Prints rows of :func:`diff_rows` as a table.

    Args:
        rows: The rows.
        label_a: What the baseline is called.
        label_b: What the other run is called.
        metric: What the rows hold.
        stream: Where to print; default standard output.
    """
    from .summary import write_text

    _, _, _, text = compare_rows(rows, metric=metric, label_a=label_a, label_b=label_b)
    write_text(text, stream)


def _load(a: str | os.PathLike[str], b: str | os.PathLike[str]) -> list[ProfilingResults]:
    from .profile_io import load

    return [load(a), load(b)]


def diff_files(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
    metric: str = "total",
    sort: str = "delta",
    threshold: float | None = None,
    stream: TextIO | None = None,
    reduction: str = "pooled",
) -> list[dict[str, Any]]:
    """Prints how two profiles differ; returns the rows. Arguments as :func:`diff_rows`."""
    from .summary import write_text

    first, second = _load(a, b)
    rows, _, _, text = _compare(
        first, second, include, exclude, ranks, threshold, metric=metric, sort=sort, reduction=reduction,
        label_a=str(a), label_b=str(b),
    )  # fmt: skip
    write_text(text, stream)
    return _plain(rows)


def check_files(
    a: str | os.PathLike[str],
    b: str | os.PathLike[str],
    max_regression: float = 0.0,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
    metric: str = "total",
    sort: str = "delta",
    threshold: float | None = None,
    fail_on_new: bool = False,
    stream: TextIO | None = None,
    reduction: str = "pooled",
) -> int:
    """Prints whether a profile is within a budget; returns 0 when it is, else 1.

    Arguments as :func:`check_rows`.
    """
    from .summary import write_text

    first, second = _load(a, b)
    _, _, passes, text = _compare(
        first, second, include, exclude, ranks, threshold, metric=metric, sort=sort, reduction=reduction,
        max_regression=max_regression, fail_on_new=fail_on_new, is_check=True,
        label_a=str(a), label_b=str(b),
    )  # fmt: skip
    write_text(text, stream)
    return 0 if passes else 1
