"""Following asyncio tasks and greenlets: has the recorder told what each of them runs."""

from __future__ import annotations

import functools
from importlib import import_module

from ._recorder import task_is
from ._scopes import scopes_of_task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._recorder import Profiler

_MISSING = object()

_followers: tuple[Profiler, ...] = ()
#: Loop classes whose `create_task` is replaced -> what their own dictionary held.
_replaced: dict[type, Any] = {}


def follow(profiler: Profiler) -> None:
    """Tasks that are made from now on get lanes of their own, as do greenlets of this thread."""
    global _followers
    if profiler in _followers:
        return
    _followers = (*_followers, profiler)
    if len(_followers) == 1:
        _replace_all()
        _trace_greenlets()


def unfollow(profiler: Profiler) -> None:
    """Leaves them alone again; harmless when they were not followed."""
    global _followers
    if profiler not in _followers:
        return
    _followers = tuple(other for other in _followers if other is not profiler)
    if not _followers:
        _restore_all()
        _leave_greenlets()


# ---- asyncio -----------------------------------------------------------------------------------


def _following(original: Any) -> Any:
    @functools.wraps(original)
    def create_task(self: Any, coro: Any, **options: Any) -> Any:
        followed = coro
        for profiler in _followers:
            followed = profiler.follow(followed)
            scopes_of_task(profiler, followed, options.get("context"))
        task = original(self, followed, **options)
        if followed is not coro:
            task_is(followed, task)
        return task

    return create_task


def _subclasses(cls: type) -> Iterator[type]:
    subclass: type
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _replace(cls: type) -> None:
    """Replaces `create_task` of a class of loops, or where it has it from.

    A class of compiled code cannot be changed; what is derived from it in Python can.
    """
    from asyncio import AbstractEventLoop

    owner = next(base for base in cls.__mro__ if "create_task" in vars(base))
    target = owner if issubclass(owner, AbstractEventLoop) else cls
    if target is AbstractEventLoop or target in _replaced:
        return
    before = vars(target).get("create_task", _MISSING)
    try:
        target.create_task = _following(target.create_task)  # type: ignore[attr-defined]
    except TypeError:
        return
    _replaced[target] = before


def _replace_all() -> None:
    from asyncio import AbstractEventLoop

    def init_subclass(cls: type, **options: Any) -> None:
        super(AbstractEventLoop, cls).__init_subclass__(**options)  # type: ignore[misc]
        _replace(cls)

    for cls in list(_subclasses(AbstractEventLoop)):
        _replace(cls)
    # Loops of packages that are imported later, uvloop for one.
    AbstractEventLoop.__init_subclass__ = classmethod(init_subclass)  # type: ignore[assignment,method-assign]


def _restore_all() -> None:
    from asyncio import AbstractEventLoop

    for cls, before in _replaced.items():
        if before is _MISSING:
            del cls.create_task  # type: ignore[attr-defined]
        else:
            cls.create_task = before  # type: ignore[attr-defined]
    _replaced.clear()
    if "__init_subclass__" in vars(AbstractEventLoop):
        del AbstractEventLoop.__init_subclass__


# ---- greenlets ---------------------------------------------------------------------------------

#: The trace function of ours and the one that it calls on.
_greenlet_trace: tuple[Any, Any] | None = None


def _trace_greenlets() -> None:
    global _greenlet_trace
    try:
        greenlet: Any = import_module("greenlet")
    except ImportError:
        return
    previous = greenlet.gettrace()

    def switched(event: str, pair: tuple[Any, Any]) -> None:
        for profiler in _followers:
            profiler.greenlet_switched(event, pair)
        if previous is not None:
            previous(event, pair)

    greenlet.settrace(switched)
    _greenlet_trace = (switched, previous)


def _leave_greenlets() -> None:
    global _greenlet_trace
    if _greenlet_trace is None:
        return
    greenlet: Any = import_module("greenlet")
    ours, previous = _greenlet_trace
    _greenlet_trace = None
    if greenlet.gettrace() is ours:
        greenlet.settrace(previous)
