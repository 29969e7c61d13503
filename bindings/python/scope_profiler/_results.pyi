"""Types of the extension; what the fields mean is said in bindings/python/src/results_records.c."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple, TypeAlias, final

from numpy import int64
from numpy.typing import NDArray

# Anything with a buffer of int64.
_Integers: TypeAlias = NDArray[int64] | memoryview

class CorruptProfileError(OSError): ...
class HDF5SchemaError(ValueError): ...
class NestingError(ValueError): ...
class EventDataUnavailableError(RuntimeError): ...

@final
class Column:
    @property
    def format(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class Row(NamedTuple):
    region: int
    rank: int
    count: int  # type: ignore[assignment]
    columns: int
    source_file: str | None
    source_line: int | None
    source_text: str | None
    tags_json: str
    event_metadata_json: str | None
    exclusive_total: int
    m2: float | None
    aggregate: tuple[int, int, int, int, int] | None

@final
class Statistics(NamedTuple):
    calls: int
    total: int
    minimum: int
    maximum: int
    first: int
    last: int
    start_minimum: int
    end_maximum: int
    exclusive: int
    mean: float
    deviation: float
    gpu_calls: int
    gpu_total: int

@final
class Times(NamedTuple):
    start: int | None
    first_entry: int | None
    last_exit: int | None
    finalize: int | None

@final
class CallTree(NamedTuple):
    row: Column
    call_index: Column
    start_ns: Column
    end_ns: Column
    depth: Column
    parent: Column
    exclusive_ns: Column
    lane: Column | None

@final
class Thread(NamedTuple):
    rank: int
    index: int  # type: ignore[assignment]
    ident: int
    native_id: int
    daemon: bool
    start_ns: int
    end_ns: int
    cpu_ns: int
    name: str

@final
class Task(NamedTuple):
    rank: int
    index: int  # type: ignore[assignment]
    thread_index: int
    created_ns: int
    done_ns: int
    steps: int
    running_ns: int
    suspended_ns: int
    kind: str
    name: str
    coro_name: str

@final
class Run:
    @classmethod
    def open(cls, path: str | PathLike[str], /) -> Run: ...
    @classmethod
    def from_image(cls, capsule: object, /) -> Run: ...
    @classmethod
    def create(cls) -> Run: ...
    @classmethod
    def import_native(
        cls, paths: Iterable[str | PathLike[str]], label: str | None = None, /
    ) -> Run: ...
    def merge_native(self, run: Run, /) -> Run: ...
    @property
    def num_ranks(self) -> int: ...
    @property
    def schema(self) -> int: ...
    @property
    def is_aggregate(self) -> bool: ...
    @property
    def has_statistics_only(self) -> bool: ...
    @property
    def num_calls(self) -> int: ...
    @property
    def num_rows(self) -> int: ...
    @property
    def file_bytes(self) -> int: ...
    @property
    def path(self) -> str: ...
    @property
    def region_names(self) -> list[str]: ...
    def metadata(self) -> dict[str, Any]: ...
    def row(self, row: int, /) -> Row: ...
    def rows_by_region(self) -> list[list[tuple[int, int]]]: ...
    def threads(self) -> list[Thread]: ...
    def tasks(self) -> list[Task]: ...
    def column(self, row: int, column: int, /) -> Column | None: ...
    def exclusive(self, row: int, /) -> Column: ...
    def call_tree(self, rank: int, from_intervals: bool = False) -> CallTree: ...
    def row_statistics(self, row: int, /) -> Statistics: ...
    def region_statistics(
        self, region: int, ranks: Sequence[int] | None = None, /
    ) -> Statistics: ...
    def percentiles(
        self, region: int, percents: Sequence[float], ranks: Sequence[int] | None = None
    ) -> tuple[float, ...] | None: ...
    def mpi(
        self,
    ) -> tuple[
        list[tuple[int, int, int, int, int]],
        list[tuple[int, int, int, int]],
        list[tuple[str, str, int, int, int, int, int]],
    ]: ...
    def imbalance(self, region: int, ranks: Sequence[int] | None = None, /) -> float: ...
    def export(
        self,
        kind: str,
        path: str | PathLike[str],
        names: Sequence[str] | None = None,
        ranks: Sequence[int] | None = None,
        rank: int = 0,
        label: str | None = None,
        indent: int = 0,
        metadata_json: str | None = None,
        more_json: str | None = None,
        width: float = 0.0,
        threshold: float = 0.0,
        call_paths: bool = True,
        scalable: bool = True,
        statistics_only: bool = False,
    ) -> None: ...
    def extra_text(self, name: str, /) -> str | None: ...
    def arrow_stream(self, rows: Sequence[int], /) -> object: ...
    def prof_bytes(
        self,
        rank: int,
        names: Sequence[str] | None = None,
        label: str | None = None,
        call_paths: bool = True,
    ) -> bytes: ...
    def times(self) -> Times: ...
    def add_row(
        self,
        region: str,
        rank: int,
        starts: _Integers | None = None,
        ends: _Integers | None = None,
        columns: Mapping[int, _Integers] | None = None,
        source_file: str | None = None,
        source_line: int | None = None,
        source_text: str | None = None,
        tags_json: str | None = None,
        event_metadata_json: str | None = None,
        exclusive_total: int = -1,
        aggregate: tuple[int, int, int, int, int] | None = None,
        statistics: tuple[float, ...] | None = None,
    ) -> int: ...
    def add_row_of(
        self,
        run: Run,
        row: int,
        region: str | None = None,
        rank: int | None = None,
        exclusive_total: int | None = None,
    ) -> int: ...
    def add_statistics_of(
        self,
        run: Run,
        regions: Iterable[str] | None = None,
        ranks: Sequence[int] | None = None,
    ) -> bool: ...
    def set_metadata(self, key: str, value: int | float | str | Sequence[str], /) -> None: ...
    def add_thread(
        self,
        rank: int,
        index: int,
        ident: int,
        native_id: int,
        daemon: bool,
        start_ns: int,
        end_ns: int,
        cpu_ns: int,
        name: str,
    ) -> None: ...
    def add_task(
        self,
        rank: int,
        index: int,
        thread_index: int,
        created_ns: int,
        done_ns: int,
        steps: int,
        running_ns: int,
        suspended_ns: int,
        kind: str,
        name: str,
        coro_name: str,
    ) -> None: ...
    def add_extra_text(self, name: str, rank: int, text: str, /) -> None: ...
    def extra_texts(self, name: str, /) -> list[str]: ...
    def extra_arrays(self, name: str, /) -> list[tuple[int, list[Any]]]: ...
    def narrow(
        self,
        skip_calls: int = 0,
        skips: Mapping[str, int] | None = None,
        after_region: str | None = None,
        start_ns: int = 0,
        end_ns: int = 0,
    ) -> Run: ...
    @property
    def left_out(self) -> str: ...
    def set_num_ranks(self, num_ranks: int, /) -> None: ...
    def write(
        self,
        path: str | PathLike[str],
        compression: str | None = None,
        compression_level: int = -1,
        chunk_size: int = 0,
    ) -> None: ...
    def summary_rows(
        self,
        names: Sequence[str] | None = None,
        ranks: Sequence[int] | None = None,
        sort: str = "start",
        exclusive_percent: bool = False,
        columns: Sequence[str] | None = None,
        suppress_notes: bool = False,
        color: bool = False,
        title: str | None = None,
        file_path: str | None = None,
        reduction: str = "pooled",
        min_percent: float = 0.0,
    ) -> list[dict[str, Any]]: ...
    def summary_text(
        self,
        names: Sequence[str] | None = None,
        ranks: Sequence[int] | None = None,
        sort: str = "start",
        exclusive_percent: bool = False,
        columns: Sequence[str] | None = None,
        suppress_notes: bool = False,
        color: bool = False,
        title: str | None = None,
        file_path: str | None = None,
        reduction: str = "pooled",
        min_percent: float = 0.0,
    ) -> str: ...
    def line_profile_text(self) -> str: ...
    def inspect(
        self,
        metadata: bool,
        regions: bool,
        full: bool,
        sources: Sequence[str] | None,
        /,
        *,
        names: Sequence[str] | None = None,
        ranks: Sequence[int] | None = None,
        sort: str = "start",
        exclusive_percent: bool = False,
        columns: Sequence[str] | None = None,
        suppress_notes: bool = False,
        color: bool = False,
        title: str | None = None,
        file_path: str | None = None,
    ) -> str: ...

def region_color(name: str, /) -> str: ...
def format_rows(
    rows: Sequence[Mapping[str, Any]],
    exclusive_percent: bool = False,
    columns: Sequence[str] | None = None,
    suppress_notes: bool = False,
    color: bool = False,
    title: str | None = None,
    file_path: str | None = None,
    total_time: float | None = None,
) -> str: ...
def format_cells(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None
) -> tuple[list[tuple[str, str]], list[list[str]]]: ...

def recover(
    path: str | PathLike[str], choose: Callable[[dict[str, Any]], PathLike[str]], remove: bool, /
) -> list[dict[str, Any]]: ...
def report(
    runs: Sequence[Run],
    path: str | PathLike[str],
    names: Sequence[str] | None = None,
    ranks: Sequence[int] | None = None,
    labels: Sequence[str] | None = None,
    sort: str = "start",
    columns: Sequence[str] | None = None,
    charts: bool = True,
    individual_reports: bool = True,
) -> None: ...
def compare(
    a: Sequence[Run],
    b: Sequence[Run],
    names: Sequence[str] | None = None,
    ranks: Sequence[int] | None = None,
    metric: str = "total",
    sort: str = "delta",
    threshold: float = 0.0,
    max_regression: float = 0.0,
    fail_on_new: bool = False,
    is_check: bool = False,
    label_a: str | None = None,
    label_b: str | None = None,
    reduction: str = "pooled",
) -> tuple[list[dict[str, Any]], dict[str, Any] | None, bool, str]: ...
def compare_rows(
    rows: Iterable[Mapping[str, Any]],
    metric: str = "total",
    label_a: str | None = None,
    label_b: str | None = None,
) -> tuple[list[dict[str, Any]], dict[str, Any] | None, bool, str]: ...
def export_plot_data(
    runs: Sequence[Run],
    kind: str,
    path: str | PathLike[str],
    labels: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    ranks: Sequence[int] | None = None,
    as_json: bool = False,
    reduction: str = "pooled",
    metrics: Sequence[str] = (),
    sort_by: str | None = None,
    top: int = 0,
    bins: int = 0,
    imbalance_metric: str = "total",
    x_field: str | None = None,
    start_time: float = 0.0,
    end_time: float = 0.0,
    min_duration: float = 0.0,
    compact: bool = False,
) -> None: ...
