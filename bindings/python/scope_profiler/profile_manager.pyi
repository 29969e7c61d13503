import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from subprocess import CompletedProcess
from types import ModuleType
from typing import Any, ClassVar, TypeVar, overload

from typing_extensions import Unpack

from ._configuration import ProfilingConfig
from ._handles import RegionFactory as RegionFactory
from ._handles import RegionHandle as RegionHandle
from ._payload import RankPayload as RankPayload
from ._recorder import Lookup, Profiler
from ._scopes import Scopes
from ._session import ProfilingRun as ProfilingRun
from ._session import Session
from .profile_config import ProfilingOptions, SetupOptions
from .region_profiler import BaseProfileRegion
from .results import ProfilingResults

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")
_Path = str | os.PathLike[str]
_Metadata = Mapping[str, Any] | Callable[..., Mapping[str, Any] | None]

__all__ = ["ProfileManager", "ProfilingRun", "RankPayload", "RegionFactory", "RegionHandle"]

_UNSET: Any

# What reaches `setup` through `session`, and both of them through the functions around them.
class _SessionOptions(SetupOptions, total=False):
    auto_finalize: bool
    region_tags: Iterable[str] | None

class _ScriptOptions(_SessionOptions, total=False):
    options: ProfilingOptions | None
    replace: bool
    config_path: _Path | None

class _EnvironmentOptions(_ScriptOptions, total=False):
    output: _Path | None

class _RunOptions(_ScriptOptions, total=False):
    verbose: bool
    verbose_line_profiler: bool
    return_results: bool
    native_traces: _Path | Sequence[_Path] | None

class ProfileManager:
    # For the modules of this package.
    _default: ProfileManager
    _profiler: Profiler
    _config: Any
    _session: Session | None
    _last: Any
    @property
    def _scopes(self) -> Scopes: ...
    def __init__(self) -> None: ...
    region: ClassVar[Lookup]
    profile_region: ClassVar[Lookup]
    @classmethod
    def define_region(
        cls,
        region_name: str,
        functions: Iterable[Callable[..., Any]] | None = None,
        tags: Iterable[str] | None = None,
    ) -> RegionHandle: ...
    @classmethod
    def region_factory(
        cls, region_name: str, *, tags: Iterable[str] | None = None
    ) -> RegionFactory: ...
    @classmethod
    def metadata(cls, **values: Any) -> AbstractContextManager[dict[str, Any]]: ...
    @classmethod
    def get_region(cls, region_name: str) -> BaseProfileRegion | None: ...
    @classmethod
    def get_all_regions(cls) -> dict[str, BaseProfileRegion]: ...
    @classmethod
    def registered_regions(cls) -> tuple[str, ...]: ...
    @classmethod
    def recorded_regions(cls) -> tuple[str, ...]: ...
    @classmethod
    def register_opt_in_tag(cls, *tags: str) -> None: ...
    @overload
    @classmethod
    def profile(cls, region_name: _F) -> _F: ...
    @overload
    @classmethod
    def profile(
        cls,
        region_name: str | None = None,
        recursive: bool | None = None,
        metadata: _Metadata | None = None,
        record_outcome: bool = False,
        tags: Iterable[str] | None = None,
    ) -> Callable[[_F], _F]: ...
    @classmethod
    def instrument(
        cls,
        module: ModuleType,
        *,
        include: str | Iterable[str] = ("*",),
        exclude: str | Iterable[str] = (),
        prefix: str | None = None,
        tags: Iterable[str] | None = None,
    ) -> dict[str, Callable[..., Any]]: ...
    @classmethod
    def setup(
        cls,
        options: ProfilingOptions | None = None,
        *,
        auto_finalize: bool = False,
        output: _Path | None = ...,
        replace: bool = False,
        region_tags: Iterable[str] | None = None,
        config_path: _Path | None = None,
        **overrides: Unpack[SetupOptions],
    ) -> ProfilingRun: ...
    @classmethod
    def setup_from_env(cls, **overrides: Unpack[_EnvironmentOptions]) -> ProfilingRun: ...
    @classmethod
    def session(
        cls,
        options: ProfilingOptions | None = None,
        *,
        verbose: bool = True,
        verbose_line_profiler: bool = False,
        return_results: bool = False,
        native_traces: _Path | Sequence[_Path] | None = None,
        output: _Path | None = ...,
        replace: bool = False,
        config_path: _Path | None = None,
        **overrides: Unpack[_SessionOptions],
    ) -> Session: ...
    @classmethod
    def finalize(
        cls,
        verbose: bool = True,
        return_results: bool = False,
        native_traces: _Path | Sequence[_Path] | None = None,
        verbose_line_profiler: bool = False,
    ) -> ProfilingResults | None: ...
    @classmethod
    def reset(cls) -> None: ...
    @classmethod
    def is_configured(cls) -> bool: ...
    @classmethod
    def is_active(cls) -> bool: ...
    @classmethod
    def get_config(cls) -> ProfilingConfig: ...
    @classmethod
    def set_config(cls, config: ProfilingConfig) -> None: ...
    @classmethod
    def pause(cls) -> None: ...
    @classmethod
    def resume(cls) -> None: ...
    @classmethod
    def sample_every(
        cls, every: int, start: int = 0
    ) -> AbstractContextManager[Callable[[int], AbstractContextManager[bool]]]: ...
    @classmethod
    def run(
        cls,
        func: Callable[..., _T],
        *args: Any,
        output: _Path | None = None,
        **kwargs: Unpack[_RunOptions],
    ) -> _T: ...
    @classmethod
    def run_script(
        cls,
        script_path: _Path,
        script_args: Sequence[str] | None = None,
        region_name: str | None = None,
        only_user_code: bool = True,
        recursive: bool = True,
        include_patterns: Sequence[str] = (),
        exclude_patterns: Sequence[str] = (),
        entrypoint: str | None = None,
    ) -> None: ...
    @classmethod
    def profile_script(
        cls,
        script_path: _Path,
        *,
        script_args: Sequence[str] | None = None,
        output: _Path | None = None,
        **kwargs: Unpack[_ScriptOptions],
    ) -> ProfilingResults: ...
    @classmethod
    def profile_command(
        cls,
        command: Sequence[_Path],
        *,
        output: _Path | None = None,
        recursive: bool = False,
        all: bool = False,
        mpi_calls: bool = False,
    ) -> CompletedProcess[Any]: ...
    @classmethod
    def last_results(cls) -> ProfilingResults | None: ...
    @classmethod
    def read_results(cls) -> ProfilingResults: ...
