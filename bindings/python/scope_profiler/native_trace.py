"""Traces of native programs (``.spt``) and their conversion to profiles."""

from __future__ import annotations

import os
import struct
from collections import namedtuple
from pathlib import Path

from ._results import CorruptProfileError, Run
from .region import Region
from .results import ProfilingResults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Inputs = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

__all__ = [
    "C_DIR",
    "FORMAT_VERSION",
    "FORTRAN_DIR",
    "HDF5_SUFFIX",
    "KNOWN_FORMAT_VERSIONS",
    "MAGIC",
    "RANK_HDF5_GLOB",
    "TRACE_SUFFIX",
    "TraceFormatError",
    "c_include_dir",
    "c_source_path",
    "convert_traces",
    "find_traces",
    "fortran_source_path",
    "load_traces",
    "read_native_h5",
    "read_native_ranks",
    "read_trace",
    "write_results",
]

MAGIC = b"SCOPEPRF"
FORMAT_VERSION = 2
KNOWN_FORMAT_VERSIONS = (1, 2)
TRACE_SUFFIX = ".spt"
HDF5_SUFFIX = ".h5"
RANK_HDF5_GLOB = "*_rank[0-9]*.h5"

#: Folder of the C headers inside the package.
C_DIR = Path(__file__).resolve().parent / "_core" / "include"
#: Folder of the Fortran module and its source inside the package.
FORTRAN_DIR = C_DIR / "fortran"


class TraceFormatError(ValueError):
    """A file is not a trace, or a damaged one. The text names the file."""


def c_include_dir() -> Path:
    """Returns the folder of ``scope_profiler.h``, for compilers."""
    return C_DIR


def c_source_path() -> Path:
    """Returns the C file that a program compiles along to need no linker options.

    It finds the recorder of this package, the one that Python records with, when the program starts;
    ``scope-profiler config`` tells the flags of a build that links it instead.
    """
    return C_DIR / "scope_profiler.c"


def fortran_source_path() -> Path:
    """Returns the source of the Fortran module, for compilers other than the one that built it."""
    return FORTRAN_DIR / "scope_profiler.f90"


class RegionTrace(namedtuple("RegionTrace", "starts ends")):
    """Calls of one region of a trace: absolute starts and ends in ns, arrays of int64.

    Unpacks to ``(starts, ends)``; ``source_file`` and ``source_lineno`` are None when unknown.
    """

    source_file: str | None = None
    source_lineno: int | None = None


class _Cursor:
    """Reads values one after another and says what is missing when the file ends."""

    def __init__(self, data: bytes, path: Path, byte_order: str) -> None:
        self.data = data
        self.path = path
        self.byte_order = byte_order
        self.position = 0

    def take(self, size: int, what: str) -> int:
        """Returns the position of the next `size` bytes and passes over them."""
        if size < 0 or size > len(self.data) - self.position:
            raise TraceFormatError(
                f"{self.path}: truncated trace file: {what} needs {size} bytes at byte "
                f"{self.position}, the file has {len(self.data)}"
            )
        start = self.position
        self.position += size
        return start

    def number(self, code: str, what: str) -> int:
        start = self.take(struct.calcsize(code), what)
        value: int = struct.unpack_from(self.byte_order + code, self.data, start)[0]
        return value

    def text(self, what: str) -> str:
        size = self.number("i", f"length of {what}")
        start = self.take(size, what)
        return self.data[start : start + size].decode("utf-8", "backslashreplace")

    def times(self, count: int, what: str) -> Any:
        import numpy as np

        start = self.take(8 * count, what)
        raw = np.frombuffer(self.data, dtype=f"{self.byte_order}i8", count=count, offset=start)
        return raw.astype(np.int64)


def _byte_order(data: bytes, path: Path) -> str:
    versions = []
    for order in ("<", ">"):
        (version,) = struct.unpack_from(f"{order}i", data, 8)
        if version in KNOWN_FORMAT_VERSIONS:
            return order
        versions.append(version)
    raise TraceFormatError(
        f"{path}: unsupported trace format version {versions[0]}; this package reads "
        f"{', '.join(map(str, KNOWN_FORMAT_VERSIONS))}. Upgrade scope-profiler to read newer ones."
    )


def read_trace(path: str | os.PathLike[str]) -> tuple[int, dict[str, RegionTrace]]:
    """Reads one trace.

    Returns:
        The rank, and the calls of each region by name in the order of the file.

    Raises:
        TraceFormatError: The file is not a trace, of an unknown version, truncated, or longer
            than it says.
    """
    file = Path(path)
    data = file.read_bytes()
    if len(data) < 24:
        raise TraceFormatError(f"{file}: too short for a trace: {len(data)} bytes")
    if data[:8] != MAGIC:
        raise TraceFormatError(f"{file}: not a scope-profiler Fortran trace (nor one of C)")
    cursor = _Cursor(data, file, _byte_order(data, file))
    cursor.take(8, "magic")
    version = cursor.number("i", "version")
    rank = cursor.number("i", "rank")
    num_regions = cursor.number("q", "number of regions")
    if rank < 0:
        raise TraceFormatError(f"{file}: rank {rank} is not a rank")
    traces: dict[str, RegionTrace] = {}
    for index in range(num_regions):
        name, trace = _read_region(cursor, version, index)
        if name in traces:
            raise TraceFormatError(f"{file}: region {name!r} appears twice")
        traces[name] = trace
    rest = len(data) - cursor.position
    if rest:
        raise TraceFormatError(f"{file}: {rest} trailing byte(s) after the last region")
    return rank, traces


