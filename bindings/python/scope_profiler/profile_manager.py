"""The manager: marks regions, decorates functions, starts and ends runs.

Everything that runs once per call is in the extension `_recorder`; this module is the cold half.
Heavier parts (options, sessions, results) are imported when they are first needed.
"""

from __future__ import annotations

import os
import sys
from _thread import RLock
from types import FunctionType, MethodType

from . import _recorder
from ._decorating import decorated, default_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["ProfileManager", "ProfilingRun", "RankPayload", "RegionFactory", "RegionHandle"]

_INACTIVE, _ACTIVE, _FINALIZED = "inactive", "active", "finalized"

class _Unset:
    __slots__ = ()

    def __repr__(self) -> str:
        return "<unset>"

    def __reduce__(self) -> str:
        return "_UNSET"


_UNSET: Any = _Unset()

#: Tags whose regions are off unless they are switched on. Libraries register them when they are
#: imported, whatever manager the program uses, so there is one set for the process.
_opt_in_tags: set[str] = set()


class _member(classmethod):
    """Method that acts on the default manager when called on the class."""

    def __get__(self, instance: Any, owner: Any = None) -> MethodType:
        return MethodType(self.__func__, owner._default if instance is None else instance)


def _tag_filter(config: Any) -> Any:
    """What decides by its tags whether a region is recorded; None when all are."""
    wanted, enabled = config._region_tags, config._enabled_tags
    if not wanted and not _opt_in_tags:
        return None

    def is_wanted(tags: tuple[str, ...]) -> bool:
        if wanted and wanted.isdisjoint(tags):
            return False
        hidden = _opt_in_tags.intersection(tags)
        if not hidden or "*" in enabled:
            return True
        return not (enabled.isdisjoint(hidden) and wanted.isdisjoint(hidden))

    return is_wanted


def _region(self, region_name, functions=None, tags=None):
    """Returns the region of a name, made at first use; a context manager.

    Args:
        region_name: Name of the region.
        functions: Functions to time by line; only with ``use_line_profiler=True``.
        tags: Tags of the region. Later calls may leave them out, but not change them.

    Raises:
        ValueError: The region has other tags, or the name is empty or holds a NUL character.
    """
    return self.region(region_name, functions, tags)


_region.__name__ = "region"
_region.__qualname__ = "ProfileManager.region"


