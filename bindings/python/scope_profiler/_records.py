"""Counters and line records of a run, which the results library keeps as JSON by rank."""

from __future__ import annotations

import json

from ._plain import finite, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ._results import Run
    from .results import ProfilingResults


#: Names of the texts.
RECORDS = ("json_likwid", "json_likwid_environment", "json_perf_events", "json_line_profile")


def _by_rank(run: Run, name: str) -> Iterator[tuple[int, Any]]:
    for text in run.extra_texts(name):
        content = json.loads(text)
        for rank, records in content.items() if isinstance(content, dict) else ():
            yield int(rank), records


def _numbers(value: Any) -> Any:
    """Numbers that JSON cannot hold were written as null; they come back as NaN."""
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return float("nan") if value is None else value


def _likwid(tag: str, record: Any) -> Any:
    import numpy as np

    from .likwid_data import LikwidRegionResult

    if not isinstance(record, dict):
        return record
    known = LikwidRegionResult.__dataclass_fields__
    values = {key: _numbers(value) for key, value in record.items() if key in known}
    for key, kind in (("times", float), ("call_counts", np.int64), ("events", float),
                      ("metrics", float)):  # fmt: skip
        values[key] = np.array(values.get(key, []), dtype=kind)
    return LikwidRegionResult(**{**values, "tag": values.get("tag", tag)})


def _totals(record: Any) -> Any:
    from .perf_events import LaneTotals, PerfEventTotals

    if not isinstance(record, dict) or "values" not in record:
        return record
    values = record["values"]
    if not isinstance(values, dict):
        values = dict(zip(record.get("event_names", []), values))
    lanes = tuple(
        LaneTotals(lane["thread"], lane.get("task", -1), int(lane["calls"]), dict(lane["values"]))
        for lane in record.get("lanes", ())
    )
    is_scaled = bool(record.get("is_scaled"))
    return PerfEventTotals(int(record.get("calls", 0)), values, is_scaled, lanes)


def _memory(record: Mapping[str, Any], peak: int) -> Any:
    from .memory_data import MemoryTotals

    return MemoryTotals(calls=record["calls"], **record["values"], peak_growth=peak)


def _load_memory(results: ProfilingResults, run: Run) -> None:
    peaks = {rank: by_region for rank, by_region in _by_rank(run, "json_memory_peak")}
    for rank, by_region in _by_rank(run, "json_memory"):
        held = peaks.get(rank, {})
        totals = {name: _memory(record, held.get(name, 0)) for name, record in by_region.items()}
        results._memory.setdefault(rank, {}).update(totals)


def _line(record: Mapping[str, Any]) -> dict[str, Any]:
    import numpy as np

    kinds = {"line_numbers": np.int64, "hits": np.int64, "times": float}
    return {
        key: np.array(_numbers(value), dtype=kinds[key]) if key in kinds else value
        for key, value in record.items()
    }


def load(results: ProfilingResults, run: Run) -> None:
    """Gives results the counters and line records that came with a run."""
    for rank, by_tag in _by_rank(run, "json_likwid"):
        regions = {tag: _likwid(tag, record) for tag, record in by_tag.items()}
        results._likwid.setdefault(rank, {}).update(regions)
    results._likwid_environment.update(_by_rank(run, "json_likwid_environment"))
    for rank, by_region in _by_rank(run, "json_perf_events"):
        totals = {name: _totals(record) for name, record in by_region.items()}
        results._perf_events.setdefault(rank, {}).update(totals)
    for rank, by_region in _by_rank(run, "json_cpu"):
        totals = {name: _totals(record) for name, record in by_region.items()}
        results._cpu.setdefault(rank, {}).update(totals)
    _load_memory(results, run)
    for rank, records in _by_rank(run, "json_line_profile"):
        results._line_profile.setdefault(rank, []).extend(_line(record) for record in records)


def _text(rank: int, records: Any) -> str:
    return json.dumps({str(rank): finite(plain(records))}, allow_nan=False, ensure_ascii=False)


def plain_counters(record: Any) -> Any:
    """One result of hardware counters as a dictionary."""
    return record.as_dict() if hasattr(record, "as_dict") else record


def plain_totals(record: Any) -> Any:
    """Totals of perf events as a dictionary."""
    if not hasattr(record, "calls"):
        return record
    plain = {"calls": record.calls, "values": dict(record.values)}
    if record.is_scaled:
        plain["is_scaled"] = True
    if record.lanes:
        plain["lanes"] = [
            {"thread": lane.thread, "task": lane.task, "calls": lane.calls, "values": lane.values}
            for lane in record.lanes
        ]
    return plain


def store_memory(run: Run, memory: Mapping[int, Mapping[str, Any]]) -> None:
    """Puts allocation totals into a run that is to be written."""
    names = ("allocated_bytes", "allocations", "freed_bytes", "frees")
    for rank, by_region in memory.items():
        totals, peaks = {}, {}
        for region, held in by_region.items():
            values = {name: getattr(held, name) for name in names}
            totals[region] = {"calls": held.calls, "values": values}
            peaks[region] = held.peak_growth
        if totals:
            run.add_extra_text("json_memory", rank, _text(rank, totals))
            run.add_extra_text("json_memory_peak", rank, _text(rank, peaks))


def store(
    run: Run,
    likwid: Mapping[int, Mapping[str, Any]],
    perf_events: Mapping[int, Mapping[str, Any]],
    line_profile: Mapping[int, Any],
    likwid_environment: Mapping[int, Any] | None = None,
    cpu: Mapping[int, Mapping[str, Any]] | None = None,
) -> None:
    """Puts counters and line records into a run that is to be written."""
    for rank, environment in (likwid_environment or {}).items():
        if environment:
            run.add_extra_text("json_likwid_environment", rank, _text(rank, environment))
    for rank, by_tag in likwid.items():
        if by_tag:
            records = {tag: plain_counters(record) for tag, record in by_tag.items()}
            run.add_extra_text("json_likwid", rank, _text(rank, records))
    for name, ranks in (("json_perf_events", perf_events), ("json_cpu", cpu or {})):
        for rank, by_region in ranks.items():
            if by_region:
                totals = {region: plain_totals(record) for region, record in by_region.items()}
                run.add_extra_text(name, rank, _text(rank, totals))
    for rank, lines in line_profile.items():
        if lines:
            run.add_extra_text("json_line_profile", rank, _text(rank, list(lines)))
