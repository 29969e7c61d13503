"""From what a program asks for to a configuration, and from that to the recorder."""

from __future__ import annotations

import errno
import os
import sys

from ._configuration import ProfilingConfig
from ._recorder import check_settings
from ._settings import BY_NAME, check_names, flatten_groups
from .profile_manager import _UNSET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

_JOURNAL_VARIABLE = "SCOPE_PROFILER_JOURNAL"
_SIGNALS_VARIABLE = "SCOPE_PROFILER_FINALIZE_SIGNALS"
_TRUE = ("1", "true", "yes", "on")


def _from_options(options: Any) -> dict[str, Any]:
    if options is None:
        return {}
    if not hasattr(options, "to_kwargs"):
        raise TypeError(f"options must be a ProfilingOptions, got {options!r}")
    return options.to_kwargs()


def make_config(
    options: Any,
    output: Any,
    region_tags: Iterable[str] | None,
    config_path: Any,
    overrides: Mapping[str, Any],
) -> ProfilingConfig:
    """Configuration of `setup`: keywords win over options, options over the file."""
    check_names(overrides)
    settings: dict[str, Any] = {}
    if config_path is not None:
        from .profile_config import load_profiling_config

        settings.update(load_profiling_config(config_path))
    settings.update(_from_options(options))
    given = {name: value for name, value in flatten_groups(overrides).items() if value is not None}
    settings.update(given)
    if output is not _UNSET:
        both = [name for name in ("file_path", "deactivate_file_output") if name in given]
        if both:
            raise TypeError(f"output cannot be combined with {' or '.join(both)}")
        settings["deactivate_file_output"] = output is None
        if output is not None:
            settings["file_path"] = output
    return ProfilingConfig(region_tags=region_tags, **settings)


def from_environment(overrides: dict[str, Any]) -> dict[str, Any]:
    """Arguments of `setup` from the environment; those given win."""
    environment = os.environ
    arguments: dict[str, Any] = {}
    if environment.get("SCOPE_PROFILER_CONFIG"):
        arguments["config_path"] = environment["SCOPE_PROFILER_CONFIG"]
    names_output = any(name in overrides for name in ("file_path", "deactivate_file_output"))
    if environment.get("SCOPE_PROFILER_OUTPUT") and not names_output:
        arguments["output"] = environment["SCOPE_PROFILER_OUTPUT"]
    for variable, name in (
        ("SCOPE_PROFILER_RECURSIVE", "recursive_profile"),
        ("SCOPE_PROFILER_AUTO_FINALIZE", "auto_finalize"),
    ):
        if variable in environment:
            arguments[name] = environment[variable].lower() in _TRUE
    arguments.update(overrides)
    return arguments


def _check_output(path: str) -> None:
    """Fails now rather than after the run: makes the folder, refuses what is none."""
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "the output is a folder", path)
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "the output cannot be written here", folder)


def _format_of(path: str) -> str:
    name = path.lower()
    if name.endswith((".json", ".json.gz")):
        return "json"
    if name.endswith((".html", ".htm")):
        return "html"
    return "hdf5"


def _journal(config: ProfilingConfig) -> str:
    """Where the journal goes. The environment decides where the program does not say."""
    chosen = config.journal
    if chosen == "auto":
        chosen = os.environ.get(_JOURNAL_VARIABLE) or chosen
    return chosen if chosen in ("auto", "off") else os.path.abspath(chosen)


def _signals(config: ProfilingConfig) -> str:
    return ",".join(config.finalize_signals) or os.environ.get(_SIGNALS_VARIABLE, "")


def _bound(config: ProfilingConfig, name: str) -> Any:
    """A bound of the recording. The environment decides where the program leaves the default."""
    value, setting = getattr(config, name), BY_NAME[name]
    text = os.environ.get("SCOPE_PROFILER_" + name.upper())
    if text and value == setting.default:
        return check_settings({name: setting.convert(text)})[name]
    return value


def _checkpoint_interval(config: ProfilingConfig) -> float:
    """Seconds between checkpoints, 0 for none.

    Ranks that write one file together would all have to talk for one, which a thread of its own must
    not do beside the program's calls of MPI. The journals of the ranks have the run.
    """
    seconds = _bound(config, "checkpoint_interval") or 0.0
    if seconds and config._size > 1:
        if config._rank == 0:
            print(
                "scope_profiler: no checkpoints: the ranks of this run write one file together; their "
                "journals keep what they record",
                file=sys.stderr,
            )
        return 0.0
    return float(seconds)