class ProfileManager:
    """Marks regions of a program and records them.

    Called on the class, every method acts on the default manager of the process. An instance is an
    independent manager with its own configuration, regions and output.
    """

    _default: ProfileManager

    def __init__(self) -> None:
        self._begin_life(_recorder.Profiler())

    def _begin_life(self, profiler: Any) -> None:
        self._profiler = profiler
        lookup = _recorder.Lookup(profiler, self, _region)
        # Beside the class's own, unless a subclass has put something else there.
        for name in ("region", "profile_region"):
            if isinstance(getattr(type(self), name, lookup), _recorder.Lookup):
                setattr(self, name, lookup)
        self._definitions: dict[str, tuple[Any, Any, str, int]] = {}
        self._forget_run()

    def _forget_run(self) -> None:
        config = getattr(self, "_config", None)
        if config is not None:
            config.stop_memory_profiling()
            if config.track_async:
                from ._setup import stop_following_tasks

                stop_following_tasks(self._profiler)
        self._pid = os.getpid()
        self._lock = RLock()
        self._config: Any = None
        self._spare_config: Any = None
        self._state = _INACTIVE
        self._session: Any = None
        self._last: Any = None
        self._scopes_of_run: Any = None
        self._exit_hook: Any = None
        self._least_shown_percent = 0.0  # rows of the printed summary with a smaller share are left out

    @property
    def _scopes(self) -> Any:
        if self._scopes_of_run is None:
            from ._scopes import Scopes

            self._scopes_of_run = Scopes(self)
        return self._scopes_of_run

    def _here(self) -> ProfileManager:
        """The manager, emptied first in a process that was forked off a recording one."""
        if self._pid != os.getpid():
            self._cancel_exit_hook()
            self._forget_run()
            self._profiler.deconfigure()
        return self

    # ---- regions -----------------------------------------------------------------------------

    @_member
    def define_region(self, region_name, functions=None, tags=None):
        """Defines a region that every configuration has; returns a handle to enter it with.

        Raises:
            ValueError: The region was defined before with other contents.
        """
        from ._handles import RegionHandle

        caller = sys._getframe(1)
        functions, tags = self._define(region_name, functions, tags, caller)
        return RegionHandle(self, region_name, functions, tags)

    def _define(self, region_name, functions, tags, caller):
        """Remembers a definition; returns its functions and tags as tuples or None."""
        functions = None if functions is None else tuple(functions)
        if tags is not None:
            from ._settings import strings

            tags = strings("tags", tags)
        site = (caller.f_code.co_filename, caller.f_lineno)
        known = self._definitions.get(region_name)
        if known is not None and known[:2] != (functions, tags):
            raise ValueError(
                f"region {region_name!r} was already defined differently: functions={known[0]!r}, "
                f"tags={known[1]!r}"
            )
        if known is None:
            region = self._here()._profiler.region(region_name, tags, *site)
            for function in functions or ():
                region.add_function(function)
            self._definitions[region_name] = (functions, tags, *site)
        return functions, tags

    @_member
    def region_factory(self, region_name, *, tags=None):
        """Defines a region; returns a callable that makes context managers: a call with metadata.

        Raises:
            ValueError: The region was defined before with other contents.
        """
        from ._handles import RegionFactory

        _, tags = self._define(region_name, None, tags, sys._getframe(1))
        return RegionFactory(self, region_name, tags)

    @_member
    def metadata(self, **values):
        """Returns a context manager: calls wholly inside get these values.

        Raises:
            RuntimeError: At entry, when the run keeps only totals.
        """
        from ._handles import MetadataScope

        return MetadataScope(self, values)

    @_member
    def get_region(self, region_name):
        """Returns the region of that name, None when there is none."""
        return self._here()._profiler.regions.get(region_name)

    @_member
    def get_all_regions(self):
        """Returns the regions of this configuration by name, as a live dict."""
        return self._here()._profiler.regions

    @_member
    def registered_regions(self):
        """Returns the names of all regions, definitions and decorated functions."""
        profiler = self._here()._profiler
        names = dict.fromkeys(profiler.regions)
        names.update(dict.fromkeys(self._definitions))
        names.update(dict.fromkeys(profiler.decorated_names()))
        return tuple(names)

    @_member
    def recorded_regions(self):
        """Returns the names of the regions that were entered."""
        counts = self._here()._profiler.call_counts()
        return tuple(name for name, calls in counts if calls > 0)

    @_member
    def register_opt_in_tag(self, *tags):
        """Switches regions with one of these tags off unless the tag is enabled.

        Raises:
            TypeError: A tag is no string, or an empty one.
        """
        checked = tuple(tags)
        for tag in checked:
            if not isinstance(tag, str) or not tag:
                raise TypeError(f"opt-in tags must be non-empty strings, got {tag!r}")
        if not _opt_in_tags.issuperset(checked):
            _opt_in_tags.update(checked)
            for tag in checked:
                _recorder.register_opt_in_tag(tag)
            _refresh_all()

    # ---- decorators --------------------------------------------------------------------------

    @_member
    def profile(
        self, region_name=None, recursive=None, metadata=None, record_outcome=False, tags=None
    ):
        """Decorates a callable so that every call is recorded.

        Args:
            region_name: Name of the region; default the name of the function. The decorator may
                also stand bare, without a call.
            recursive: Trace the Python calls inside; None as the setting `recursive_profile` says.
            metadata: Values of every call: a mapping, or a function of the arguments of the call.
            record_outcome: Store whether the call returned or raised.
            tags: Tags of the region.
        """
        if recursive not in (None, True, False):
            raise TypeError(f"recursive must be True, False or None, got {recursive!r}")
        if tags is not None and not isinstance(tags, str):
            tags = tuple(tags)

        def decorate(function):
            name = default_name(function) if bare or region_name is None else region_name
            options = (metadata, record_outcome, tags, recursive)
            return decorated(self._here(), function, name, options)

        bare = region_name is not None and not isinstance(region_name, str)
        return decorate(region_name) if bare else decorate

    @_member
    def instrument(self, module, *, include=("*",), exclude=(), prefix=None, tags=None):
        """Decorates the functions of a module in place.

        Args:
            module: The module.
            include: Shell patterns of the names to take.
            exclude: Shell patterns of the names to leave out.
            prefix: What region names begin with; default the name of the module.
            tags: Tags of the regions.

        Returns:
            The decorated functions by name.
        """
        from fnmatch import fnmatchcase

        include = (include,) if isinstance(include, str) else tuple(include)
        exclude = (exclude,) if isinstance(exclude, str) else tuple(exclude)
        prefix = prefix or module.__name__
        wrapped = {}
        for name, value in list(vars(module).items()):
            # Not isinstance: what is decorated already passes for a function.
            if type(value) is not FunctionType:
                continue
            if not any(fnmatchcase(name, pattern) for pattern in include):
                continue
            if any(fnmatchcase(name, pattern) for pattern in exclude):
                continue
            wrapped[name] = self.profile(f"{prefix}.{name}", tags=tags)(value)
        for name, value in wrapped.items():
            setattr(module, name, value)
        return wrapped

    # ---- life cycle --------------------------------------------------------------------------

    @_member
    def setup(
        self,
        options=None,
        *,
        auto_finalize=False,
        output=_UNSET,
        replace=False,
        region_tags=None,
        config_path=None,
        **overrides,
    ):
        """Starts a run.

        Args:
            options: A :class:`ProfilingOptions`.
            auto_finalize: Finalize when the interpreter ends.
            output: Where the run goes; its ending chooses the format. None keeps it in memory.
            replace: Drop a run that is active.
            region_tags: Record only regions with one of these tags.
            config_path: TOML file with settings.
            **overrides: Settings; they win over the options, the options over the file.

        Returns:
            A handle of the run.

        Raises:
            RuntimeError: A run is active and ``replace`` is not given.
            TypeError: An unknown setting.
            ValueError: A setting out of range.
            OSError: The output cannot be written there.
        """
        from . import _setup
        from ._session import ProfilingRun

        manager = self._here()
        with manager._lock:
            if manager._state == _ACTIVE and not replace:
                raise RuntimeError(
                    "this manager is already configured; finalize() it first or pass replace=True"
                )
            config = _setup.make_config(options, output, region_tags, config_path, overrides)
            manager._activate(config)
            _setup.start_recording_mpi(config)
            if auto_finalize:
                manager._finalize_at_exit()
            return ProfilingRun(manager, config, None if output is _UNSET else output)

    @_member
    def setup_from_env(self, **overrides):
        """Starts a run with settings from the environment; keywords win over them."""
        from . import _setup

        return self.setup(**_setup.from_environment(overrides))

    @_member
    def session(
        self,
        options=None,
        *,
        verbose=True,
        verbose_line_profiler=False,
        return_results=False,
        native_traces=None,
        output=_UNSET,
        replace=False,
        config_path=None,
        **overrides,
    ):
        """Returns a whole run as context manager or decorator.

        Enters with :meth:`setup`, opens the region ``scope_profiler.session`` and finalizes at the
        end, also after an exception, which passes. A decorated function gets a run for every call.

        Args:
            options: A :class:`ProfilingOptions`.
            verbose: Print the summary at the end.
            verbose_line_profiler: Print line timings too.
            return_results: Keep the results as attribute ``results``.
            native_traces: Traces of native programs to merge.
            output: As for :meth:`setup`.
            replace: As for :meth:`setup`.
            config_path: As for :meth:`setup`.
            **overrides: Settings and further arguments of :meth:`setup`.
        """
        from ._session import Session

        setup = {
            **overrides,
            "options": options,
            "output": output,
            "replace": replace,
            "config_path": config_path,
        }
        finalize = {
            "verbose": verbose,
            "return_results": return_results,
            "native_traces": native_traces,
            "verbose_line_profiler": verbose_line_profiler,
        }
        return Session(self, setup, finalize)

    @_member
    def finalize(
        self, verbose=True, return_results=False, native_traces=None, verbose_line_profiler=False
    ):
        """Writes what was recorded since the last time; recording goes on.

        Args:
            verbose: Print the summary.
            return_results: Return the results.
            native_traces: Files and folders that other recorders left (``.spt``, per-rank ``.h5``),
                to merge. Native code that records through this package needs none: its regions are
                in the run already. In folders, what is older than this run is left out.
            verbose_line_profiler: Print line timings too.

        Returns:
            The results, or None.

        Raises:
            OSError: The output cannot be written; what was recorded stays.
            FileNotFoundError: There are no native traces, and no native code recorded.
            ValueError: A trace is damaged, or has a region that this run has too.
        """
        from . import _finalize

        return self._here()._end(
            verbose,
            return_results,
            native_traces=native_traces,
            verbose_line_profiler=verbose_line_profiler,
        )

    def _end(
        self,
        verbose,
        return_results,
        is_last=False,
        native_traces=None,
        verbose_line_profiler=False,
    ):
        """Finalizes. `is_last`: nothing follows, so calls that are open count until now."""
        from . import _finalize

        with self._lock:
            if self._state == _INACTIVE:
                return _finalize.empty_results() if return_results else None
            self._cancel_exit_hook()
            session = self._session
            if session is not None:
                session.close_root()
            self._state = _FINALIZED
            if not self._profiler.is_enabled:
                self._last = _finalize.empty_results()
                return self._last if return_results else None
            return _finalize.publish(
                self, verbose, return_results, is_last, native_traces, verbose_line_profiler
            )

    @_member
    def reset(self):
        """Forgets configuration and recorded data; decorated functions and definitions stay."""
        manager = self._here()
        with manager._lock:
            manager._cancel_exit_hook()
            manager._profiler.deconfigure()
            manager._forget_run()

    @_member
    def _reset(self):
        """Forgets everything, as at the start of the process; for tests."""
        self.reset()
        self._definitions.clear()
        self._profiler.forget_decorated()
        if _opt_in_tags:
            _opt_in_tags.clear()
            _refresh_all()

    @_member
    def is_configured(self):
        """Returns whether a run was set up."""
        return self._here()._state != _INACTIVE

    @_member
    def is_active(self):
        """Returns whether a run was set up that records."""
        manager = self._here()
        return manager._state != _INACTIVE and manager._profiler.is_enabled

    @_member
    def get_config(self):
        """Returns the configuration; a default one, not activated, when there is none."""
        manager = self._here()
        if manager._config is not None:
            return manager._config
        if manager._spare_config is None:
            from ._configuration import ProfilingConfig

            manager._spare_config = ProfilingConfig()
        return manager._spare_config

    @_member
    def set_config(self, config):
        """Starts a run with a :class:`ProfilingConfig`; regions and calls so far are dropped."""
        from ._configuration import ProfilingConfig

        if not isinstance(config, ProfilingConfig):
            raise TypeError(f"set_config() needs a ProfilingConfig, got {config!r}")
        manager = self._here()
        with manager._lock:
            manager._activate(config)

    def _activate(self, config):
        """Makes a configuration the current one."""
        from . import _setup

        self._cancel_exit_hook()
        arguments = _setup.prepare(config)
        tag_filter = _tag_filter(config)
        session = self._session
        self._forget_run()
        self._session = session
        try:
            self._profiler.configure(config, tag_filter=tag_filter, **arguments)
            for name, (functions, tags, filename, line) in self._definitions.items():
                region = self._profiler.region(name, tags, filename, line)
                for function in functions or ():
                    region.add_function(function)
            config.start_memory_profiling()
        except BaseException:
            self._profiler.deconfigure()
            raise
        _setup.start_following_tasks(config, self._profiler)
        config._profiler = self._profiler
        config._start_time_ns = (
            self._profiler.start_time_ns if self._profiler.is_enabled else _recorder.now_ns()
        )
        _setup.tell_metadata(config)
        self._config = config
        self._state = _ACTIVE

    def _finalize_at_exit(self):
        import atexit

        self._exit_hook = hook = MethodType(_finalize_at_exit, self)
        atexit.register(hook)

    def _cancel_exit_hook(self):
        if self._exit_hook is not None:
            import atexit

            atexit.unregister(self._exit_hook)
            self._exit_hook = None

    # ---- pausing -----------------------------------------------------------------------------

    @_member
    def pause(self):
        """Stops recording until :meth:`resume`.

        Raises:
            RuntimeError: Nothing is configured, or regions are open.
        """
        manager = self._here()
        manager._check_configured("pause")
        from ._finalize import ROOT_REGION

        profiler = manager._profiler
        if not profiler.is_enabled or profiler.is_paused:
            return
        names = [name for name in profiler.open_regions() if name != ROOT_REGION]
        if names:
            shown = ", ".join(repr(name) for name in names[:3])
            more = "..." if len(names) > 3 else ""
            raise RuntimeError(f"cannot pause while scopes are active: {shown}{more}")
        profiler.pause()

    @_member
    def resume(self):
        """Records again after :meth:`pause`.

        Raises:
            RuntimeError: Nothing is configured.
        """
        manager = self._here()
        manager._check_configured("resume")
        if manager._profiler.is_enabled:
            manager._profiler.resume()

    def _check_configured(self, action):
        if self._state == _INACTIVE:
            raise RuntimeError(f"{action}() needs a configured manager; call setup() first")

    @_member
    def sample_every(self, every, start=0):
        """Returns a context manager that gives a function of the time step.

        The function returns a context manager for one step: it records every ``every``-th step from
        ``start`` on and yields whether this one is. Other steps are not recorded; what comes between
        two steps is if the first of them is. At the end holds again what held before.
        """
        from ._handles import Sampler

        return Sampler(self, every, start)

    # ---- running programs --------------------------------------------------------------------

    @_member
    def run(self, func, *args, output=None, **kwargs):
        """Calls a function in a session of its own and returns what it returns.

        Args:
            func: The function.
            *args: Its arguments.
            output: Where the run goes; None leaves that to the settings.
            **kwargs: Settings of the session; not arguments of the function.
        """
        kwargs.setdefault("verbose", False)
        kwargs.setdefault("return_results", True)
        with self.session(output=_UNSET if output is None else output, **kwargs):
            return func(*args)

    @_member
    def run_script(
        self,
        script_path,
        script_args=None,
        region_name=None,
        only_user_code=True,
        recursive=True,
        include_patterns=(),
        exclude_patterns=(),
        entrypoint=None,
    ):
        """Runs a Python script as ``__main__``.

        Args:
            script_path: The script.
            script_args: Its arguments.
            region_name: Name of the root region of a traced script.
            only_user_code: Trace no standard library and no installed packages.
            recursive: Trace every Python call, in a root region; False records only explicit
                regions.
            include_patterns: Shell patterns of the functions to trace.
            exclude_patterns: Shell patterns of the functions not to trace.
            entrypoint: Plain name of a function that is recorded under just that name.

        Raises:
            RuntimeError: The calls are traced by another manager already, or cannot be traced.
        """
        from ._scripts import run_script

        if not recursive:
            return run_script(script_path, script_args)
        from ._trace import Tracing

        tracing = Tracing(
            self._here(),
            os.path.basename(script_path) if region_name is None else region_name,
            only_user_code=only_user_code,
            include=include_patterns,
            exclude=exclude_patterns,
            entrypoint=entrypoint,
        )
        return run_script(script_path, script_args, tracing)

    @_member
    def profile_script(self, script_path, *, script_args=None, output=None, **kwargs):
        """Runs a Python script in a run of its own and returns the results."""
        settings = {**kwargs} if output is None else {**kwargs, "output": output}
        self.setup(**settings)
        recursive = self._config.recursive_profile
        try:
            self.run_script(script_path, script_args, only_user_code=True, recursive=recursive)
        finally:
            results = self.finalize(verbose=False, return_results=True)
        return results

    @_member
    def profile_command(self, command, *, output=None, recursive=False, all=False, mpi_calls=False):
        """Runs a Python script under ``scope-profiler run`` in a process of its own.

        Args:
            command: The script and its arguments; a Python interpreter before it is dropped.
            output: The output; default ``profiling_data.h5``.
            recursive: Trace all Python calls.
            all: Trace the standard library and installed packages too.
            mpi_calls: Record the calls of MPI.

        Returns:
            The :class:`subprocess.CompletedProcess`, with the results as ``profile_results``.
        """
        from ._scripts import profile_command

        return profile_command(command, output, recursive, all, mpi_calls)

    # ---- results -----------------------------------------------------------------------------

    @_member
    def last_results(self):
        """Returns the results of the last finalize, None when there was none."""
        manager = self._here()
        if isinstance(manager._last, str):
            from .results import ProfilingResults

            manager._last = ProfilingResults.from_h5(manager._last)
        return manager._last

    @_member
    def read_results(self):
        """Reads the output of this run.

        Raises:
            FileNotFoundError: There is no such file.
        """
        from .profile_io import read_profile

        config = self._here().get_config()
        path = config._output_path()
        if path is None:
            raise FileNotFoundError("this run has no output file")
        if not os.path.exists(path):
            raise FileNotFoundError(f"no profile at {path}; finalize() writes it")
        return read_profile(path)


def _finalize_at_exit(manager: ProfileManager) -> None:
    # A forked child inherits the hook, not the run.
    if manager._pid != os.getpid():
        return
    manager._exit_hook = None
    manager._end(verbose=True, return_results=False, is_last=True)


def _refresh_all() -> None:
    """Applies the opt-in tags to everything that exists."""
    for profiler in _recorder.profilers():
        if profiler.config is not None:
            profiler.refresh(_tag_filter(profiler.config))


def _make_default() -> ProfileManager:
    manager = ProfileManager.__new__(ProfileManager)
    manager._begin_life(_recorder.Profiler(default=True))
    return manager


ProfileManager._default = _make_default()
ProfileManager.region = ProfileManager.profile_region = ProfileManager._default.region

_LAZY = {
    "ProfilingRun": "_session",
    "RankPayload": "_payload",
    "RegionFactory": "_handles",
    "RegionHandle": "_handles",
}


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module("." + module, __package__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
