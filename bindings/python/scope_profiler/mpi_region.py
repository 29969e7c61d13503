"""One region over all ranks that recorded it."""

from __future__ import annotations

from . import _columns
from ._results import Run, Statistics, region_color
from .region import Region, summary_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from ._columns import FloatArray

__all__ = ["MPIRegion"]

_REDUCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "max": max,
    "mean": lambda values: sum(values) / len(values),
    "min": min,
    "sum": sum,
}


def color_of(name: str) -> str:
    """Returns the color ``#rrggbb`` of a region name, the same in every figure and report."""
    return region_color(name)


class MPIRegion:
    """The calls of one region on every rank; ``region[rank]`` is the region of one rank.

    Statistics are pooled over the ranks. Times are in seconds.
    """

    def __init__(self, name: str, regions: Mapping[int, Region]) -> None:
        """Puts together the regions of several ranks.

        Args:
            name: Name of the region.
            regions: Region of each rank.
        """
        run = Run.create()
        self.name = name
        self._rows: dict[int, int] = {}
        for rank in sorted(regions):
            part = regions[rank]
            self._rows[rank] = run.add_row_of(part._run, part._row, region=name, rank=rank)
        self._regions: dict[int, Region] = dict(sorted(regions.items()))
        self._run = run
        self._index = 0
        self._statistics_cache: Statistics | None = None

    @classmethod
    def _of(cls, run: Run, index: int, name: str, rows: list[tuple[int, int]]) -> MPIRegion:
        """Returns region number `index` of `run`; `rows` are its (rank, row) pairs."""
        region = cls.__new__(cls)
        region.name = name
        region._run = run
        region._index = index
        region._rows = dict(rows)
        region._regions = {}
        region._statistics_cache = None
        return region

    # ---- ranks -------------------------------------------------------------------------------

    @property
    def regions(self) -> dict[int, Region]:
        """Region of each rank."""
        return {rank: self[rank] for rank in self._rows}

    @property
    def ranks(self) -> list[int]:
        """Ranks that recorded the region, sorted."""
        return sorted(self._rows)

    @property
    def color(self) -> str:
        """Color ``#rrggbb`` of the region in plots."""
        return color_of(self.name)

    def __getitem__(self, rank: int) -> Region:
        region = self._regions.get(rank)
        if region is None:
            if rank not in self._rows:
                raise KeyError(
                    f"Region '{self.name}' has no rank {rank!r}. Available ranks: {self.ranks}"
                )
            region = self._regions[rank] = Region._of(self._run, self._rows[rank], rank)
        return region

    def __iter__(self) -> Iterator[int]:
        return iter(self.ranks)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, rank: object) -> bool:
        return rank in self._rows

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hands the calls to Arrow: ``pyarrow.table(x)``, ``polars.DataFrame(x)``, duckdb.

        Columns ``name``, ``rank``, ``call_index``, ``start_ns``, ``duration_ns`` and what else was
        recorded. Times and ids are not copied.
        """
        return self._run.arrow_stream(list(self._rows.values()))

    def __repr__(self) -> str:
        return (
            f"<MPIRegion '{self.name}': {self.num_calls} calls on {len(self)} rank(s), "
            f"total {self.total_duration:.6f} s, avg {self.average_duration:.3e} s>"
        )

    def _repr_html_(self) -> str:
        from ._notebook import region_html

        return region_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return MPIRegion, (self.name, self.regions)

    # ---- where it comes from -----------------------------------------------------------------

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags of the region, those of the first rank that has some."""
        return next((tags for rank in self.ranks if (tags := self[rank].tags)), ())

    @property
    def _source(self) -> Region | None:
        """The region of the first rank that knows where it is defined."""
        return next((self[rank] for rank in self.ranks if self[rank].has_source), None)

    @property
    def source_file(self) -> str | None:
        """File that defines the region, None when unknown."""
        return None if self._source is None else self._source.source_file

    @property
    def source_lineno(self) -> int | None:
        """Line of the definition, None when unknown."""
        return None if self._source is None else self._source.source_lineno

    @property
    def source_text(self) -> str | None:
        """Source text of the definition, None when it was not captured."""
        return None if self._source is None else self._source.source_text

    @property
    def has_source(self) -> bool:
        """Whether it is known where the region is defined."""
        return self.source_file is not None

    @property
    def has_event_data(self) -> bool:
        """Whether single calls can be asked for."""
        return all(self[rank].has_event_data for rank in self._rows)

    @property
    def is_aggregate(self) -> bool:
        """Whether the run kept totals of this region instead of its calls."""
        return self._run.is_aggregate and any(self[rank].is_aggregate for rank in self._rows)

    @property
    def has_thread_data(self) -> bool:
        """Whether the thread of every call was recorded."""
        return bool(self._rows) and all(self[rank].has_thread_data for rank in self._rows)

    # ---- calls -------------------------------------------------------------------------------

    def _pooled(self, name: str) -> FloatArray:
        import numpy as np

        parts = [getattr(self[rank], name) for rank in self.ranks]
        return np.concatenate(parts) if parts else np.empty(0)

    @property
    def durations(self) -> FloatArray:
        """Duration of every call in seconds, rank after rank."""
        return self._pooled("durations")

    @property
    def inclusive_durations(self) -> FloatArray:
        """The same as :attr:`durations`."""
        return self._pooled("durations")

    @property
    def exclusive_durations(self) -> FloatArray:
        """Duration minus the direct children of every call in seconds, rank after rank.

        Raises:
            NestingError: The calls of a rank overlap without nesting.
        """
        return self._pooled("exclusive_durations")

    @property
    def gpu_durations(self) -> FloatArray | None:
        """Device time of every call in seconds, NaN where there is none; None without any.

        Rank after rank; ranks without device times are left out.
        """
        import numpy as np

        columns = [self[rank].gpu_durations for rank in self.ranks]
        parts = [column for column in columns if column is not None]
        return np.concatenate(parts) if parts else None

    # ---- statistics --------------------------------------------------------------------------

    @property
    def _statistics(self) -> Statistics:
        if self._statistics_cache is None:
            self._statistics_cache = self._run.region_statistics(self._index, self.ranks)
        return self._statistics_cache

    @property
    def num_calls(self) -> int:
        """Number of calls over all ranks."""
        return self._statistics.calls if self._rows else 0

    @property
    def total_duration(self) -> float:
        """Sum of the durations in seconds."""
        return self._seconds("total")

    @property
    def average_duration(self) -> float:
        """Mean duration in seconds."""
        return self._seconds("mean")

    @property
    def min_duration(self) -> float:
        """Shortest duration in seconds."""
        return self._seconds("minimum")

    @property
    def max_duration(self) -> float:
        """Longest duration in seconds."""
        return self._seconds("maximum")

    @property
    def first_duration(self) -> float | None:
        """Duration of the first call on the rank that started first, in seconds.

        None for a run that kept totals.
        """
        return None if self.is_aggregate and self.num_calls else self._seconds("first")

    @property
    def last_duration(self) -> float | None:
        """Duration of the last call on the rank that ended last, in seconds.

        None for a run that kept totals.
        """
        return None if self.is_aggregate and self.num_calls else self._seconds("last")

    @property
    def std_duration(self) -> float | None:
        """Population standard deviation of the durations in seconds.

        None for a run that kept totals.
        """
        return None if self.is_aggregate and self.num_calls else self._seconds("deviation")

    def _seconds(self, field: str) -> float:
        if not self._rows:
            return 0.0
        value: float = getattr(self._statistics, field)
        return value / _columns.NS_PER_S

    def percentile_duration(self, percentile: float) -> float | None:
        """Percentile of the durations of all ranks in seconds.

        None when calls were recorded but are not at hand (totals or summary-only read).

        Raises:
            ValueError: `percentile` lies outside 0..100.
        """
        if not 0 <= percentile <= 100:
            raise ValueError(f"percentile must be within 0..100, not {percentile}")
        if self.num_calls == 0:
            return 0.0
        values = self._run.percentiles(self._index, [percentile], self.ranks)
        return None if values is None else values[0] / _columns.NS_PER_S

    @property
    def p50_duration(self) -> float | None:
        """Median duration in seconds; None as in :meth:`percentile_duration`."""
        return self.percentile_duration(50)

    @property
    def p95_duration(self) -> float | None:
        """95th percentile in seconds; None as in :meth:`percentile_duration`."""
        return self.percentile_duration(95)

    @property
    def p99_duration(self) -> float | None:
        """99th percentile in seconds; None as in :meth:`percentile_duration`."""
        return self.percentile_duration(99)

    @property
    def inclusive_duration(self) -> float:
        """The same as :attr:`total_duration`."""
        return self.total_duration

    @property
    def total_exclusive_duration(self) -> float | None:
        """Duration minus direct children over all calls and ranks in seconds, None when unknown.

        Raises:
            NestingError: The calls of a rank overlap without nesting.
        """
        totals = [self[rank]._exclusive_total_ns for rank in self._rows]
        if any(total is None for total in totals):
            return None
        return sum(total for total in totals if total is not None) / _columns.NS_PER_S

    @property
    def exclusive_duration(self) -> float | None:
        """The same as :attr:`total_exclusive_duration`."""
        return self.total_exclusive_duration

    @property
    def has_gpu_timing(self) -> bool:
        """Whether any call has a device time."""
        return bool(self._rows) and self._statistics.gpu_calls > 0

    @property
    def gpu_total_duration(self) -> float | None:
        """Device time over all calls in seconds, None without any."""
        return self._statistics.gpu_total / _columns.NS_PER_S if self.has_gpu_timing else None

    @property
    def gpu_average_duration(self) -> float | None:
        """Device time per call that has one in seconds, None without any."""
        if not self.has_gpu_timing:
            return None
        return self._statistics.gpu_total / self._statistics.gpu_calls / _columns.NS_PER_S

    @property
    def has_timing(self) -> bool:
        """Whether there are calls, and so durations."""
        return self.num_calls > 0

    @property
    def _has_times(self) -> bool:
        """Whether it is known when the calls happened."""
        return self.num_calls > 0 and not self.is_aggregate

    @property
    def _first_start_ns(self) -> int | None:
        return self._statistics.start_minimum if self._has_times else None

    @property
    def first_start_time(self) -> float | None:
        """Start of the first call on any rank in seconds, None when not known."""
        return self._seconds("start_minimum") if self._has_times else None

    @property
    def last_end_time(self) -> float | None:
        """End of the call that ended last on any rank in seconds, None when not known."""
        return self._seconds("end_maximum") if self._has_times else None

    # ---- by rank -----------------------------------------------------------------------------

    def num_calls_per_rank(self) -> dict[int, int]:
        """Returns the number of calls of each rank."""
        return {rank: self[rank].num_calls for rank in self.ranks}

    def average_durations(self) -> dict[int, float]:
        """Returns the mean duration of each rank in seconds."""
        return {rank: self[rank].average_duration for rank in self.ranks}

    def min_durations(self) -> dict[int, float]:
        """Returns the shortest duration of each rank in seconds."""
        return {rank: self[rank].min_duration for rank in self.ranks}

    def max_durations(self) -> dict[int, float]:
        """Returns the longest duration of each rank in seconds."""
        return {rank: self[rank].max_duration for rank in self.ranks}

    def total_durations(self) -> dict[int, float]:
        """Returns the sum of the durations of each rank in seconds."""
        return {rank: self[rank].total_duration for rank in self.ranks}

    @property
    def rank_imbalance(self) -> float:
        """Largest over mean of the rank totals above 0; 0.0 with fewer than two of them."""
        return self._run.imbalance(self._index, self.ranks) if self._rows else 0.0

    @property
    def rank_imbalance_pct(self) -> float:
        """How far the slowest rank lies above the mean, in percent; 0.0 when balanced."""
        ratio = self.rank_imbalance
        return 100.0 * (ratio - 1.0) if ratio else 0.0

    def reduced(self, reduction: str = "max") -> dict[str, Any]:
        """Returns the statistics of each rank, reduced over the ranks that have calls.

        Args:
            reduction: ``max``, ``mean``, ``min`` or ``sum``; ``pooled`` is :meth:`get_summary`.

        Raises:
            ValueError: A reduction that does not exist; the text lists the choices.
        """
        if reduction == "pooled":
            return self.get_summary()
        how = _REDUCTIONS.get(reduction)
        if how is None:
            choices = ", ".join(("pooled", *_REDUCTIONS))
            raise ValueError(f"unknown reduction {reduction!r}; choose from {choices}")
        parts = [self[rank].get_summary() for rank in self.ranks if self[rank].num_calls]
        summary: dict[str, Any] = {"name": self.name, "num_ranks": len(parts)}
        for key in self.get_summary():
            if key not in summary:
                known = [part[key] for part in parts if part.get(key) is not None]
                summary[key] = how(known) if known else None
        return summary

    def get_summary(self) -> dict[str, Any]:
        """Returns name, number of ranks and the pooled statistics in seconds."""
        return {"name": self.name, "num_ranks": len(self), **summary_of(self)}

    def events(
        self, ranks: int | list[int] | tuple[int, ...] | None = None, origin: float = 0.0
    ) -> list[dict[str, Any]]:
        """Returns one dictionary per call of the selected ranks, rank after rank.

        Args:
            ranks: One rank, several, or None for all.
            origin: Seconds on the clock of the times that count as 0.

        Returns:
            As :meth:`Region.events`, with ``name`` and ``rank`` first.
        """
        return self._events(ranks, _columns.origin_ns(origin))

    def _events(
        self, ranks: int | list[int] | tuple[int, ...] | None, origin_ns: int
    ) -> list[dict[str, Any]]:
        chosen = _columns.checked_ranks(ranks)
        return [
            {"name": self.name, "rank": rank, **event}
            for rank in self.ranks
            if chosen is None or rank in chosen
            for event in self[rank]._events(origin_ns)
        ]
