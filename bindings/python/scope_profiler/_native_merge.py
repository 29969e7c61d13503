"""What other recorders left, beside a run of this one."""

from __future__ import annotations

import os
import sys

from . import native_trace
from ._results import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from .results import ProfilingResults

# By how much the time of a file may lie before its writing: the clock that files get their times from
# ticks slowly, and some file systems know whole seconds only.
_TICK_NS = 20_000_000
_COARSE_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000


def _say(text: str) -> None:
    if sys.stderr is not None:
        print(f"scope_profiler: {text}", file=sys.stderr)


def _is_older(path: Path, started: float) -> bool:
    written = os.stat(path).st_mtime_ns
    slack = _TICK_NS if written % _SECOND_NS else _COARSE_NS
    return written + slack < started * _SECOND_NS


def _candidates(config: Any, inputs: Any, has_native: bool) -> list[Path]:
    """Files to look at: those named, and those in folders that are no older than the run."""
    found: set[Path] = set()
    own = config._output
    for entry in native_trace._as_list(inputs):
        is_folder = entry.is_dir()
        try:
            files = native_trace.find_traces(entry)
        except FileNotFoundError:
            if is_folder and has_native:
                continue
            raise
        for file in files:
            if own is not None and os.path.abspath(file) == own:
                continue
            if is_folder and _is_older(file, config._setup_time):
                _say(f"{file} is older than this run and is left out")
            else:
                found.add(file)
    return sorted(found)


def _of_ranks(files: list[Path], config: Any) -> list[Path]:
    """Those of the ranks that the results hold: all of a job that publishes together, else our own."""
    ranks = {config._rank} if config.comm is None else {*range(config._size)}
    return [file for file in files if ranks & native_trace._ranks_of(file)]


def _check_names(results: ProfilingResults, native: ProfilingResults) -> None:
    for region in native:
        if region.name not in results:
            continue
        both = sorted({*region.ranks} & {*results[region.name].ranks})
        if both:
            raise ValueError(
                f"region {region.name!r} of rank {both[0]} was recorded by both the Python API and "
                f"the native profile {native.file_path}; rename one of the two"
            )


def merge_traces(
    config: Any, results: ProfilingResults, inputs: Any, has_native: bool
) -> ProfilingResults:
    """Returns the run with the traces of its ranks; the run itself when there are none.

    Raises:
        FileNotFoundError: An input does not exist; or a folder holds no traces, and native code did
            not record into the run either.
        TraceFormatError: A file is damaged, or two claim a rank.
        ValueError: A region is in both.
    """
    files = _of_ranks(_candidates(config, inputs, has_native), config)
    if not files:
        return results
    native = native_trace.load_traces(files)
    _check_names(results, native)
    run: Run = results._run.merge_native(native._run)
    merged = type(results)._from_run(run, file_path=results.file_path)
    merged._is_in_memory = results._is_in_memory
    return merged
