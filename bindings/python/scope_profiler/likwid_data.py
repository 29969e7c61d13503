"""Hardware counters that LIKWID measured, and the three ways to get at them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = [
    "LikwidRegionResult",
    "collect_marker_results",
    "collect_marker_results_isolated",
    "collect_region_snapshots",
    "likwid_environment",
    "markers_available",
    "parse_marker_file",
    "snapshots_to_results",
    "write_likwid_results",
]


@dataclass
class LikwidRegionResult:
    """Counters of one region on one rank; columns of the matrices are threads.

    Attributes:
        tag: Name of the region.
        group_id: Number of the event group.
        group_name: Name of the event group.
        cpus: Processor of each thread.
        times: Seconds of each thread.
        call_counts: Calls of each thread.
        event_names: Events, one a row of `events`.
        counter_names: Counter register of each event.
        events: Counts, events by threads.
        metric_names: Derived metrics, one a row of `metrics`.
        metrics: Values, metrics by threads.
        source: Where the numbers came from: ``full_api``, ``marker_file`` or ``marker_api``.
    """

    tag: str
    group_id: int = -1
    group_name: str = ""
    cpus: list[int] = field(default_factory=list)
    times: Any = field(default_factory=list)
    call_counts: Any = field(default_factory=list)
    event_names: list[str] = field(default_factory=list)
    counter_names: list[str] = field(default_factory=list)
    events: Any = field(default_factory=list)
    metric_names: list[str] = field(default_factory=list)
    metrics: Any = field(default_factory=list)
    source: str = "full_api"

    @property
    def event_labels(self) -> list[str]:
        """Names of the events, made unique with ``:<counter>`` or ``#<index>``."""
        labels: list[str] = []
        for index, name in enumerate(self.event_names):
            label = name
            if self.event_names.count(name) > 1:
                counter = self.counter_names[index] if index < len(self.counter_names) else ""
                label = f"{name}:{counter}" if counter else f"{name}#{index}"
            labels.append(label if label not in labels else f"{name}#{index}")
        return labels

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain lists and numbers."""
        from ._plain import plain

        return {item.name: plain(getattr(self, item.name)) for item in fields(self)}


def likwid_environment() -> dict[str, str]:
    """Returns the variables of the environment that steer LIKWID."""
    return {name: value for name, value in os.environ.items() if name.startswith("LIKWID_")}


def markers_available() -> bool:
    """Whether this program runs under ``likwid-perfctr -m``, so that markers are counted."""
    return all(f"LIKWID_{name}" in os.environ for name in ("MODE", "FILEPATH", "EVENTS", "THREADS"))


def _split_groups() -> list[str]:
    return [group for group in os.environ.get("LIKWID_EVENTS", "").split("|") if group]


def parse_marker_file(path: str | os.PathLike[str]) -> dict[str, LikwidRegionResult]:
    """Reads the text that LIKWID writes when its markers are closed.

    The file holds numbers alone; the names of groups come from the environment, and events are
    called ``event 0``, ``event 1``, ...

    Returns:
        What was counted, by tag.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no marker file; the text names file and line.
    """
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line for line in file.read().splitlines() if line.strip()]
    at = 0
    try:
        _, num_regions, _ = (int(word) for word in lines[0].split())
        if num_regions < 0:
            raise ValueError("a negative number of regions")
        tags: dict[int, tuple[str, int]] = {}
        for at in range(1, 1 + num_regions):
            number, tag = lines[at].split(":", 1)
            name, _, group = tag.rpartition("-")
            tags[int(number)] = (name, int(group))
        rows: dict[int, list[tuple[int, int, float, list[float]]]] = {}
        for at in range(1 + num_regions, len(lines)):
            words = lines[at].split()
            count = int(words[5])
            values = [float(word) for word in words[6:]]
            if len(values) != count or int(words[1]) != tags[int(words[0])][1]:
                raise ValueError("counts differ")
            row = (int(words[2]), int(words[3]), float(words[4]), values)
            rows.setdefault(int(words[0]), []).append(row)
    except (ValueError, IndexError, KeyError) as error:
        raise ValueError(
            f"{os.fspath(path)!r} is no marker file of LIKWID: line {at + 1}: {error}"
        ) from None
    return _of_rows(tags, rows)


def _of_rows(tags: dict[int, tuple[str, int]], rows: dict[int, Any]) -> dict[str, LikwidRegionResult]:
    groups = _split_groups()
    results: dict[str, LikwidRegionResult] = {}
    for number, (tag, group) in tags.items():
        threads = rows.get(number, [])
        if not threads:
            continue
        num_events = max(len(values) for *_, values in threads)
        results[_free_tag(results, tag, group)] = LikwidRegionResult(
            tag,
            group,
            groups[group] if 0 <= group < len(groups) else "",
            [cpu for cpu, *_ in threads],
            [seconds for _, _, seconds, _ in threads],
            [count for _, count, *_ in threads],
            [f"event {index}" for index in range(num_events)],
            [],
            [
                [values[index] if index < len(values) else 0.0 for *_, values in threads]
                for index in range(num_events)
            ],
            source="marker_file",
        )
    return results


def _free_tag(results: dict[str, Any], tag: str, group: int) -> str:
    """A region that several groups measured has their numbers behind its name."""
    return tag if tag not in results else f"{tag}-{group}"


def collect_marker_results(pylikwid: Any) -> dict[str, LikwidRegionResult]:
    """Reads the marker file through LIKWID itself, which knows names and metrics.

    LIKWID is set up anew for that, so it has to be done in a process that measures nothing; see
    :func:`collect_marker_results_isolated`.

    Args:
        pylikwid: The module of that name, or another object with its functions.

    Raises:
        RuntimeError: LIKWID does not take the events or the file.
    """
    threads = [int(cpu) for cpu in os.environ["LIKWID_THREADS"].split(",")]
    path = os.environ["LIKWID_FILEPATH"]
    if pylikwid.init(threads) < 0:
        raise RuntimeError(f"LIKWID cannot be set up for the processors {threads}")
    for group in _split_groups():
        if pylikwid.addeventset(group) < 0:
            raise RuntimeError(f"LIKWID does not know the events {group!r}")
    if pylikwid.markerreadfile(path) < 0:
        raise RuntimeError(f"LIKWID cannot read the marker file {path!r}")
    results: dict[str, LikwidRegionResult] = {}
    for number in range(pylikwid.markernumregions()):
        result = _of_region(pylikwid, number)
        results[_free_tag(results, result.tag, result.group_id)] = result
    return results


def _of_region(api: Any, number: int) -> LikwidRegionResult:
    group = api.markerregiongroup(number)
    tag = api.markerregiontag(number)
    threads = range(api.markerregionthreads(number))
    events = range(api.markerregionevents(number))
    metrics = range(api.markerregionmetrics(number))
    return LikwidRegionResult(
        tag[: -len(f"-{group}")] if tag.endswith(f"-{group}") else tag,
        group,
        api.getnameofgroup(group),
        list(api.markerregioncpulist(number))[: len(threads)],
        list(api.markerregiontime(number)),
        list(api.markerregioncount(number)),
        [api.getnameofevent(group, event) for event in events],
        [api.getnameofcounter(group, event) for event in events],
        [[api.markerregionresult(number, event, t) for t in threads] for event in events],
        [api.getnameofmetric(group, metric) for metric in metrics],
        [[api.markerregionmetric(number, metric, t) for t in threads] for metric in metrics],
    )


def collect_marker_results_isolated(
    timeout: float = 120.0,
) -> dict[str, LikwidRegionResult] | None:
    """Reads the marker file through LIKWID in a process of its own; None when that fails."""
    import subprocess
    import sys
    import tempfile

    mpi = ("OMPI_", "PMI_", "PMIX_", "PMI2_", "MPI_", "MV2_", "I_MPI_", "HYDRA_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(mpi)}
    environment["SCOPE_PROFILER_MPI"] = "0"
    with tempfile.TemporaryDirectory(prefix="scope-profiler-") as folder:
        path = os.path.join(folder, "likwid.json")
        try:
            subprocess.run(
                [sys.executable, "-m", "scope_profiler.likwid_data", path],
                env=environment, check=True, timeout=timeout, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            with open(path, encoding="utf-8") as file:
                return {tag: LikwidRegionResult(**record) for tag, record in json.load(file).items()}
        except (OSError, ValueError, TypeError, subprocess.SubprocessError):
            return None


def collect_region_snapshots(pylikwid: Any, tags: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    """Asks the open markers what the calling thread has counted in these regions.

    Returns:
        By tag: number of events, values, seconds, calls; regions without calls are left out.
    """
    found = {tag: tuple(pylikwid.markergetregion(tag)) for tag in tags}
    return {tag: snapshot for tag, snapshot in found.items() if snapshot[3] > 0}


def snapshots_to_results(
    snapshots: Mapping[str, tuple[Any, ...]], cpu: int = 0
) -> dict[str, LikwidRegionResult]:
    """Makes results of :func:`collect_region_snapshots`; events have no names there."""
    groups = _split_groups()
    return {
        tag: LikwidRegionResult(
            tag, 0, groups[0] if groups else "", [cpu], [seconds], [count],
            [f"event {index}" for index in range(len(values))], [],
            [[value] for value in values], source="marker_api",
        )
        for tag, (_, values, seconds, count) in snapshots.items()
    }  # fmt: skip


def write_likwid_results(
    h5group: Any,
    results: Mapping[str, LikwidRegionResult],
    environment: Mapping[str, str] | None = None,
) -> None:
    """Writes results into a group of a file that h5py has open, as profiles have them."""
    import h5py
    import numpy as np

    for name, value in (environment or {}).items():
        h5group.attrs[name] = value
    h5group.attrs["num_regions"] = len(results)
    regions = h5group.require_group("regions")
    for tag, result in results.items():
        name, number = tag.replace("/", "|"), 2
        base = name
        while name in regions:
            name, number = f"{base}|{number}", number + 1
        group = regions.create_group(name)
        for key in ("tag", "group_id", "group_name", "source"):
            group.attrs[key] = getattr(result, key)
        for key in ("event_names", "counter_names", "metric_names"):
            names = np.array(getattr(result, key), dtype=object)
            group.attrs.create(key, names, dtype=h5py.string_dtype())
        for key in ("cpus", "call_counts"):
            group[key] = np.array(getattr(result, key), dtype=np.int64)
        group["times"] = np.array(result.times, dtype=float)
        for key in ("events", "metrics"):
            rows = np.array(getattr(result, key), dtype=float)
            group[key] = rows if rows.size else np.zeros((0, len(result.cpus)))


def _read_into(path: str) -> None:
    from ._likwid_library import api
    from ._plain import finite

    results = {tag: result.as_dict() for tag, result in collect_marker_results(api()).items()}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(finite(results), file, allow_nan=False)


if __name__ == "__main__":
    import sys

    _read_into(sys.argv[1])
