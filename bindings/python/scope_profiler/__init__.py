"""Scope Profiler: marks regions of a program and records every call of them.

    import scope_profiler as sp

    with sp.session(output="run.h5"):
        with sp.region("assemble"):
            ...

Names that need more than the recorder are imported at their first use.
"""

from __future__ import annotations

import sys
from types import ModuleType

from ._recorder import version as __version__
from .profile_manager import ProfileManager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .call_stack import (
        CallArrays,
        NestingError,
        build_call_arrays,
        build_call_stack,
        call_stack_children,
        call_stack_roots,
    )
    from .h5reader import CorruptProfileError, read_h5, read_h5_summary
    from .html_report import create_html_report
    from .inspection import collect_file_metadata, inspect_file
    from .json_export import JSONProfileError, export_json, read_json, write_json
    from .likwid_data import LikwidRegionResult
    from .mpi_calls import (
        MPIRegionMetadata,
        ProfiledMPIComm,
        ProfiledMPIRequest,
        format_mpi_region,
        message_nbytes,
        parse_mpi_region,
        profile_mpi4py,
        profile_mpi_comm,
    )
    from .mpi_region import MPIRegion
    from .perf_events import PerfEventError, PerfEventTotals
    from .prof_export import export_flamegraph_svg, export_prof, load_prof, to_pstats
    from .plot_data import export_plot_data
    from .plotting_scripts import (
        collect_roofline_points,
        plot_duration_timeseries,
        plot_durations,
        plot_flame,
        plot_flame_chart,
        plot_flame_graph,
        plot_gantt,
        plot_perf_events,
        plot_rank_heatmap,
        plot_roofline,
        plot_scaling_efficiency,
        plot_speedup,
        plot_weak_scaling,
        plot_weak_scaling_efficiency,
    )
    from .profile_config import GPUOptions, HDF5Options, MemrayOptions, ProfilingOptions
    from .profile_io import load, read_profile, sniff_profile_format, write_profile
    from .profile_manager import ProfilingRun, RegionFactory, RegionHandle
    from .recovery import RecoveredRun, recover
    from .region import EventDataUnavailableError, Region
    from .results import ProfilingResults, merge_results
    from .statistics import collect_region_statistics, write_region_statistics_json
    from .trace_export import export_chrome_trace, export_speedscope

#: Name -> module that has it.
_LAZY = {
    "CallArrays": "call_stack",
    "CorruptProfileError": "h5reader",
    "EventDataUnavailableError": "region",
    "GPUOptions": "profile_config",
    "HDF5Options": "profile_config",
    "JSONProfileError": "json_export",
    "LikwidRegionResult": "likwid_data",
    "MPIRegion": "mpi_region",
    "MPIRegionMetadata": "mpi_calls",
    "MemrayOptions": "profile_config",
    "NestingError": "call_stack",
    "PerfEventError": "perf_events",
    "PerfEventTotals": "perf_events",
    "ProfiledMPIComm": "mpi_calls",
    "ProfiledMPIRequest": "mpi_calls",
    "ProfilingOptions": "profile_config",
    "ProfilingResults": "results",
    "ProfilingRun": "profile_manager",
    "RecoveredRun": "recovery",
    "Region": "region",
    "RegionFactory": "profile_manager",
    "RegionHandle": "profile_manager",
    "build_call_arrays": "call_stack",
    "build_call_stack": "call_stack",
    "call_stack_children": "call_stack",
    "call_stack_roots": "call_stack",
    "collect_file_metadata": "inspection",
    "collect_region_statistics": "statistics",
    "collect_roofline_points": "plotting_scripts",
    "create_html_report": "html_report",
    "export_chrome_trace": "trace_export",
    "export_flamegraph_svg": "prof_export",
    "export_json": "json_export",
    "export_plot_data": "plot_data",
    "export_prof": "prof_export",
    "export_speedscope": "trace_export",
    "format_mpi_region": "mpi_calls",
    "inspect_file": "inspection",
    "load": "profile_io",
    "load_prof": "prof_export",
    "merge_results": "results",
    "message_nbytes": "mpi_calls",
    "parse_mpi_region": "mpi_calls",
    "plot_duration_timeseries": "plotting_scripts",
    "plot_durations": "plotting_scripts",
    "plot_flame": "plotting_scripts",
    "plot_flame_chart": "plotting_scripts",
    "plot_flame_graph": "plotting_scripts",
    "plot_gantt": "plotting_scripts",
    "plot_perf_events": "plotting_scripts",
    "plot_rank_heatmap": "plotting_scripts",
    "plot_roofline": "plotting_scripts",
    "plot_scaling_efficiency": "plotting_scripts",
    "plot_speedup": "plotting_scripts",
    "plot_weak_scaling": "plotting_scripts",
    "plot_weak_scaling_efficiency": "plotting_scripts",
    "profile_mpi4py": "mpi_calls",
    "profile_mpi_comm": "mpi_calls",
    "read_h5": "h5reader",
    "read_h5_summary": "h5reader",
    "read_json": "json_export",
    "read_profile": "profile_io",
    "recover": "recovery",
    "sniff_profile_format": "profile_io",
    "to_pstats": "prof_export",
    "write_json": "json_export",
    "write_profile": "profile_io",
    "write_region_statistics_json": "statistics",
}

