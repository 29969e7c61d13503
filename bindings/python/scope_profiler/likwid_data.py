"""Hardware counters that LIKWID measured for a region."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["LikwidRegionResult"]


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
