"""What plots of counters show: figures of regions from LIKWID results and totals of perf events."""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from pathlib import Path

from . import _columns
from .mpi_region import color_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from .results import Patterns, ProfilingResults, Ranks

#: Points of a roofline, evenly spaced on a logarithmic axis.
_ROOFLINE_POINTS = 160
_PREFIXES = {"": 1e-9, "k": 1e-6, "m": 1e-3, "g": 1.0, "t": 1e3}
_FLOPS = re.compile(r"([kmgt]?)flops?/s", re.IGNORECASE)
_BYTES = re.compile(r"([kmgt]?)bytes?/s", re.IGNORECASE)
#: Derived figure -> numerator, denominator, factor.
_RATIOS = {
    "ipc": ("instructions", "cycles", 1.0),
    "cache-misses-per-ki": ("cache-misses", "instructions", 1000.0),
}


def _matcher(include: Patterns, exclude: Patterns) -> Callable[[str], bool]:
    """Whether the patterns select a name; counters may be of regions that no clock has timed."""
    from .results import _patterns

    wanted, unwanted = _patterns(include), _patterns(exclude) or []
    return lambda name: (
        wanted is None or any(pattern.match(name) for pattern in wanted)
    ) and not any(pattern.match(name) for pattern in unwanted)


def _takes(ranks: Ranks) -> Callable[[int], bool]:
    chosen = _columns.checked_ranks(ranks)
    return lambda rank: chosen is None or rank in chosen


# ---- LIKWID --------------------------------------------------------------------------------------


def likwid_regions(
    run: ProfilingResults, ranks: Ranks, include: Patterns, exclude: Patterns
) -> Iterator[tuple[int, str, Any]]:
    """Rank, tag and result of what the filters select."""
    takes_name, takes_rank = _matcher(include, exclude), _takes(ranks)
    for rank in run.likwid_ranks:
        for tag, result in run.get_likwid_regions(rank).items():
            if takes_rank(rank) and takes_name(tag):
                yield rank, tag, result


def likwid_metrics(runs: Iterable[ProfilingResults]) -> list[str]:
    """Names of metrics and events, in order of appearance, metrics of a region first."""
    found: dict[str, None] = {}
    for run in runs:
        for _, _, result in likwid_regions(run, None, None, None):
            found.update(dict.fromkeys([*result.metric_names, *result.event_labels]))
    return list(found)


def _values_of(result: Any, metric: str) -> list[float] | None:
    """A metric or an event of every thread."""
    for names, values in (
        (result.metric_names, result.metrics),
        (result.event_labels, result.events),
    ):
        if metric in names:
            return [float(value) for value in values[list(names).index(metric)]]
    return None


def likwid_bars(
    runs: list[ProfilingResults],
    labels: list[str],
    metric: str,
    ranks: Ranks,
    include: Patterns,
    exclude: Patterns,
) -> list[dict[str, Any]]:
    """The mean of a metric over the threads of all selected ranks: a bar for each run and region."""
    bars = []
    for run, label in zip(runs, labels):
        by_tag: dict[str, list[float]] = {}
        for _, tag, result in likwid_regions(run, ranks, include, exclude):
            values = _values_of(result, metric)
            known = [value for value in values or [] if math.isfinite(value)]
            if known:
                by_tag.setdefault(tag, []).extend(known)
        bars += [
            {"series": label, "region": tag, "value": sum(values) / len(values)}
            for tag, values in by_tag.items()
        ]
    return bars


def _find(names: Iterable[str], unit: re.Pattern[str], word: str) -> str | None:
    return next((name for name in names if unit.search(name) and word in name.lower()), None)


def _rate(result: Any, metric: str, unit: re.Pattern[str]) -> float | None:
    """Sum over the threads, in units of 1e9 a second."""
    values, found = _values_of(result, metric), unit.search(metric)
    if values is None:
        return None
    prefix = found.group(1).lower() if found else ""
    return sum(value for value in values if math.isfinite(value)) * _PREFIXES[prefix]


def roofline_points(
    runs: list[ProfilingResults],
    labels: list[str],
    flops_metric: str | None,
    bandwidth_metric: str | None,
    ranks: Ranks,
    include: Patterns,
    exclude: Patterns,
) -> list[dict[str, Any]]:
    """A point for each run, rank and region that has both rates."""
    points = []
    for run, label in zip(runs, labels):
        for rank, tag, result in likwid_regions(run, ranks, include, exclude):
            flops = flops_metric or _find(result.metric_names, _FLOPS, "")
            bandwidth = bandwidth_metric or _find(result.metric_names, _BYTES, "bandwidth")
            if flops is None or bandwidth is None:
                continue
            performance = _rate(result, flops, _FLOPS)
            rate = _rate(result, bandwidth, _BYTES)
            if performance is None or rate is None or performance <= 0 or rate <= 0:
                continue
            points.append({
                "file": label, "region": tag, "rank": rank,
                "performance_gflops": performance, "bandwidth_gbs": rate,
                "arithmetic_intensity_flops_per_byte": performance / rate,
                "runtime_seconds": max((float(time) for time in result.times), default=0.0),
                "flops_metric": flops, "bandwidth_metric": bandwidth,
            })  # fmt: skip
    return points


