"""The data behind plots, for plotting with other tools."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from . import _columns, _results
from ._export import root_runs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ._export import Data
    from .results import Patterns, Ranks

__all__ = ["PLOT_KINDS", "export_plot_data"]

#: The plots whose data can be exported.
PLOT_KINDS = (
    "gantt", "density", "flame_chart", "flame_graph", "callgraph", "durations", "timeseries",
    "histogram", "imbalance", "rank_heatmap", "speedup", "weak_scaling", "weak_scaling_efficiency",
    "scaling_efficiency",
)  # fmt: skip

_FORMATS = ("csv", "json", "parquet")


def export_plot_data(
    profiling_data: Data,
    kind: str,
    filepath: str | os.PathLike[str],
    *,
    data_format: str = "csv",
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    labels: Iterable[str] | None = None,
    metrics: Iterable[str] | str = ("total",),
    reduction: str = "pooled",
    sort_by: str | None = None,
    top_n: int | None = None,
    bins: int | None = None,
    imbalance_metric: str = "total",
    x_field: str = "num_ranks",
    start_time: float = 0.0,
    end_time: float | None = None,
    min_duration: float = 0.0,
    compact: bool = False,
) -> Path | None:
    """Writes the data behind a plot of one or several runs.

    Args:
        profiling_data: A run or several.
        kind: One of :data:`PLOT_KINDS`. The last four compare runs and need two or more.
        filepath: The file; missing folders are made.
        data_format: ``csv``, ``json`` or ``parquet`` (needs pyarrow).
        ranks: One rank, several, or None for all (flames and the call graph: rank 0).
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        labels: Names of the runs; default their own.
        metrics: What ``durations`` shows: ``total``, ``avg``, ``min``, ``max``, ``first``,
            ``last``, ``p50``, ``p95``, ``p99``.
        reduction: What becomes of several ranks: ``pooled``, ``max``, ``mean``, ``min``, ``sum``.
        sort_by: Order of ``durations``: a metric, largest first, or ``name``.
        top_n: So many regions of ``durations``.
        bins: Bins of ``histogram`` (default 30) and ``density`` (default 200).
        imbalance_metric: What ``imbalance`` shows.
        x_field: Axis of the plots that compare runs: ``num_ranks``, ``num_nodes``,
            ``omp_num_threads``, ``total_cores`` or any field of the metadata.
        start_time: Where ``density`` begins, in seconds since the first entry.
        end_time: Where ``density`` ends; default the last exit.
        min_duration: Shorter calls are left out of ``density``.
        compact: ``callgraph`` has a node for each region instead of each call.

    Returns:
        The path; None where no run belongs to a root rank.

    Raises:
        ValueError: A choice that does not exist, no region left, a wrong number of runs or labels.
        ImportError: Parquet without pyarrow.
        NestingError: Calls that cannot be nested, where nesting is shown.
    """
    if data_format not in _FORMATS:
        raise ValueError(f"data_format must be one of {', '.join(_FORMATS)}, not {data_format!r}")
    runs = root_runs(profiling_data)
    if not runs:
        return None
    path = Path(filepath)
    names: list[str] | None = None
    if include is not None or exclude is not None:
        names = sorted({name for run in runs for name in run._names(include, exclude)})
    given = [run.display_label for run in runs] if labels is None else list(labels)

    def write(target: Path, as_json: bool) -> None:
        _results.export_plot_data(
            [run._run for run in runs],
            kind,
            target,
            labels=given,
            names=names,
            ranks=_columns.checked_ranks(ranks),
            as_json=as_json,
            reduction=reduction,
            metrics=[metrics] if isinstance(metrics, str) else list(metrics),
            sort_by=sort_by,
            top=top_n or 0,
            bins=bins or 0,
            imbalance_metric=imbalance_metric,
            x_field=x_field,
            start_time=start_time,
            end_time=end_time or 0.0,
            min_duration=min_duration,
            compact=compact,
        )

    if data_format == "parquet":
        _write_parquet(path, write)
    else:
        write(path, data_format == "json")
    return path


def _write_parquet(path: Path, write: Callable[[Path, bool], None]) -> None:
    """The columns of the CSV form, with their types."""
    try:
        from pyarrow import csv, parquet
    except ImportError as error:
        raise ImportError(
            "data_format='parquet' needs pyarrow; install scope-profiler[pproc]"
        ) from error
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.csv"
        write(rows, False)
        options = csv.ConvertOptions(strings_can_be_null=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        try:
            parquet.write_table(csv.read_csv(rows, convert_options=options), temporary)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
