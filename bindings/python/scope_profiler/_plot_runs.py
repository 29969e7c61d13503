"""Figures of regions over ranks and runs: durations, distributions, imbalance, scaling."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from ._plots import height_for, new_figure, plain, ranks_of, shorten

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ._plots import Output, Runs
    from .results import ProfilingResults

#: Regions beside each other in one figure of lines; more could not be told apart.
_MOST_LINES = 20
_METRICS = ("avg", "min", "max", "total")


class DurationOptions(NamedTuple):
    """What a figure of durations shows."""

    metrics: list[str]
    sort_by: str | None
    top_n: int | None
    groups: dict[str, str | Iterable[str]]
    stack_children: bool
    log_scale: bool


# ---- Durations -----------------------------------------------------------------------------------


class _Times(NamedTuple):
    """Calls of a region, or of several taken together, on the selected ranks; seconds."""

    calls: int
    total: float
    shortest: float
    longest: float

    def of(self, metric: str) -> float:
        if metric == "avg":
            return self.total / self.calls if self.calls else 0.0
        return {"total": self.total, "min": self.shortest, "max": self.longest}[metric]


def _times(run: ProfilingResults, runs: Runs, names: Iterable[str]) -> _Times:
    found = [
        run[name][rank]
        for name in names
        for rank in ranks_of(run, runs.ranks)
        if name in run and rank in run[name].regions
    ]
    used = [region for region in found if region.num_calls]
    return _Times(
        sum(region.num_calls for region in used),
        sum(region.total_duration for region in used),
        min((region.min_duration for region in used), default=0.0),
        max((region.max_duration for region in used), default=0.0),
    )


def _grouped(runs: Runs, options: DurationOptions) -> dict[str, list[str]]:
    """Rows of the figure: name and the regions in it, of those that every run has."""
    common = [name for name in runs.names() if all(name in run for run in runs.results)]
    rows = {name: [name] for name in common}
    for group, patterns in options.groups.items():
        if group in common:
            raise ValueError(f"the group {group!r} has the name of a region")
        wanted = [re.compile(p) for p in ([patterns] if isinstance(patterns, str) else patterns)]
        members = [name for name in common if any(p.match(name) for p in wanted)]
        if not members:
            raise ValueError(f"the group {group!r} matched no regions")
        for name in members:
            rows.pop(name, None)
        rows[group] = members
    if not rows:
        raise ValueError("No regions matched the selected filters.")
    return rows


def _ordered(
    rows: dict[str, list[str]], runs: Runs, options: DurationOptions, metric: str
) -> dict[str, list[str]]:
    key = options.sort_by
    if key is not None and key not in (*_METRICS, "name"):
        raise ValueError(f"unknown sort_by {key!r}; choose from {', '.join((*_METRICS, 'name'))}")
    names = list(rows)
    if key == "name":
        names.sort()
    elif key is not None or options.top_n:
        by = key or metric
        names.sort(key=lambda name: -max(_times(run, runs, rows[name]).of(by) for run in runs.results))
    if options.top_n:
        names = names[: options.top_n]
    return {name: rows[name] for name in names}


def durations(runs: Runs, output: Output, options: DurationOptions) -> Any:
    """A figure a metric; see plot_durations()."""
    for metric in options.metrics:
        if metric not in _METRICS:
            raise ValueError(f"unknown metric {metric!r}; choose from {', '.join(_METRICS)}")
        if options.stack_children and metric not in ("avg", "total"):
            raise ValueError(f"stack_children adds up times; that has no meaning for {metric!r}")
    rows = _grouped(runs, options)
    paths: list[str] = []
    figures: list[Any] = []
    for metric in options.metrics:
        own = output
        if len(options.metrics) > 1 and output.filepath is not None:
            path = Path(output.filepath)
            own = output._replace(filepath=path.with_name(f"{path.stem}_{metric}{path.suffix}"))
        figure = _duration_figure(runs, own, _ordered(rows, runs, options, metric), options, metric)
        writer = runs.writer("durations", metrics=options.metrics)
        own._replace(data_filepath=own.data_filepath if not figures else None).finish(figure, writer)
        figures.append(figure)
        if own.filepath is not None:
            paths.append(str(own.filepath))
    if output.return_fig:
        return figures[0] if len(figures) == 1 else figures
    return paths


def _duration_figure(
    runs: Runs, output: Output, rows: dict[str, list[str]], options: DurationOptions, metric: str
) -> Any:
    import numpy as np
    from matplotlib import colormaps

    height = 0.8 / len(runs.labels)
    figure, [axis] = new_figure(output, 9, height_for(round(len(rows) * max(1, len(runs.labels) * 0.7))))
    places = np.arange(len(rows))
    palette = [colormaps["tab10"](i) for i in range(10)]
    for i, (run, label) in enumerate(zip(runs.results, runs.labels)):
        at = places - 0.4 + (i + 0.5) * height
        if options.stack_children:
            _draw_stacks(axis, run, runs, rows, at, height, metric)
        else:
            values = [_times(run, runs, names).of(metric) for names in rows.values()]
            axis.barh(at, values, height * 0.92, color=palette[i % len(palette)], label=plain(label))
    axis.set_yticks(places, [plain(shorten(name, 40)) for name in rows])
    axis.set_ylim(len(rows) - 0.5, -0.5)
    words = {"avg": "mean duration", "min": "shortest call", "max": "longest call", "total": "total time"}
    axis.set_xlabel(f"{words[metric]} [s]")
    if options.log_scale:
        axis.set_xscale("log")
    if len(runs.labels) > 1 or options.stack_children:
        axis.legend(loc="best", fontsize=8)
    axis.grid(axis="x", alpha=0.3)
    return figure


def _children(run: ProfilingResults, runs: Runs, names: set[str]) -> dict[str, float]:
    """Seconds of the regions called directly inside those of `names`, on the selected ranks."""
    import numpy as np

    found: dict[str, float] = {}
    for rank in ranks_of(run, runs.ranks):
        arrays = run._arrays(rank, None, None)
        if not len(arrays):
            continue
        index, parent = np.asarray(arrays.region_index), np.asarray(arrays.parent)
        is_member = np.array([name in names for name in arrays.names])
        inside = (parent >= 0) & ~is_member[index]
        inside[inside] = is_member[index[parent[inside]]]
        seconds = np.bincount(
            index[inside],
            weights=(arrays.end_ns[inside] - arrays.start_ns[inside]) * 1e-9,
            minlength=len(arrays.names),
        )
        for name, value in zip(arrays.names, seconds):
            if value > 0:
                found[name] = found.get(name, 0.0) + float(value)
    return found


def _draw_stacks(
    axis: Any, run: ProfilingResults, runs: Runs, rows: dict[str, list[str]], at: Any, height: float,
    metric: str,
) -> None:  # fmt: skip
    """A bar of parts: what is called directly inside, in its colors, then the rest in grey."""
    known = {region.name: region.color for region in run.get_regions()}
    shown = {text.get_label() for text in axis.containers}
    for y, names in zip(at, rows.values()):
        times = _times(run, runs, names)
        scale = 1.0 / times.calls if metric == "avg" and times.calls else 1.0
        left = 0.0
        for child, seconds in sorted(_children(run, runs, set(names)).items(), key=lambda c: -c[1]):
            label = plain(child) if plain(child) not in shown else "_"
            shown.add(label)
            axis.barh(y, seconds * scale, height * 0.92, left=left, color=known[child], label=label)
            left += seconds * scale
        label = "own" if "own" not in shown else "_"
        shown.add("own")
        axis.barh(y, max(times.of(metric) - left, 0.0), height * 0.92, left=left, color="0.75", label=label)


# ---- Over time, and distributions ----------------------------------------------------------------


def _lines(runs: Runs, payload: list[dict[str, Any]]) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Points of each run and region."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for point in payload:
        found.setdefault((point["file"], point["region"]), []).append(point)
    return [(file, region, points) for (file, region), points in found.items()]


def _note_hidden(axis: Any, count: int) -> None:
    if count > 0:
        axis.text(0.99, 0.01, f"{count} more regions not shown", ha="right", va="bottom", fontsize=8,
                  transform=axis.transAxes, color="0.4")  # fmt: skip


def _finish_lines(axis: Any, label: str, count: int) -> None:
    axis.set_title(plain(label))
    axis.grid(alpha=0.3)
    if 0 < count <= _MOST_LINES:
        axis.legend(loc="best", fontsize=8)


def timeseries(runs: Runs, output: Output, log_scale: bool) -> Any:
    """A panel a run: mean duration of the n-th calls of all ranks, and the band they lie in."""
    lines = _lines(runs, runs.payload("timeseries")["points"])
    figure, axes = new_figure(output, 10, 4.0 * len(runs.labels), len(runs.labels))
    colors = runs.colors()
    for label, axis in zip(runs.labels, axes):
        own = [(region, points) for file, region, points in lines if file == label]
        for region, points in own[:_MOST_LINES]:
            x = [point["time_seconds"] for point in points]
            axis.plot(x, [point["mean_duration_seconds"] for point in points], color=colors[region],
                      marker="." if len(points) < 50 else None, linewidth=1,
                      label=plain(shorten(region, 40)))  # fmt: skip
            if any(point["num_ranks"] > 1 for point in points):
                axis.fill_between(
                    x,
                    [point["min_duration_seconds"] for point in points],
                    [point["max_duration_seconds"] for point in points],
                    color=colors[region], alpha=0.2, linewidth=0,
                )  # fmt: skip
        if log_scale:
            axis.set_yscale("log")
        axis.set_ylabel("duration [s]")
        _finish_lines(axis, label, len(own))
        _note_hidden(axis, len(own) - _MOST_LINES)
    axes[-1].set_xlabel("start, mean over ranks, since the first entry [s]")
    return figure


def histogram(runs: Runs, output: Output, bins: int, log_scale: bool) -> Any:
    """A panel a run: calls by duration, in bins that its regions share."""
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    lines = _lines(runs, runs.payload("histogram", bins=bins)["bins"])
    figure, axes = new_figure(output, 9, 4.0 * len(runs.labels), len(runs.labels))
    colors = runs.colors()
    for label, axis in zip(runs.labels, axes):
        own = [(region, points) for file, region, points in lines if file == label]
        for region, points in own[:_MOST_LINES]:
            edges = [point["bin_low_seconds"] for point in points]
            edges.append(points[-1]["bin_high_seconds"])
            axis.stairs([point["count"] for point in points], edges, color=colors[region], fill=True,
                        alpha=0.5, label=plain(shorten(region, 40)))  # fmt: skip
        if log_scale:
            axis.set_yscale("log")
        axis.set_ylabel("calls")
        _finish_lines(axis, label, len(own))
        _note_hidden(axis, len(own) - _MOST_LINES)
    axes[-1].set_xlabel("duration [s]")
    return figure


# ---- Ranks ---------------------------------------------------------------------------------------


def imbalance(runs: Runs, output: Output, metric: str, log_scale: bool) -> Any:
    """A panel a run: a point a rank in the line of its region, the mean as a dashed tick."""
    payload = runs.payload("imbalance", imbalance_metric=metric)
    lines = _lines(runs, payload["points"])
    figure, axes = new_figure(
        output, 9, height_for(len(lines) + 2 * len(runs.labels)), len(runs.labels)
    )
    colors = runs.colors()
    for label, axis in zip(runs.labels, axes):
        own = [(region, points) for file, region, points in lines if file == label]
        for row, (region, points) in enumerate(own):
            values = [point["value_seconds"] for point in points]
            axis.scatter(values, [row] * len(values), color=colors[region], s=24, alpha=0.8)
            mean = points[0]["mean_over_ranks_seconds"]
            axis.plot([mean, mean], [row - 0.4, row + 0.4], color="0.3", linestyle="--", linewidth=1)
        axis.set_yticks(range(len(own)), [plain(shorten(region, 40)) for region, _ in own])
        axis.set_ylim(len(own) - 0.5, -0.5)
        if log_scale:
            axis.set_xscale("log")
        axis.set_title(plain(label))
        axis.grid(axis="x", alpha=0.3)
    axes[-1].set_xlabel(f"{metric} of a rank [s] (dashed: mean of the ranks)")
    return figure


def rank_heatmap(runs: Runs, output: Output, cmap: str, exclusive: bool) -> Any:
    """A panel a run: regions by ranks, colored by time."""
    import numpy as np

    for run in runs.results:
        asked = [runs.ranks] if isinstance(runs.ranks, int) else list(runs.ranks or [])
        wrong = [rank for rank in asked if not 0 <= rank < run.num_ranks]
        if wrong:
            raise ValueError(f"Invalid ranks requested: {wrong}")
    names = runs.names()
    figure, axes = new_figure(
        output, 9, height_for(len(runs.labels) * (len(names) + 2)), len(runs.labels)
    )
    for run, label, axis in zip(runs.results, runs.labels, axes):
        ranks = ranks_of(run, runs.ranks)
        seconds = np.full((len(names), len(ranks)), np.nan)
        for row, name in enumerate(names):
            for column, rank in enumerate(ranks):
                if name in run and rank in run[name].regions:
                    region = run[name][rank]
                    seconds[row, column] = (
                        region.exclusive_duration if exclusive else region.total_duration
                    )
        image = axis.imshow(seconds, aspect="auto", cmap=cmap, interpolation="nearest")
        axis.set_yticks(range(len(names)), [plain(shorten(name, 40)) for name in names])
        step = max(1, len(ranks) // 16)
        axis.set_xticks(range(0, len(ranks), step), [str(rank) for rank in ranks[::step]])
        axis.set_title(plain(label))
        figure.colorbar(image, ax=axis, label="own time [s]" if exclusive else "total time [s]")
    axes[-1].set_xlabel("rank")
    return figure


# ---- Scaling -------------------------------------------------------------------------------------

_SCALING = {
    "speedup": ("speedup", "speed-up"),
    "weak_scaling": ("normalized_runtime", "time over that of the smallest run"),
    "weak_scaling_efficiency": ("efficiency", "weak scaling efficiency"),
    "scaling_efficiency": ("efficiency", "strong scaling efficiency"),
}


def scaling(runs: Runs, output: Output, kind: str, x_field: str) -> Any:
    """A line a region over x, and what would be ideal."""
    payload = runs.payload(kind, x_field=x_field)
    column, words = _SCALING[kind]
    if not payload["points"]:
        raise ValueError("no selected region is in every run, so nothing can be compared")
    figure, [axis] = new_figure(output, 8, 5.5)
    colors = runs.colors()
    lines: dict[str, list[dict[str, Any]]] = {}
    for point in payload["points"]:
        lines.setdefault(point["region"], []).append(point)
    for region, points in list(lines.items())[:_MOST_LINES]:
        axis.plot([point[x_field] for point in points], [point[column] for point in points], marker="o",
                  color=colors[region], label=plain(shorten(region, 40)))  # fmt: skip
    xs = list(dict.fromkeys(point[x_field] for point in payload["points"]))
    numbers = all(isinstance(x, (int, float)) for x in xs)
    if numbers:
        xs.sort()
    if kind == "speedup" and numbers:
        ideal = [x / xs[0] for x in xs]
    else:
        ideal = [1.0] * len(xs)
    axis.plot(xs, ideal, color="0.5", linestyle="--", linewidth=1, label="ideal")
    axis.set_xticks(xs)
    axis.set_xlabel(payload["options"]["x_label"])
    axis.set_ylabel(words)
    axis.set_ylim(bottom=0)
    axis.grid(alpha=0.3)
    axis.legend(loc="best", fontsize=8)
    _note_hidden(axis, len(lines) - _MOST_LINES)
    return figure
