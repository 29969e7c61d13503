"""Totals of hardware events that the system counted for a region."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PerfEventError", "PerfEventTotals"]


class PerfEventError(RuntimeError):
    """Events cannot be counted here."""


@dataclass
class PerfEventTotals:
    """Totals of one region on one rank.

    Attributes:
        calls: Calls that were counted.
        values: Total of each event.
    """

    calls: int
    values: dict[str, int]
