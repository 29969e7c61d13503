"""What instruments measured for the calls of a region that are not written yet."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._recorder import Profiler
    from .concurrency import ThreadInfo
    from .perf_events import PerfEventTotals
    from .region import Region
    from .results import ProfilingResults


def _so_far(profiler: Profiler | None) -> ProfilingResults:
    """The run as it would be published now; empty for a configuration that is over or off."""
    from .results import ProfilingResults

    if profiler is None or not profiler.is_enabled:
        return ProfilingResults()
    report = profiler.publish({}, [], image_only=True, keep_calls=True)
    return ProfilingResults._from_image(report["image"])


def _region(results: ProfilingResults, name: str) -> Region | None:
    if name not in results:
        return None
    region = results[name]
    return region[region.ranks[0]]


def device_durations(profiler: Profiler | None, name: str) -> npt.NDArray[np.int64]:
    """Times of the device in ns, -1 where there is none."""
    import numpy as np

    region = _region(_so_far(profiler), name)
    if region is None:
        return np.empty(0, np.int64)
    if region.gpu_durations_ns is None:
        return np.full(region.num_calls, -1, np.int64)
    return np.array(region.gpu_durations_ns, np.int64)


def padded(values: npt.NDArray[np.int64], length: int) -> npt.NDArray[np.int64]:
    """The values, followed by as many -1 as make the length."""
    import numpy as np

    array = np.full(max(length, len(values)), -1, np.int64)
    array[: len(values)] = values
    return array


def event_totals(profiler: Profiler | None, name: str) -> PerfEventTotals:
    """Totals of the events; without calls nothing was counted."""
    from .perf_events import PerfEventTotals

    for regions in _so_far(profiler).get_perf_events().values():
        if name in regions:
            totals: PerfEventTotals = regions[name]
            return totals
    return PerfEventTotals(0, {})


def threads(profiler: Profiler | None, name: str) -> list[ThreadInfo]:
    """The threads that have finished calls of the region."""
    results = _so_far(profiler)
    region = _region(results, name)
    wanted = set(region.threads) if region is not None else set()
    return [
        info for infos in results.threads.values() for info in infos if info.index in wanted
    ]
