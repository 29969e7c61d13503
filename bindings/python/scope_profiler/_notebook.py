"""Runs and regions as notebooks show them: tables with bars, and the page of the report."""

from __future__ import annotations

import html
import tempfile
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from .mpi_region import MPIRegion
    from .results import ProfilingResults

#: Rows shown of a table; a notebook is no place for thousands.
_MOST_ROWS = 50
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (0.0, "ns"))
_CELL = "text-align:right;font-variant-numeric:tabular-nums"


def seconds(value: float | None) -> str:
    """A time with the unit that suits it."""
    if value is None:
        return "–"
    scale, unit = next((s, u) for s, u in _UNITS if abs(value) >= s)
    return f"{value / (scale or 1e-9):.4g} {unit}"


def _bar(share: float, color: str) -> str:
    """A share of the whole as a bar; readable by its number where styles are stripped."""
    percent = 100 * min(max(share, 0.0), 1.0)
    return (
        f'<div style="background:linear-gradient(to right,{color} {percent:.1f}%,transparent '
        f'{percent:.1f}%);min-width:8em;text-align:left;padding:0 .3em">{100 * share:.1f} %</div>'
    )


def _table(headings: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = "".join(f'<th style="text-align:left">{html.escape(text)}</th>' for text in headings)
    body = "".join(f"<tr>{''.join(cells)}</tr>" for cells in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _number(text: str) -> str:
    return f'<td style="{_CELL}">{html.escape(text)}</td>'


def _more(count: int) -> str:
    return f"<p>{count} more rows: <code>results.print_summary()</code></p>" if count > 0 else ""


def results_html(results: ProfilingResults) -> str:
    """The summary table of a run: call paths with calls, times and their share."""
    from .summary import region_rows

    title = html.escape(results.default_title())
    if not results.is_root:
        return f"<p><b>{title}</b>: rank 0 of the job has the results.</p>"
    rows = region_rows(results)
    if not rows:
        return f"<p><b>{title}</b>: no regions.</p>"
    whole = max(row["coverage"] or 0.0 for row in rows) or 1.0
    colors = {name: results[name].color for name in results.region_names}

    def cells(row: dict[str, Any]) -> Iterable[str]:
        indent = 1.2 * row["depth"]
        name = html.escape(row["name"])
        yield f'<td style="text-align:left;padding-left:{indent + 0.3:.1f}em">{name}</td>'
        yield _number(f"{row['calls']:,}".replace(",", "\u2009"))
        for key in ("total", "exclusive", "avg"):
            yield _number(seconds(row[key]))
        yield f"<td>{_bar((row['coverage'] or 0.0) / whole, colors.get(row['name'], '#ccc'))}</td>"

    table = _table(
        ("region", "calls", "total", "own", "mean", "share"), map(cells, rows[:_MOST_ROWS])
    )
    return f"<b>{title}</b>{table}{_more(len(rows) - _MOST_ROWS)}"


def region_html(region: MPIRegion) -> str:
    """A region rank by rank."""
    ranks = region.ranks
    longest = max((region[rank].total_duration for rank in ranks), default=0.0) or 1.0
    measures: tuple[Callable[[Any], float | None], ...] = (
        lambda part: part.total_duration,
        lambda part: part.average_duration,
        lambda part: part.min_duration,
        lambda part: part.max_duration,
    )

    def cells(rank: int) -> Iterable[str]:
        part = region[rank]
        yield _number(str(rank))
        yield _number(str(part.num_calls))
        for measure in measures:
            yield _number(seconds(measure(part)))
        yield f"<td>{_bar(part.total_duration / longest, region.color)}</td>"

    table = _table(
        ("rank", "calls", "total", "mean", "min", "max", "of the longest rank"),
        map(cells, ranks[:_MOST_ROWS]),
    )
    return f"<b>{html.escape(region.name)}</b>{table}{_more(len(ranks) - _MOST_ROWS)}"


class InlinePage:
    """The page of a report inside a notebook; its text is `html`."""

    def __init__(self, text: str) -> None:
        self.html = text

    def _repr_html_(self) -> str:
        # In a frame of its own: neither its styles nor its scripts meet those of the notebook.
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" width="100%" height="720" '
            'style="border:1px solid #ccc" sandbox="allow-scripts allow-downloads"></iframe>'
        )


def inline_report(results: ProfilingResults, options: dict[str, Any]) -> InlinePage:
    """The page of a run, to be shown where it was asked for."""
    from .html_report import create_html_report

    with tempfile.TemporaryDirectory() as folder:
        path = create_html_report(results, Path(folder) / "report.html", **options)
        return InlinePage(path.read_text(encoding="utf-8"))
