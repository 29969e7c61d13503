"""Figures of runs: where the time goes, call by call, region by region, rank by rank and run by run.

Every function takes one run or several, draws with Matplotlib, and on request saves the figure (the ending
of the file chooses the format), writes the data behind it and returns it. Runs of ranks that are not the
root of a job are passed over; when none is left, a function returns quietly.
"""

from __future__ import annotations

from . import _counter_data, _plot_calls, _plot_counters, _plot_runs, _plots
from ._export import root_runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from ._export import Data
    from .results import Patterns, ProfilingResults, Ranks

    PathLike = str | os.PathLike[str]

__all__ = [
    "available_likwid_metrics", "collect_roofline_points", "plot_callgraph", "plot_duration_histogram", "plot_duration_timeseries", "plot_durations",
    "plot_flame", "plot_flame_chart", "plot_flame_graph", "plot_gantt", "plot_imbalance",
    "plot_likwid", "plot_perf_events", "plot_rank_heatmap", "plot_roofline", "plot_scaling_efficiency", "plot_speedup", "plot_timeline_density",
    "plot_weak_scaling", "plot_weak_scaling_efficiency",
]  # fmt: skip


def plot_gantt(
    profiling_data: Data,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    min_duration: float = 0.0,
    start_time: float | None = None,
    end_time: float | None = None,
    aggregate_calls: int = 1,
    collapse_depth: int | None = None,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws when each region was active: a line a region, in it a line a rank.

    Args:
        profiling_data: A run or several, one panel each.
        ranks: One rank, several, or None for all.
        include: Regular expression(s) of the regions to show; None shows all.
        exclude: Regular expression(s) of the regions to leave out.
        min_duration: Shorter calls, in seconds, are left out.
        start_time: Where the time line begins, in seconds since the first entry.
        end_time: Where it ends.
        aggregate_calls: So many calls of a region, one after the other, become one bar.
        collapse_depth: Calls deeper than this are left out; 0 keeps the outermost.
        filepath: Where the figure is saved.
        show: Show it in a window.
        verbose: Say what was saved.
        cmap: Has no effect: a region has one color in all figures.
        data_filepath: Where the data are written.
        data_format: ``csv``, ``json`` or ``parquet``.
        backend: ``matplotlib``.
        return_fig: Return the figure.

    Returns:
        The figure when asked for, else None.

    Raises:
        ValueError: No region is selected, or a choice that does not exist.
        ImportError: Matplotlib is not installed.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    runs = _plots.select(profiling_data, ranks, include, exclude)
    if runs is None:
        return None
    window = _plot_calls.Window(start_time, end_time, min_duration, aggregate_calls, collapse_depth)
    return output.finish(_plot_calls.gantt(runs, output, window), runs.writer("gantt"))


def plot_timeline_density(
    profiling_data: Data,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    bins: int = 200,
    start_time: float = 0.0,
    end_time: float | None = None,
    min_duration: float = 0.0,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "magma",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws the seconds of each region in each piece of time, as colors.

    Args:
        bins: Pieces of time.
        cmap: Colors, by the name that Matplotlib has for them.

    Other arguments, results and errors are those of :func:`plot_gantt`.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    runs = _plots.select(profiling_data, ranks, include, exclude)
    if runs is None:
        return None
    options = {"bins": bins, "start_time": start_time or 0.0, "end_time": end_time,
               "min_duration": min_duration}  # fmt: skip
    figure = _plot_calls.density(runs, output, cmap, options)
    return output.finish(figure, runs.writer("density", **options))


def plot_flame_chart(
    profiling_data: Data,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "inferno",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws every call over time, calls inside others below them; a panel for each run and rank.

    Without ``ranks`` it is rank 0. Arguments, results and errors are those of :func:`plot_gantt`.

    Raises:
        ValueError: Also a rank that a run has not.
        NestingError: The calls of a rank do not nest.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    runs = _plots.select(profiling_data, [0] if ranks is None else ranks, include, exclude)
    if runs is None:
        return None
    return output.finish(_plot_calls.flame_chart(runs, output), runs.writer("flame_chart"))


def plot_flame_graph(
    profiling_data: Data,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "inferno",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws the call paths, each as wide as the time inside it, callees above their callers.

    Without ``ranks`` it is rank 0. Arguments, results and errors are those of :func:`plot_flame_chart`.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    runs = _plots.select(profiling_data, [0] if ranks is None else ranks, include, exclude)
    if runs is None:
        return None
    return output.finish(_plot_calls.flame_graph(runs, output), runs.writer("flame_graph"))


plot_flame = plot_flame_graph


def plot_callgraph(
    profiling_data: Data,
    rank: int = 0,
    include: Patterns = None,
    exclude: Patterns = None,
    compact: bool = False,
    fluid: bool = False,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws who calls whom on a rank of one run: a node a region, by the depth at which it is called.

    Args:
        rank: The rank.
        compact: Leave out how often a region was called and for how long.
        fluid: Have the width of lines follow the number of calls.

    Other arguments, results and errors are those of :func:`plot_gantt`.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    runs = _plots.select(profiling_data, [rank], include, exclude)
    if runs is None:
        return None
    if len(runs.results) != 1:
        raise ValueError(f"a call graph is of one run, not of {len(runs.results)}")
    figure = _plot_calls.call_graph(runs, output, rank, compact, fluid)
    return output.finish(figure, runs.writer("callgraph", compact=True))


def plot_durations(
    profiling_data: Data,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    labels: Iterable[str] | None = None,
    metric: str | Sequence[str] = "total",
    sort_by: str | None = None,
    top_n: int | None = None,
    combine_regions: Mapping[str, str | Iterable[str]] | None = None,
    stack_children: bool = False,
    log_scale: bool = False,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
    metrics: str | Sequence[str] | None = None,
) -> Any:
    """Draws how long each region took, a bar a run, of the regions that all runs have.

    Args:
        labels: Names of the runs; default their own.
        metric: ``avg``, ``min``, ``max`` or ``total``, or several: then a figure each, saved as
            ``<stem>_<metric><ending>``.
        sort_by: Order of the regions: a metric, largest first, or ``name``; default the first entry.
        top_n: So many regions.
        combine_regions: Groups to show in place of their regions: {name: pattern(s)}.
        stack_children: Split each bar into the time of the regions called directly inside and its own;
            only ``total`` and ``avg``.
        log_scale: Logarithmic times.
        metrics: Other name of ``metric``.

    Other arguments are those of :func:`plot_gantt`.

    Returns:
        Paths of the saved figures; with ``return_fig`` the figure, or a list of several.

    Raises:
        ValueError: Also an unknown metric, a group that fits no region or has the name of one.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    runs = _plots.select(profiling_data, ranks, include, exclude, labels)
    if runs is None:
        return None
    wanted = metric if metrics is None else metrics
    options = _plot_runs.DurationOptions(
        [wanted] if isinstance(wanted, str) else list(wanted),
        sort_by, top_n, dict(combine_regions or {}), stack_children, log_scale,
    )  # fmt: skip
    return _plot_runs.durations(runs, output, options)


def plot_duration_timeseries(
    profiling_data: Data,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    log_scale: bool = False,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws how the durations of each region change over the run.

    The n-th calls of all ranks are one point: their mean, with a band from the shortest to the longest.

    Args:
        log_scale: Logarithmic durations.

    Other arguments, results and errors are those of :func:`plot_gantt`.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    runs = _plots.select(profiling_data, ranks, include, exclude)
    if runs is None:
        return None
    figure = _plot_runs.timeseries(runs, output, log_scale)
    return output.finish(figure, runs.writer("timeseries"))


def plot_duration_histogram(
    profiling_data: Data,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    bins: int = 30,
    log_scale: bool = False,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws how many calls of each region took how long; all regions of a run share their bins.

    Args:
        bins: Bins from the shortest to the longest call.
        log_scale: Logarithmic counts.

    Other arguments, results and errors are those of :func:`plot_gantt`.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    runs = _plots.select(profiling_data, ranks, include, exclude)
    if runs is None:
        return None
    figure = _plot_runs.histogram(runs, output, bins, log_scale)
    return output.finish(figure, runs.writer("histogram", bins=bins))


def plot_imbalance(
    profiling_data: Data,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    metric: str = "total",
    log_scale: bool = False,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws a figure of each region on every rank, and the mean of the ranks.

    Args:
        metric: ``total``, ``avg``, ``min`` or ``max``.
        log_scale: Logarithmic times.

    Other arguments, results and errors are those of :func:`plot_gantt`.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    runs = _plots.select(profiling_data, ranks, include, exclude)
    if runs is None:
        return None
    figure = _plot_runs.imbalance(runs, output, metric, log_scale)
    return output.finish(figure, runs.writer("imbalance", imbalance_metric=metric))


def plot_rank_heatmap(
    profiling_data: Data,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    exclusive: bool = False,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "viridis",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws the time of each region on each rank, as colors; a panel a run.

    Args:
        exclusive: Time in the region itself, not in regions inside it.
        cmap: Colors, by the name that Matplotlib has for them.

    Other arguments, results and errors are those of :func:`plot_gantt`.

    Raises:
        ValueError: Also ranks that a run has not.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    runs = _plots.select(profiling_data, ranks, include, exclude)
    if runs is None:
        return None
    figure = _plot_runs.rank_heatmap(runs, output, cmap, exclusive)
    return output.finish(figure, runs.writer("rank_heatmap"))


def plot_speedup(
    profiling_data: Data,
    x_field: str = "num_ranks",
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws how many times faster each region is than in the run with the smallest x.

    Args:
        profiling_data: Two runs or more.
        x_field: ``num_ranks``, ``omp_num_threads``, ``total_cores`` or a field of the metadata.

    Other arguments, results and errors are those of :func:`plot_gantt`.
    """
    return _scaling(
        "speedup", profiling_data, x_field, ranks, include, exclude,
        _plots.Output(filepath, show, verbose, data_filepath, data_format, backend, return_fig),
    )  # fmt: skip


def plot_weak_scaling(
    profiling_data: Data,
    x_field: str = "num_ranks",
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws the time of each region over that of the run with the smallest x; 1 is ideal when the work
    grows with x. Arguments, results and errors are those of :func:`plot_speedup`."""
    return _scaling(
        "weak_scaling", profiling_data, x_field, ranks, include, exclude,
        _plots.Output(filepath, show, verbose, data_filepath, data_format, backend, return_fig),
    )  # fmt: skip


def plot_weak_scaling_efficiency(
    profiling_data: Data,
    x_field: str = "num_ranks",
    work_per_rank: Sequence[float] | None = None,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws the inverse of :func:`plot_weak_scaling`.

    Args:
        work_per_rank: Work of a rank in each run; it must be the same in all.

    Other arguments, results and errors are those of :func:`plot_speedup`.
    """
    if work_per_rank is not None and len(set(work_per_rank)) > 1:
        raise ValueError(
            f"weak scaling needs the same work on a rank in every run, not {list(work_per_rank)}"
        )
    return _scaling(
        "weak_scaling_efficiency", profiling_data, x_field, ranks, include, exclude,
        _plots.Output(filepath, show, verbose, data_filepath, data_format, backend, return_fig),
    )  # fmt: skip


def plot_scaling_efficiency(
    profiling_data: Data,
    x_field: str = "num_ranks",
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws the speed-up of each region over the ratio of x; 1 is ideal.

    Args:
        x_field: ``num_ranks``, ``omp_num_threads`` or ``total_cores``.

    Other arguments, results and errors are those of :func:`plot_speedup`.
    """
    return _scaling(
        "scaling_efficiency", profiling_data, x_field, ranks, include, exclude,
        _plots.Output(filepath, show, verbose, data_filepath, data_format, backend, return_fig),
    )  # fmt: skip


def _scaling(
    kind: str,
    profiling_data: Data | Sequence[ProfilingResults],
    x_field: str,
    ranks: Ranks,
    include: Patterns,
    exclude: Patterns,
    output: _plots.Output,
) -> Any:
    output.check()
    runs = _plots.select(profiling_data, ranks, include, exclude)
    if runs is None:
        return None
    if len(runs.results) < 2:
        raise ValueError(f"plot_{kind} requires at least two profiling files.")
    figure = _plot_runs.scaling(runs, output, kind, x_field)
    return output.finish(figure, runs.writer(kind, x_field=x_field))


# ---- Counters ------------------------------------------------------------------------------------


def available_likwid_metrics(profiling_data: Data) -> list[str]:
    """Returns the names of the metrics and events that :func:`plot_likwid` can show."""
    return _counter_data.likwid_metrics(root_runs(profiling_data))


def collect_roofline_points(
    profiling_data: Data,
    *,
    flops_metric: str | None = None,
    bandwidth_metric: str | None = None,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
) -> list[dict[str, Any]]:
    """Returns the points of :func:`plot_roofline`: one for each run, rank and region that has a rate of
    operations and a memory bandwidth."""
    chosen = _plots.labelled(profiling_data, None)
    if chosen is None:
        return []
    return _counter_data.roofline_points(
        *chosen, flops_metric, bandwidth_metric, ranks, include, exclude
    )


def plot_likwid(
    profiling_data: Data,
    metric: str,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    labels: Sequence[str] | None = None,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    log_scale: bool = False,
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws a LIKWID metric or event of each region: the mean over the threads of the selected ranks.

    Args:
        metric: One of :func:`available_likwid_metrics`.
        labels: Names of the runs; default their own.
        log_scale: Logarithmic values.

    Other arguments and results are those of :func:`plot_gantt`.

    Raises:
        ValueError: No selected region has the metric; the text lists those that there are.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    chosen = _plots.labelled(profiling_data, labels)
    if chosen is None:
        return None
    rows = _counter_data.likwid_bars(*chosen, metric, ranks, include, exclude)
    if not rows:
        names = available_likwid_metrics(profiling_data)
        raise ValueError(
            f"no selected region has the LIKWID metric {metric!r}; there are {', '.join(names)}"
            if names
            else "None of the selected files recorded LIKWID data."
        )
    return _finish_bars(output, "likwid", rows, metric, log_scale)


def plot_perf_events(
    profiling_data: Data,
    metric: str = "ipc",
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    labels: Sequence[str] | None = None,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    backend: str = "matplotlib",
    return_fig: bool = False,
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
) -> Any:
    """Draws a figure of the perf events of each region, from the totals of the selected ranks.

    Args:
        metric: An event, ``ipc`` (instructions a cycle) or ``cache-misses-per-ki`` (a thousand instructions).
        labels: Names of the runs; default their own.

    Other arguments and results are those of :func:`plot_gantt`.

    Raises:
        ValueError: No run counted events, or not those of the metric.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    chosen = _plots.labelled(profiling_data, labels)
    if chosen is None:
        return None
    rows = _counter_data.perf_event_bars(*chosen, metric, ranks, include, exclude)
    return _finish_bars(output, "perf_events", rows, metric, False)


def _finish_bars(
    output: _plots.Output, kind: str, rows: list[dict[str, Any]], metric: str, log_scale: bool
) -> Any:
    series = list(dict.fromkeys(row["series"] for row in rows))
    document = {"metric": metric, "bars": rows, "colors": _plots.series_colors(series)}
    figure = _plot_counters.bars(output, document, log_scale)
    return output.finish(
        figure, lambda path, form: _counter_data.write(kind, "bars", document, path, form)
    )


def plot_roofline(
    profiling_data: Data,
    *,
    flops_metric: str | None = None,
    bandwidth_metric: str | None = None,
    peak_flops: float | None = None,
    peak_bandwidth: float | None = None,
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    filepath: PathLike | None = None,
    show: bool = False,
    verbose: bool = True,
    cmap: str = "tab20",
    data_filepath: PathLike | None = None,
    data_format: str = "csv",
    backend: str = "matplotlib",
    return_fig: bool = False,
) -> Any:
    """Draws the performance of regions over their arithmetic intensity, under the roof of the machine.

    Rates are summed over the threads of a rank.

    Args:
        flops_metric: LIKWID metric with the rate of operations; default the first in FLOP/s.
        bandwidth_metric: LIKWID metric with the memory bandwidth; default the first in Bytes/s.
        peak_flops: Most that the machine can do, GFLOP/s; default the most that was seen.
        peak_bandwidth: The same of its memory, GB/s.

    Other arguments are those of :func:`plot_gantt`.

    Returns:
        The data of the plot; with ``return_fig`` the figure.

    Raises:
        ValueError: No selected region has both rates, or a peak is not positive.
    """
    output = _plots.Output(
        filepath, show, verbose, data_filepath, data_format, backend, return_fig
    )
    output.check()
    chosen = _plots.labelled(profiling_data, None)
    if chosen is None:
        return None
    points = _counter_data.roofline_points(
        *chosen, flops_metric, bandwidth_metric, ranks, include, exclude
    )
    document = _counter_data.roofline_document(points, peak_flops, peak_bandwidth)
    figure = output.finish(
        _plot_counters.roofline(output, document),
        lambda path, form: _counter_data.write("roofline", "points", document, path, form),
    )
    return figure if return_fig else document
