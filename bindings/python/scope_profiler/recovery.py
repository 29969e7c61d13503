"""Profiles of recordings that did not end well."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .results import ProfilingResults

__all__ = ["RecoveredRun", "recover"]


@dataclass(frozen=True)
class RecoveredRun:
    """A recording that was made into a profile; a path wherever one is taken."""

    path: Path
    """The profile that was written."""
    output: Path
    """The profile that the recording was to write."""
    journal: Path
    """One of the files that it left."""
    program: str
    pid: int
    host: str
    rank: int
    started_at_ns: int
    """Since 1970."""
    is_running: bool
    """Its process is alive: the profile is a snapshot."""
    is_complete: bool
    """Every call that had ended is in it."""
    num_calls: int
    """Calls that had ended."""
    num_open: int
    """Calls that were open."""
    missing_calls: int
    """Calls that are known to have been recorded, and are not found."""

    def __fspath__(self) -> str:
        return str(self.path)

    def results(self) -> ProfilingResults:
        """Reads the profile."""
        from .profile_io import load

        return load(self.path)


def _choose(told: dict, output: str | os.PathLike[str] | None, taken: set[Path]) -> Path:
    if output is not None:
        if told["count"] > 1:
            raise ValueError(
                f"output={os.fspath(output)!r} is one file, but {told['count']} recordings are left "
                "here; name one journal, or leave output away"
            )
        return Path(output)
    wanted = Path(told["output"])
    stem = wanted.with_suffix("") if wanted.suffix else wanted
    path = Path(f"{stem}.recovered.h5")
    number = 1
    while path in taken:
        number += 1
        path = Path(f"{stem}.recovered-{number}.h5")
    taken.add(path)
    return path


def recover(
    path: str | os.PathLike[str] = ".",
    *,
    output: str | os.PathLike[str] | None = None,
    remove: bool = False,
) -> list[RecoveredRun]:
    """Makes profiles of what killed programs left; as ``scope-profiler recover``.

    Args:
        path: The profile that was to be written, a journal, or a folder of such outputs.
        output: The profile to write; ``.json`` and ``.json.gz`` are JSON, all else HDF5. By default
            ``<name>.recovered.h5`` beside the one that was to be written.
        remove: Remove the journal once its profile is written.

    Returns:
        The recordings that were found. Each is a path, for ``load()`` and ``open()``.

    Raises:
        FileNotFoundError: Nothing is left there.
        ValueError: Several recordings are left, and ``output`` names one file.
        CorruptProfileError: What is left is too damaged for a profile.
    """
    from . import _results

    taken: set[Path] = set()
    found = _results.recover(path, lambda told: _choose(told, output, taken), remove)
    return [
        RecoveredRun(
            path=Path(told["path"]),
            output=Path(told["output"]),
            journal=Path(told["journal"]),
            **{
                name: told[name]
                for name in (
                    "program", "pid", "host", "rank", "started_at_ns", "is_running", "is_complete",
                    "num_calls", "num_open", "missing_calls",
                )
            },
        )
        for told in found
    ]
