"""Whether this process is one rank of an MPI job, found out without joining one unasked."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["LAUNCHER_ENV_VARS", "launched_by_mpi", "world_communicator"]

#: Variables that launchers set for the processes of a job. SLURM_PROCID is none of them: batch scripts
#: and shells inside an allocation have it, too.
LAUNCHER_ENV_VARS = (
    "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "MPI_LOCALRANKID",
    "ALPS_APP_PE", "PALS_RANKID",
)  # fmt: skip

_YES = ("1", "true", "yes", "on")
_NO = ("0", "false", "no", "off")


def _wish() -> bool | None:
    """What SCOPE_PROFILER_MPI says: True, False, or None when it says nothing."""
    value = os.environ.get("SCOPE_PROFILER_MPI", "").lower()
    return True if value in _YES else False if value in _NO else None


def launched_by_mpi() -> bool:
    """Returns whether a launcher of MPI started this process."""
    return any(name in os.environ for name in LAUNCHER_ENV_VARS)


def _is_running(mpi: Any) -> bool:
    return bool(mpi.Is_initialized()) and not mpi.Is_finalized()


def world_communicator() -> Any:
    """Returns mpi4py's world communicator, None for a process that is alone.

    A process that a launcher started, or SCOPE_PROFILER_MPI=1, imports mpi4py; without a usable one it
    is alone. Any other process is in a job only if it has brought MPI up itself.
    SCOPE_PROFILER_MPI=0: it is alone, whatever else is so.
    """
    wish = _wish()
    if wish is False:
        return None
    if wish or launched_by_mpi():
        try:
            import mpi4py.MPI  # noqa: F401
        except Exception:  # whatever a broken installation raises: ImportError, RuntimeError, OSError
            return None
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is None or not _is_running(mpi):
        return None
    # What this package sends itself is not to be recorded.
    return getattr(mpi.COMM_WORLD, "_scope_profiler_real", mpi.COMM_WORLD)
