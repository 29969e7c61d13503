"""One region on one rank: its calls and their statistics."""

from __future__ import annotations

from . import _columns
from ._results import EventDataUnavailableError, NestingError, Run, Statistics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from ._columns import FloatArray, IntArray
    from ._results import Row

__all__ = ["EventDataUnavailableError", "Region"]

_AGGREGATE_KEYS = ("count", "total", "minimum", "maximum", "exclusive")
_STORED_KEYS = (
    "count",
    "total",
    "minimum",
    "maximum",
    "first",
    "last",
    "start_minimum",
    "end_maximum",
    "gpu_count",
    "gpu_total",
    "mean",
    "m2",
)


def _ns_to_s(value: float) -> float:
    return value / _columns.NS_PER_S


class Region:
    """The calls of one region on one rank.

    Times are in seconds unless a name ends in ``_ns``; times of calls are absolute, on the clock
    of :func:`time.perf_counter_ns`. Arrays have one element per call and are ordered by start.

    A region without calls has statistics of 0.0. A region of a run that kept totals only has
    statistics (None for those that totals do not tell) but empty arrays; one that came from a
    summary-only read raises :class:`EventDataUnavailableError` when its calls are asked for.
    """

    def __init__(
        self,
        start_times: Sequence[int] | IntArray,
        end_times: Sequence[int] | IntArray,
        gpu_durations: Sequence[int] | IntArray | None = None,
        call_ids: Sequence[int] | IntArray | None = None,
        parent_ids: Sequence[int] | IntArray | None = None,
        thread_ids: Sequence[int] | IntArray | None = None,
        task_ids: Sequence[int] | IntArray | None = None,
        await_times: Sequence[int] | IntArray | None = None,
        event_metadata: Sequence[Mapping[str, Any]] | None = None,
        source_file: str | None = None,
        source_lineno: int | None = None,
        source_text: str | None = None,
        tags: Iterable[str] = (),
        aggregate: Mapping[str, float] | Sequence[int] | None = None,
        event_data_available: bool = True,
    ) -> None:
        """Builds a region from arrays in nanoseconds.

        Args:
            start_times: Absolute start of every call.
            end_times: Absolute end of every call.
            gpu_durations: Device time of every call, -1 where there is none.
            call_ids: Number of every call, unique within the rank.
            parent_ids: Number of the enclosing call, -1 for none.
            thread_ids: Index of the thread, -1 unknown.
            task_ids: Index of the task, -1 outside tasks.
            await_times: Suspended time inside every call.
            event_metadata: One mapping per call, or nothing.
            source_file: File that defines the region.
            source_lineno: Line of the definition.
            source_text: Source text of the definition.
            tags: Tags of the region.
            aggregate: Totals instead of calls: ``count``, ``total``, ``minimum``, ``maximum``,
                ``exclusive``; with ``first``, ``last``, ``start_minimum``, ``end_maximum``,
                ``mean``, ``m2`` (and ``gpu_count``, ``gpu_total``) they are the stored statistics
                of a summary-only read.
            event_data_available: False when calls exist but were not read.

        Raises:
            ValueError: Two arguments differ in length.
        """
        import json

        starts = _columns.as_int64(start_times, "start_times")
        ends = _columns.as_int64(end_times, "end_times")
        optional = {
            _columns.GPU_DURATION: ("gpu_durations", gpu_durations),
            _columns.CALL_ID: ("call_ids", call_ids),
            _columns.PARENT_ID: ("parent_ids", parent_ids),
            _columns.THREAD_ID: ("thread_ids", thread_ids),
            _columns.TASK_ID: ("task_ids", task_ids),
            _columns.AWAIT: ("await_times", await_times),
        }
        columns = {
            number: _columns.as_int64(values, name)
            for number, (name, values) in optional.items()
            if values is not None
        }
        for what, length in [
            ("end_times", len(ends)),
            *((optional[number][0], len(values)) for number, values in columns.items()),
            *([("event_metadata", len(event_metadata))] if event_metadata else []),
        ]:
            if length != len(starts):
                raise ValueError(f"{what} has {length} entries for {len(starts)} calls")
        arguments: dict[str, Any] = {
            "source_file": source_file,
            "source_line": source_lineno,
            "source_text": source_text,
            "tags_json": json.dumps(list(tags), ensure_ascii=False),
        }
        if aggregate is None:
            arguments.update(starts=starts, ends=ends, columns=columns)
            if event_metadata:
                arguments["event_metadata_json"] = json.dumps(
                    [dict(values) for values in event_metadata], ensure_ascii=False
                )
        else:
            arguments.update(_totals(aggregate, event_data_available))
        run = Run.create()
        row = run.add_row("region", 0, **arguments)
        self._bind(run, row, 0)

    @classmethod
    def _of(cls, run: Run, row: int, rank: int) -> Region:
        """Returns the region that is row `row` of `run`."""
        region = cls.__new__(cls)
        region._bind(run, row, rank)
        return region

    def _bind(self, run: Run, row: int, rank: int) -> None:
        self._run = run
        self._row = row
        self._rank = rank
        self._record: Row = run.row(row)
        self._statistics_cache: Statistics | None = None
        # Exclusive times of a part of a row, which its own calls alone do not tell.
        self._exclusive: Callable[[], IntArray] | None = None

    def __repr__(self) -> str:
        return (
            f"<Region: {self.num_calls} calls, total {self.total_duration:.6f} s, "
            f"avg {self.average_duration:.3e} s>"
        )

    def __len__(self) -> int:
        return self.num_calls

    def __reduce__(self) -> tuple[Any, ...]:
        from ._pickling import reduce_region

        return reduce_region(self)

    # ---- calls -------------------------------------------------------------------------------

    @property
    def is_aggregate(self) -> bool:
        """Whether the run kept totals of this region instead of its calls."""
        return self._record.aggregate is not None

    @property
    def has_event_data(self) -> bool:
        """Whether single calls can be asked for."""
        record = self._record
        return record.columns != 0 or record.count == 0 or self.is_aggregate

    @property
    def stored_summary(self) -> dict[str, float] | None:
        """Statistics of a region without calls in ns; None where the calls are at hand.

        Of a run that kept totals these: ``count``, ``total``, ``minimum``, ``maximum``,
        ``exclusive``; of a summary-only read all that the file stores.
        """
        if self._record.aggregate is not None:
            return dict(zip(_AGGREGATE_KEYS, self._record.aggregate))
        if self.has_event_data:
            return None
        return stored_summary(self._statistics, self._record)

    def _check_events(self) -> None:
        if not self.has_event_data:
            raise EventDataUnavailableError(
                "only the stored statistics of this profile were read; "
                "use read_h5() to read its calls too"
            )

    def _column(self, column: int) -> IntArray | None:
        """One column in ns or ids; None when it was not recorded."""
        self._check_events()
        values = self._run.column(self._row, column)
        return None if values is None else _columns.view(values)

    def _time_column(self, column: int) -> IntArray:
        values = self._column(column)
        return _columns.empty() if values is None else values

    @property
    def start_times_ns(self) -> IntArray:
        """Absolute start of every call in ns, shape (num_calls,)."""
        return self._time_column(_columns.START)

    @property
    def end_times_ns(self) -> IntArray:
        """Absolute end of every call in ns, shape (num_calls,)."""
        return self.start_times_ns + self.durations_ns

    @property
    def durations_ns(self) -> IntArray:
        """Duration of every call in ns, shape (num_calls,)."""
        return self._time_column(_columns.DURATION)

    @property
    def start_times(self) -> FloatArray:
        """Absolute start of every call in seconds, shape (num_calls,)."""
        return _columns.seconds(self.start_times_ns)

    @property
    def end_times(self) -> FloatArray:
        """Absolute end of every call in seconds, shape (num_calls,)."""
        return _columns.seconds(self.end_times_ns)

    @property
    def durations(self) -> FloatArray:
        """Duration of every call in seconds, shape (num_calls,)."""
        return _columns.seconds(self.durations_ns)

    @property
    def inclusive_durations_ns(self) -> IntArray:
        """The same as :attr:`durations_ns`."""
        return self.durations_ns

    @property
    def inclusive_durations(self) -> FloatArray:
        """The same as :attr:`durations`."""
        return self.durations

    @property
    def exclusive_durations_ns(self) -> IntArray:
        """Duration minus the direct children of every call in ns, shape (num_calls,).

        Raises:
            NestingError: The calls of this rank overlap without nesting.
        """
        self._check_events()
        if self._exclusive is not None:
            return self._exclusive()
        if self.is_aggregate or self.num_calls == 0:
            return _columns.empty()
        return _columns.view(self._run.exclusive(self._row))

    @property
    def exclusive_durations(self) -> FloatArray:
        """Duration minus the direct children of every call in seconds, shape (num_calls,)."""
        return _columns.seconds(self.exclusive_durations_ns)

    @property
    def call_ids(self) -> IntArray | None:
        """Number of every call, unique within the rank; None when not recorded."""
        return self._column(_columns.CALL_ID)

    @property
    def parent_ids(self) -> IntArray | None:
        """Number of the enclosing call, -1 for none; None when not recorded."""
        return self._column(_columns.PARENT_ID)

    @property
    def thread_ids(self) -> IntArray | None:
        """Thread of every call, -1 unknown; None when not recorded."""
        return self._column(_columns.THREAD_ID)

    @property
    def task_ids(self) -> IntArray | None:
        """Task of every call, -1 outside tasks; None when not recorded."""
        return self._column(_columns.TASK_ID)

    @property
    def await_times_ns(self) -> IntArray | None:
        """Suspended time inside every call in ns; None when not recorded."""
        return self._column(_columns.AWAIT)

    @property
    def await_times(self) -> FloatArray | None:
        """Suspended time inside every call in seconds; None when not recorded."""
        values = self.await_times_ns
        return None if values is None else _columns.seconds(values)

    @property
    def total_await_duration(self) -> float | None:
        """Suspended time over all calls in seconds; None when not recorded."""
        values = self.await_times_ns
        return None if values is None else _ns_to_s(int(values.sum()))

    @property
    def gpu_durations_ns(self) -> IntArray | None:
        """Device time of every call in ns, -1 where there is none; None when not recorded."""
        return self._column(_columns.GPU_DURATION)

    @property
    def gpu_durations(self) -> FloatArray | None:
        """Device time of every call in seconds, NaN where there is none; None when not recorded."""
        values = self.gpu_durations_ns
        if values is None:
            return None
        durations = _columns.seconds(values)
        durations[values < 0] = float("nan")
        return durations

    @property
    def event_metadata(self) -> tuple[dict[str, Any], ...]:
        """One dictionary per call, empty for a call without metadata."""
        num_read = self._record.count if self._record.columns else 0
        return self._recorded_metadata or tuple({} for _ in range(num_read))

    @property
    def _recorded_metadata(self) -> tuple[dict[str, Any], ...]:
        """As :attr:`event_metadata`, but nothing when no call has metadata."""
        self._check_events()
        text = self._record.event_metadata_json
        if text is None:
            return ()
        import json

        return tuple(json.loads(text))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hands the calls to Arrow: ``pyarrow.table(x)``, ``polars.DataFrame(x)``, duckdb.

        Columns ``name``, ``rank``, ``call_index``, ``start_ns``, ``duration_ns`` and what else was
        recorded. Times and ids are not copied.
        """
        self._check_events()
        return self._run.arrow_stream([self._row])

    # ---- threads -----------------------------------------------------------------------------

    @property
    def has_thread_data(self) -> bool:
        """Whether the thread of every call was recorded."""
        return bool(self._record.columns & (1 << _columns.THREAD_ID))

    @property
    def threads(self) -> list[int]:
        """Indices of the threads that called this region, sorted; empty when not recorded."""
        if not self.has_thread_data:
            return []
        return sorted(set(self._time_column(_columns.THREAD_ID).tolist()))

    def for_thread(self, thread_index: int) -> Region:
        """Returns the region with the calls of one thread alone.

        Raises:
            ValueError: Threads were not recorded.
        """
        threads = self.thread_ids
        if threads is None:
            raise ValueError(
                "threads were not recorded; record with track_threads=True to tell them apart"
            )
        mask = threads == thread_index

        def pick(values: IntArray | None) -> IntArray | None:
            return None if values is None else values[mask]

        metadata = self._recorded_metadata
        part = Region(
            self.start_times_ns[mask],
            self.end_times_ns[mask],
            gpu_durations=pick(self.gpu_durations_ns),
            call_ids=pick(self.call_ids),
            parent_ids=pick(self.parent_ids),
            thread_ids=threads[mask],
            task_ids=pick(self.task_ids),
            await_times=pick(self.await_times_ns),
            event_metadata=[metadata[i] for i in mask.nonzero()[0]] if metadata else None,
            source_file=self.source_file,
            source_lineno=self.source_lineno,
            source_text=self.source_text,
            tags=self.tags,
        )
        part._exclusive = lambda: self.exclusive_durations_ns[mask]
        return part

    # ---- where it comes from -----------------------------------------------------------------

    @property
    def source_file(self) -> str | None:
        """File that defines the region, None when unknown."""
        return self._record.source_file

    @property
    def source_lineno(self) -> int | None:
        """Line of the definition, None when unknown."""
        return self._record.source_line

    @property
    def source_text(self) -> str | None:
        """Source text of the definition, None when it was not captured."""
        return self._record.source_text

    @property
    def has_source(self) -> bool:
        """Whether it is known where the region is defined."""
        return self.source_file is not None

    @property
    def tags(self) -> tuple[str, ...]:
        """Tags in the order in which they were given."""
        if self._record.tags_json == "[]":
            return ()
        import json

        return tuple(json.loads(self._record.tags_json))

    # ---- statistics --------------------------------------------------------------------------

    @property
    def _statistics(self) -> Statistics:
        if self._statistics_cache is None:
            self._statistics_cache = self._run.row_statistics(self._row)
        return self._statistics_cache

    @property
    def num_calls(self) -> int:
        """Number of calls."""
        record = self._record
        return record.count if record.aggregate is None else record.aggregate[0]

    @property
    def total_duration(self) -> float:
        """Sum of the durations in seconds."""
        return _ns_to_s(self._statistics.total)

    @property
    def average_duration(self) -> float:
        """Mean duration in seconds."""
        return _ns_to_s(self._statistics.mean)

    @property
    def min_duration(self) -> float:
        """Shortest duration in seconds."""
        return _ns_to_s(self._statistics.minimum)

    @property
    def max_duration(self) -> float:
        """Longest duration in seconds."""
        return _ns_to_s(self._statistics.maximum)

    @property
    def first_duration(self) -> float | None:
        """Duration of the first call in seconds; None for a run that kept totals."""
        return self._unless_totals(self._statistics.first)

    @property
    def last_duration(self) -> float | None:
        """Duration of the last call in seconds; None for a run that kept totals."""
        return self._unless_totals(self._statistics.last)

    @property
    def std_duration(self) -> float | None:
        """Population standard deviation in seconds; None for a run that kept totals."""
        return self._unless_totals(self._statistics.deviation)

    def _unless_totals(self, value: float) -> float | None:
        if self.num_calls == 0:
            return 0.0
        return None if self.is_aggregate else _ns_to_s(value)

    def percentile_duration(self, percentile: float) -> float | None:
        """Percentile of the durations in seconds, interpolated between neighbours.

        Args:
            percentile: 0 to 100.

        Returns:
            None when calls were recorded but are not at hand (totals or summary-only read).

        Raises:
            ValueError: `percentile` lies outside 0..100.
        """
        if not 0 <= percentile <= 100:
            raise ValueError(f"percentile must be within 0..100, not {percentile}")
        if self.num_calls == 0:
            return 0.0
        if self._record.columns == 0:
            return None
        values = self._run.percentiles(self._record.region, [percentile], [self._record.rank])
        return None if values is None else _ns_to_s(values[0])

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
    def _exclusive_total_ns(self) -> int | None:
        """Exclusive ns over all calls; None when the calls to tell it are not at hand."""
        if self._exclusive is not None:
            return int(self._exclusive().sum())
        if self._statistics.exclusive >= 0:
            return self._statistics.exclusive
        if self.num_calls == 0:
            return 0
        if self._record.columns == 0:
            return None
        return int(_columns.view(self._run.exclusive(self._row)).sum())

    @property
    def total_exclusive_duration(self) -> float | None:
        """Duration minus direct children over all calls in seconds.

        The total that the file carries, else found from the calls of the whole rank. None when
        neither is at hand.

        Raises:
            NestingError: The calls of this rank overlap without nesting.
        """
        total = self._exclusive_total_ns
        return None if total is None else _ns_to_s(total)

    @property
    def exclusive_duration(self) -> float | None:
        """The same as :attr:`total_exclusive_duration`."""
        return self.total_exclusive_duration

    @property
    def has_gpu_timing(self) -> bool:
        """Whether any call has a device time."""
        return self._statistics.gpu_calls > 0

    @property
    def gpu_total_duration(self) -> float | None:
        """Device time over all calls in seconds, None without any."""
        return _ns_to_s(self._statistics.gpu_total) if self.has_gpu_timing else None

    @property
    def gpu_average_duration(self) -> float | None:
        """Device time per call that has one in seconds, None without any."""
        if not self.has_gpu_timing:
            return None
        return _ns_to_s(self._statistics.gpu_total / self._statistics.gpu_calls)

    @property
    def has_timing(self) -> bool:
        """Whether there are calls, and so durations."""
        return self.num_calls > 0

    @property
    def _has_times(self) -> bool:
        """Whether it is known when the calls happened."""
        return self.num_calls > 0 and not self.is_aggregate

    @property
    def first_start_time(self) -> float | None:
        """Start of the first call in seconds, None when not known."""
        return _ns_to_s(self._statistics.start_minimum) if self._has_times else None

    @property
    def last_end_time(self) -> float | None:
        """End of the call that ended last in seconds, None when not known."""
        return _ns_to_s(self._statistics.end_maximum) if self._has_times else None

    def get_summary(self) -> dict[str, Any]:
        """Returns the statistics as a dictionary in seconds.

        ``exclusive_duration`` is None when it cannot be told.
        """
        return summary_of(self)

    def events(self, origin: float = 0.0) -> list[dict[str, Any]]:
        """Returns one dictionary per call.

        Args:
            origin: Seconds on the clock of the times that count as 0.

        Returns:
            ``call_index``, ``start``, ``end``, ``duration`` in seconds, and ``gpu_duration``,
            ``call_id``, ``parent_id``, ``thread``, ``task``, ``await_duration`` where they were
            recorded, ``metadata`` of calls that have some. Empty for a run that kept totals only.

        Raises:
            EventDataUnavailableError: Only the stored statistics were read.
        """
        return self._events(_columns.origin_ns(origin))

    def _events(self, origin_ns: int) -> list[dict[str, Any]]:
        starts = self.start_times_ns
        durations = _columns.seconds(self.durations_ns).tolist()
        relative = _columns.seconds(starts - origin_ns).tolist()
        ends = _columns.seconds(self.end_times_ns - origin_ns).tolist()
        events = [
            {"call_index": i, "start": start, "end": end, "duration": duration}
            for i, (start, end, duration) in enumerate(zip(relative, ends, durations))
        ]
        gpu = self.gpu_durations_ns
        if gpu is not None:
            for event, value in zip(events, gpu.tolist()):
                event["gpu_duration"] = _ns_to_s(value) if value >= 0 else None
        for key, column in (
            ("call_id", self.call_ids),
            ("parent_id", self.parent_ids),
            ("thread", self.thread_ids),
            ("task", self.task_ids),
        ):
            if column is not None:
                for event, value in zip(events, column.tolist()):
                    event[key] = value
        awaited = self.await_times
        if awaited is not None:
            for event, value in zip(events, awaited.tolist()):
                event["await_duration"] = value
        for event, metadata in zip(events, self._recorded_metadata):
            if metadata:
                event["metadata"] = metadata
        return events


def _totals(aggregate: Any, event_data_available: bool) -> dict[str, Any]:
    """Arguments of Run.add_row for totals given by a user or a file."""
    if hasattr(aggregate, "_asdict"):
        aggregate = aggregate._asdict()
    if not hasattr(aggregate, "get"):
        aggregate = dict(zip(_AGGREGATE_KEYS, aggregate))
    exclusive = int(aggregate.get("exclusive", -1))
    if not event_data_available or "m2" in aggregate:
        values = [aggregate.get(key, 0) for key in _STORED_KEYS]
        statistics = (*(int(value) for value in values[:10]), *map(float, values[10:]))
        return {"statistics": statistics, "exclusive_total": exclusive}
    totals = tuple(int(aggregate.get(key, 0)) for key in _AGGREGATE_KEYS[:4])
    return {"aggregate": (*totals, exclusive), "exclusive_total": exclusive}


def stored_summary(statistics: Statistics, record: Row) -> dict[str, float]:
    """Statistics under the names that files and JSON documents use, in ns."""
    return {
        "count": statistics.calls,
        "total": statistics.total,
        "minimum": statistics.minimum,
        "maximum": statistics.maximum,
        "first": statistics.first,
        "last": statistics.last,
        "start_minimum": statistics.start_minimum,
        "end_maximum": statistics.end_maximum,
        "exclusive": statistics.exclusive,
        "gpu_count": statistics.gpu_calls,
        "gpu_total": statistics.gpu_total,
        "mean": statistics.mean,
        "m2": record.m2 if record.m2 is not None else 0.0,
    }


def exclusive_or_none(region: Any) -> float | None:
    """Exclusive total in seconds; None also when the calls cannot be nested."""
    try:
        total: float | None = region.total_exclusive_duration
    except NestingError:
        return None
    return total


def summary_of(region: Any) -> dict[str, Any]:
    """Statistics common to a region of one rank and of several."""
    summary = {
        "num_calls": region.num_calls,
        "total_duration": region.total_duration,
        "inclusive_duration": region.inclusive_duration,
        "exclusive_duration": exclusive_or_none(region),
        "average_duration": region.average_duration,
        "min_duration": region.min_duration,
        "max_duration": region.max_duration,
        "first_duration": region.first_duration,
        "last_duration": region.last_duration,
        "std_duration": region.std_duration,
    }
    if region.has_gpu_timing:
        summary["gpu_total_duration"] = region.gpu_total_duration
        summary["gpu_average_duration"] = region.gpu_average_duration
    return summary
