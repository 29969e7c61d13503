"""What the exporters have in common: which runs, which regions, which names."""

from __future__ import annotations

import re
from pathlib import Path

from . import _columns
from ._plain import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator
    from typing import Any, TypeAlias

    from .results import Patterns, ProfilingResults, Ranks

    Data: TypeAlias = ProfilingResults | Iterable[ProfilingResults]

# Endings that belong together although they have a dot in them.
_ENDINGS = re.compile(r"(\.(?:trace|speedscope)?\.?json(?:\.gz)?)$", re.IGNORECASE)


def root_runs(data: Data) -> list[ProfilingResults]:
    """Returns the runs of ranks that are root.

    Raises:
        ValueError: There is no run at all.
    """
    from .results import ProfilingResults

    runs = [data] if isinstance(data, ProfilingResults) else list(data)
    if not runs:
        raise ValueError("No profiling data provided.")
    return [run for run in runs if run.is_root]


def slug(label: str) -> str:
    """Returns a label as a part of a file name."""
    return re.sub(r"[^\w.-]+", "_", label).strip("_") or "run"


def file_names(
    target: str | os.PathLike[str], runs: Iterable[ProfilingResults]
) -> Iterator[tuple[ProfilingResults, Path]]:
    """Yields each run with its path: the target, or ``<stem>_<label><ending>`` of several runs."""
    path = Path(target)
    found = list(runs)
    match = _ENDINGS.search(path.name)
    ending = match.group(1) if match else path.suffix
    stem = path.name[: len(path.name) - len(ending)] if ending else path.name
    taken: set[Path] = set()
    for run in found:
        one = path
        if len(found) > 1:
            name = f"{stem}_{slug(run.display_label)}"
            one = path.with_name(name + ending)
            number = 2
            while one in taken:
                one = path.with_name(f"{name}_{number}{ending}")
                number += 1
        taken.add(one)
        yield run, one


def selection(run: ProfilingResults, include: Patterns, exclude: Patterns) -> dict[str, Any]:
    """Returns the arguments of an export that choose regions and name the run."""
    names = None if include is None and exclude is None else run._names(include, exclude)
    return {"names": names, "label": run.display_label}


def export_runs(
    kind: str,
    data: Data,
    filepath: str | os.PathLike[str],
    include: Patterns,
    exclude: Patterns,
    ranks: Ranks,
    verbose: bool,
) -> list[Path]:
    """Writes one file a run; returns the paths."""
    paths = []
    for run, path in file_names(filepath, root_runs(data)):
        run._check_events()
        run._run.export(
            kind,
            path,
            ranks=_columns.checked_ranks(ranks),
            **selection(run, include, exclude),
        )
        paths.append(path)
        if verbose:
            print(f"wrote {shown(path)}")
    return paths
