"""Totals of events that the system counted for a region."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LaneTotals", "PerfEventError", "PerfEventTotals"]


class PerfEventError(RuntimeError):
    """Events cannot be counted here; the text says why, and what to do."""


@dataclass(frozen=True)
class LaneTotals:
    """The part of one thread or task in the totals of a region.

    Attributes:
        thread: Index in the table of threads.
        task: Index in the table of tasks, -1: in none.
        calls: Calls that were counted.
        values: Total of each event.
    """

    thread: int
    task: int
    calls: int
    values: dict[str, int]


@dataclass
class PerfEventTotals:
    """Totals of one region on one rank.

    Attributes:
        calls: Calls that were counted.
        values: Total of each event.
        is_scaled: Whether there were more events than counters, so that totals are estimates.
        lanes: The parts of the threads; empty when one thread alone ran the region.
    """

    calls: int
    values: dict[str, int]
    is_scaled: bool = False
    lanes: tuple[LaneTotals, ...] = ()

    def _ratio(self, above: str, below: str) -> float | None:
        if above not in self.values or not self.values.get(below):
            return None
        return self.values[above] / self.values[below]

    @property
    def ipc(self) -> float | None:
        """Instructions per cycle; None unless both were counted."""
        return self._ratio("instructions", "cycles")

    @property
    def cache_miss_rate(self) -> float | None:
        """Misses per reference of the last cache; None unless both were counted."""
        return self._ratio("cache-misses", "cache-references")

    @property
    def branch_miss_rate(self) -> float | None:
        """Share of the branches that were foreseen wrongly; None unless both were counted."""
        return self._ratio("branch-misses", "branches")
