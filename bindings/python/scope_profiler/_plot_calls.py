"""Figures of single calls: Gantt charts, densities, flames, call graphs."""

from __future__ import annotations

from typing import NamedTuple

from ._plots import RESOLUTION, height_for, merge_close, new_figure, plain, ranks_of, shorten, text_color

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from ._plots import Output, Runs
    from .call_stack import CallArrays
    from .results import ProfilingResults

_NS = 1e-9
#: Share of the width below which a box of a flame has no room for a letter, and text beside.
_CHARACTERS_ACROSS = 140


class Window(NamedTuple):
    """Which calls a Gantt chart shows; times in seconds since the first entry."""

    start: float | None
    end: float | None
    min_duration: float
    aggregate_calls: int
    collapse_depth: int | None


def _origin(run: ProfilingResults, runs: Runs) -> int:
    """First entry of any region on any rank, ns."""
    starts = [
        int(region[rank].start_times_ns.min())
        for region in run.get_regions(runs.include, runs.exclude)
        for rank in region.regions
        if region[rank].num_calls
    ]
    return min(starts) if starts else 0


# ---- Gantt ---------------------------------------------------------------------------------------


def _aggregated(
    start: NDArray[np.float64], end: NDArray[np.float64], count: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every `count` calls, one after the other, as one."""
    import numpy as np

    if count <= 1 or len(start) == 0:
        return start, end
    firsts = np.arange(0, len(start), count)
    return start[firsts], np.maximum.reduceat(end, firsts)


def _intervals(
    run: ProfilingResults, name: str, rank: int, origin: int, window: Window
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Calls of a region on a rank inside the window, in seconds."""
    import numpy as np

    region = run[name][rank]
    starts, ends = region.start_times_ns, region.end_times_ns
    keep = np.ones(len(starts), dtype=bool)
    if window.collapse_depth is not None:
        arrays = run._arrays(rank, None, None)
        of_region = arrays.region_index == arrays.names.index(name)
        keep = arrays.depth[of_region] <= window.collapse_depth
        starts, ends = arrays.start_ns[of_region], arrays.end_ns[of_region]
    start = np.asarray((starts - origin) * _NS, dtype=np.float64)
    end = np.asarray((ends - origin) * _NS, dtype=np.float64)
    if window.start is not None:
        keep &= end >= window.start
    if window.end is not None:
        keep &= start <= window.end
    start, end = _aggregated(start[keep], end[keep], window.aggregate_calls)
    long_enough = end - start >= window.min_duration
    return start[long_enough], end[long_enough]


def gantt(runs: Runs, output: Output, window: Window) -> Any:
    """A panel a run: a line a region, in it a line a rank."""
    if window.aggregate_calls < 1:
        raise ValueError(f"aggregate_calls must be at least 1, not {window.aggregate_calls}")
    panels = [
        [region.name for region in run.get_regions(runs.include, runs.exclude)]
        for run in runs.results
    ]
    rows = sum(map(len, panels))
    figure, axes = new_figure(output, 10, height_for(rows + 2 * len(panels)), len(panels))
    colors = runs.colors()
    for run, label, names, axis in zip(runs.results, runs.labels, panels, axes):
        _gantt_panel(axis, run, runs, names, window, colors)
        axis.set_title(plain(label))
    axes[-1].set_xlabel("time since the first entry [s]")
    return figure


def _gantt_panel(
    axis: Any, run: ProfilingResults, runs: Runs, names: list[str], window: Window, colors: Any
) -> None:
    origin = _origin(run, runs)
    ranks = ranks_of(run, runs.ranks)
    height = 0.8 / max(1, len(ranks))
    bars = []
    for row, name in enumerate(names):
        for line, rank in enumerate(ranks):
            if rank in run[name].regions:
                start, end = _intervals(run, name, rank, origin, window)
                bars.append((row - 0.4 + line * height, start, end, colors[name]))
    last = max((float(end.max()) for _, _, end, _ in bars if len(end)), default=1.0)
    left, right = window.start or 0.0, last if window.end is None else window.end
    for low, start, end, color in bars:
        start, end = merge_close(start, end, (right - left) / RESOLUTION)
        axis.broken_barh(list(zip(start, end - start)), (low, height * 0.95), color=color, linewidth=0)
    axis.set_yticks(range(len(names)), [plain(shorten(name, 40)) for name in names])
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.set_xlim(left, right if right > left else left + 1.0)
    axis.grid(axis="x", alpha=0.3)


# ---- Density -------------------------------------------------------------------------------------


def density(runs: Runs, output: Output, cmap: str, options: dict[str, Any]) -> Any:
    """A panel a run: regions by pieces of time, colored by the seconds in them."""
    import numpy as np

    points = runs.payload("density", **options)["points"]
    if not points:
        raise ValueError("No calls recorded for the requested ranks.")
    figure, axes = new_figure(
        output, 10, height_for(len(runs.names()) * len(runs.labels) + 2), len(runs.labels)
    )
    for label, axis in zip(runs.labels, axes):
        own = [point for point in points if point["file"] == label]
        names = list(dict.fromkeys(point["region"] for point in own))
        edges = sorted({point["bin_start_seconds"] for point in own})
        place = {edge: i for i, edge in enumerate(edges)}
        seconds = np.zeros((max(1, len(names)), max(1, len(edges))))
        for point in own:
            seconds[names.index(point["region"]), place[point["bin_start_seconds"]]] = point[
                "occupied_seconds"
            ]
        end = max((point["bin_end_seconds"] for point in own), default=1.0)
        image = axis.imshow(
            seconds, aspect="auto", cmap=cmap, interpolation="nearest",
            extent=(edges[0] if edges else 0.0, end, len(names) - 0.5, -0.5),
        )  # fmt: skip
        axis.set_yticks(range(len(names)), [plain(shorten(name, 40)) for name in names])
        axis.set_title(plain(label))
        figure.colorbar(image, ax=axis, label="seconds in the region")
    axes[-1].set_xlabel("time since the first entry [s]")
    return figure


# ---- Flames --------------------------------------------------------------------------------------


def _boxes(
    axis: Any, left: Any, width: Any, level: Any, colors: list[Any], names: list[str] | None, span: float
) -> None:
    """Boxes of height 1, with their names where there is room."""
    import numpy as np
    from matplotlib.collections import PolyCollection

    corners = np.empty((len(left), 4, 2))
    corners[:, 0, 0] = corners[:, 1, 0] = left
    corners[:, 2, 0] = corners[:, 3, 0] = np.asarray(left) + np.asarray(width)
    corners[:, 0, 1] = corners[:, 3, 1] = np.asarray(level) + 0.02
    corners[:, 1, 1] = corners[:, 2, 1] = np.asarray(level) + 0.98
    axis.add_collection(
        PolyCollection(list(corners), facecolors=colors, edgecolors="white", linewidths=0.3)
    )
    if names is None:
        return
    for x, size, y, color, name in zip(left, width, level, colors, names):
        room = int(_CHARACTERS_ACROSS * size / span) if span > 0 else 0
        if room >= 3:
            axis.text(
                x + size / 2, y + 0.5, plain(shorten(name, room)), ha="center", va="center",
                fontsize=7, color=text_color(color), clip_on=True,
            )  # fmt: skip


def _visible(arrays: CallArrays, span: float) -> NDArray[np.int64]:
    """Calls worth a box: those wider than a pixel, and of the others one a pixel and depth."""
    import numpy as np

    start = (arrays.start_ns - arrays.start_ns.min()) * _NS
    duration = (arrays.end_ns - arrays.start_ns) * _NS
    pixel = span / RESOLUTION if span > 0 else 1.0
    wide = duration >= pixel
    narrow = np.flatnonzero(~wide)
    key = np.asarray(arrays.depth)[narrow] * (RESOLUTION + 2) + (start[narrow] / pixel).astype(np.int64)
    _, first = np.unique(key, return_index=True)
    chosen: NDArray[np.int64] = np.sort(np.concatenate([np.flatnonzero(wide), narrow[first]]))
    return chosen


def _flame_panels(runs: Runs) -> Iterator[tuple[str, ProfilingResults, int]]:
    for run, label in zip(runs.results, runs.labels):
        wanted = [runs.ranks] if isinstance(runs.ranks, int) else list(runs.ranks or [0])
        for rank in wanted:
            if not 0 <= rank < run.num_ranks:
                raise ValueError(f"Invalid rank requested: {rank}")
            yield (f"{label}, rank {rank}" if run.num_ranks > 1 else label), run, rank


def flame_chart(runs: Runs, output: Output) -> Any:
    """A panel for each run and rank: calls over time, inner ones below."""
    import numpy as np

    panels = [
        (title, run._arrays(rank, runs.include, runs.exclude)) for title, run, rank in _flame_panels(runs)
    ]
    if not any(len(arrays) for _, arrays in panels):
        raise ValueError("No calls recorded for the requested ranks.")
    depths = sum(int(arrays.depth.max()) + 2 for _, arrays in panels if len(arrays))
    figure, axes = new_figure(output, 12, height_for(depths + len(panels)), len(panels))
    colors = runs.colors()
    for (title, arrays), axis in zip(panels, axes):
        axis.set_title(plain(title))
        if not len(arrays):
            continue
        origin = arrays.start_ns.min()
        span = float(arrays.end_ns.max() - origin) * _NS
        chosen = _visible(arrays, span)
        index = np.asarray(arrays.region_index)[chosen]
        names = [arrays.names[i] for i in index]
        left = (arrays.start_ns[chosen] - origin) * _NS
        width = np.maximum((arrays.end_ns[chosen] - arrays.start_ns[chosen]) * _NS, span / RESOLUTION)
        _boxes(axis, left, width, np.asarray(arrays.depth)[chosen], [colors[n] for n in names], names, span)
        axis.set_xlim(0, span or 1.0)
        axis.set_ylim(int(arrays.depth.max()) + 1, 0)
        axis.set_yticks([])
    axes[-1].set_xlabel("time since the first call [s]")
    return figure


class _Path(NamedTuple):
    left: float
    width: float
    depth: int
    name: str


def _lay_out(calls: list[dict[str, Any]]) -> list[_Path]:
    """Call paths with their places: children beside each other from the left edge of their parent."""
    free: dict[Any, float] = {}  # by path: where its next child goes
    places: dict[str, _Path] = {}
    for call in sorted(calls, key=lambda c: c["depth"]):
        path, depth = call["call_path"], call["depth"]
        parent = call["parent_path"]
        left = free.get(parent, places[parent].left if parent in places else 0.0)
        width = call["inclusive_duration_seconds"]
        places[path] = _Path(left, width, depth, call["region"])
        free[parent] = left + width
    return list(places.values())


def _with_parents(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each path with that of its caller, by the ids of the calls it stands for."""
    paths = {call["call_id"]: call["call_path"] for call in calls}
    return [{**call, "parent_path": paths.get(call["parent_call_id"])} for call in calls]


def flame_graph(runs: Runs, output: Output) -> Any:
    """A panel for each run and rank: call paths, as wide as their time, callees above."""
    panels = list(_flame_panels(runs))
    calls = runs.payload("flame_graph")["calls"]
    groups = []
    for run, label in zip(runs.results, runs.labels):
        for title, of_run, rank in panels:
            if of_run is run:
                own = [c for c in calls if c["file"] == label and c["rank"] == rank]
                groups.append((title, _lay_out(_with_parents(own))))
    if not any(paths for _, paths in groups):
        raise ValueError("No calls recorded for the requested ranks.")
    depths = sum(max((path.depth for path in paths), default=0) + 2 for _, paths in groups)
    figure, axes = new_figure(output, 12, height_for(depths + len(groups)), len(groups))
    colors = runs.colors()
    for (title, paths), axis in zip(groups, axes):
        axis.set_title(plain(title))
        axis.set_yticks([])
        if not paths:
            continue
        span = sum(path.width for path in paths if path.depth == 0)
        shown = [path for path in paths if path.width >= span / RESOLUTION]
        _boxes(
            axis, [p.left for p in shown], [p.width for p in shown], [p.depth for p in shown],
            [colors[p.name] for p in shown], [p.name for p in shown], span,
        )  # fmt: skip
        axis.set_xlim(0, span or 1.0)
        axis.set_ylim(0, max(path.depth for path in paths) + 1)
    axes[-1].set_xlabel("time inside [s]")
    return figure


# ---- Call graph ----------------------------------------------------------------------------------


class _Node(NamedTuple):
    depth: int
    calls: int
    seconds: float


def _graph(arrays: CallArrays) -> tuple[dict[str, _Node], dict[tuple[str, str], int]]:
    """Regions with the smallest depth at which they are called, and how often one calls another."""
    import numpy as np

    index, parent = np.asarray(arrays.region_index), np.asarray(arrays.parent)
    seconds = np.bincount(
        index, weights=(arrays.end_ns - arrays.start_ns) * _NS, minlength=len(arrays.names)
    )
    calls = np.bincount(index, minlength=len(arrays.names))
    depth = np.full(len(arrays.names), np.iinfo(np.int64).max)
    np.minimum.at(depth, index, np.asarray(arrays.depth))
    inner = parent >= 0
    pairs = index[parent[inner]] * len(arrays.names) + index[inner]
    kinds, counts = np.unique(pairs, return_counts=True)
    edges = {
        (arrays.names[pair // len(arrays.names)], arrays.names[pair % len(arrays.names)]): int(count)
        for pair, count in zip(kinds.tolist(), counts)
    }
    nodes = {
        name: _Node(int(depth[i]), int(calls[i]), float(seconds[i]))
        for i, name in enumerate(arrays.names)
        if calls[i]
    }
    return nodes, edges


def call_graph(runs: Runs, output: Output, rank: int, compact: bool, fluid: bool) -> Any:
    """Regions in columns by depth, lines from callers to callees."""
    run = runs.results[0]
    if not 0 <= rank < run.num_ranks:
        raise ValueError(f"Invalid rank requested: {rank}")
    nodes, edges = _graph(run._arrays(rank, runs.include, runs.exclude))
    if not nodes:
        raise ValueError("No calls recorded for the requested ranks.")
    columns: dict[int, list[str]] = {}
    for name, node in sorted(nodes.items(), key=lambda item: -item[1].seconds):
        columns.setdefault(node.depth, []).append(name)
    place = {
        name: (float(depth), -(row + 0.5) / len(names))
        for depth, names in columns.items()
        for row, name in enumerate(names)
    }
    tallest = max(map(len, columns.values()))
    figure, [axis] = new_figure(output, max(6, 2.8 * len(columns)), height_for(2 * tallest))
    _draw_edges(axis, edges, place, fluid)
    colors = runs.colors()
    for name, (x, y) in place.items():
        node = nodes[name]
        text = shorten(name, 24)
        if not compact:
            text += f"\n{node.calls}x, {node.seconds:.4g} s"
        axis.text(
            x, y, plain(text), ha="center", va="center", fontsize=8, color=text_color(colors[name]),
            bbox={"boxstyle": "round", "facecolor": colors[name], "edgecolor": "none"},
        )  # fmt: skip
    axis.set_xlim(-0.6, max(columns) + 0.6)
    axis.set_ylim(-1.05, 0.05)
    axis.set_axis_off()
    axis.set_title(plain(runs.labels[0] + (f", rank {rank}" if run.num_ranks > 1 else "")))
    return figure


def _draw_edges(
    axis: Any, edges: dict[tuple[str, str], int], place: dict[str, tuple[float, float]], fluid: bool
) -> None:
    import math

    most = max(edges.values(), default=1)
    for (caller, callee), count in edges.items():
        width = 0.6 + 3.4 * math.log1p(count) / math.log1p(most) if fluid else 1.0
        # A region that calls itself, or one further left, is reached by an arc.
        bend = 0.0 if place[callee][0] > place[caller][0] else 0.4
        axis.annotate(
            "", xy=place[callee], xytext=place[caller],
            arrowprops={"arrowstyle": "->", "linewidth": width, "color": "0.5", "shrinkA": 22,
                        "shrinkB": 22, "connectionstyle": f"arc3,rad={bend}"},
        )  # fmt: skip
