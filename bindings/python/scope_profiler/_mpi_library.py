"""The library that records the calls of MPI: whether it stands before this process's MPI, and putting it
there."""

from __future__ import annotations

import os
import sys

__all__ = ["is_loaded", "start_again_with_library"]

_NAME = "libscope_profiler_pmpi_{}.so"
_HEADERS = {"openmpi": "libopenmpi-dev", "mpich": "libmpich-dev"}
#: Holds the LD_PRELOAD that a program would have had, while the interpreter starts again.
_RESTORE = "SCOPE_PROFILER_RUN_PRELOAD"


def is_loaded() -> bool:
    """Returns whether the calls of MPI are recorded in this process without any proxy."""
    import ctypes

    try:
        ctypes.c_char.in_dll(ctypes.CDLL(None), "scope_profiler_pmpi_mpi")
    except (ValueError, OSError):
        return False
    return True


def _mpi_of_mpi4py() -> str:
    """Name of the MPI that mpi4py uses, found without initialising it."""
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        from mpi4py import MPI

        text = MPI.Get_library_version().lower().replace(" ", "")
    except ImportError as error:
        raise ImportError(
            "--mpi-calls requires mpi4py; install scope-profiler[mpi]", name="mpi4py"
        ) from error
    return "openmpi" if "openmpi" in text else "mpich"


def _folders() -> list[str]:
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_core", "lib", "scope-profiler")
    given = os.environ.get("SCOPE_PROFILER_MODULE_PATH", "")
    return [*(folder for folder in given.split(":") if folder), own]


def start_again_with_library() -> None:
    """Starts this interpreter again with the library in front of MPI; returns when it stands there, or
    when there is none for this MPI, which is said.

    Only at the very start of a process: what was done before is done again.

    Raises:
        ImportError: There is no mpi4py.
    """
    environment = os.environ
    if _RESTORE in environment:
        before = environment.pop(_RESTORE)
        if before:
            environment["LD_PRELOAD"] = before
        else:
            environment.pop("LD_PRELOAD", None)
        return
    if is_loaded():
        return
    mpi = _mpi_of_mpi4py()
    name = _NAME.format(mpi)
    found = [path for path in (os.path.join(folder, name) for folder in _folders()) if os.path.exists(path)]
    if not found:
        print(
            f"scope-profiler run: there is no {name}, so only what goes through mpi4py's communicators is "
            f"recorded; it is built where the headers of that MPI are (Debian: {_HEADERS[mpi]})",
            file=sys.stderr,
        )
        # The program brings MPI up itself, by importing mpi4py anew.
        for module in [name for name in sys.modules if name.split(".")[0] == "mpi4py"]:
            del sys.modules[module]
        return
    before = environment.get("LD_PRELOAD", "")
    environment[_RESTORE] = before
    environment["LD_PRELOAD"] = f"{found[0]}:{before}" if before else found[0]
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