def _read_region(cursor: _Cursor, version: int, index: int) -> tuple[str, RegionTrace]:
    name = cursor.text(f"name of region {index}")
    source_file, line = None, -1
    if version >= 2:
        source_file = cursor.text(f"source path of region {name!r}") or None
        line = cursor.number("i", f"source line of region {name!r}")
    count = cursor.number("q", f"number of calls of region {name!r}")
    trace = RegionTrace(
        cursor.times(count, f"starts of region {name!r}"),
        cursor.times(count, f"ends of region {name!r}"),
    )
    trace.source_file = source_file
    trace.source_lineno = line if line >= 0 else None
    return name, trace


# ---- finding -----------------------------------------------------------------------------------


def _as_list(inputs: Inputs) -> list[Path]:
    if isinstance(inputs, (str, os.PathLike)):
        return [Path(inputs)]
    return [Path(entry) for entry in inputs]


def find_traces(inputs: Inputs) -> list[Path]:
    """Returns the traces among files and folders, sorted, each once.

    A folder yields its ``.spt`` files and its per-rank ``.h5`` files, not those of its folders.

    Raises:
        FileNotFoundError: An input does not exist, or a folder holds neither.
    """
    found: set[Path] = set()
    for entry in _as_list(inputs):
        if entry.is_dir():
            here = {*entry.glob(f"*{TRACE_SUFFIX}"), *entry.glob(RANK_HDF5_GLOB)}
            if not here:
                raise FileNotFoundError(
                    f"no {TRACE_SUFFIX} traces and no per-rank {HDF5_SUFFIX} profiles in {entry}"
                )
            found |= here
        elif entry.exists():
            found.add(entry)
        else:
            raise FileNotFoundError(f"no such file or directory: {entry}")
    return sorted(found)


def read_native_h5(
    path: str | os.PathLike[str],
) -> tuple[dict[int, dict[str, Region]], dict[str, Any]]:
    """Reads a profile as ``({rank: {name: Region}}, metadata)``."""
    from .h5reader import read_h5

    results = read_h5(path)
    ranks: dict[int, dict[str, Region]] = {}
    for region in results:
        for rank in region.ranks:
            ranks.setdefault(rank, {})[region.name] = region[rank]
    return ranks, results.metadata


def read_native_ranks(
    path: str | os.PathLike[str],
) -> tuple[dict[int, dict[str, Region]], dict[str, Any]]:
    """Reads a trace or a per-rank profile as ``({rank: {name: Region}}, metadata)``."""
    return _read_native(Path(path))


def _read_native(path: Path) -> tuple[dict[int, dict[str, Region]], dict[str, Any]]:
    if path.suffix.lower() == HDF5_SUFFIX:
        return read_native_h5(path)
    rank, traces = read_trace(path)
    regions = {
        name: Region(
            trace.starts,
            trace.ends,
            source_file=trace.source_file,
            source_lineno=trace.source_lineno,
        )
        for name, trace in traces.items()
    }
    return {rank: regions}, {}


# ---- loading and converting ------------------------------------------------------------------


def _ranks_of(file: Path) -> set[int]:
    """Ranks that a trace or profile holds."""
    if file.suffix.lower() != HDF5_SUFFIX:
        return {read_trace(file)[0]}
    run = Run.open(file)
    return {rank for parts in run.rows_by_region() for rank, _ in parts}


def _import(files: list[Path], label: str | None) -> Run:
    try:
        return Run.import_native(files, label)
    except CorruptProfileError:
        for file in files:
            if file.suffix.lower() != HDF5_SUFFIX:
                read_trace(file)  # says what is wrong with a trace
        raise
    except ValueError as error:
        raise TraceFormatError(str(error)) from None


def load_traces(inputs: Inputs, label: str | None = None) -> ProfilingResults:
    """Reads traces and per-rank profiles of one run as one run. Nothing that they hold is dropped.

    Args:
        inputs: Files and folders, see :func:`find_traces`.
        label: Label of the run.

    Raises:
        FileNotFoundError: There is nothing to read.
        TraceFormatError: A file is damaged, or two files claim the same rank.
    """
    files = find_traces(inputs)
    return ProfilingResults._from_run(
        _import(files, label), file_path=files[0] if len(files) == 1 else files[0].parent
    )


def write_results(results: ProfilingResults, output_path: str | os.PathLike[str]) -> Path:
    """Writes starts, ends and sources of a run as an HDF5 profile.

    The file has no call ids, so readers find the nesting from the intervals.
    """
    from .results import set_metadata

    run = Run.create()
    for region in results:
        for rank in region.ranks:
            part = region[rank]
            run.add_row(
                region.name,
                rank,
                starts=part.start_times_ns,
                ends=part.end_times_ns,
                source_file=part.source_file,
                source_line=part.source_lineno,
                source_text=part.source_text,
            )
    set_metadata(run, results.metadata)
    run.set_num_ranks(results.num_ranks)
    target = Path(output_path)
    run.write(target)
    return target


def convert_traces(
    inputs: Inputs, output_path: str | os.PathLike[str], label: str | None = None
) -> Path:
    """Reads traces and writes them as one HDF5 profile, with all that they hold.

    Traces have no call ids, so readers find the nesting of their calls from the intervals.

    Args:
        inputs: Files and folders, see :func:`find_traces`.
        output_path: The profile.
        label: Label of the run; default the name of the output without its ending.

    Returns:
        The path of the profile.
    """
    target = Path(output_path)
    _import(find_traces(inputs), target.stem if label is None else label).write(target)
    return target
