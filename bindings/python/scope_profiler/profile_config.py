"""Options of a run: the classes that carry settings, and the configuration that comes of them."""

from __future__ import annotations

import dataclasses
import os

from . import _settings
from ._configuration import ProfilingConfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypedDict

    Path = str | os.PathLike[str]

__all__ = [
    "GPUOptions",
    "HDF5Options",
    "MemrayOptions",
    "ProfilingConfig",
    "ProfilingOptions",
    "SetupOptions",
    "load_profiling_config",
]


class _Group:
    """Fields of one subject under short names."""

    _group: str

    def to_kwargs(self) -> dict[str, Any]:
        """Returns the fields that are set, under their flat names."""
        fields = _settings.GROUPS[self._group]
        given = {flat: getattr(self, field) for field, flat in fields.items()}
        return {flat: value for flat, value in given.items() if value is not None}


@dataclasses.dataclass
class MemrayOptions(_Group):
    """Allocation capture with Memray.

    Attributes:
        enabled: Capture the allocations of the process.
        path: File of the capture; default ``<file stem>.memray.bin``.
        native_traces: Record native stacks too.
        trace_python_allocators: Record every Python allocation.
        follow_fork: Capture forked children too.
    """

    _group = "memray"
    enabled: bool | None = None
    path: Path | None = None
    native_traces: bool | None = None
    trace_python_allocators: bool | None = None
    follow_fork: bool | None = None


@dataclasses.dataclass
class GPUOptions(_Group):
    """Device timing and NVTX ranges.

    Attributes:
        timing: Record the device time of regions by CUDA events.
        backend: Where the events come from; default ``"auto"``.
        nvtx: Show regions as NVTX ranges.
        sync_on_exit: Wait for the device at the end of every region.
    """

    _group = "gpu"
    timing: bool | None = None
    backend: Any = None
    nvtx: bool | None = None
    sync_on_exit: bool | None = None


@dataclasses.dataclass
class HDF5Options(_Group):
    """Storage of the calls.

    Attributes:
        compression: ``"auto"``, ``"gzip"``, ``"lzf"``, ``"zstd"`` or None.
        compression_level: Level of the filter.
        chunk_size: Calls in a stored chunk.
    """

    _group = "hdf5"
    compression: str | None = None
    compression_level: int | None = None
    chunk_size: int | None = None


@dataclasses.dataclass
class ProfilingOptions:
    """Settings of a run; None means not set. See the guide for what each one does."""

    file_path: Path | None = None
    label: str | None = None
    use_likwid: bool | None = None
    perf_events: str | Iterable[str] | None = None
    perf_events_kernel: bool | None = None
    track_cpu: bool | None = None
    counters_per_call: bool | None = None
    use_line_profiler: bool | None = None
    use_memray: bool | None = None
    memory_profile_path: Path | None = None
    memray_native_traces: bool | None = None
    memray_trace_python_allocators: bool | None = None
    memray_follow_fork: bool | None = None
    track_memory: bool | None = None
    deactivate_profiling: bool | None = None
    use_nvtx: bool | None = None
    use_gpu_timing: bool | None = None
    gpu_timing_backend: Any = None
    gpu_sync_on_exit: bool | None = None
    deactivate_file_output: bool | None = None
    recursive_profile: bool | None = None
    aggregation_mode: bool | None = None
    profile_mpi_calls: bool | None = None
    track_threads: bool | None = None
    track_async: bool | None = None
    capture_region_source: bool | None = None
    metadata_detail: str | None = None
    buffer_limit: int | None = None
    output_mode: str | None = None
    finalize_timeout: int | None = None
    hdf5_compression: str | None = None
    hdf5_compression_level: int | None = None
    hdf5_chunk_size: int | None = None
    finalize_signals: Iterable[str] | None = None
    journal: str | None = None
    journal_flush: int | None = None
    max_memory: int | str | None = None
    on_full: str | None = None
    checkpoint_interval: float | None = None
    enable_tags: Iterable[str] | None = None
    memray: MemrayOptions | None = None
    gpu: GPUOptions | None = None
    hdf5: HDF5Options | None = None

    def to_kwargs(self) -> dict[str, Any]:
        """Returns the settings that are set, groups flattened.

        Raises:
            ValueError: A setting is given both directly and on its group.
        """
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        flat = _settings.flatten_groups(values)
        return {name: value for name, value in flat.items() if value is not None}


