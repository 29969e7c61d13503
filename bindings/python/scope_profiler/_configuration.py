"""The configuration of a manager: settings that were checked and completed, ready to be used."""

from __future__ import annotations

import os

from . import _settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Any

#: Setting -> module that it needs, None for a part that this build lacks.
_INSTRUMENTS = {
    "profile_mpi_calls": "mpi4py",
}


def _is_installed(module: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False


#: Setting -> module that the instrument of this build works with.
_NEEDED = {"use_memray": "memray", "use_line_profiler": "line_profiler"}


def _check_needed(setting: str) -> None:
    if not _is_installed(_NEEDED[setting]):
        module = _NEEDED[setting]
        raise ImportError(f"{module} is not installed; {setting} needs it", name=module)


def refuse_instrument(setting: str) -> None:
    """Raises for an instrument that cannot be had: the module is not there, or this build lacks it."""
    module = _INSTRUMENTS[setting]
    if setting == "profile_mpi_calls":
        from ._mpi_library import is_loaded

        if is_loaded() or _is_installed("mpi4py"):
            return
    if module is not None and not _is_installed(module):
        raise ImportError(f"{module} is not installed; {setting} needs it", name=module)
    raise RuntimeError(f"{setting} is not available in this build of scope_profiler")


def _tags_of_environment() -> tuple[str, ...]:
    listed = os.environ.get("SCOPE_PROFILER_ENABLE_TAGS", "")
    return tuple(tag.strip() for tag in listed.split(",") if tag.strip())


def _with_rank(path: str, rank: int) -> str:
    """The path with the rank's number before its suffix, as native programs have it."""
    folder, name = os.path.split(path)
    stem, suffix = os.path.splitext(name)
    if suffix == ".gz":
        stem, inner = os.path.splitext(stem)
        suffix = inner + suffix
    return os.path.join(folder, f"{stem}_rank{rank:05d}{suffix}")


def fill_in(path: str, rank: int) -> str:
    """Output path with {rank}, {pid}, {host}, {job} and {array} filled in; other braces stay."""
    if "{" not in path:
        return path
    environment = os.environ
    values = {
        "rank": str(rank),
        "pid": str(os.getpid()),
        "host": os.uname().nodename,
        "job": environment.get("SLURM_JOB_ID") or environment.get("PBS_JOBID") or "0",
        "array": environment.get("SLURM_ARRAY_TASK_ID") or environment.get("PBS_ARRAY_INDEX") or "0",
    }
    for name, value in values.items():
        path = path.replace("{" + name + "}", value)
    return path


class ProfilingConfig:
    """Settings of one configuration of a manager.

    Args:
        region_tags: Only regions with one of these tags are recorded; None records all.
        **settings: Flat settings and option groups, as in :class:`ProfilingOptions`.

    Raises:
        TypeError: A keyword that is no setting, or a value of the wrong type.
        ValueError: A value outside its range, or settings that exclude each other.
        ImportError: A setting needs a module that is not installed.
        RuntimeError: A setting needs a part that this build lacks.
    """

    def __init__(self, *, region_tags: Iterable[str] | None = None, **settings: Any) -> None:
        resolved = _settings.resolve(settings)
        if not resolved["deactivate_profiling"]:
            for name in _INSTRUMENTS:
                if resolved[name]:
                    refuse_instrument(name)
            for name in _NEEDED:
                if resolved[name]:
                    _check_needed(name)
        self._settings = resolved
        self._region_tags = (
            frozenset(_settings.strings("region_tags", region_tags))
            if region_tags is not None
            else frozenset()
        )
        self._has_told_tags = False
        self._enabled_tags = frozenset((*resolved["enable_tags"], *_tags_of_environment()))
        self._comm = self._communicator()
        self._rank = 0 if self._comm is None else self._comm.Get_rank()
        self._size = 1 if self._comm is None else self._comm.Get_size()
        self._start_time_ns: int | None = None
        self._setup_time: float | None = None
        self._finalize_time_ns: int | None = None
        self._profiler: Any = None
        self._path: str | None = None
        #: Absolute path of the output, None in memory; and its format. Set when activated.
        self._output: str | None = None
        self._format = "hdf5"
        self._memory_capture: Any = None
        self._lines: Any = None
        self._likwid: Any = None

    def _communicator(self) -> Any:
        if self._settings["deactivate_profiling"]:
            return None
        from .mpi_launch import world_communicator

        return world_communicator()

    def _output_path(self) -> str | None:
        """Absolute path of the output, fixed when first asked for; None for a run in memory."""
        if self._settings["deactivate_file_output"]:
            return None
        if self._path is None:
            self._path = os.path.abspath(fill_in(self.file_path, self._rank))
            if self._writes_alone() and not any(field in self.file_path for field in ("{rank}", "{pid}")):
                self._path = _with_rank(self._path, self._rank)
        return self._path

    def _writes_alone(self) -> bool:
        """Whether this is one of several ranks that write a file each."""
        return self._size > 1 and self._settings["output_mode"] == "per-rank"

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={value!r}"
            for name, value in self._settings.items()
            if value != _settings.BY_NAME[name].default
        )
        return f"ProfilingConfig({given})"

    @property
    def comm(self) -> Any:
        """MPI communicator of the run, None without MPI."""
        return self._comm

    @property
    def tracker(self) -> Any:
        """Tracker of tasks, None without one."""
        return None

    @property
    def memory_profile_path(self) -> Path | None:
        """File of the Memray capture, None when none was asked for."""
        from pathlib import Path

        from ._memray import capture_path

        path = capture_path(self._settings, self._rank, self._size)
        return None if path is None else Path(path)

    @property
    def perf_events(self) -> tuple[str, ...]:
        """Counted events."""
        return self._settings["perf_events"] or ()

    @property
    def track_threads(self) -> bool:
        """Whether every thread is shown as a lane; track_async implies it."""
        return self._settings["track_threads"] or self._settings["track_async"]

    @property
    def paused(self) -> bool:
        """Whether recording is paused."""
        return self._profiler is not None and self._profiler.is_paused

    @property
    def start_time_ns(self) -> int:
        """Moment of `setup`, monotonic ns: the origin of the time line."""
        if self._start_time_ns is None:
            from ._recorder import now_ns

            self._start_time_ns = now_ns()
        return self._start_time_ns

    @property
    def metadata(self) -> dict[str, Any]:
        """What is stored about this run."""
        from .metadata import collect_metadata

        collected = collect_metadata(self._size, self.metadata_detail, self._setup_time)
        collected["num_nodes"] = 1
        collected["start_time_ns"] = self.start_time_ns
        if self._finalize_time_ns is not None:
            collected["finalize_time_ns"] = self._finalize_time_ns
        if self.label is not None:
            collected["label"] = self.label
        if self._memory_capture is not None:
            # Beside the profile, so the name is enough, and says no more about the machine.
            collected["memory_profile"] = os.path.basename(self._memory_capture.path)
        if self._profiler is not None:
            from ._trace import folded_metadata

            collected.update(folded_metadata(self._profiler))
        return collected

    def start_memory_profiling(self) -> None:
        """Starts the allocation capture, if one is asked for."""
        if self._settings["use_memray"]:
            from ._memray import start

            self._memory_capture = start(self)

    def line_timings(self, locate: Any) -> Any:
        """What makes the line timings of a region by its name; None when no lines are timed.

        Args:
            locate: How a file name is stored, as for the places of regions.
        """
        if not self._settings["use_line_profiler"] or self._settings["deactivate_profiling"]:
            return None
        from ._lines import LineRun

        self._lines = LineRun(locate, lambda: self.paused)
        return self._lines.region

    def stop_memory_profiling(self) -> None:
        """Ends the allocation capture, if one runs."""
        if self._memory_capture is not None:
            self._memory_capture.stop()

    def pylikwid_markerinit(self) -> None:
        """Has no effect, `setup` has started the markers; kept for programs that call it."""

    def pylikwid_markerclose(self) -> None:
        """Ends the LIKWID markers, if they are used, and reads what they counted; once."""
        if self._likwid is not None and self._profiler is not None:
            self._likwid.close(list(self._profiler.regions))

    def collect_likwid_results(self) -> dict[str, Any]:
        """Counter results by tag; empty without LIKWID and before the markers are closed."""
        return {} if self._likwid is None else self._likwid.results()

    def likwid_environment(self) -> dict[str, str]:
        """Variables of the environment that steer LIKWID."""
        from .likwid_data import likwid_environment

        return likwid_environment()

    @classmethod
    def reset(cls) -> None:
        """Has no effect; kept for programs that call it."""

    if TYPE_CHECKING:
        # Made below, one for each row of the table.
        file_path: str
        label: str | None
        use_likwid: bool
        perf_events_kernel: bool
        track_cpu: bool
        counters_per_call: bool
        use_line_profiler: bool
        use_memray: bool
        memray_native_traces: bool
        memray_trace_python_allocators: bool
        memray_follow_fork: bool
        track_memory: bool
        deactivate_profiling: bool
        use_nvtx: bool
        use_gpu_timing: bool
        gpu_timing_backend: Any
        gpu_sync_on_exit: bool
        deactivate_file_output: bool
        recursive_profile: bool
        aggregation_mode: bool
        profile_mpi_calls: bool
        track_async: bool
        capture_region_source: bool
        metadata_detail: str
        buffer_limit: int
        output_mode: str
        finalize_timeout: int | None
        hdf5_compression: str | None
        hdf5_compression_level: int | None
        hdf5_chunk_size: int | None
        finalize_signals: tuple[str, ...]
        journal: str
        journal_flush: int
        max_memory: int
        on_full: str
        checkpoint_interval: float | None
        enable_tags: tuple[str, ...]


def _property_of(setting: _settings.Setting) -> property:
    name = setting.name
    return property(lambda config: config._settings[name], doc=setting.help)


for _setting in _settings.SETTINGS:
    if _setting.name not in ProfilingConfig.__dict__:
        setattr(ProfilingConfig, _setting.name, _property_of(_setting))
