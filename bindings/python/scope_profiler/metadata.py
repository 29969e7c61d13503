"""What a profile says about the machine and the environment of its run."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["collect_metadata"]

#: Longest text stored; more would not fit an attribute of an HDF5 file.
_MAX_TEXT = 60_000
_CUT = "...[truncated]"

_VARIABLES = (
    "LD_LIBRARY_PATH", "LOADEDMODULES", "MODULEPATH", "MODULESHOME", "MODULES_CMD",
    "MODULES_RUN_QUARANTINE", "PATH", "PYTHON_HOME", "PYTHON_INC", "PYTHON_INCLUDE", "PYTHON_LIB",
    "VIRTUAL_ENV",
)  # fmt: skip
_PREFIXES = ("SLURM_", "SLURMD_")


def _storable(text: str) -> str:
    """Text that has a UTF-8 form and fits an attribute; cut on the border of a character."""
    data = text.encode("utf-8", "replace").replace(b"\0", b"?")
    if len(data) <= _MAX_TEXT:
        return data.decode("utf-8")
    return data[: _MAX_TEXT - len(_CUT)].decode("utf-8", "ignore") + _CUT


def _timestamp(seconds: float | None) -> str:
    from datetime import datetime, timezone

    now = datetime.now(timezone.utc) if seconds is None else datetime.fromtimestamp(
        seconds, timezone.utc
    )
    return now.isoformat()


def _chip() -> str:
    """Model of the processor."""
    wanted = ("model name", "cpu model", "Hardware", "Processor")
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key.strip() in wanted and value.strip():
                    return value.strip()
    except OSError:
        pass
    return os.uname().machine


def _platform() -> str:
    """System, release, machine and C library, without asking other programs."""
    system = os.uname()
    try:
        library = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        library = ""
    suffix = f"-with-{library.replace(' ', '')}" if library else ""
    return f"{system.sysname}-{system.release}-{system.machine}{suffix}"


def _omp_num_threads() -> int:
    from ._recorder import omp_max_threads

    count = omp_max_threads()
    if count > 0:
        return count
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(first) if first.isdigit() and int(first) > 0 else 1


def _user() -> str:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        name = os.environ.get(variable)
        if name:
            return name
    try:
        import pwd

        return pwd.getpwuid(os.getuid()).pw_name
    except (ImportError, KeyError):
        return str(os.getuid())


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


def _environment() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in os.environ.items():
        if name in _VARIABLES or name.startswith(_PREFIXES):
            found[_storable(name)] = _storable(value)
    return found


def _full() -> dict[str, Any]:
    system = os.uname()
    modules = [part for part in os.environ.get("LOADEDMODULES", "").split(":") if part]
    return {
        "user": _storable(_user()),
        "hostname": _storable(system.nodename),
        "uname": _storable(" ".join(system)),
        "working_directory": _storable(_working_directory()),
        "modules": [_storable(part) for part in modules],
        **_environment(),
    }


def collect_metadata(
    mpi_size: int = 1, detail: str = "full", timestamp: float | None = None
) -> dict[str, Any]:
    """Returns metadata of a run made here.

    Args:
        mpi_size: Number of ranks.
        detail: ``"minimal"`` leaves out whatever tells user, host, paths or environment.
        timestamp: Time of the run in seconds of the wall clock; default now.

    Returns:
        Integers, texts and lists of texts by key.
    """
    from . import __version__

    threads = _omp_num_threads()
    collected: dict[str, Any] = {
        "timestamp": _timestamp(timestamp),
        "platform": _platform(),
        "chip_information": _chip(),
        "python_version": sys.version.partition(" ")[0],
        "scope_profiler_version": __version__,
        "omp_num_threads": threads,
        "mpi_size": mpi_size,
        "total_cores": mpi_size * threads,
    }
    if detail == "full":
        collected.update(_full())
    return collected