def roofline_document(
    points: list[dict[str, Any]], peak_flops: float | None, peak_bandwidth: float | None
) -> dict[str, Any]:
    """Points and the roof over them. A peak that is not given is the largest that was seen."""
    for name, peak in (("peak_flops", peak_flops), ("peak_bandwidth", peak_bandwidth)):
        if peak is not None and not (math.isfinite(peak) and peak > 0):
            raise ValueError(f"{name} must be positive, not {peak!r}")
    if not points:
        raise ValueError(
            "no selected region has both a rate of operations (FLOP/s) and a memory bandwidth (Bytes/s); "
            "name them with flops_metric and bandwidth_metric, or measure a LIKWID group that has both"
        )
    flops = peak_flops or max(point["performance_gflops"] for point in points)
    bandwidth = peak_bandwidth or max(point["bandwidth_gbs"] for point in points)
    seen = [point["arithmetic_intensity_flops_per_byte"] for point in points]
    low = math.log10(min([*seen, flops / bandwidth]) / 4)
    high = math.log10(max([*seen, flops / bandwidth]) * 4)
    step = (high - low) / (_ROOFLINE_POINTS - 1)
    intensities = [10 ** (low + i * step) for i in range(_ROOFLINE_POINTS)]
    return {
        "points": points,
        "colors": {point["region"]: color_of(point["region"]) for point in points},
        "peak_flops_gflops": flops,
        "peak_bandwidth_gbs": bandwidth,
        "empirical_ceilings": {"flops": peak_flops is None, "bandwidth": peak_bandwidth is None},
        "roofline": [
            {
                "arithmetic_intensity_flops_per_byte": intensity,
                "performance_gflops": min(flops, intensity * bandwidth),
            }
            for intensity in intensities
        ],
    }


# ---- Perf events ---------------------------------------------------------------------------------


def _figure(totals: dict[str, int], metric: str) -> float | None:
    """A total, or a ratio of two; None when the run did not count what it takes."""
    if metric not in _RATIOS:
        return float(totals[metric]) if metric in totals else None
    above, below, factor = _RATIOS[metric]
    if above not in totals or not totals.get(below):
        return None
    return factor * totals[above] / totals[below]


def perf_event_bars(
    runs: list[ProfilingResults],
    labels: list[str],
    metric: str,
    ranks: Ranks,
    include: Patterns,
    exclude: Patterns,
) -> list[dict[str, Any]]:
    """A figure of the totals over all selected ranks: a bar for each run and region.

    Raises:
        ValueError: No run has counted events, or not those of the figure; the text lists what there is.
    """
    takes_name, takes_rank = _matcher(include, exclude), _takes(ranks)
    bars, events = [], set()
    for run, label in zip(runs, labels):
        sums: dict[str, dict[str, int]] = {}
        for rank, by_region in run.get_perf_events().items():
            for name, totals in by_region.items():
                events.update(totals.values)
                if not takes_rank(rank) or not takes_name(name):
                    continue
                of_region = sums.setdefault(name, {})
                for event, value in totals.values.items():
                    of_region[event] = of_region.get(event, 0) + int(value)
        for name, totals_of in sums.items():
            value = _figure(totals_of, metric)
            if value is not None:
                bars.append({"series": label, "region": name, "value": value})
    if not events:
        raise ValueError("None of the selected files recorded perf-event data.")
    if not bars:
        possible = [n for n, (a, b, _) in _RATIOS.items() if a in events and b in events]
        raise ValueError(
            f"no selected region has the metric {metric!r}; there are "
            f"{', '.join([*sorted(events), *possible])}"
        )
    return bars


# ---- Files ---------------------------------------------------------------------------------------


def write(kind: str, rows_key: str, document: dict[str, Any], path: Path, data_format: str) -> None:
    """Writes a document of plot data, whole or not at all; CSV and Parquet have its rows."""
    if data_format not in ("csv", "json", "parquet"):
        raise ValueError(f"data_format must be one of csv, json, parquet, not {data_format!r}")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as folder:
        temporary = Path(folder) / "data"
        if data_format == "json":
            head = {"format": "scope-profiler-plot-data", "format_version": 1, "plot": kind}
            text = json.dumps({**head, **document}, indent=2, ensure_ascii=False, allow_nan=False)
            temporary.write_text(text + "\n", encoding="utf-8")
        elif data_format == "csv":
            _write_csv(document[rows_key], temporary)
        else:
            _write_parquet(document[rows_key], temporary)
        os.replace(temporary, path)


def _write_csv(rows: list[dict[str, Any]], path: Path) -> None:
    import csv

    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _write_parquet(rows: list[dict[str, Any]], path: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise ImportError(
            "data_format='parquet' needs pyarrow; install scope-profiler[pproc]"
        ) from error
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
