"""The metadata scopes of a manager: kept as intervals, resolved when the run is written."""

from __future__ import annotations

from contextvars import ContextVar

from ._recorder import now_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextvars import Context
    from typing import Any
    from weakref import WeakSet

    from ._recorder import Profiler
    from .profile_manager import ProfileManager


#: For whom a scope is, beside a thread by its number: a task (this less its number), threads that have
#: no scope of their own, all.
_FIRST_TASK = -2
_OTHER_THREADS = -(2**63)
_ALL = -1


class ScopeEntry:
    """One scope: open while `end` is None. `thread` and `task` are those that entered it, -1 none."""

    __slots__ = ("start", "end", "values", "thread", "task")

    def __init__(self, start: int, values: dict[str, Any], thread: int, task: int) -> None:
        self.start = start
        self.end: int | None = None
        self.values = values
        self.thread = thread
        self.task = task


class HeldScopes:
    """What a context is in: the merged values and the scopes that they are from, outer ones first."""

    __slots__ = ("values", "entries")

    def __init__(self, values: dict[str, Any], entries: tuple[ScopeEntry, ...]) -> None:
        self.values = values
        self.entries = entries


#: What has or had scopes, None before the first: a program without them need not import sets for it.
_in_use: WeakSet[Scopes] | None = None


def _note_use(scopes: Scopes) -> None:
    global _in_use
    if _in_use is None:
        from weakref import WeakSet

        _in_use = WeakSet()
    _in_use.add(scopes)


def scopes_of_task(profiler: Profiler, followed: object, context: Context | None) -> None:
    """A task is being made: the scopes of its context hold for it, as long as they are open."""
    for scopes in _in_use or ():
        scopes.hand_down(profiler, followed, context)


class Scopes:
    """Scopes of one manager.

    Attributes:
        current: What this context is in.
    """

    def __init__(self, manager: ProfileManager) -> None:
        self._manager = manager
        self._entries: list[ScopeEntry] = []
        #: (task, since when, scope) of the scopes that tasks were made in.
        self._handed_down: list[tuple[int, int, ScopeEntry]] = []
        self.current: ContextVar[HeldScopes] = ContextVar("metadata", default=HeldScopes({}, ()))

    def check_allowed(self) -> None:
        """Raises while only totals are kept."""
        config = self._manager._config
        if config is not None and config.aggregation_mode and self._manager._profiler.is_enabled:
            raise RuntimeError("scoped metadata requires per-call data; aggregation_mode keeps none")

    def begin(self, values: dict[str, Any]) -> ScopeEntry | None:
        """Opens a scope; None while nothing records."""
        if not self._manager._profiler.is_enabled:
            return None
        thread, task = self._manager._profiler.where()
        entry = ScopeEntry(now_ns(), values, thread, task)
        self._entries.append(entry)
        _note_use(self)
        return entry

    def end(self, entry: ScopeEntry | None) -> None:
        """Closes a scope."""
        if entry is not None:
            entry.end = now_ns()

    def hand_down(self, profiler: Profiler, followed: object, context: Context | None) -> None:
        """The scopes of a context hold for a task that is made in it."""
        if profiler is not self._manager._profiler:
            return
        held = self.current.get() if context is None else context.get(self.current)
        if held is None or not held.entries:
            return
        task = profiler.task_number(followed)
        now = now_ns()
        if task >= 0:
            self._handed_down += [(task, now, entry) for entry in held.entries if entry.end is None]

    def forget_closed(self) -> None:
        """Forgets the scopes whose calls are written."""
        self._entries = [entry for entry in self._entries if entry.end is None]
        self._handed_down = [handed for handed in self._handed_down if handed[2].end is None]

    def published(self) -> list[tuple[int, int, int, str]]:
        """(start, end, for whom, JSON) of every scope, outer ones first; open ones end now."""
        from ._json_values import encode

        now = now_ns()
        rows: list[tuple[int, int, int, str]] = []
        texts: dict[ScopeEntry, str] = {}
        for entry in sorted(self._entries, key=lambda entry: entry.start):
            texts[entry] = text = encode(entry.values)
            end = now if entry.end is None else entry.end
            if entry.thread < 0:
                rows.append((entry.start, end, _ALL, text))
                continue
            rows.append((entry.start, end, _OTHER_THREADS, text))
            if entry.task < 0:
                rows.append((entry.start, end, entry.thread, text))
            else:
                rows.append((entry.start, end, _FIRST_TASK - entry.task, text))
                # Holds no call: what else the thread does is not in the scope of its task.
                rows.append((entry.start, entry.start - 1, entry.thread, "{}"))
        for task, since, entry in self._handed_down:
            if entry in texts:
                end = now if entry.end is None else entry.end
                rows.append((max(since, entry.start), end, _FIRST_TASK - task, texts[entry]))
        return rows
