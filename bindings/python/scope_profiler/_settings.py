"""The settings of a run: one table from which everything else that knows settings is derived.

`SETTINGS` is what `setup()` accepts, what a TOML file may hold, what :class:`ProfilingOptions` has as
fields and what the documentation lists. Imported by every `setup`, so it imports next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

PERF_EVENTS = (
    "cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
    "cpu-clock", "task-clock", "page-faults", "context-switches",
)  # fmt: skip


def _wrong(name: str, wanted: str, value: object) -> Exception:
    kind = ValueError if wanted.startswith("one of") else TypeError
    return kind(f"Profiling setting '{name}' must be {wanted}, got {value!r}")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _wrong(name, "a string", value)
    return str(value)


def _path(name: str, value: Any) -> str:
    import os

    try:
        path = os.fspath(value)
    except TypeError:
        raise _wrong(name, "a path", value) from None
    path = os.fsdecode(path)
    if not path or "\0" in path:
        raise ValueError(f"Profiling setting '{name}' must name a file, got {value!r}")
    return path


def _flag(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    # numpy.bool_ of whatever version; 0 and 1 as in shell scripts and TOML written by hand.
    if type(value).__name__ in ("bool_", "bool") or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise _wrong(name, "True or False", value)


def _positive(name: str, value: Any) -> int:
    number = _integer(name, value)
    if number <= 0:
        raise ValueError(f"{name} must be a positive integer, got {value!r}")
    return number


def _integer(name: str, value: Any) -> int:
    if isinstance(value, bool) or not hasattr(type(value), "__index__"):
        raise ValueError(f"{name} must be an integer, got {value!r}")
    return value.__index__()


def _choice(*choices: str) -> Callable[[str, Any], str]:
    def check(name: str, value: Any) -> str:
        if value not in choices:
            listed = ", ".join(repr(choice) for choice in choices)
            raise ValueError(f"{name} must be one of {listed}, got {value!r}")
        return str(value)

    return check


def _compression(name: str, value: Any) -> str | None:
    method = _text(name, value).strip().lower()
    if method in ("", "none"):
        return None
    if method not in ("auto", "gzip", "lzf", "zstd"):
        raise ValueError(
            f"{name} must be 'auto', 'gzip', 'lzf', 'zstd' or None, got {value!r}"
        )
    return method


def _tags(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    try:
        tags = tuple(value)
    except TypeError:
        raise _wrong(name, "an iterable of strings", value) from None
    for tag in tags:
        if not isinstance(tag, str):
            raise _wrong(name, "an iterable of strings", value)
    return tags


def _events(name: str, value: Any) -> tuple[str, ...]:
    events = (value,) if isinstance(value, str) else _tags(name, value)
    supported = ", ".join(PERF_EVENTS)
    if not events:
        raise ValueError(f"{name} must name at least one event; supported: {supported}")
    for event in events:
        if event not in PERF_EVENTS:
            raise ValueError(f"{name}: unknown event {event!r}; supported: {supported}")
    if len(set(events)) != len(events):
        raise ValueError(f"{name} names an event twice: {', '.join(events)}")
    return events


def _anything(name: str, value: Any) -> Any:
    return value


class Setting:
    """One row of the table: a setting under its flat name.

    Attributes:
        name: Flat name, as keyword of `setup`.
        kind: Type as shown to people.
        default: Value that holds when nobody gives one.
        check: Function of name and value that returns the value in its normal form or raises.
        help: One sentence.
        group: Option group (and TOML sub-table) that also has it, and its field there.
    """

    __slots__ = ("name", "kind", "default", "check", "help", "group", "field")

    def __init__(
        self,
        name: str,
        kind: str,
        default: Any,
        check: Callable[[str, Any], Any],
        help: str,
        group: str | None = None,
        field: str | None = None,
    ) -> None:
        self.name, self.kind, self.default, self.check = name, kind, default, check
        self.help, self.group, self.field = help, group, field


SETTINGS: tuple[Setting, ...] = (
    Setting("file_path", "str", "profiling_data.h5", _path,
            "Output file; {rank}, {pid}, {host}, {job} and {array} are filled in."),
    Setting("label", "str", None, _text, "Name of the run in titles and legends."),
    Setting("use_likwid", "bool", False, _flag, "Hardware counters through LIKWID markers."),
    Setting("perf_events", "str | Iterable[str]", None, _events,
            "Linux perf events counted in every region."),
    Setting("use_line_profiler", "bool", False, _flag, "Time the lines of registered functions."),
    Setting("use_memray", "bool", False, _flag, "Capture allocations of the process with Memray.",
            "memray", "enabled"),
    Setting("memory_profile_path", "str", None, _path,
            "File of the Memray capture; default <file stem>.memray.bin.", "memray", "path"),
    Setting("memray_native_traces", "bool", False, _flag, "Native stacks in the capture.",
            "memray", "native_traces"),
    Setting("memray_trace_python_allocators", "bool", False, _flag,
            "Every Python allocation in the capture.", "memray", "trace_python_allocators"),
    Setting("memray_follow_fork", "bool", False, _flag, "Capture forked children too.",
            "memray", "follow_fork"),
    Setting("deactivate_profiling", "bool", False, _flag, "Record nothing; every region is off."),
    Setting("use_nvtx", "bool", False, _flag, "Show regions as NVTX ranges.", "gpu", "nvtx"),
    Setting("use_gpu_timing", "bool", False, _flag, "Device time of regions by CUDA events.",
            "gpu", "timing"),
    Setting("gpu_timing_backend", "object", "auto", _anything, "Where device events come from.",
            "gpu", "backend"),
    Setting("gpu_sync_on_exit", "bool", False, _flag,
            "Wait for the device at the end of every region.", "gpu", "sync_on_exit"),
    Setting("deactivate_file_output", "bool", False, _flag, "Keep the run in memory, write no file."),
    Setting("recursive_profile", "bool", False, _flag,
            "Trace the Python calls inside decorated functions unless they say otherwise."),
    Setting("aggregation_mode", "bool", False, _flag, "Keep counts and totals only, no single calls."),
    Setting("profile_mpi_calls", "bool", False, _flag, "Record the calls made through mpi4py."),
    Setting("track_threads", "bool", False, _flag, "Show every thread as a lane of its own."),
    Setting("track_async", "bool", False, _flag,
            "Show every task as a lane of its own; implies track_threads."),
    Setting("capture_region_source", "bool", False, _flag, "Store the source text of regions."),
    Setting("metadata_detail", "str", "minimal", _choice("minimal", "full"),
            "How much of the machine and the environment is stored."),
    Setting("buffer_limit", "int", 1024, _positive, "Calls that a region has room for at first."),
    Setting("output_mode", "str", "auto", _choice("auto", "direct", "parallel"),
            "How the ranks of an MPI run write one file."),
    Setting("hdf5_compression", "str", None, _compression,
            "Filter of the stored calls: auto, gzip, lzf, zstd or None.", "hdf5", "compression"),
    Setting("hdf5_compression_level", "int", None, _integer,
            "Level of the filter: gzip 0 to 9, zstd 1 to 22.", "hdf5", "compression_level"),
    Setting("hdf5_chunk_size", "int", None, _positive, "Calls in a stored chunk.",
            "hdf5", "chunk_size"),
    Setting("enable_tags", "Iterable[str]", (), _tags, "Opt-in tags to switch on; '*' means all."),
)  # fmt: skip

BY_NAME: dict[str, Setting] = {setting.name: setting for setting in SETTINGS}

#: Group name -> field of the group -> flat name.
GROUPS: dict[str, dict[str, str]] = {}
for _setting in SETTINGS:
    if _setting.group is not None and _setting.field is not None:
        GROUPS.setdefault(_setting.group, {})[_setting.field] = _setting.name

# What programs for version 0.2 and older pass, and what says it now.
_RENAMED = {
    "profiling_activated": "deactivate_profiling, with the opposite meaning",
    "flush_to_disk": "deactivate_file_output, with the opposite meaning",
    "time_trace": "nothing: calls are recorded unless aggregation_mode=True",
}


def _hint(name: str, known: Iterable[str]) -> str:
    if name in _RENAMED:
        return f"{name!r} (now {_RENAMED[name]})"
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1)
    return f"{name!r} (did you mean {close[0]!r}?)" if close else repr(name)


def unknown(names: Iterable[str], known: Iterable[str], what: str = "profiling setting(s)") -> str:
    """Text of the error about names that are no settings, each with its closest relative."""
    known = list(known)
    return f"Unknown {what}: " + ", ".join(_hint(str(name), known) for name in names)


def set_twice(name: str, group: str) -> str:
    """Text of the error about a setting given both directly and in its group."""
    return (
        f"{name!r} is set both directly and on the {group!r} option group; set it in one place"
    )


def flatten_groups(values: Mapping[str, Any]) -> dict[str, Any]:
    """Flat settings of a mapping that may hold option groups (objects with `to_kwargs`)."""
    flat = {name: value for name, value in values.items() if name not in GROUPS}
    for group, fields in GROUPS.items():
        options = values.get(group)
        if options is None:
            continue
        if not hasattr(options, "to_kwargs"):
            raise TypeError(f"{group!r} must be an option group, got {options!r}")
        for name, value in options.to_kwargs().items():
            if flat.get(name) is not None:
                raise ValueError(set_twice(name, group))
            flat[name] = value
    return flat


def check_names(values: Mapping[str, Any]) -> None:
    """Raises TypeError for keywords that are neither settings nor option groups."""
    strangers = [name for name in values if name not in BY_NAME and name not in GROUPS]
    if strangers:
        raise TypeError(unknown(strangers, (*BY_NAME, *GROUPS)))


def resolve(values: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting with its checked value; None counts as not given."""
    check_names(values)
    flat = flatten_groups(values)
    resolved = {}
    for setting in SETTINGS:
        value = flat.get(setting.name)
        resolved[setting.name] = (
            setting.default if value is None else setting.check(setting.name, value)
        )
    _check_together(resolved)
    return resolved


