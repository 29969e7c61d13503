"""What a run knows beside its calls: hardware counters and line records, as tables and as text."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any, TextIO

    import pandas as pd

    from .results import Patterns, ProfilingResults, Ranks


class Counters:
    """The part of :class:`ProfilingResults` that is about counters and line records."""

    file_path: Any
    _likwid: dict[int, dict[str, Any]]
    _likwid_environment: dict[int, dict[str, Any]]
    _perf_events: dict[int, dict[str, Any]]
    _cpu: dict[int, dict[str, Any]]
    _line_profile: dict[int, list[Any]]
    _memory: dict[int, dict[str, Any]]

    @property
    def has_likwid(self) -> bool:
        """Whether hardware counter results are at hand."""
        return any(self._likwid.values())

    @property
    def likwid_ranks(self) -> list[int]:
        """Ranks that have hardware counter results, sorted."""
        return sorted(rank for rank, by_tag in self._likwid.items() if by_tag)

    def get_likwid_regions(self, rank: int | None = None) -> dict[Any, Any]:
        """Returns the hardware counter results of a rank by tag, or those of all ranks by rank."""
        if rank is not None:
            return dict(self._likwid.get(rank, {}))
        return {number: dict(by_tag) for number, by_tag in self._likwid.items()}

    def get_likwid_region(self, tag: str, rank: int = 0) -> Any:
        """Returns one hardware counter result.

        Raises:
            KeyError: There is none; the text lists the tags.
        """
        by_tag = self._likwid.get(rank, {})
        if tag not in by_tag:
            raise KeyError(
                f"No LIKWID region {tag!r} on rank {rank}. Available regions: {list(by_tag)}"
            )
        return by_tag[tag]

    @property
    def has_perf_events(self) -> bool:
        """Whether counter totals are at hand."""
        return any(self._perf_events.values())

    def get_perf_events(self, rank: int | None = None) -> dict[Any, Any]:
        """Returns counter totals as {rank: {region: totals}}, on request of one rank alone."""
        if rank is not None:
            return {rank: dict(self._perf_events.get(rank, {}))}
        return {number: dict(names) for number, names in self._perf_events.items()}

    @property
    def has_cpu(self) -> bool:
        """Whether CPU times of the regions are at hand (``track_cpu``)."""
        return any(self._cpu.values())

    def _set_cpu(self, cpu: dict[int, dict[str, Any]]) -> None:
        """Takes CPU times over, into the run too, so that they are written with it."""
        from ._records import store

        self._cpu = cpu
        store(self._run, {}, {}, {}, cpu=cpu)

    def get_cpu(self, rank: int | None = None) -> dict[Any, Any]:
        """Returns CPU times and waits as {rank: {region: totals}}, on request of one rank alone.

        The values of the totals are ``cpu_ns``, ``waits``, ``preemptions``, ``minor_faults`` and
        ``major_faults``.
        """
        if rank is not None:
            return {rank: dict(self._cpu.get(rank, {}))}
        return {number: dict(names) for number, names in self._cpu.items()}

    @property
    def has_memory(self) -> bool:
        """Whether allocation totals are at hand (`track_memory`)."""
        return any(self._memory.values())

    def get_memory(self, rank: int | None = None) -> dict[Any, Any]:
        """Returns allocation totals as {rank: {region: MemoryTotals}}, on request of one rank alone."""
        if rank is not None:
            return {rank: dict(self._memory.get(rank, {}))}
        return {number: dict(names) for number, names in self._memory.items()}

    @property
    def line_profile(self) -> dict[int, list[Any]]:
        """Line records of each rank."""
        return self._line_profile

    def likwid_to_dataframe(self) -> pd.DataFrame:
        """Returns the hardware counters as a data frame, one row per rank, region and thread.

        Raises:
            ImportError: pandas is not installed.
        """
        from ._frames import _pandas

        rows = [
            {"rank": rank, "region": tag, **row}
            for rank in self.likwid_ranks
            for tag, result in self._likwid[rank].items()
            for row in _thread_rows(result)
        ]
        frame: pd.DataFrame = _pandas().DataFrame(rows)
        return frame

    def print_likwid_summary(self, stream: TextIO | None = None) -> None:
        """Prints the hardware counters region by region, thread by thread."""
        out = stream if stream is not None else sys.stdout
        if not self.has_likwid:
            print(f"No LIKWID data in {self.file_path or 'this run'}", file=out)
            return
        for rank in self.likwid_ranks:
            for tag, result in self._likwid[rank].items():
                print(f"rank {rank}  region {tag!r}  group {result.group_name}", file=out)
                for row in _thread_rows(result):
                    count, time = row.pop("call_count"), row.pop("time")
                    print(f"  cpu {row.pop('cpu')}: {count} call(s), {time:.6f} s", file=out)
                    for name, value in list(row.items())[2:]:
                        print(f"    {name:<32} {value:>16.4f}", file=out)


def _thread_rows(result: Any) -> Iterator[dict[str, Any]]:
    """One dictionary a thread: its numbers, then events and metrics by name."""
    names = [*zip(result.event_labels, result.events), *zip(result.metric_names, result.metrics)]
    for thread, cpu in enumerate(result.cpus):
        yield {
            "thread": thread,
            "cpu": cpu,
            "group": result.group_name,
            "time": result.times[thread],
            "call_count": result.call_counts[thread],
            **{name: values[thread] for name, values in names},
        }


# ---- tables --------------------------------------------------------------------------------------


def _chosen(
    results: ProfilingResults, names: Iterable[str], include: Patterns, exclude: Patterns
) -> list[str]:
    """Names that the patterns select, whether or not a region of that name was timed."""
    from .results import _patterns

    wanted, unwanted = _patterns(include), _patterns(exclude) or []
    return [
        name
        for name in names
        if (wanted is None or any(pattern.match(name) for pattern in wanted))
        and not any(pattern.match(name) for pattern in unwanted)
    ]


def likwid_tables(
    results: ProfilingResults,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
) -> list[dict[str, Any]]:
    """Returns one table for each rank and event group.

    Returns:
        Dictionaries with ``rank``, ``group``, ``columns`` (``tag``, or ``tag@cpu<n>`` of several
        threads, largest runtime first) and ``sections``: pairs of a heading and rows, a row being a
        name and its values.
    """
    from . import _columns

    chosen = _columns.checked_ranks(ranks)
    tables: list[dict[str, Any]] = []
    for rank in results.likwid_ranks:
        if chosen is not None and rank not in chosen:
            continue
        groups: dict[str, list[Any]] = {}
        by_tag = results.get_likwid_regions(rank)
        for tag in _chosen(results, by_tag, include, exclude):
            groups.setdefault(by_tag[tag].group_name, []).append(by_tag[tag])
        for group, regions in groups.items():
            regions.sort(key=lambda region: -max(region.times, default=0.0))
            tables.append(_likwid_table(rank, group, regions))
    return tables


def _likwid_table(rank: int, group: str, regions: Sequence[Any]) -> dict[str, Any]:
    threads = [(region, t) for region in regions for t in range(len(region.cpus))]
    first = regions[0]

    def rows(names: Sequence[str], field: str) -> list[tuple[str, list[Any]]]:
        return [
            (name, [getattr(region, field)[row][t] for region, t in threads])
            for row, name in enumerate(names)
        ]

    return {
        "rank": rank,
        "group": group,
        "columns": [
            f"{region.tag}@cpu{region.cpus[t]}" if len(region.cpus) > 1 else region.tag
            for region, t in threads
        ],
        "sections": [
            (
                "",
                [
                    ("call count", [region.call_counts[t] for region, t in threads]),
                    ("runtime [s]", [region.times[t] for region, t in threads]),
                ],
            ),
            ("Events", rows(first.event_labels, "events")),
            ("Metrics", rows(first.metric_names, "metrics")),
        ],
    }


def perf_event_tables(
    results: ProfilingResults,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
) -> list[dict[str, Any]]:
    """Returns one table a rank: ``rank``, ``events`` and ``rows`` of region, calls and totals."""
    from . import _columns

    chosen = _columns.checked_ranks(ranks)
    tables = []
    for rank, by_region in sorted(results.get_perf_events().items()):
        names = _chosen(results, by_region, include, exclude)
        if not names or (chosen is not None and rank not in chosen):
            continue
        events = list(dict.fromkeys(e for name in names for e in by_region[name].values))
        rows = [
            (name, by_region[name].calls, *(by_region[name].values.get(e) for e in events))
            for name in names
        ]
        tables.append({"rank": rank, "events": events, "rows": rows})
    return tables


# ---- text ----------------------------------------------------------------------------------------


def _cell(value: Any) -> str:
    """Whole numbers below 1e15 as they are, others with six digits."""
    if value is None or isinstance(value, str):
        return value or "-"
    number = float(value)
    return f"{number:.0f}" if number == number // 1 and abs(number) < 1e15 else f"{number:g}"


def _print_outline(headers: Sequence[str], rows: Iterable[Sequence[Any]], out: TextIO) -> None:
    cells = [[_cell(value) for value in row] for row in rows]
    widths = [
        max([len(header) + 2, *(len(row[column]) for row in cells)])
        for column, header in enumerate(headers)
    ]

    def rule(left: str, middle: str, right: str) -> str:
        return "  " + left + middle.join("─" * (width + 2) for width in widths) + right

    def line(texts: Sequence[str]) -> str:
        return "  │" + "│".join(f" {text:<{w}} " for text, w in zip(texts, widths)) + "│"

    print(rule("╭", "┬", "╮"), line(headers), rule("├", "┼", "┤"), sep="\n", file=out)
    for row in cells:
        print(line(row), file=out)
    print(rule("╰", "┴", "╯"), file=out)


def print_likwid_table(
    table: dict[str, Any], title: str | None = None, stream: TextIO | None = None
) -> None:
    """Prints one table of :func:`likwid_tables`."""
    out = stream if stream is not None else sys.stdout
    print(title or f"LIKWID counters (rank {table['rank']}, group {table['group']})", file=out)
    for heading, rows in table["sections"]:
        if not rows:
            continue
        if heading:
            print(f"  {heading}", file=out)
        _print_outline(["counter", *table["columns"]], ([n, *v] for n, v in rows), out)
    print(file=out)


def print_likwid_tables(
    results: ProfilingResults,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
    stream: TextIO | None = None,
) -> None:
    """Prints all tables of :func:`likwid_tables`."""
    for table in likwid_tables(results, include, exclude, ranks):
        print_likwid_table(table, stream=stream)


#: What two events say together: title, event above, event below, factor.
_DERIVED = (
    ("IPC", "instructions", "cycles", 1),
    ("cache miss %", "cache-misses", "cache-references", 100),
    ("branch miss %", "branch-misses", "branches", 100),
    ("L1d miss %", "L1-dcache-load-misses", "L1-dcache-loads", 100),
    ("LLC miss %", "LLC-load-misses", "LLC-loads", 100),
)


def _print_derived(events: Sequence[str], rows: Iterable[Sequence[Any]], out: TextIO) -> None:
    shown = [entry for entry in _DERIVED if entry[1] in events and entry[2] in events]
    if not shown:
        return
    table = []
    for name, _, *values in rows:
        totals = dict(zip(events, values))
        cells = [
            totals[above] / totals[below] * factor
            if totals[above] is not None and (totals[below] or 0) > 0
            else float("nan")
            for _, above, below, factor in shown
        ]
        table.append((name, *cells))
    print("  Derived", file=out)
    _print_outline(["region", *(entry[0] for entry in shown)], table, out)


def print_perf_event_tables(
    results: ProfilingResults,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
    stream: TextIO | None = None,
) -> None:
    """Prints all tables of :func:`perf_event_tables`."""
    out = stream if stream is not None else sys.stdout
    for table in perf_event_tables(results, include, exclude, ranks):
        print(f"Perf events (rank {table['rank']})", file=out)
        _print_outline(["region", "calls", *table["events"]], table["rows"], out)
        _print_derived(table["events"], table["rows"], out)
        print(file=out)
