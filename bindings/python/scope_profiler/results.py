"""A finished run: its regions on all ranks, its times, threads, metadata and summary."""

from __future__ import annotations

import os
import re
from pathlib import Path

from . import _columns, _records
from ._counters import Counters
from ._losses import Losses
from ._frames import summary_row
from ._plain import shown
from ._results import EventDataUnavailableError, Run
from .mpi_region import MPIRegion
from .region import Region

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any, TextIO

    import pandas as pd

    from ._notebook import InlinePage
    from .concurrency import TaskInfo, ThreadInfo
    from .mpi_report import MPIReport

    Patterns = str | Iterable[str] | None
    Ranks = int | list[int] | tuple[int, ...] | None

__all__ = ["ProfilingResults", "merge_results"]


def _patterns(patterns: Patterns) -> list[re.Pattern[str]] | None:
    if patterns is None:
        return None
    texts = [patterns] if isinstance(patterns, str) else list(patterns)
    return [re.compile(text) for text in texts]


def set_metadata(run: Run, metadata: Mapping[str, Any]) -> None:
    """Stores metadata in a run; a value that is no number, text or list of texts becomes text."""
    from ._plain import plain

    for key, value in metadata.items():
        value = plain(value)
        if isinstance(value, list):
            value = [item if isinstance(item, str) else str(item) for item in value]
        elif isinstance(value, bool):
            value = int(value)
        elif isinstance(value, int) and not -(2**63) <= value < 2**63:
            value = str(value)
        elif not isinstance(value, (int, float, str)):
            value = "" if value is None else str(value)
        run.set_metadata(str(key), value)