def _greenlets(config: ProfilingConfig) -> Any:
    """Where the recorder keeps what it knows of greenlets."""
    if not config.track_async:
        return None
    import weakref

    return weakref.WeakKeyDictionary()


def _mode(config: ProfilingConfig) -> str:
    """Which class the regions of a configuration have: the first that fits."""
    kinds = {
        "aggregate": config.aggregation_mode,
        "lines": config.use_line_profiler,
        "full": config.use_likwid,
        "perf": config.perf_events,
        "device_ranges": config.use_nvtx and config.use_gpu_timing,
        "device": config.use_gpu_timing,
        "ranges": config.use_nvtx,
        "threaded": config.track_threads,
    }
    return next((kind for kind, is_wanted in kinds.items() if is_wanted), "time_only")


def prepare(config: ProfilingConfig) -> dict[str, Any]:
    """Resolves the output of a configuration; returns what the recorder is told."""
    import time

    config._setup_time = time.time()
    config._finalize_time_ns = None
    path = config._output_path()
    config._format = "hdf5" if path is None else _format_of(path)
    enabled = not config.deactivate_profiling
    if path is not None and enabled:
        _check_output(path)
    config._output = path
    from ._instruments import open_instruments
    from ._source import locator

    locate = locator(config.metadata_detail, config.capture_region_source)
    return {
        "enabled": enabled,
        "output": path if config._format == "hdf5" else None,
        "mode": _mode(config),
        "rank": config._rank,
        "compression": config.hdf5_compression,
        "compression_level": -1
        if config.hdf5_compression_level is None
        else config.hdf5_compression_level,
        "chunk_size": config.hdf5_chunk_size or 0,
        "locate": locate,
        "wants_text": config.capture_region_source,
        "traces": config.recursive_profile,
        "region_tags": tuple(config._region_tags),
        "enable_tags": tuple(config._enabled_tags),
        "journal": _journal(config),
        "journal_flush": config.journal_flush or -1,
        "finalize_signals": _signals(config),
        "max_memory": _bound(config, "max_memory"),
        "on_full": _bound(config, "on_full"),
        "checkpoint_interval": _checkpoint_interval(config),
        "instruments": open_instruments(config) if enabled else (),
        "track_tasks": config.track_async,
        "greenlets": _greenlets(config),
        "lines": config.line_timings(locate),
        "track_memory": config.track_memory,
        "track_threads": config.track_threads,
    }



def tell_metadata(config: ProfilingConfig) -> None:
    """Has the files that are written without Python say of the run what the last one says."""
    is_wanted = _checkpoint_interval(config) > 0 or _signals(config)
    if is_wanted and config._profiler is not None and config._profiler.is_enabled:
        own = ("start_time_ns", "finalize_time_ns")
        metadata = {key: value for key, value in config.metadata.items() if key not in own}
        config._profiler.set_metadata(metadata)


def start_following_tasks(config: ProfilingConfig, profiler: Any) -> None:
    """Has tasks followed if the configuration asks for it."""
    if config.track_async and not config.deactivate_profiling:
        from . import _tasks

        _tasks.follow(profiler)


def stop_following_tasks(profiler: Any) -> None:
    """Leaves tasks alone again, if they were followed."""
    import sys

    tasks = sys.modules.get("scope_profiler._tasks")
    if tasks is not None:
        tasks.unfollow(profiler)


def start_recording_mpi(config: ProfilingConfig) -> None:
    """Has the calls of MPI recorded if the configuration asks for it and no library does it."""
    if not config.profile_mpi_calls or config.deactivate_profiling:
        return
    from . import _mpi_library

    if not _mpi_library.is_loaded():
        from .mpi_calls import profile_mpi4py

        profile_mpi4py()


def stop_recording_mpi() -> None:
    """Puts mpi4py's communicators back where they were replaced."""
    import sys

    calls = sys.modules.get("scope_profiler.mpi_calls")
    if calls is not None:
        calls.restore_mpi4py()
