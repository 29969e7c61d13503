"""What all plots share: figures without global state, saving, the data behind them, fewer marks than
pixels."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from . import _columns
from ._export import root_runs
from .plot_data import export_plot_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from ._export import Data
    from .results import Patterns, ProfilingResults, Ranks

#: Marks across a figure; more could not be told apart on any screen or paper.
RESOLUTION = 4000

_INSTALL = "install scope-profiler[pproc]"


class Output(NamedTuple):
    """Where a plot goes: what every plot function takes besides its data."""

    filepath: Any = None
    show: bool = False
    verbose: bool = True
    data_filepath: Any = None
    data_format: str = "csv"
    backend: str = "matplotlib"
    return_fig: bool = False

    def check(self) -> None:
        if self.backend != "matplotlib":
            raise ValueError(
                f"backend must be 'matplotlib', not {self.backend!r}; a page for the browser is made "
                "by `scope-profiler report`"
            )
        try:
            import matplotlib  # noqa: F401
        except ImportError as error:
            raise ImportError(f"plots need matplotlib; {_INSTALL}", name="matplotlib") from error

    def finish(self, figure: Any, data: Callable[[Path, str], Any] | None = None) -> Any:
        """Saves and shows the figure and writes its data, as asked for; returns it on request."""
        if self.data_filepath is not None and data is not None:
            data(Path(self.data_filepath), self.data_format)
        if self.filepath is not None:
            save(figure, Path(self.filepath))
            if self.verbose:
                print(f"saved {self.filepath}")
        if self.show:
            import matplotlib.pyplot as plt

            plt.show()
        return figure if self.return_fig else None


def save(figure: Any, path: Path) -> None:
    """Writes the figure in the format of the ending, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix or '.png'}")
    try:
        figure.savefig(temporary, dpi=150, bbox_inches="tight")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def new_figure(output: Output, width: float, height: float, rows: int = 1) -> tuple[Any, list[Any]]:
    """A figure of so many inches and its axes, one below the other. Only a figure that is to be shown is
    one of pyplot's, which keeps it until it is closed."""
    if output.show:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(width, height), layout="constrained")
    else:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, 1, squeeze=False)
    return figure, [row[0] for row in axes]


class Runs(NamedTuple):
    """The runs of a plot, each with a label of its own."""

    results: list[ProfilingResults]
    labels: list[str]
    ranks: Ranks
    include: Patterns
    exclude: Patterns

    def names(self) -> list[str]:
        """Selected regions in order of first appearance, over all runs."""
        found: dict[str, None] = {}
        for run in self.results:
            for region in run.get_regions(self.include, self.exclude):
                found[region.name] = None
        return list(found)

    def payload(self, kind: str, **options: Any) -> dict[str, Any]:
        """The data of a kind of plot, from the recorder's library."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.json"
            self.write(kind, path, "json", **options)
            payload: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            return payload

    def write(self, kind: str, path: Path, data_format: str, **options: Any) -> None:
        options.setdefault("labels", self.labels)
        options.setdefault("ranks", self.ranks)
        export_plot_data(
            self.results, kind, path, data_format=data_format, include=self.include,
            exclude=self.exclude, **options,
        )  # fmt: skip

    def writer(self, kind: str, **options: Any) -> Callable[[Path, str], None]:
        return lambda path, data_format: self.write(kind, path, data_format, **options)

    def colors(self) -> dict[str, str]:
        """Color of each region, the same in every plot."""
        return {
            region.name: region.color
            for run in self.results
            for region in run.get_regions(self.include, self.exclude)
        }


def select(
    profiling_data: Data,
    ranks: Ranks,
    include: Patterns,
    exclude: Patterns,
    labels: Iterable[str] | None = None,
) -> Runs | None:
    """The runs to plot; None when none of them belongs to a root rank.

    Raises:
        ValueError: No region is selected, or the labels are too many or too few.
    """
    chosen = labelled(profiling_data, labels)
    if chosen is None:
        return None
    runs = Runs(*chosen, _columns.checked_ranks(ranks), include, exclude)
    if not runs.names():
        raise ValueError("No regions matched the selected filters.")
    return runs


def labelled(
    profiling_data: Data, labels: Iterable[str] | None
) -> tuple[list[ProfilingResults], list[str]] | None:
    """The runs of root ranks, each with a label of its own; None when there is no run."""
    results = root_runs(profiling_data)
    if not results:
        return None
    names = [run.display_label for run in results] if labels is None else list(labels)
    if len(names) != len(results):
        raise ValueError("labels must match the number of profiling files.")
    return results, _unique(names)


def series_colors(names: Sequence[str]) -> dict[str, str]:
    """Color of each run."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return {name: to_hex(colormaps["tab20"](i % 20)) for i, name in enumerate(names)}


def _unique(labels: Sequence[str]) -> list[str]:
    seen: dict[str, int] = {}
    unique = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        unique.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return unique


def ranks_of(run: ProfilingResults, ranks: Ranks) -> list[int]:
    """The selected ranks that a run has."""
    if ranks is None:
        return list(range(run.num_ranks))
    wanted = [ranks] if isinstance(ranks, int) else list(ranks)
    return [rank for rank in wanted if rank < run.num_ranks]


def merge_close(
    start: NDArray[np.float64], end: NDArray[np.float64], gap: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Intervals in order of start, those that overlap or lie closer than `gap` made one."""
    import numpy as np

    if len(start) == 0:
        return start, end
    reach = np.maximum.accumulate(end)
    first = np.ones(len(start), dtype=bool)
    first[1:] = start[1:] - reach[:-1] > gap
    last = np.ones(len(start), dtype=bool)
    last[:-1] = first[1:]
    return start[first], reach[last]


def text_color(color: Any) -> str:
    """Black or white, whichever is read more easily on a color: by relative luminance (WCAG 2.1)."""
    from matplotlib.colors import to_rgb

    parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    return "black" if luminance > 0.179 else "white"


def shorten(text: str, length: int) -> str:
    """The text, its middle left out when it is longer."""
    if len(text) <= length:
        return text
    half = (length - 1) // 2
    return f"{text[:half]}…{text[len(text) - half:]}"


def plain(text: str) -> str:
    """A name as it is: Matplotlib would take dollars for formulas."""
    return text.replace("$", r"\$")


def height_for(rows: int) -> float:
    """Inches for so many rows of text, within what a page holds."""
    return min(max(2.5, 0.28 * rows + 1.2), 40.0)
