"""What one rank hands to the rank that writes."""

from __future__ import annotations

from typing import Any, NamedTuple


class RankPayload(NamedTuple):
    """Data of one rank, region by region.

    The value of a region in `regions` is a tuple of columns: starts, ends, device durations, call
    ids, parent ids, thread ids, task ids, suspended times, all in ns or as integers. It may end
    after any column from the third on and holds None for what was not recorded.
    """

    regions: Any
    likwid: Any
    likwid_environment: Any
    perf_events: Any = None
    sources: Any = None
    tags: Any = None
    event_metadata: Any = None
    line_profile: Any = None
    exclusive_totals: Any = None
    aggregate_stats: Any = None
    lanes: Any = None
