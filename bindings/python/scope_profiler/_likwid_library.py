"""LIKWID's library under the names of pylikwid: that module where it is installed, else ctypes."""

from __future__ import annotations

import ctypes
import os
import shutil

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_NAMES = ("liblikwid.so.5", "liblikwid.so")


def _paths() -> Iterator[str]:
    given = os.environ.get("LIKWID_LIB")
    if given:
        yield given
        yield from (os.path.join(given, name) for name in _NAMES)
    for variable in ("LIKWID_HOME", "LIKWID_ROOT", "LIKWID_PREFIX"):
        prefix = os.environ.get(variable)
        if prefix:
            for folder in ("lib", "lib64"):
                yield from (os.path.join(prefix, folder, name) for name in _NAMES)
    command = shutil.which("likwid-perfctr")
    if command:
        folder = os.path.join(os.path.dirname(command), "..", "lib")
        yield from (os.path.join(folder, name) for name in _NAMES)
    yield from _NAMES


def loaded() -> ctypes.CDLL | None:
    """Returns the library that the process has, which pylikwid or the program may have brought in."""
    for name in _NAMES:
        try:
            return ctypes.CDLL(name, mode=os.RTLD_NOW | os.RTLD_NOLOAD)
        except OSError:
            continue
    return None


def library() -> ctypes.CDLL:
    """Returns LIKWID's library.

    Raises:
        OSError: There is none, or none that can be loaded.
    """
    present = loaded()
    if present is not None:
        return present
    for path in _paths():
        if os.path.isdir(path):
            continue
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    raise OSError("LIKWID's library is not found; install LIKWID, or name its folder in LIKWID_LIB")


class Library:
    """The functions of pylikwid that results are read with, by ctypes."""

    def __init__(self) -> None:
        self._c = library()

    def _text(self, function: str, *numbers: int) -> str:
        call = self._c[function]
        call.restype = ctypes.c_char_p
        return (call(*numbers) or b"").decode("utf-8", "replace")

    def _real(self, function: str, *numbers: int) -> float:
        call = self._c[function]
        call.restype = ctypes.c_double
        return float(call(*numbers))

    def init(self, cpus: list[int]) -> int:
        """Sets LIKWID up for these processors."""
        self._c.topology_init()
        return int(self._c.perfmon_init(len(cpus), (ctypes.c_int * len(cpus))(*cpus)))

    def addeventset(self, events: str) -> int:
        """Adds a group of events."""
        return int(self._c.perfmon_addEventSet(events.encode()))

    def markerreadfile(self, path: str) -> int:
        """Reads a marker file."""
        return int(self._c.perfmon_readMarkerFile(os.fsencode(path)))

    def markernumregions(self) -> int:
        """Regions of the file."""
        return int(self._c.perfmon_getNumberOfRegions())

    def markerregiontag(self, region: int) -> str:
        """Name of a region."""
        return self._text("perfmon_getTagOfRegion", region)

    def markerregiongroup(self, region: int) -> int:
        """Number of its group of events."""
        return int(self._c.perfmon_getGroupOfRegion(region))

    def markerregionevents(self, region: int) -> int:
        """Number of its events."""
        return int(self._c.perfmon_getEventsOfRegion(region))

    def markerregionmetrics(self, region: int) -> int:
        """Number of its metrics."""
        return int(self._c.perfmon_getMetricsOfRegion(region))

    def markerregionthreads(self, region: int) -> int:
        """Number of its threads."""
        return int(self._c.perfmon_getThreadsOfRegion(region))

    def markerregioncpulist(self, region: int) -> list[int]:
        """Processors of its threads."""
        count = self.markerregionthreads(region)
        cpus = (ctypes.c_int * max(count, 1))()
        return list(cpus[: self._c.perfmon_getCpulistOfRegion(region, count, cpus)])

    def markerregiontime(self, region: int) -> list[float]:
        """Seconds of its threads."""
        threads = range(self.markerregionthreads(region))
        return [self._real("perfmon_getTimeOfRegion", region, thread) for thread in threads]

    def markerregioncount(self, region: int) -> list[int]:
        """Calls of its threads."""
        threads = range(self.markerregionthreads(region))
        return [int(self._c.perfmon_getCountOfRegion(region, thread)) for thread in threads]

    def markerregionresult(self, region: int, event: int, thread: int) -> float:
        """What a thread counted of an event."""
        return self._real("perfmon_getResultOfRegionThread", region, event, thread)

    def markerregionmetric(self, region: int, metric: int, thread: int) -> float:
        """A metric of a thread."""
        return self._real("perfmon_getMetricOfRegionThread", region, metric, thread)

    def getnameofgroup(self, group: int) -> str:
        """Name of a group."""
        return self._text("perfmon_getGroupName", group)

    def getnameofevent(self, group: int, event: int) -> str:
        """Name of an event."""
        return self._text("perfmon_getEventName", group, event)

    def getnameofcounter(self, group: int, event: int) -> str:
        """Register that counts an event."""
        return self._text("perfmon_getCounterName", group, event)

    def getnameofmetric(self, group: int, metric: int) -> str:
        """Name of a metric."""
        return self._text("perfmon_getMetricName", group, metric)

    def markergetregion(self, tag: str) -> tuple[int, list[float], float, int]:
        """What the calling thread has counted in a region so far."""
        count, calls = ctypes.c_int(64), ctypes.c_int(0)
        values, seconds = (ctypes.c_double * 64)(), ctypes.c_double(0)
        self._c.likwid_markerGetRegion(
            tag.encode(), ctypes.byref(count), values, ctypes.byref(seconds), ctypes.byref(calls)
        )
        return count.value, list(values[: max(0, min(count.value, 64))]), seconds.value, calls.value

    def are_up(self) -> bool:
        """Whether somebody has started the markers."""
        return int(self._c.perfmon_getNumberOfGroups()) > 0

    def markerclose(self) -> None:
        """Ends the markers: LIKWID writes its file."""
        self._c.likwid_markerClose()

    def getprocessorid(self) -> int:
        """Processor of the calling thread."""
        return int(self._c.likwid_getProcessorId())


def api() -> Any:
    """pylikwid where it is installed, else the same functions by ctypes."""
    try:
        import pylikwid
    except ImportError:
        return Library()
    return pylikwid
