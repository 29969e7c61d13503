"""Parts of runs: without warm-up, within a window of time."""

from __future__ import annotations

from . import _columns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .results import ProfilingResults


def _ns(seconds: float, name: str) -> int:
    if not 0 <= seconds < 9e9:
        raise ValueError(f"{name} must be a number of seconds of 0 or more, not {seconds!r}")
    return round(seconds * _columns.NS_PER_S)


def narrowed(
    results: ProfilingResults,
    skip_calls: int | Mapping[str, int],
    warmup: str | None,
    start: float,
    end: float | None,
) -> ProfilingResults:
    """As :meth:`ProfilingResults.narrowed`."""
    results._check_events()
    everywhere = skip_calls if isinstance(skip_calls, int) else 0
    skips = {} if isinstance(skip_calls, int) else dict(skip_calls)
    if min(everywhere, *skips.values(), 0) < 0:
        raise ValueError(f"skip_calls must not be negative: {skip_calls!r}")
    if end is not None and end <= start:
        raise ValueError(f"end must lie behind start: {end!r}, {start!r}")
    run = results._run.narrow(
        skip_calls=everywhere,
        skips=skips,
        after_region=warmup,
        start_ns=_ns(start, "start"),
        end_ns=0 if end is None else _ns(end, "end"),
    )
    part = type(results)._from_run(run, file_path=results.file_path, is_root=results.is_root)
    part.metadata = dict(results.metadata)
    part._likwid = results._likwid
    part._likwid_environment = results._likwid_environment
    part._perf_events = results._perf_events
    part._cpu = results._cpu
    part._line_profile = results._line_profile
    part._memory = results._memory
    return part
