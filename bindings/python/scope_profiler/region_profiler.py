"""Classes of regions. Which one a manager makes follows from its configuration."""

from __future__ import annotations

from ._recorder import (
    AggregateProfileRegion,
    BaseProfileRegion,
    CUDATimingNVTXProfileRegion,
    CUDATimingProfileRegion,
    DisabledProfileRegion,
    FullProfileRegion,
    LineProfilerRegion,
    NVTXProfileRegion,
    PerfEventProfileRegion,
    ThreadedProfileRegion,
    TimeOnlyProfileRegion,
)

__all__ = [
    "AggregateProfileRegion",
    "BaseProfileRegion",
    "CUDATimingNVTXProfileRegion",
    "CUDATimingProfileRegion",
    "DisabledProfileRegion",
    "FullProfileRegion",
    "LineProfilerRegion",
    "NVTXProfileRegion",
    "PerfEventProfileRegion",
    "ThreadedProfileRegion",
    "TimeOnlyProfileRegion",
]
