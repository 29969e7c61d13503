"""Allocations of the process, captured by Memray while a run goes on.

Memray loses as many of the outermost callers of later allocations as functions were running when it was
switched on and have returned since, so it is switched on last.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from ._configuration import ProfilingConfig

# Memray has one tracker a process; this is the one that a configuration started.
_running: MemoryCapture | None = None


def capture_path(settings: dict[str, Any], rank: int, size: int) -> str | None:
    """Returns the file of the capture, None without one. Ranks of a job have a file each."""
    path = settings["memory_profile_path"]
    if path is None:
        if not settings["use_memray"]:
            return None
        path = os.path.splitext(settings["file_path"])[0] + ".memray.bin"
    if size == 1:
        return str(path)
    folder, name = os.path.split(path)
    stem, dot, suffix = name.partition(".memray.")
    if not dot:
        stem, suffix = os.path.splitext(name)
    return os.path.join(folder, f"{stem}.rank{rank}{dot}{suffix}")


class MemoryCapture:
    """One capture; starts at once.

    Raises:
        RuntimeError: Another tracker of Memray runs in this process.
        OSError: The file cannot be written.
    """

    def __init__(self, config: ProfilingConfig, path: str) -> None:
        global _running
        import memray

        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.path = path
        self._pid = os.getpid()
        self._tracker = memray.Tracker(
            destination=memray.FileDestination(path, overwrite=True),
            native_traces=config.memray_native_traces,
            trace_python_allocators=config.memray_trace_python_allocators,
            follow_fork=config.memray_follow_fork,
        )
        self._tracker.__enter__()
        _running = self

    def stop(self) -> None:
        """Ends the capture and completes its file. A forked child leaves that to its parent."""
        global _running
        if _running is self:
            _running = None
            if self._pid == os.getpid():
                self._tracker.__exit__(None, None, None)


def start(config: ProfilingConfig) -> MemoryCapture | None:
    """Starts the capture that a configuration asks for."""
    path: Path | None = config.memory_profile_path
    if not config.use_memray or config.deactivate_profiling or path is None:
        return None
    if _running is not None:
        raise RuntimeError(
            f"use_memray: another run of this process captures allocations already, into "
            f"{_running.path!r}; Memray has one tracker a process"
        )
    return MemoryCapture(config, os.path.abspath(path))