define_region = ProfileManager.define_region
finalize = ProfileManager.finalize
instrument = ProfileManager.instrument
is_active = ProfileManager.is_active
is_configured = ProfileManager.is_configured
last_results = ProfileManager.last_results
metadata = ProfileManager.metadata
pause = ProfileManager.pause
profile = ProfileManager.profile
profile_command = ProfileManager.profile_command
profile_script = ProfileManager.profile_script
recorded_regions = ProfileManager.recorded_regions
region = ProfileManager.region
region_factory = ProfileManager.region_factory
register_opt_in_tag = ProfileManager.register_opt_in_tag
registered_regions = ProfileManager.registered_regions
reset = ProfileManager.reset
resume = ProfileManager.resume
run = ProfileManager.run
session = ProfileManager.session
setup = ProfileManager.setup
setup_from_env = ProfileManager.setup_from_env

__all__ = [
    "CallArrays", "CorruptProfileError", "EventDataUnavailableError", "GPUOptions", "HDF5Options",
    "JSONProfileError", "LikwidRegionResult", "MPIRegion", "MPIRegionMetadata", "MemrayOptions",
    "NestingError", "PerfEventError", "PerfEventTotals", "ProfileManager", "ProfiledMPIComm",
    "ProfiledMPIRequest", "ProfilingOptions", "ProfilingResults", "ProfilingRun", "RecoveredRun", "Region",
    "RegionFactory", "RegionHandle", "build_call_arrays", "build_call_stack", "call_stack_children",
    "call_stack_roots", "collect_file_metadata", "collect_region_statistics", "collect_roofline_points",
    "create_html_report", "define_region",
    "export_chrome_trace", "export_flamegraph_svg", "export_json", "export_plot_data",
    "export_prof", "export_speedscope", "finalize", "format_mpi_region", "inspect_file",
    "instrument", "is_active", "is_configured", "last_results", "load", "load_prof",
    "merge_results", "message_nbytes", "metadata", "parse_mpi_region", "pause",
    "plot_duration_timeseries", "plot_durations", "plot_flame", "plot_flame_chart",
    "plot_flame_graph", "plot_gantt", "plot_perf_events", "plot_rank_heatmap", "plot_roofline",
    "plot_scaling_efficiency",
    "plot_speedup", "plot_weak_scaling", "plot_weak_scaling_efficiency", "profile", "profile_command", "profile_mpi4py",
    "profile_mpi_comm", "profile_script", "read_h5", "read_h5_summary", "read_json", "read_profile",
    "recover",
    "recorded_regions", "region", "region_factory", "register_opt_in_tag", "registered_regions",
    "reset", "resume", "run", "session", "setup", "setup_from_env", "sniff_profile_format",
    "to_pstats", "write_json", "write_profile", "write_region_statistics_json",
]  # fmt: skip


class _SubmoduleOfSameName(ModuleType):
    """Module that is loaded when it is first looked into.

    `region` and `metadata` are functions of this package and modules in it. Importing such a module
    would put it in the place of the function; one that is in sys.modules already does not.
    """

    def __getattr__(self, name: str) -> Any:
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(self.__name__, __path__)
        if spec is None or spec.loader is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        self.__class__ = ModuleType  # type: ignore[assignment]
        self.__spec__, self.__loader__ = spec, spec.loader
        self.__file__, self.__package__ = spec.origin, __name__
        spec.loader.exec_module(self)
        return getattr(self, name)


for _name in ("region", "metadata"):
    sys.modules.setdefault(f"{__name__}.{_name}", _SubmoduleOfSameName(f"{__name__}.{_name}"))
del _name

# Programs for version 0.2 import these.
_GONE = {"ProfilingH5Reader": "read_h5"}


def __getattr__(name: str) -> Any:
    if name in _GONE:
        raise ImportError(f"{name} is gone from scope_profiler; use {_GONE[name]}()", name=__name__)
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module("." + module, __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
