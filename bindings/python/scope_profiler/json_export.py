"""JSON profiles: lossless documents of a run, plain or compressed."""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import _columns
from ._export import file_names, root_runs
from ._plain import finite, plain, shown
from ._records import plain_counters, plain_totals
from ._results import CorruptProfileError, Run
from .results import ProfilingResults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from .results import Patterns, Ranks

__all__ = [
    "FORMAT",
    "FORMAT_VERSION",
    "JSONProfileError",
    "export_json",
    "is_json_path",
    "read_json",
    "write_json",
]

#: Value of ``format`` in a document.
FORMAT = "scope-profiler-profile"

#: Version of the documents that are written, and the newest one that is read.
FORMAT_VERSION = 1

class JSONProfileError(ValueError):
    """A file is not a JSON profile, or one of a version that is too new."""


def is_json_path(path: str | os.PathLike[str]) -> bool:
    """Whether a file name is that of a JSON profile (``.json``, ``.json.gz``)."""
    return os.fspath(path).lower().endswith((".json", ".json.gz"))


# ---- writing ---------------------------------------------------------------------------------


def _by_rank_json(table: Mapping[int, Any], ranks: list[int] | None) -> dict[str, Any]:
    return {
        str(rank): finite(plain(value))
        for rank, value in table.items()
        if ranks is None or rank in ranks
    }


def _counters(results: ProfilingResults, ranks: list[int] | None) -> str | None:
    """What the library does not know of a run, as members of the document; None without any."""
    members: dict[str, Any] = {}
    if results.has_likwid:
        by_rank = {
            rank: {
                tag: plain_counters(result)
                for tag, result in results.get_likwid_regions(rank).items()
            }
            for rank in results.likwid_ranks
        }
        members["likwid"] = _by_rank_json(by_rank, ranks)
    if any(results.line_profile.values()):
        members["line_profile"] = _by_rank_json(results.line_profile, ranks)
    if results._likwid_environment:
        members["likwid_environment"] = _by_rank_json(results._likwid_environment, ranks)
    if results.has_perf_events:
        totals = {
            rank: {name: plain_totals(total) for name, total in by_region.items()}
            for rank, by_region in results.get_perf_events().items()
        }
        members["perf_events"] = _by_rank_json(totals, ranks)
    return json.dumps(members, allow_nan=False, ensure_ascii=False) if members else None


def write_json(
    results: ProfilingResults,
    filepath: str | os.PathLike[str],
    *,
    include: Patterns = None,
    exclude: Patterns = None,
    ranks: Ranks = None,
    indent: int | None = None,
) -> Path:
    """Writes a run as a JSON profile. The same run gives the same bytes.

    Args:
        results: The run.
        filepath: The file; a name that ends in ``.gz`` is compressed.
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        ranks: One rank, several, or None for all.
        indent: Blanks per level; None writes one line.

    Returns:
        The path.
    """
    chosen = _columns.checked_ranks(ranks)
    target = Path(filepath)
    results._run.export(
        "json",
        target,
        names=results._names(include, exclude),
        ranks=chosen,
        indent=indent or 0,
        metadata_json=json.dumps(
            finite(plain(results.metadata)), allow_nan=False, ensure_ascii=False
        ),
        more_json=_counters(results, chosen),
        statistics_only=not results.has_event_data,
    )
    return target


def export_json(
    profiling_data: ProfilingResults | Iterable[ProfilingResults],
    filepath: str | os.PathLike[str],
    ranks: Ranks = None,
    include: Patterns = None,
    exclude: Patterns = None,
    verbose: bool = True,
    indent: int | None = None,
) -> list[Path]:
    """Writes each run as a JSON profile; several runs become ``<stem>_<label>.json``.

    Args:
        profiling_data: A run or several.
        filepath: The file.
        ranks: One rank, several, or None for all.
        include: Regular expression(s) of the regions to take; None takes all.
        exclude: Regular expression(s) of the regions to leave out.
        verbose: Print what was written.
        indent: Blanks per level; None writes one line.

    Returns:
        The paths; none on ranks that are not root.

    Raises:
        ValueError: There is no run.
    """
    paths: list[Path] = []
    for run, path in file_names(filepath, root_runs(profiling_data)):
        paths.append(
            write_json(run, path, include=include, exclude=exclude, ranks=ranks, indent=indent)
        )
        if verbose:
            print(f"wrote {shown(path)}")
    return paths


# ---- reading ---------------------------------------------------------------------------------


def read_json(file_path: str | os.PathLike[str], verbose: bool = False) -> ProfilingResults:
    """Reads a JSON profile, plain or compressed.

    Args:
        file_path: The file.
        verbose: Say what is read.

    Raises:
        FileNotFoundError: There is no such file.
        JSONProfileError: It is not a JSON profile, or one of a version that is too new.
    """
    from .profile_io import FORMAT_JSON, sniff_profile_format

    file = Path(file_path)
    if not file.exists():
        raise FileNotFoundError(f"JSON profile not found: {file}")
    if file.is_dir() or sniff_profile_format(file) != FORMAT_JSON:
        raise JSONProfileError(f"{file} is not a scope-profiler JSON profile")
    if verbose:
        print(f"Reading profile {shown(file)}")
    try:
        run = Run.open(file)
    except (CorruptProfileError, ValueError) as error:
        text = str(error)
        if "JSON profile" not in text and "format version" not in text:
            text = f"{file} is not a scope-profiler JSON profile: {text}"
        raise JSONProfileError(text) from error
    results = ProfilingResults._from_run(
        run, file_path=file, event_data_available=not run.has_statistics_only
    )
    results.metadata.update(_restored(run.extra_text("json_metadata")))
    return results


def _object(text: str | None) -> dict[str, Any]:
    content = json.loads(text) if text else {}
    return content if isinstance(content, dict) else {}


def _restored(text: str | None) -> dict[str, Any]:
    """Values of the metadata that only JSON has a form for."""
    return {key: _numbers(value) for key, value in _object(text).items()}


def _numbers(value: Any) -> Any:
    """Numbers that JSON cannot hold were written as null; they come back as NaN."""
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return float("nan") if value is None else value
