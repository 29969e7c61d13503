"""Traces of native programs (``.spt``) and their conversion to profiles."""

from __future__ import annotations

import os
import struct
from collections import namedtuple
from pathlib import Path

from .region import Region
from .results import ProfilingResults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    Inputs = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

__all__ = [
    "FORMAT_VERSION",
    "HDF5_SUFFIX",
    "KNOWN_FORMAT_VERSIONS",
    "MAGIC",
    "RANK_HDF5_GLOB",
    "TRACE_SUFFIX",
    "TraceFormatError",
    "c_include_dir",
    "convert_traces",
    "find_traces",
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


class TraceFormatError(ValueError):
    """A file is not a trace, or a damaged one. The text names the file."""


def c_include_dir() -> Path:
    """Returns the folder of ``scope_profiler.h``, for compilers."""
    return C_DIR


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


def load_traces(inputs: Inputs, label: str | None = None) -> ProfilingResults:
    """Reads traces and per-rank profiles of one run as one run.

    Args:
        inputs: Files and folders, see :func:`find_traces`.
        label: Label of the run.

    Raises:
        FileNotFoundError: There is nothing to read.
        TraceFormatError: A file is damaged, or two files claim the same rank.
    """
    files = find_traces(inputs)
    owner: dict[int, Path] = {}
    regions: dict[int, dict[str, Region]] = {}
    metadata: dict[int, dict[str, Any]] = {}
    for file in files:
        ranks, file_metadata = _read_native(file)
        for rank, by_name in ranks.items():
            if rank in owner:
                raise TraceFormatError(f"{owner[rank]} and {file} both claim rank {rank}")
            owner[rank] = file
            regions[rank] = by_name
            if file_metadata:
                metadata[rank] = file_metadata
    combined: dict[str, Any] = dict(metadata[min(metadata)]) if metadata else {}
    combined.update(source="native", trace_format_version=FORMAT_VERSION)
    start = _earliest_start(regions, metadata)
    if start is not None:
        combined["start_time_ns"] = start
    if label is not None:
        combined["label"] = label
    return ProfilingResults(
        {rank: regions[rank] for rank in sorted(regions)},
        metadata=combined,
        num_ranks=len(regions),
        file_path=files[0] if len(files) == 1 else files[0].parent,
    )


def _earliest_start(
    regions: dict[int, dict[str, Region]], metadata: dict[int, dict[str, Any]]
) -> int | None:
    """Start of the rank that began first: as recorded, else its first call."""
    starts = [
        values["start_time_ns"]
        for values in metadata.values()
        if isinstance(values.get("start_time_ns"), int)
    ]
    for rank, by_name in regions.items():
        if isinstance(metadata.get(rank, {}).get("start_time_ns"), int):
            continue
        starts += [
            region._statistics.start_minimum for region in by_name.values() if region.num_calls
        ]
    return min(starts) if starts else None


def write_results(results: ProfilingResults, output_path: str | os.PathLike[str]) -> Path:
    """Writes starts, ends and sources of a run as an HDF5 profile.

    The file has no call ids, so readers find the nesting from the intervals.
    """
    from ._results import Run
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
    """Reads traces and writes them as one HDF5 profile.

    Args:
        inputs: Files and folders, see :func:`find_traces`.
        output_path: The profile.
        label: Label of the run; default the name of the output without its ending.

    Returns:
        The path of the profile.
    """
    target = Path(output_path)
    return write_results(load_traces(inputs, target.stem if label is None else label), target)