def _check_level(settings: Mapping[str, Any]) -> None:
    method, level = settings["hdf5_compression"], settings["hdf5_compression_level"]
    if level is None or method is None:
        return
    ranges = {"auto": (0, 9), "gzip": (0, 9), "zstd": (1, 22)}
    if method not in ranges:
        raise ValueError(f"hdf5_compression_level does not go with hdf5_compression={method!r}")
    lowest, highest = ranges[method]
    if not lowest <= level <= highest:
        raise ValueError(
            f"hdf5_compression_level must be {lowest} to {highest} for {method!r}, got {level}"
        )


#: Instruments that need a time line of single calls on one thread.
_INSTRUMENTS = ("use_line_profiler", "use_gpu_timing", "use_nvtx", "use_likwid", "perf_events")


def _check_together(settings: Mapping[str, Any]) -> None:
    _check_level(settings)
    if settings["gpu_sync_on_exit"] and not settings["use_gpu_timing"]:
        raise ValueError("gpu_sync_on_exit requires use_gpu_timing=True")
    used = [name for name in _INSTRUMENTS if settings[name]]
    if settings["aggregation_mode"] and used:
        raise ValueError(f"aggregation_mode cannot be combined with {', '.join(used)}")
    tracking = next((name for name in ("track_async", "track_threads") if settings[name]), None)
    if settings["aggregation_mode"]:
        used.append("aggregation_mode")
    if tracking is not None and used:
        raise ValueError(f"{tracking} cannot be combined with {', '.join(used)}")
