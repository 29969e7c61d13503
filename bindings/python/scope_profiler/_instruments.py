"""What is measured at every call, opened for a configuration."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._configuration import ProfilingConfig


def _perf_events(config: ProfilingConfig) -> object:
    from ._recorder import open_instrument
    from .perf_events import PerfEventError

    try:
        return open_instrument(
            "perf", config.perf_events, config.counters_per_call, config.perf_events_kernel
        )
    except RuntimeError as error:
        raise PerfEventError(str(error)) from None


def _nvtx(config: ProfilingConfig) -> tuple[object, ...]:
    """Ranges, when a tool is attached: it is named in the environment. Else nothing is opened."""
    if not config.use_nvtx or not os.environ.get("NVTX_INJECTION64_PATH"):
        return ()
    from ._recorder import open_instrument

    try:
        return (open_instrument("nvtx"),)
    except RuntimeError:  # The tool takes no ranges.
        return ()


def _likwid(config: ProfilingConfig) -> tuple[object, ...]:
    if not config.use_likwid or config.deactivate_profiling:
        return ()
    from ._likwid import LikwidRun

    config._likwid = LikwidRun()
    return config._likwid.open()


def open_instruments(config: ProfilingConfig) -> tuple[object, ...]:
    """Returns the instruments of the recorder, in the order in which they are read.

    Raises:
        PerfEventError: Events cannot be counted here; the text says what to do.
        ImportError: The module of the wanted GPU timing back end is not installed, or LIKWID.
        RuntimeError: There is no GPU timing back end here.
        OSError: The NVTX tool cannot be loaded.
    """
    opened = []
    if config.track_cpu:
        from ._recorder import open_instrument

        opened.append(open_instrument("cpu", keeps_calls=config.counters_per_call))
    if config.perf_events:
        opened.append(_perf_events(config))
    if config.use_gpu_timing:
        from .gpu_timing import open_instrument as open_device_times

        opened.append(open_device_times(config.gpu_timing_backend, config.gpu_sync_on_exit))
    opened.extend(_likwid(config))
    opened.extend(_nvtx(config))
    return tuple(opened)
