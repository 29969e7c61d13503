"""Runs from the side of the program: the handle that `setup` returns, and `session`."""

from __future__ import annotations

import sys
from _thread import get_ident

from ._finalize import ROOT_REGION
from ._handles import manager_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    from ._configuration import ProfilingConfig
    from .profile_manager import ProfileManager
    from .results import ProfilingResults


class ProfilingRun:
    """One configuration of a manager.

    Attributes:
        results: Results, once the run was finalized through this handle.
    """

    def __init__(
        self,
        manager: ProfileManager | type[ProfileManager],
        config: ProfilingConfig,
        output: Any = None,
    ) -> None:
        self._manager = manager_of(manager)
        self._config = config
        self._output = output
        self.results: ProfilingResults | None = None

    def __repr__(self) -> str:
        return f"ProfilingRun({self.file_path!r}, is_active={self.is_active})"

    @property
    def file_path(self) -> Any:
        """The output asked for, or the configured one, which a run in memory does not write."""
        return self._config.file_path if self._output is None else self._output

    @property
    def is_active(self) -> bool:
        """Whether this configuration is the manager's current one and records."""
        return self._manager._config is self._config and self._manager.is_active()

    def finalize(self, **kwargs: Any) -> ProfilingResults | None:
        """Finalizes the run; as :meth:`ProfileManager.finalize`, and keeps the results.

        Raises:
            RuntimeError: Another configuration has taken over.
        """
        if self._manager._config is not self._config:
            raise RuntimeError("this run has been replaced by another configuration")
        kwargs.setdefault("return_results", True)
        results = self._manager.finalize(**kwargs)
        if results is not None:
            self.results = results
        return results


class Session:
    """A whole run as context manager or decorator; see :meth:`ProfileManager.session`.

    Attributes:
        results: Results after the end, when ``return_results=True`` was given.
    """

    def __init__(
        self, manager: ProfileManager, setup: dict[str, Any], finalize: dict[str, Any]
    ) -> None:
        self._manager = manager
        self._setup = setup
        self._finalize = finalize
        self._run: ProfilingRun | None = None
        self._root: Any = None
        self._thread = 0
        self._calls_when_finalized: int | None = None
        self.results: ProfilingResults | None = None

    @property
    def file_path(self) -> Any:
        """The output of the run; None before it began and for a run in memory."""
        return None if self._run is None else self._run.file_path

    @property
    def is_active(self) -> bool:
        """Whether the run is the manager's current one and records."""
        return self._run is not None and self._run.is_active

    def __enter__(self) -> Session:
        caller = sys._getframe(1)
        self._begin(caller.f_code.co_filename, caller.f_lineno)
        return self

    def _begin(self, filename: str, line: int) -> None:
        self._run = self._manager.setup(**self._setup)
        self._manager._session = self
        self._calls_when_finalized = None
        self._root = self._manager._profiler.region(
            ROOT_REGION, None, filename, line, always=True
        )
        self._thread = get_ident()
        self._root.__enter__()

    def close_root(self) -> None:
        """Ends the region of the whole session, if this thread began it."""
        if self._root is not None and self._thread == get_ident():
            self._root.__exit__(None, None, None)
            self._root = None

    def mark_finalized(self) -> None:
        """The program finalized inside: the end writes only what is recorded from here on."""
        if self._root is None:
            self._calls_when_finalized = self._manager._profiler.finished_calls()

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        manager, run = self._manager, self._run
        if manager._session is self:
            manager._session = None
        if run is not None and run._config.profile_mpi_calls:
            from ._setup import stop_recording_mpi

            stop_recording_mpi()
        if run is not None and run._config.track_async:
            from ._setup import stop_following_tasks

            stop_following_tasks(manager._profiler)
        if run is None or manager._config is not run._config or not manager.is_configured():
            return
        self.close_root()
        try:
            self._end(run)
        except Exception as error:
            if exc_value is None:
                raise
            # The exception of the block is what the program must see.
            print(f"scope_profiler: the run could not be written: {error}", file=sys.stderr)

    def _end(self, run: ProfilingRun) -> None:
        done = self._calls_when_finalized
        if done is not None and self._manager._profiler.finished_calls() == done:
            if self._finalize["return_results"]:
                self.results = self._manager.last_results()
            return
        self.results = run.finalize(**self._finalize)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Returns the function with a session of its own around every call."""
        import functools
        import inspect

        manager, setup, finalize = self._manager, self._setup, self._finalize
        code = getattr(inspect.unwrap(function), "__code__", None)
        site = ("<unknown>", 0) if code is None else (code.co_filename, code.co_firstlineno)

        def begin() -> Session:
            session = Session(manager, setup, finalize)
            session._begin(*site)
            return session

        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*args: Any, **kwargs: Any) -> Any:
                with _Begun(begin()):
                    return await function(*args, **kwargs)

            return run_async

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with _Begun(begin()):
                return function(*args, **kwargs)

        return run


class _Begun:
    """A session that has begun, for a `with` statement that only ends it."""

    __slots__ = ("_session",)

    def __init__(self, session: Session) -> None:
        self._session = session

    def __enter__(self) -> Session:
        return self._session

    def __exit__(self, *exc_info: Any) -> None:
        self._session.__exit__(*exc_info)
