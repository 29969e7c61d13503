"""Classes of regions. Which one a manager makes follows from its configuration."""

from __future__ import annotations

from ._recorder import (
    AggregateProfileRegion,
    BaseProfileRegion,
    DisabledProfileRegion,
    LineProfilerRegion,
    ThreadedProfileRegion,
    TimeOnlyProfileRegion,
)

__all__ = [
    "AggregateProfileRegion",
    "BaseProfileRegion",
    "DisabledProfileRegion",
    "LineProfilerRegion",
    "ThreadedProfileRegion",
    "TimeOnlyProfileRegion",
]