if TYPE_CHECKING:

    class SetupOptions(TypedDict, total=False):
        """Keywords of `setup` and `session`, for typing."""

        file_path: Path | None
        label: str | None
        use_likwid: bool | None
        perf_events: str | Iterable[str] | None
        perf_events_kernel: bool | None
        track_cpu: bool | None
        counters_per_call: bool | None
        use_line_profiler: bool | None
        use_memray: bool | None
        memory_profile_path: Path | None
        memray_native_traces: bool | None
        memray_trace_python_allocators: bool | None
        memray_follow_fork: bool | None
        track_memory: bool | None
        deactivate_profiling: bool | None
        use_nvtx: bool | None
        use_gpu_timing: bool | None
        gpu_timing_backend: Any
        gpu_sync_on_exit: bool | None
        deactivate_file_output: bool | None
        recursive_profile: bool | None
        aggregation_mode: bool | None
        profile_mpi_calls: bool | None
        track_threads: bool | None
        track_async: bool | None
        capture_region_source: bool | None
        metadata_detail: str | None
        buffer_limit: int | None
        output_mode: str | None
        finalize_timeout: int | None
        hdf5_compression: str | None
        hdf5_compression_level: int | None
        hdf5_chunk_size: int | None
        finalize_signals: Iterable[str] | None
        journal: str | None
        journal_flush: int | None
        max_memory: int | str | None
        on_full: str | None
        checkpoint_interval: float | None
        enable_tags: Iterable[str] | None
        memray: MemrayOptions | None
        gpu: GPUOptions | None
        hdf5: HDF5Options | None

else:
    from typing import Any as _Any
    from typing import TypedDict as _TypedDict

    SetupOptions = _TypedDict(
        "SetupOptions",
        {name: _Any for name in (*_settings.BY_NAME, *_settings.GROUPS)},
        total=False,
    )
    SetupOptions.__doc__ = "Keywords of `setup` and `session`, for typing."
    SetupOptions.__module__ = __name__


def _toml_module() -> Any:
    from importlib import import_module

    try:
        return import_module("tomllib")
    except ModuleNotFoundError:  # before Python 3.11
        return import_module("tomli")


def _read_table(path: Path) -> dict[str, Any]:
    toml = _toml_module()
    try:
        with open(path, "rb") as file:
            content = toml.load(file)
    except OSError as error:
        raise ValueError(f"Could not read profiling config {os.fspath(path)!r}: {error}") from error
    except (toml.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"Invalid profiling TOML in {os.fspath(path)!r}: {error}") from error
    table = content.get("profiling", content)
    if not isinstance(table, dict):
        raise ValueError(f"[profiling] in {os.fspath(path)!r} must be a TOML table")
    return table


def load_profiling_config(path: Path) -> dict[str, Any]:
    """Reads settings from a TOML file.

    They stand in the table ``[profiling]``, or at the top when there is none; the tables
    ``[profiling.memray]``, ``[profiling.gpu]`` and ``[profiling.hdf5]`` have the fields of the
    option groups.

    Args:
        path: The file.

    Returns:
        Flat settings.

    Raises:
        ValueError: The file cannot be read, is no TOML, or names what is no setting.
    """
    table = _read_table(path)
    flat = {name: value for name, value in table.items() if name not in _settings.GROUPS}
    strangers = [name for name in flat if name not in _settings.BY_NAME]
    if strangers:
        raise ValueError(f"{_settings.unknown(strangers)} in {os.fspath(path)!r}")
    for group, fields in _settings.GROUPS.items():
        sub_table = table.get(group, {})
        if not isinstance(sub_table, dict):
            raise ValueError(f"[profiling.{group}] in {os.fspath(path)!r} must be a TOML table")
        strangers = [field for field in sub_table if field not in fields]
        if strangers:
            raise ValueError(f"{_settings.unknown(strangers, group)} in {os.fspath(path)!r}")
        for field, value in sub_table.items():
            if fields[field] in flat:
                raise ValueError(
                    f"Profiling setting {fields[field]!r} is set both directly and as "
                    f"{group}.{field} in {os.fspath(path)!r}"
                )
            flat[fields[field]] = value
    return flat
