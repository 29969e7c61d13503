"""What is in a profile, as text for people; and the metadata of profiles as JSON."""

from __future__ import annotations

import os

from ._plain import finite, plain, shown
from .results import ProfilingResults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TextIO

    from .results import Patterns, Ranks

    Path = str | os.PathLike[str]
    Profile = ProfilingResults | Path

__all__ = ["collect_file_metadata", "inspect_file", "write_metadata_json"]


def inspect_file(
    file_path: Path,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
    sort: str = "start",
    show_metadata: bool = True,
    show_regions: bool = True,
    full: bool = False,
    source: Iterable[str] | str | None = None,
    columns: Iterable[str] | str | None = None,
    percentage_mode: str = "coverage",
    stream: TextIO | None = None,
    reduction: str = "pooled",
) -> None:
    """Prints title and sizes, metadata, the summary table and sources of regions of a profile.

    Args:
        file_path: The profile, of any kind.
        include: Regular expression(s) of the regions to show; None shows all.
        exclude: Regular expression(s) of the regions to leave out.
        ranks: One rank, several, or None for all.
        sort: Order of the rows; see :meth:`ProfilingResults.print_summary`.
        show_metadata: Print the metadata.
        show_regions: Print the table.
        full: Do not clip long metadata values.
        source: Region or regions whose definition and source text are shown.
        columns: Columns of the table; see :meth:`ProfilingResults.print_summary`.
        percentage_mode: ``coverage`` or ``exclusive``.
        stream: Where to print; default standard output.
        reduction: What becomes of several ranks; see :meth:`ProfilingResults.print_summary`.

    Raises:
        FileNotFoundError: There is no such file.
        CorruptProfileError: It is no profile, or a damaged one.
        ValueError: A sort key, column or mode that does not exist; the text lists the choices.
    """
    from . import summary
    from .profile_io import load

    results = load(file_path)
    names = [source] if isinstance(source, str) else None if source is None else list(source)
    text = results._run.inspect(
        show_metadata,
        show_regions,
        full,
        names,
        **summary.selection(results, include, exclude, ranks, sort, percentage_mode, reduction),
        columns=summary.normalize_region_table_columns(columns),
        color=summary.is_terminal(stream),
        file_path=shown(file_path),
    )
    summary.write_text(text, stream)


def _entry(profile: Profile) -> dict[str, Any]:
    from .profile_io import load

    results = profile if isinstance(profile, ProfilingResults) else load(profile)
    path = results.file_path
    return {
        "file_path": None if path is None else os.path.abspath(path),
        "num_ranks": results.num_ranks,
        "metadata": finite(plain(results.metadata)),
    }


def collect_file_metadata(
    profiling_data: Profile | Sequence[Profile],
) -> dict[str, list[dict[str, Any]]]:
    """Returns the metadata of profiles.

    Args:
        profiling_data: A profile or several: files or results.

    Returns:
        ``{"files": [{"file_path", "num_ranks", "metadata"}, ...]}`` in the order given.
    """
    single = isinstance(profiling_data, (str, os.PathLike, ProfilingResults))
    profiles: Any = [profiling_data] if single else profiling_data
    return {"files": [_entry(profile) for profile in profiles]}


def write_metadata_json(
    profiling_data: Profile | Sequence[Profile], filepath: Path
) -> dict[str, list[dict[str, Any]]]:
    """Writes what :func:`collect_file_metadata` returns as JSON, indented and never clipped.

    Args:
        profiling_data: A profile or several: files or results.
        filepath: The file, which appears complete; its folder is made when it is missing.

    Returns:
        What was written.
    """
    import json

    collected = collect_file_metadata(profiling_data)
    path = os.path.abspath(os.fspath(filepath))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    unfinished = f"{path}.{os.getpid()}.tmp"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump(collected, file, indent=2, ensure_ascii=False, allow_nan=False)
            file.write("\n")
        os.replace(unfinished, path)
    except BaseException:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise
    return collected