class ProfilingResults(Counters, Losses):
    """A finished run.

    Behaves like a mapping of region names to :class:`MPIRegion`, except that iterating yields the
    regions. Times are in seconds.

    Attributes:
        metadata: Metadata of the run by key.
        file_path: File that the run came from or went to; of a run kept in memory the one that it
            was set up with and that was not written. None without any.
        is_root: False on the ranks of an MPI run that do not write the file; their results are
            empty and print nothing.
    """

    metadata: dict[str, Any]
    file_path: Path | None
    is_root: bool
    _is_in_memory: bool

    def __init__(
        self,
        regions: Mapping[Any, Any] | Iterable[MPIRegion] = (),
        metadata: Mapping[str, Any] | None = None,
        num_ranks: int | None = None,
        likwid: Mapping[int, Mapping[str, Any]] | None = None,
        perf_events: Mapping[int, Mapping[str, Any]] | None = None,
        line_profile: Mapping[int, Sequence[Mapping[str, Any]]] | None = None,
        file_path: str | os.PathLike[str] | None = None,
        is_root: bool = True,
        exclusive_totals: Mapping[int, Mapping[str, int]] | None = None,
        event_data_available: bool = True,
        threads: Mapping[int, Sequence[ThreadInfo]] | None = None,
        tasks: Mapping[int, Sequence[TaskInfo]] | None = None,
    ) -> None:
        """Builds a run from regions.

        Args:
            regions: Regions, by name or alone; or for each rank the :class:`Region` of each name.
            metadata: Metadata of the run.
            num_ranks: Number of ranks; by default that of the metadata (``mpi_size``) and of the
                regions, whichever is larger.
            likwid: Hardware counter results of each rank by tag.
            perf_events: Counter totals of each rank by region.
            line_profile: Line records of each rank.
            file_path: File that the run came from or went to.
            is_root: False on the ranks of an MPI run that do not write the file.
            exclusive_totals: Exclusive ns of each region of each rank where they are known.
            event_data_available: False when calls exist but were not read.
            threads: Threads of each rank.
            tasks: Tasks of each rank.
        """
        run = Run.create()
        totals = exclusive_totals or {}
        for name, parts in _by_name(regions).items():
            for rank in sorted(parts):
                part = parts[rank]
                run.add_row_of(
                    part._run,
                    part._row,
                    region=name,
                    rank=rank,
                    exclusive_total=totals.get(rank, {}).get(name),
                )
        set_metadata(run, metadata or {})
        for table, add in ((threads, run.add_thread), (tasks, run.add_task)):
            for rank, entries in (table or {}).items():
                for entry in entries:
                    add(**{**entry._asdict(), "rank": rank})
        run.set_num_ranks(_count_ranks(run, metadata or {}) if num_ranks is None else num_ranks)
        self._bind(run, file_path=file_path, is_root=is_root)
        self.metadata = dict(metadata or {})
        self._event_data_available = event_data_available
        self._likwid = {rank: dict(by_tag) for rank, by_tag in (likwid or {}).items()}
        self._perf_events = {rank: dict(names) for rank, names in (perf_events or {}).items()}
        self._line_profile = {rank: list(lines) for rank, lines in (line_profile or {}).items()}
        _records.store(run, self._likwid, self._perf_events, self._line_profile)

    @classmethod
    def _from_run(
        cls,
        run: Run,
        *,
        file_path: str | os.PathLike[str] | None = None,
        is_root: bool = True,
        event_data_available: bool = True,
        records: Run | None = None,
    ) -> ProfilingResults:
        """Returns the results over an open run, with the counters of `records` (default: its own)."""
        results = cls.__new__(cls)
        results._bind(run, file_path=file_path, is_root=is_root)
        results._event_data_available = event_data_available
        _records.load(results, run if records is None else records)
        return results

    @classmethod
    def _from_image(
        cls,
        capsule: object,
        *,
        file_path: str | os.PathLike[str] | None = None,
        is_in_memory: bool = False,
    ) -> ProfilingResults:
        """Returns the results of an in-memory run of the recorder, whose memory moves here."""
        results = cls._from_run(Run.from_image(capsule), file_path=file_path)
        results._is_in_memory = is_in_memory
        return results

    @classmethod
    def from_h5(cls, file_path: str | os.PathLike[str], verbose: bool = False) -> ProfilingResults:
        """Reads an HDF5 profile; as :func:`scope_profiler.read_h5`."""
        from .h5reader import read_h5

        return read_h5(file_path, verbose=verbose)

    def _bind(self, run: Run, *, file_path: Any, is_root: bool) -> None:
        self._run = run
        self.file_path = None if file_path is None else Path(file_path)
        self._is_in_memory = file_path is None
        self.is_root = is_root
        self.metadata = run.metadata()
        self._likwid = {}
        self._likwid_environment = {}
        self._perf_events = {}
        self._cpu = {}
        self._line_profile = {}
        self._memory = {}
        names = run.region_names
        groups = run.rows_by_region()
        self._regions = {
            name: MPIRegion._of(run, index, name, groups[index]) for index, name in enumerate(names)
        }

    # ---- regions -----------------------------------------------------------------------------

    @property
    def region_names(self) -> list[str]:
        """Names of all regions in the order of the file."""
        return list(self._regions)

    def get_region(self, region_name: str) -> MPIRegion:
        """Returns the region of that name.

        Raises:
            KeyError: There is none; the text lists the names.
        """
        region = self._regions.get(region_name)
        if region is None:
            raise KeyError(f"No region named {region_name!r}. Available regions: {self.region_names}")
        return region

    def __getitem__(self, name: str) -> MPIRegion:
        return self.get_region(name)

    def __contains__(self, name: object) -> bool:
        return name in self._regions

    def __len__(self) -> int:
        return len(self._regions)

    def __iter__(self) -> Iterator[MPIRegion]:
        return iter(list(self._regions.values()))

    def __repr__(self) -> str:
        return (
            f"<ProfilingResults '{self.file_path or self.display_label}': {len(self)} region(s), "
            f"{self.num_ranks} rank(s)>"
        )

    @property
    def mpi(self) -> MPIReport:
        """What the recorded calls of MPI say: time by rank and operation, messages between ranks."""
        from .mpi_report import MPIReport

        return MPIReport(self._run, self.num_ranks)

    def __reduce__(self) -> tuple[Any, ...]:
        from ._pickling import reduce_results

        return reduce_results(self)

    def _names(self, include: Patterns, exclude: Patterns) -> list[str]:
        included, excluded = _patterns(include), _patterns(exclude)
        return [
            name
            for name in self._regions
            if (included is None or any(pattern.match(name) for pattern in included))
            and not any(pattern.match(name) for pattern in excluded or ())
        ]

    def get_regions(self, include: Patterns = None, exclude: Patterns = None) -> list[MPIRegion]:
        """Returns regions in the order in which they were first entered.

        Args:
            include: Regular expression(s), matched at the start of the name; None takes all.
            exclude: Regular expression(s) of the names to leave out.
        """
        regions = [self._regions[name] for name in self._names(include, exclude)]
        never = float("inf")

        def first_start(region: MPIRegion) -> float:
            start = region._first_start_ns
            return never if start is None else start

        return sorted(regions, key=first_start)

    # ---- what the run is ---------------------------------------------------------------------

    @property
    def num_ranks(self) -> int:
        """Number of ranks of the run."""
        return self._run.num_ranks

    @property
    def num_nodes(self) -> int | None:
        """Number of nodes: from the metadata, 1 for one rank, else None."""
        value = self.metadata.get("num_nodes")
        if isinstance(value, int):
            return value
        return 1 if self.num_ranks == 1 else None

    @property
    def label(self) -> str | None:
        """Label of the run, None without one; may be set."""
        value = self.metadata.get("label")
        return None if value is None else str(value)

    @label.setter
    def label(self, value: str | None) -> None:
        if value is None:
            self.metadata.pop("label", None)
        else:
            self.metadata["label"] = str(value)

    @property
    def display_label(self) -> str:
        """The label, else the name of the file without its ending."""
        if self.label:
            return self.label
        return shown(self.file_path.stem) if self.file_path is not None else "profile"

    @property
    def has_event_data(self) -> bool:
        """Whether single calls can be asked for."""
        return self._event_data_available

    @property
    def is_aggregate(self) -> bool:
        """Whether the run kept totals instead of calls."""
        return self._run.is_aggregate

    # ---- times -------------------------------------------------------------------------------

    @property
    def _start_ns(self) -> int | None:
        return _whole(self.metadata.get("start_time_ns"))

    @property
    def _origin_ns(self) -> int:
        times = self._run.times()
        for value in (self._start_ns, times.first_entry):
            if value is not None:
                return value
        return 0

    @property
    def run_start_time(self) -> float | None:
        """Start of the run on the clock of the calls in seconds, None when not known."""
        return _seconds(self._start_ns)

    @property
    def minimum_start_time(self) -> float | None:
        """First entry into any region in seconds, None without calls."""
        return _seconds(self._run.times().first_entry)

    @property
    def maximum_end_time(self) -> float | None:
        """Last exit from any region in seconds, None without calls."""
        return _seconds(self._run.times().last_exit)

    @property
    def time_origin(self) -> float:
        """What counts as time 0: the start of the run, else the first entry, in seconds."""
        return self._origin_ns / _columns.NS_PER_S

    @property
    def time_span(self) -> float:
        """Time from the first entry to the last exit in seconds, 0.0 without calls."""
        times = self._run.times()
        if times.first_entry is None or times.last_exit is None:
            return 0.0
        return (times.last_exit - times.first_entry) / _columns.NS_PER_S

    @property
    def startup_time(self) -> float | None:
        """Time from the start of the run to the first entry in seconds.

        0.0 when the start is not known, None without calls.
        """
        return _difference(self._run.times().first_entry, self._origin_ns)

    @property
    def _finalize_ns(self) -> int | None:
        return _whole(self.metadata.get("finalize_time_ns"))

    @property
    def finalize_time(self) -> float | None:
        """When the run was finalized, in seconds on the clock of the calls; None if unknown."""
        return _seconds(self._finalize_ns)

    @property
    def total_time(self) -> float | None:
        """Time from the start of the run to its end in seconds, None when not known."""
        return _difference(self._finalize_ns, self._start_ns)

    # ---- calls -------------------------------------------------------------------------------

    def _check_events(self) -> None:
        if not self.has_event_data:
            raise EventDataUnavailableError(
                "only the stored statistics of this profile were read; "
                "use read_h5() to read its calls too"
            )

    def _chosen_origin_ns(self, relative: bool, origin: float | None) -> int:
        if origin is not None:
            return _columns.origin_ns(origin)
        return self._origin_ns if relative else 0

    def events(
        self,
        include: Patterns = None,
        exclude: Patterns = None,
        ranks: Ranks = None,
        relative: bool = True,
        origin: float | None = None,
    ) -> list[dict[str, Any]]:
        """Returns one dictionary per call, sorted by start.

        Args:
            include: Regular expression(s) of the regions to take; None takes all.
            exclude: Regular expression(s) of the regions to leave out.
            ranks: One rank, several, or None for all.
            relative: Count times from :attr:`time_origin`; otherwise they are absolute.
            origin: Seconds on the clock of the calls to count from instead.

        Raises:
            EventDataUnavailableError: Only the stored statistics were read.
        """
        self._check_events()
        origin_ns = self._chosen_origin_ns(relative, origin)
        events = [
            event
            for name in self._names(include, exclude)
            for event in self._regions[name]._events(ranks, origin_ns)
        ]
        events.sort(key=lambda event: event["start"])
        return events

    def _arrays(self, rank: int, include: Patterns, exclude: Patterns) -> Any:
        from .call_stack import arrays_of, select

        self._check_events()
        rows = [
            (name, region._rows[rank])
            for name, region in self._regions.items()
            if rank in region and not self.is_aggregate
        ]
        return select(arrays_of(self._run, rank, rows), self._names(include, exclude))

    def call_stack(
        self,
        rank: int = 0,
        include: Patterns = None,
        exclude: Patterns = None,
        relative: bool = True,
        origin: float | None = None,
    ) -> list[dict[str, Any]]:
        """Returns the calls of a rank with parent, depth and exclusive time.

        Filters take calls out of the tree: their children go to the nearest call that is left,
        exclusive times stay those of the whole tree. A run that kept totals only has no calls.

        Args:
            rank: The rank.
            include: Regular expression(s) of the regions to take; None takes all.
            exclude: Regular expression(s) of the regions to leave out.
            relative: Count times from :attr:`time_origin`; otherwise they are absolute.
            origin: Seconds on the clock of the calls to count from instead.

        Raises:
            NestingError: Two calls of one lane overlap without nesting.
            EventDataUnavailableError: Only the stored statistics were read.
        """
        from .call_stack import stack_of

        origin_ns = self._chosen_origin_ns(relative, origin)
        return stack_of(self._arrays(rank, include, exclude), origin_ns)

    def call_graph(
        self, rank: int = 0, include: Patterns = None, exclude: Patterns = None
    ) -> list[dict[str, Any]]:
        """Returns who called whom on a rank.

        Keys: ``call_id``, ``parent_id`` (None for a root), ``name``, ``call_index``, ``depth``.
        Ids are the recorded ones where every region of the rank has them, else positions.

        Raises:
            NestingError: Two calls of one lane overlap without nesting.
        """
        arrays = self._arrays(rank, include, exclude)
        ids = self._recorded_ids(rank)
        regions, calls = arrays.region_index.tolist(), arrays.call_index.tolist()
        numbers = (
            list(range(len(calls)))
            if ids is None
            else [ids[region][call] for region, call in zip(regions, calls)]
        )
        return [
            {
                "call_id": numbers[i],
                "parent_id": None if parent < 0 else numbers[parent],
                "name": arrays.names[regions[i]],
                "call_index": calls[i],
                "depth": depth,
            }
            for i, (parent, depth) in enumerate(zip(arrays.parent.tolist(), arrays.depth.tolist()))
        ]

    def _recorded_ids(self, rank: int) -> list[list[int]] | None:
        """Call ids of each region of a rank, None unless all regions have them."""
        ids = []
        for region in self._regions.values():
            if rank in region:
                values = region[rank].call_ids
                if values is None:
                    return None
                ids.append(values.tolist())
        return ids

    # ---- tables ------------------------------------------------------------------------------

    def summary(
        self, include: Patterns = None, exclude: Patterns = None
    ) -> list[dict[str, Any]]:
        """Returns the statistics of every region, pooled over ranks, as dictionaries.

        Those of :meth:`MPIRegion.get_summary` with ``tags``, ``p50_duration``, ``p95_duration``,
        ``p99_duration``, ``rank_imbalance``, ``rank_imbalance_pct`` and the short names ``p50``,
        ``p95``, ``p99``, ``imbalance``; in the order of :meth:`get_regions`.

        Args:
            include: Regular expression(s) of the regions to take; None takes all.
            exclude: Regular expression(s) of the regions to leave out.
        """
        return [summary_row(region) for region in self.get_regions(include, exclude)]

    def to_dataframe(
        self, include: Patterns = None, exclude: Patterns = None, per_rank: bool = False
    ) -> pd.DataFrame:
        """Returns the statistics as a data frame, one row per region or per region and rank.

        Raises:
            ImportError: pandas is not installed.
        """
        from ._frames import statistics_frame

        frame: pd.DataFrame = statistics_frame(self.get_regions(include, exclude), per_rank)
        return frame

    def to_events_dataframe(
        self,
        include: Patterns = None,
        exclude: Patterns = None,
        ranks: Ranks = None,
        relative: bool = True,
        origin: float | None = None,
    ) -> pd.DataFrame:
        """Returns the calls as a data frame, the arguments and columns as in :meth:`events`.

        Raises:
            ImportError: pandas is not installed.
            EventDataUnavailableError: Only the stored statistics were read.
        """
        from ._frames import events_frame

        self._check_events()
        frame: pd.DataFrame = events_frame(
            self.get_regions(include, exclude),
            _columns.checked_ranks(ranks),
            self._chosen_origin_ns(relative, origin),
        )
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hands the calls to Arrow: ``pyarrow.table(x)``, ``polars.DataFrame(x)``, duckdb.

        Columns ``name``, ``rank``, ``call_index``, ``start_ns``, ``duration_ns`` and what else was
        recorded. Times and ids are not copied.
        """
        self._check_events()
        return self._run.arrow_stream(
            [row for region in self._regions.values() for row in region._rows.values()]
        )

    def default_title(self) -> str:
        """Returns the title of the summary: ``[label - ]<path> (N rank(s))``.

        A run without a file is called ``<label> (in memory, N rank(s))``.
        """
        if self.file_path is None or self._is_in_memory:
            return f"{self.display_label} (in memory, {self.num_ranks} rank(s))"
        label = f"{self.label} - " if self.label else ""
        return f"{label}{relative(self.file_path)} ({self.num_ranks} rank(s))"

    def print_summary(
        self,
        include: Patterns = None,
        exclude: Patterns = None,
        ranks: Ranks = None,
        sort: str = "start",
        title: str | None = None,
        stream: TextIO | None = None,
        suppress_notes: bool = False,
        columns: Iterable[str] | str | None = None,
        percentage_mode: str = "coverage",
        reduction: str = "pooled",
    ) -> None:
        """Prints the summary table: one row per call path, pooled over ranks.

        Args:
            include: Regular expression(s) of the regions to show; None shows all.
            exclude: Regular expression(s) of the regions to leave out.
            ranks: One rank, several, or None for all.
            sort: ``start``, ``total``, ``calls``, ``avg``, ``min``, ``max``, ``first``, ``last``,
                ``std``, ``p50``, ``p95``, ``p99``, ``imbalance`` or ``name``.
            title: Title; default :meth:`default_title`.
            stream: Where to print; default standard output.
            suppress_notes: Leave out the box below the table.
            columns: Columns to show: ``region``, ``ranks``, ``calls``, ``total``, ``percent``,
                ``parent_percent``, ``avg``, ``min``, ``max``, ``first``, ``last``, ``std``,
                ``p50``, ``p95``, ``p99``, ``imbalance``, ``gpu_total``, ``gpu_avg``; default
                region, percent and total.
            percentage_mode: ``coverage`` or ``exclusive``.
            reduction: What becomes of several ranks: ``pooled`` (all calls together), or ``max``,
                ``mean``, ``min``, ``sum`` of those that have the row.

        Raises:
            ValueError: A sort key, column, mode or reduction that does not exist; the text lists the choices.
        """
        if not self.is_root:
            return
        from .summary import summary_text, write_text

        text = summary_text(
            self,
            include=include,
            exclude=exclude,
            ranks=ranks,
            sort=sort,
            title=title,
            stream=stream,
            suppress_notes=suppress_notes,
            columns=columns,
            percentage_mode=percentage_mode,
            reduction=reduction,
        )
        write_text(text, stream)

    # ---- parts -------------------------------------------------------------------------------

    def narrowed(
        self,
        *,
        skip_calls: int | Mapping[str, int] = 0,
        warmup: str | None = None,
        start: float = 0.0,
        end: float | None = None,
    ) -> ProfilingResults:
        """Returns a part of the run as a run of its own: without warm-up, within a window of time.

        Calls in progress at a limit of time are cut there. A call that is kept keeps its whole
        length, so that calls left out inside it count as its own time.

        Args:
            skip_calls: The first so many calls of each region on each rank are left out, with all
                calls inside them; regions with no more calls than that are spared. A mapping of
                region names to numbers is about those regions alone, which are not spared.
            warmup: What was before the last call of this region had ended is left out; on a rank
                without it before the earliest such moment of the others.
            start: What was before is left out, in seconds since the first entry.
            end: What was after is left out.

        Raises:
            ValueError: A region that the run does not have, or a limit below 0.
            EventDataUnavailableError: The run kept totals only, or its calls were not read.
        """
        from ._parts import narrowed

        return narrowed(self, skip_calls, warmup, start, end)

    # ---- report ------------------------------------------------------------------------------

    def report(
        self, filepath: str | os.PathLike[str] | None = None, **options: Any
    ) -> Path | InlinePage:
        """Writes the run as a page for a browser, or shows it in a notebook.

        Args:
            filepath: The page; missing folders are made. None: a notebook shows it.
            options: As of :func:`scope_profiler.create_html_report`.

        Returns:
            The path; without one an object that a notebook shows.
        """
        if filepath is None:
            from ._notebook import inline_report

            return inline_report(self, options)
        from .html_report import create_html_report

        return create_html_report(self, filepath, **options)

    def _repr_html_(self) -> str:
        from ._notebook import results_html

        return results_html(self)

    # ---- lanes -------------------------------------------------------------------------------

    @property
    def threads(self) -> dict[int, list[ThreadInfo]]:
        """Threads of each rank; empty when they were not recorded."""
        from ._lanes import thread_table

        return thread_table(self._run)

    @property
    def tasks(self) -> dict[int, list[TaskInfo]]:
        """Tasks of each rank; empty when they were not recorded."""
        from ._lanes import task_table

        return task_table(self._run)

    def lane_label(self, lane: int, rank: int = 0) -> str:
        """Returns how a lane is called: a thread, or a task with its thread.

        Args:
            lane: A task index, ``-2 - thread`` for a thread, -1 for an unknown lane.
            rank: Rank that the lane belongs to.
        """
        from ._lanes import lane_label

        return lane_label(lane, self.threads.get(rank, []), self.tasks.get(rank, []))

    def thread_summary(self, rank: int = 0) -> list[dict[str, Any]]:
        """Returns one dictionary per thread of a rank.

        Keys: ``index``, ``name``, ``alive``, ``wall_time``, ``cpu_time``, ``num_calls``,
        ``region_time`` (time spent inside any region, in seconds).
        """
        from ._lanes import thread_summary

        parts = [region[rank] for region in self if rank in region]
        return thread_summary(self.threads.get(rank, []), parts)


def _count_ranks(run: Run, metadata: Mapping[str, Any]) -> int:
    size = metadata.get("mpi_size")
    return max(run.num_ranks, size if isinstance(size, int) else 0)


def _whole(value: Any) -> int | None:
    """A time of the metadata in ns, None when it is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if value - value == 0 else None


