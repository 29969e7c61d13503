"""LIKWID in a recording: opened at setup, closed and read before publication."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .likwid_data import LikwidRegionResult


#: The process that started the markers here: a forked child has no part in them.
_owner = 0
_were_closed = False


def _warn(text: str) -> None:
    import warnings

    warnings.warn(f"{text}; recording goes on without", RuntimeWarning, stacklevel=3)


def _are_up() -> bool:
    """Whether the program has started the markers: only then is its library there already."""
    from ._likwid_library import Library, loaded
    from .likwid_data import markers_available

    return markers_available() and loaded() is not None and Library().are_up()


def _close() -> None:
    """Ends the markers, and LIKWID writes its file; once."""
    global _were_closed
    if not _were_closed and _owner == os.getpid():
        from ._likwid_library import Library

        _were_closed = True
        Library().markerclose()


class LikwidRun:
    """The markers of one configuration; they end with its first publication.

    Markers that the program has started, with pylikwid or in C, are left to it.
    """

    def __init__(self) -> None:
        self._results: dict[str, LikwidRegionResult] | None = None
        self._is_ours = True

    def open(self) -> tuple[object, ...]:
        """Returns the instrument; nothing, with a warning, where LIKWID is not counting.

        Raises:
            ImportError: There is no LIKWID.
        """
        global _owner
        from ._recorder import open_instrument

        if _were_closed:
            _warn("use_likwid: an earlier run of this process has closed LIKWID's markers for good")
            self._results = {}
            return ()
        self._is_ours = _owner == os.getpid() or not _are_up()
        try:
            instrument = open_instrument("likwid", ["markers"])
        except OSError as error:
            raise ImportError(str(error), name="pylikwid") from None
        except RuntimeError as error:
            _warn(str(error))
            self._results = {}
            return ()
        if self._is_ours and _owner != os.getpid():
            import atexit

            atexit.register(_close)
            _owner = os.getpid()
        return (instrument,)

    def close(self, tags: Iterable[str]) -> None:
        """Ends the markers and reads what was counted, once: from the richest source that answers."""
        if self._results is not None:
            return
        from . import likwid_data
        from ._likwid_library import Library

        library = Library()
        snapshots = likwid_data.collect_region_snapshots(library, tags)
        cpu = library.getprocessorid()
        if self._is_ours:
            _close()
            self._results = likwid_data.collect_marker_results_isolated() or self._from_file()
        if not self._results:
            self._results = likwid_data.snapshots_to_results(snapshots, cpu)

    @staticmethod
    def _from_file() -> dict[str, LikwidRegionResult]:
        from .likwid_data import parse_marker_file

        try:
            return parse_marker_file(os.environ.get("LIKWID_FILEPATH", ""))
        except (OSError, ValueError):
            return {}

    def results(self) -> dict[str, LikwidRegionResult]:
        """What was counted, by tag; empty before the markers are closed."""
        return dict(self._results or {})

    def texts(self, rank: int) -> list[tuple[str, str]]:
        """The results and their environment as named texts of a rank."""
        from ._records import _text, plain_counters
        from .likwid_data import likwid_environment

        if not self._results:
            return []
        records: dict[str, Any] = {tag: plain_counters(one) for tag, one in self._results.items()}
        return [
            ("json_likwid", _text(rank, records)),
            ("json_likwid_environment", _text(rank, likwid_environment())),
        ]
