"""What `scope-profiler plot` hands to Python. cli/cmd_plot.c describes the command line."""

from __future__ import annotations

import sys
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .results import ProfilingResults

_DEFAULT = ("gantt", "durations")
_QUICK = ("durations", "speedup", "weak_scaling", "rank_heatmap", "scaling_efficiency")
_ALIASES = {"flame": "flame_chart"}
#: Kind -> function, and the options of the command that are keywords of it.
_KINDS: dict[str, tuple[str, dict[str, str]]] = {
    "gantt": ("plot_gantt", {
        "start-time": "start_time", "end-time": "end_time", "min-duration": "min_duration",
        "aggregate-calls": "aggregate_calls", "collapse-depth": "collapse_depth"}),
    "density": ("plot_timeline_density", {
        "start-time": "start_time", "end-time": "end_time", "min-duration": "min_duration",
        "bins": "bins", "cmap": "cmap"}),
    "flame_chart": ("plot_flame_chart", {}),
    "flame_graph": ("plot_flame_graph", {}),
    "callgraph": ("plot_callgraph", {
        "compact-callgraph": "compact", "fluid-callgraph": "fluid"}),
    "durations": ("plot_durations", {
        "metrics": "metric", "sort-by": "sort_by", "top-n": "top_n",
        "combine-regions": "combine_regions", "stack-children": "stack_children",
        "log-scale": "log_scale"}),
    "timeseries": ("plot_duration_timeseries", {"log-scale": "log_scale"}),
    "histogram": ("plot_duration_histogram", {"bins": "bins", "log-scale": "log_scale"}),
    "imbalance": ("plot_imbalance", {"metric": "metric", "log-scale": "log_scale"}),
    "rank_heatmap": ("plot_rank_heatmap", {"exclusive": "exclusive", "cmap": "cmap"}),
    "speedup": ("plot_speedup", {"x": "x_field"}),
    "weak_scaling": ("plot_weak_scaling", {"x": "x_field"}),
    "weak_scaling_efficiency": ("plot_weak_scaling_efficiency", {
        "x": "x_field", "work-per-rank": "work_per_rank"}),
    "scaling_efficiency": ("plot_scaling_efficiency", {"x": "x_field"}),
    "likwid": ("plot_likwid", {"metric": "metric", "log-scale": "log_scale"}),
    "roofline": ("plot_roofline", {
        "flops-metric": "flops_metric", "bandwidth-metric": "bandwidth_metric",
        "peak-flops": "peak_flops", "peak-bandwidth": "peak_bandwidth"}),
    "perf_events": ("plot_perf_events", {"metric": "metric"}),
}  # fmt: skip
_OF_COUNTERS = ("likwid", "roofline", "perf_events")
_COMPARES_RUNS = ("speedup", "weak_scaling", "weak_scaling_efficiency", "scaling_efficiency")
_INTEGERS = ("aggregate-calls", "collapse-depth", "top-n", "bins")
_NUMBERS = ("start-time", "end-time", "min-duration", "peak-flops", "peak-bandwidth")
_FLAGS = (
    "show", "compact-callgraph", "fluid-callgraph", "stack-children", "log-scale", "exclusive", "quiet",
)  # fmt: skip
_LISTS = ("include", "exclude", "ranks", "label", "metrics", "combine-regions", "work-per-rank")


def _number(name: str, value: str) -> float:
    try:
        return int(value) if name in _INTEGERS else float(value)
    except ValueError:
        raise ValueError(f"argument --{name}: {value!r} is no number") from None


def _ranks(words: list[str]) -> list[int]:
    """Numbers and ranges: 0 4-7."""
    ranks: list[int] = []
    for word in words:
        first, _, last = word.partition("-")
        ranks.extend(range(int(first), int(last or first) + 1))
    return ranks


def _groups(words: list[str]) -> dict[str, list[str]]:
    groups = {}
    for word in words:
        name, equals, patterns = word.partition("=")
        if not equals or not name or not patterns:
            raise ValueError(f"argument --combine-regions: {word!r} is not NAME=REGEX,...")
        groups[name] = patterns.split(",")
    return groups