def _seconds(value: int | None) -> float | None:
    return None if value is None else value / _columns.NS_PER_S


def _difference(end: int | None, start: int | None) -> float | None:
    return None if end is None or start is None else (end - start) / _columns.NS_PER_S


def relative(path: Path) -> str:
    """Path as seen from the working directory, for people."""
    try:
        return shown(os.path.relpath(path))
    except (OSError, ValueError):
        return shown(path)


def _by_name(regions: Any) -> dict[str, dict[int, Region]]:
    """Regions in any accepted form as {name: {rank: Region}}."""
    if not hasattr(regions, "items"):
        return {region.name: region.regions for region in regions}
    by_name: dict[str, dict[int, Region]] = {}
    for key, value in regions.items():
        if isinstance(key, int):
            for name, region in value.items():
                by_name.setdefault(name, {})[key] = region
        elif isinstance(value, Region):
            by_name[key] = {0: value}
        else:
            by_name[key] = dict(getattr(value, "regions", value))
    return by_name


def merge_results(
    *result_sets: ProfilingResults,
    label: str | None = None,
    file_path: str | os.PathLike[str] | None = None,
) -> ProfilingResults:
    """Puts several runs into one. Sets of ranks that are not root are left out.

    Args:
        result_sets: Runs without a region in common.
        label: Label of the result.
        file_path: Path of the result; by default that of the first run.

    Returns:
        A run with all regions. Of metadata found in several runs that of the earlier one counts;
        the number of ranks is the largest one.

    Raises:
        ValueError: No run is left, or a region appears in two of them.
    """
    from ._merging import merge

    return merge([results for results in result_sets if results.is_root], label, file_path)
