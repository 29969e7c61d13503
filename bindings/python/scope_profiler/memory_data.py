"""What the calls of a region got from Python's allocators."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MemoryTotals"]


@dataclass
class MemoryTotals:
    """Totals of one region on one rank, called regions included.

    Attributes:
        calls: Calls that were counted.
        allocated_bytes: Bytes that were asked for.
        allocations: How often.
        freed_bytes: Bytes of the blocks that were freed, as far as their allocation was counted.
        frees: How many blocks were freed.
        peak_growth: The most bytes that one call held at once more than at its begin.
    """

    calls: int
    allocated_bytes: int
    allocations: int
    freed_bytes: int
    frees: int
    peak_growth: int
