"""What a run lacks: calls of which it has totals alone, and what was lost."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._results import Run

_NS_PER_SECOND = 1e9


@dataclass(frozen=True)
class UnkeptCalls:
    """Calls of one region on one rank that have no row, because `max_memory` was reached.

    Attributes:
        calls: Calls that were added up.
        total_duration: Their time in seconds.
        min_duration: The shortest in seconds, 0 without calls.
        max_duration: The longest in seconds, 0 without calls.
        untimed: Further calls that were only counted.
    """

    calls: int
    total_duration: float
    min_duration: float
    max_duration: float
    untimed: int


class Losses:
    """The part of :class:`ProfilingResults` that is about what is missing."""

    _run: Run

    def _by_rank(self, *names: str) -> dict[int, list[tuple[Any, ...]]]:
        """Rows of arrays that belong together, rank by rank."""
        columns = [self._run.extra_arrays(name) for name in names]
        rows: dict[int, list[tuple[Any, ...]]] = {}
        for parts in zip(*columns):
            rows.setdefault(parts[0][0], []).extend(zip(*(values for _, values in parts)))
        return rows

    @property
    def losses(self) -> dict[int, dict[str, int]]:
        """How much is missing or was mended, as {rank: {kind: count}}; kinds that did not occur are left out."""
        found = self._by_rank("loss_kinds", "loss_counts")
        return {
            rank: {kind: count for kind, count in rows if count}
            for rank, rows in found.items()
            if any(count for _, count in rows)
        }

    @property
    def unkept_calls(self) -> dict[int, dict[str, UnkeptCalls]]:
        """Calls without a row, as {rank: {region: totals}}; they come on top of what the region says."""
        found = self._by_rank(
            "totals_regions",
            "totals_calls",
            "totals_ns",
            "totals_minimum_ns",
            "totals_maximum_ns",
            "totals_untimed",
        )
        return {
            rank: {
                name: UnkeptCalls(calls, *(ns / _NS_PER_SECOND for ns in times), untimed)
                for name, calls, *times, untimed in rows
            }
            for rank, rows in found.items()
        }