def _read(words: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Options by their names on the command line, and the words that are none."""
    end = words.index("--")
    options: dict[str, Any] = {}
    for word in words[:end]:
        name, _, value = word[2:].partition("=")
        if name in _FLAGS:
            options[name] = True
        elif name in _LISTS:
            options.setdefault(name, []).append(value)
        elif name in _INTEGERS or name in _NUMBERS:
            options[name] = _number(name, value)
        else:
            options[name] = value
    for name, convert in (("ranks", _ranks), ("combine-regions", _groups)):
        if name in options:
            options[name] = convert(options[name])
    if "work-per-rank" in options:
        options["work-per-rank"] = [_number("work-per-rank", w) for w in options["work-per-rank"]]
    return options, words[end + 1 :]


def _chosen(kind: str, runs: list[ProfilingResults]) -> list[str]:
    """The kinds that a word stands for. The collections leave out what the runs have no data for."""
    if kind in _KINDS:
        return [kind]
    wanted = {"default": _DEFAULT, "quick": _QUICK, "all": tuple(name for name in _KINDS if name not in _OF_COUNTERS)}[kind]
    has_calls = all(run.has_event_data for run in runs)
    return [
        name
        for name in wanted
        if (len(runs) > 1 or name not in _COMPARES_RUNS)
        and (len(runs) == 1 or name != "callgraph")
        and (has_calls or name in ("durations", "imbalance", "rank_heatmap", *_COMPARES_RUNS))
    ]


def _arguments(kind: str, options: dict[str, Any], runs: list[ProfilingResults]) -> Iterator[Any]:
    """Keywords of a plot function."""
    for option, keyword in _KINDS[kind][1].items():
        if option in options:
            yield keyword, options[option]
    if kind == "callgraph":
        yield "rank", (options.get("ranks") or [0])[0]
    elif "ranks" in options:
        yield "ranks", options["ranks"]
    for name in ("include", "exclude"):
        if name in options:
            yield name, options[name]
    yield "show", options.get("show", False)
    yield "verbose", not options.get("quiet", False)


def _draw(kinds: list[str], runs: list[ProfilingResults], options: dict[str, Any], folder: Path) -> None:
    from . import plotting_scripts

    for kind in kinds:
        function: Callable[..., Any] = getattr(plotting_scripts, _KINDS[kind][0])
        path = folder / f"{kind}_plot.{options.get('format', 'png').lstrip('.')}"
        keywords = dict(_arguments(kind, options, runs))
        function(runs if len(runs) > 1 else runs[0], filepath=path, **keywords)


def main(words: list[str]) -> int:
    """Draws what the command line asks for; returns the exit code."""
    from .h5reader import CorruptProfileError
    from .profile_io import load
    from .statistics import write_region_statistics_json

    try:
        options, names = _read(words)
        kind = "default"
        if names[0] in _KINDS or names[0] in _ALIASES or names[0] in ("default", "quick", "all"):
            kind = names.pop(0)
        runs = [load(name) for name in names]
        for run, label in zip(runs, options.get("label", [])):
            run.label = label
        folder = Path(options.get("output", "."))
        _draw(_chosen(_ALIASES.get(kind, kind), runs), runs, options, folder)
        write_region_statistics_json(
            runs, folder / "region_statistics.json", ranks=options.get("ranks"),
            include=options.get("include"), exclude=options.get("exclude"),
        )  # fmt: skip
    except (CorruptProfileError, FileNotFoundError) as error:
        print(f"scope-profiler plot: {error}", file=sys.stderr)
        return 1 if isinstance(error, FileNotFoundError) else 3
    except (ImportError, OSError, ValueError) as error:
        print(f"scope-profiler plot: {error}", file=sys.stderr)
        return 1
    if not options.get("quiet"):
        print(f"Outputs saved to: {folder}")
    return 0
