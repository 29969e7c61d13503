"""Context managers that a manager hands out: region handles, factories, metadata scopes, sampling."""

from __future__ import annotations

import sys
from contextvars import ContextVar

from ._scopes import HeldScopes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import FrameType, TracebackType
    from typing import Any

    from .profile_manager import ProfileManager
    from .region_profiler import BaseProfileRegion


# Regions entered through handles in this context, innermost last. One variable for all handles: a
# context keeps every variable that was ever set in it.
_entered: ContextVar[tuple[tuple[RegionHandle, BaseProfileRegion], ...]] = ContextVar(
    "scope_profiler regions entered through handles", default=()
)


def manager_of(manager: ProfileManager | type[ProfileManager]) -> ProfileManager:
    """The manager that is meant: the class stands for the default one."""
    return manager._default if isinstance(manager, type) else manager


class RegionHandle:
    """A region of whatever configuration holds when it is entered.

    May be kept for the life of a program, entered again while open, and shared by threads and tasks.

    Attributes:
        name: Name of the region.
    """

    __slots__ = ("name", "_manager", "_functions", "_tags", "__weakref__")

    def __init__(
        self,
        manager: ProfileManager | type[ProfileManager],
        name: str,
        functions: Iterable[Any] | None = None,
        tags: Iterable[str] | None = None,
    ) -> None:
        self.name = name
        self._manager = manager_of(manager)
        self._functions = () if functions is None else tuple(functions)
        self._tags = None if tags is None else (tags,) if isinstance(tags, str) else tuple(tags)

    def __repr__(self) -> str:
        return f"RegionHandle({self.name!r})"

    def _find(self, caller: FrameType) -> BaseProfileRegion:
        """The region; a new one is defined where `caller` stands, not in this file."""
        profiler = self._manager._profiler
        region = profiler.regions.get(self.name)
        if region is not None:
            return region
        region = profiler.region(self.name, self._tags, caller.f_code.co_filename, caller.f_lineno)
        for function in self._functions:
            region.add_function(function)
        return region

    def _begin(self, region: BaseProfileRegion) -> BaseProfileRegion:
        _entered.set((*_entered.get(), (self, region)))
        return region.__enter__()

    def __enter__(self) -> BaseProfileRegion:
        return self._begin(self._find(sys._getframe(1)))

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        entered = _entered.get()
        for i in range(len(entered) - 1, -1, -1):
            if entered[i][0] is self:
                _entered.set(entered[:i] + entered[i + 1 :])
                entered[i][1].__exit__(exc_type, exc_value, traceback)
                return


class RegionFactory:
    """Makes context managers that record a call of one region with metadata.

    Attributes:
        name: Name of the region.
    """

    __slots__ = ("name", "_manager", "_handle", "__weakref__")

    def __init__(
        self,
        manager: ProfileManager | type[ProfileManager],
        name: str,
        tags: Iterable[str] | None = None,
    ) -> None:
        self.name = name
        self._manager = manager_of(manager)
        self._handle = RegionHandle(manager, name, None, tags)

    def __repr__(self) -> str:
        return f"RegionFactory({self.name!r})"

    def __call__(self, **values: Any) -> _FactoryScope:
        """Returns a context manager that records one call with these values."""
        return _FactoryScope(MetadataScope(self._manager, values), self._handle)


class _FactoryScope:
    """A metadata scope around a region."""

    __slots__ = ("_scope", "_handle")

    def __init__(self, scope: MetadataScope, handle: RegionHandle) -> None:
        self._scope = scope
        self._handle = handle

    def __enter__(self) -> BaseProfileRegion:
        region = self._handle._find(sys._getframe(1))
        self._scope.__enter__()
        return self._handle._begin(region)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._handle.__exit__(exc_type, exc_value, traceback)
        self._scope.__exit__(exc_type, exc_value, traceback)


class MetadataScope:
    """Values for every call that lies wholly inside the scope.

    What is kept is one entry a scope; the calls get their values when the run is written.
    """

    __slots__ = ("_manager", "_values", "_entered")

    def __init__(self, manager: ProfileManager, values: dict[str, Any]) -> None:
        self._manager = manager
        self._values = values
        self._entered: list[tuple[Any, Any]] = []

    def __enter__(self) -> dict[str, Any]:
        scopes = self._manager._scopes
        scopes.check_allowed()
        held = scopes.current.get()
        merged = {**held.values, **self._values}
        entry = scopes.begin(merged)
        entries = held.entries if entry is None else (*held.entries, entry)
        token = scopes.current.set(HeldScopes(merged, entries))
        self._entered.append((token, entry))
        return dict(merged)

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        token, entry = self._entered.pop()
        scopes = self._manager._scopes
        scopes.end(entry)
        try:
            scopes.current.reset(token)
        except ValueError:
            # Left in another context than entered, as a generator may: that one ends by itself.
            pass


class Sampler:
    """Context manager that gives a function of the time step; see `sample_every`."""

    __slots__ = ("_manager", "_every", "_start", "_was_paused")

    def __init__(self, manager: ProfileManager, every: int, start: int) -> None:
        for name, value in (("every", every), ("start", start)):
            if isinstance(value, bool) or not hasattr(type(value), "__index__"):
                raise ValueError(f"sample_every(): {name} must be an integer, got {value!r}")
        if every <= 0:
            raise ValueError(f"sample_every(): every must be positive, got {every!r}")
        self._manager = manager
        self._every = every.__index__()
        self._start = start.__index__()
        self._was_paused = False

    def __enter__(self) -> Any:
        self._was_paused = self._manager._profiler.is_paused
        return self._step

    def __exit__(self, *exc_info: object) -> None:
        if not self._manager.is_active():
            return
        if self._was_paused:
            self._manager._profiler.pause()
        else:
            self._manager._profiler.resume()

    def _step(self, timestep: int) -> _SampledStep:
        if isinstance(timestep, bool) or not hasattr(type(timestep), "__index__"):
            raise TypeError(f"timestep must be an integer, got {timestep!r}")
        offset = timestep.__index__() - self._start
        return _SampledStep(self._manager, offset >= 0 and offset % self._every == 0)


class _SampledStep:
    """One time step, which is recorded if it is selected, with what follows up to the next one."""

    __slots__ = ("_manager", "_is_selected")

    def __init__(self, manager: ProfileManager, is_selected: bool) -> None:
        self._manager = manager
        self._is_selected = is_selected

    def __enter__(self) -> bool:
        if self._manager.is_active():
            if self._is_selected:
                self._manager._profiler.resume()
            else:
                self._manager.pause()
        return self._is_selected

    def __exit__(self, *exc_info: object) -> None:
        pass
