"""The metadata scopes of a manager: kept as intervals, resolved when the run is written."""

from __future__ import annotations

from contextvars import ContextVar

from ._recorder import now_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .profile_manager import ProfileManager


class ScopeEntry:
    """One scope: open while `end` is None."""

    __slots__ = ("start", "end", "values")

    def __init__(self, start: int, values: dict[str, Any]) -> None:
        self.start = start
        self.end: int | None = None
        self.values = values


class Scopes:
    """Scopes of one manager.

    Attributes:
        current: The merged values that hold in this context.
    """

    def __init__(self, manager: ProfileManager) -> None:
        self._manager = manager
        self._entries: list[ScopeEntry] = []
        self.current: ContextVar[dict[str, Any]] = ContextVar("metadata", default={})

    def check_allowed(self) -> None:
        """Raises while only totals are kept."""
        config = self._manager._config
        if config is not None and config.aggregation_mode and self._manager._profiler.is_enabled:
            raise RuntimeError("scoped metadata requires per-call data; aggregation_mode keeps none")

    def begin(self, values: dict[str, Any]) -> ScopeEntry | None:
        """Opens a scope; None while nothing records."""
        if not self._manager._profiler.is_enabled:
            return None
        entry = ScopeEntry(now_ns(), values)
        self._entries.append(entry)
        return entry

    def end(self, entry: ScopeEntry | None) -> None:
        """Closes a scope."""
        if entry is not None:
            entry.end = now_ns()

    def clear(self) -> None:
        """Forgets everything; a new configuration begins."""
        self._entries = []

    def forget_closed(self) -> None:
        """Forgets the scopes whose calls are written."""
        self._entries = [entry for entry in self._entries if entry.end is None]

    def published(self) -> list[tuple[int, int, int, str]]:
        """(start, end, thread, JSON) of every scope, outer ones first; open ones end now."""
        from ._json_values import encode

        now = now_ns()
        ordered = sorted(self._entries, key=lambda entry: entry.start)
        return [
            (entry.start, now if entry.end is None else entry.end, -1, encode(entry.values))
            for entry in ordered
            if entry.values
        ]
