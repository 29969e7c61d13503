"""Reading and writing profiles of any kind."""

from __future__ import annotations

import os
from pathlib import Path

from .results import ProfilingResults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "FORMAT_HDF5",
    "FORMAT_HTML",
    "FORMAT_JSON",
    "load",
    "profile_format",
    "read_profile",
    "read_profile_summary",
    "sniff_profile_format",
    "write_profile",
]

FORMAT_HDF5 = "hdf5"
FORMAT_JSON = "json"
FORMAT_HTML = "html"

_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_GZIP_SIGNATURE = b"\x1f\x8b"
_TRACE_SIGNATURE = b"SCOPEPRF"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def profile_format(path: str | os.PathLike[str]) -> str:
    """Returns the kind of a profile by its name: ``"json"``, ``"html"``, else ``"hdf5"``."""
    from .json_export import is_json_path

    if is_json_path(path):
        return FORMAT_JSON
    if os.fspath(path).lower().endswith((".html", ".htm")):
        return FORMAT_HTML
    return FORMAT_HDF5


def sniff_profile_format(path: str | os.PathLike[str]) -> str:
    """Returns the kind of a profile by its content, by its name where that does not tell."""
    with open(path, "rb") as file:
        head = file.read(512)
    if head.startswith(_HDF5_SIGNATURE):
        return FORMAT_HDF5
    if head.startswith(_GZIP_SIGNATURE):
        return FORMAT_JSON
    text = head[len(_BYTE_ORDER_MARK) :] if head.startswith(_BYTE_ORDER_MARK) else head
    first = text.lstrip()[:1]
    if first == b"{":
        return FORMAT_JSON
    if first == b"<":
        return FORMAT_HTML
    return profile_format(path)


def _check_readable(kind: str, path: str | os.PathLike[str]) -> None:
    if kind == FORMAT_HTML:
        raise ValueError(
            f"{os.fspath(path)} is an HTML report, which is write-only; "
            "read the HDF5 or JSON profile that it was made from"
        )


def load(path: str | os.PathLike[str], verbose: bool = False) -> ProfilingResults:
    """Reads a profile of any kind; the kind is seen from its content.

    Args:
        path: The file.
        verbose: Say on standard output what is read.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It is an HTML report, or a profile that cannot be read.
        OSError: It is no profile, or a damaged one.
    """
    file = Path(path)
    if not file.exists():
        raise FileNotFoundError(f"No profile at {file}")
    if file.is_dir():
        raise IsADirectoryError(f"{file} is a folder, not a profile")
    with open(file, "rb") as stream:
        is_trace = stream.read(len(_TRACE_SIGNATURE)) == _TRACE_SIGNATURE
    if is_trace:
        from .native_trace import load_traces

        return load_traces(file)
    return _read(sniff_profile_format(file), file, verbose)


def read_profile(file_path: str | os.PathLike[str], verbose: bool = False) -> ProfilingResults:
    """Reads a profile; the kind is told by its name.

    Args:
        file_path: The file.
        verbose: Say on standard output what is read.

    Raises:
        ValueError: The name is that of an HTML report.
    """
    return _read(profile_format(file_path), file_path, verbose)


def _read(kind: str, path: str | os.PathLike[str], verbose: bool) -> ProfilingResults:
    _check_readable(kind, path)
    if kind == FORMAT_JSON:
        from .json_export import read_json

        return read_json(path, verbose)
    from .h5reader import read_h5

    return read_h5(path, verbose)


def read_profile_summary(file_path: str | os.PathLike[str], **kwargs: Any) -> ProfilingResults:
    """Reads the statistics of a profile without its calls where the file carries them.

    Args:
        file_path: The file; its name tells the kind.
        kwargs: For HDF5 as of :func:`read_h5_summary`.
    """
    kind = profile_format(file_path)
    if kind != FORMAT_HDF5:
        return _read(kind, file_path, bool(kwargs.get("verbose", False)))
    from .h5reader import read_h5_summary

    return read_h5_summary(file_path, **kwargs)


def write_profile(
    results: ProfilingResults, file_path: str | os.PathLike[str], **kwargs: Any
) -> Path:
    """Writes a run; the name decides about the kind.

    Args:
        results: The run.
        file_path: The file: JSON (``.json``, ``.json.gz``), a report (``.html``, ``.htm``), else
            HDF5.
        kwargs: As of :func:`scope_profiler.write_json` or :func:`scope_profiler.create_html_report`;
            for HDF5 ``compression``,
            ``compression_level`` and ``chunk_size``.

    Returns:
        The path.

    Raises:
        EventDataUnavailableError: An HDF5 profile of a summary-only read.
    """
    kind = profile_format(file_path)
    target = Path(file_path)
    if kind == FORMAT_JSON:
        from .json_export import write_json

        return write_json(results, target, **kwargs)
    if kind == FORMAT_HTML:
        from .html_report import create_html_report

        return create_html_report(results, target, **kwargs)
    write_h5(results, target, **kwargs)
    return target


def write_h5(
    results: ProfilingResults,
    path: str | os.PathLike[str],
    *,
    compression: str | None = None,
    compression_level: int | None = None,
    chunk_size: int | None = None,
) -> None:
    """Writes a run as an HDF5 profile, with its metadata as they are now."""
    from .results import set_metadata

    set_metadata(results._run, results.metadata)
    results._run.write(
        path,
        compression=compression,
        compression_level=-1 if compression_level is None else compression_level,
        chunk_size=chunk_size or 0,
    )
