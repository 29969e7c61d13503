"""Ending a run: what was recorded goes to its file, is read back, printed, handed over."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .profile_manager import ProfileManager
    from .results import ProfilingResults

ROOT_REGION = "scope_profiler.session"


def empty_results() -> ProfilingResults:
    """Results of a run that was none."""
    from .results import ProfilingResults

    return ProfilingResults()


def _warn(report: dict[str, Any]) -> None:
    import warnings

    crossing = report["calls_crossing"]
    if crossing:
        warnings.warn(
            f"{crossing} call(s) ended while calls opened inside them were still open; they are "
            "recorded with the parents they had. Where tasks take turns inside them, "
            "track_async=True gives every task a lane of its own",
            RuntimeWarning,
            stacklevel=4,
        )


def _say(text: str) -> None:
    if sys.stderr is not None:
        print(f"scope_profiler: {text}", file=sys.stderr)


def _tell_losses(report: dict[str, Any]) -> None:
    """Says what is missing, and what is only less than single calls."""
    if report["calls_lost"]:
        _say(
            f"{report['calls_lost']} call(s) were lost; the summary says why: memory, threads that "
            "ended inside them, or signal handlers"
        )
    if report["calls_unkept"]:
        _say(
            f"{report['calls_unkept']} call(s) are counted but not kept one by one, because max_memory "
            "was reached; the summary and results.unkept_calls have their regions"
        )
    if report["calls_partial"]:
        _say(f"{report['calls_partial']} call(s) lack their metadata or counters: memory was short")


def _nearest(tag: str, known: set[str]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(tag, sorted(known), 3, 0.5)
    if not found:
        return ""
    return "; the nearest tags are " + ", ".join(repr(name) for name in found)


def _tell_tags(manager: ProfileManager) -> None:
    """A tag that was asked for and that no region carries is said, once a configuration."""
    config = manager._config
    if not config._region_tags or config._has_told_tags:
        return
    config._has_told_tags = True
    known = {tag for region in manager._profiler.regions.values() for tag in region.tags or ()}
    for tag in sorted(config._region_tags - known):
        _say(f"no region carries the tag {tag!r}{_nearest(tag, known)}")


def _tell_silence(manager: ProfileManager, report: dict[str, Any], verbose: bool) -> None:
    """A run without calls says why, once."""
    config, counts = manager._config, dict(manager._profiler.call_counts())
    counts.pop(ROOT_REGION, None)
    if any(counts.values()):
        return
    off = [name for name, region in manager._profiler.regions.items() if not _is_on(region)]
    if off and config._region_tags:
        _say(f"nothing was recorded: no region carries a tag of region_tags={sorted(config._region_tags)}")
    elif off:
        _say(
            f"nothing was recorded: {off[0]!r} and other regions carry an opt-in tag that is off; "
            "enable_tags switches it on"
        )
    elif verbose and report["calls_written"] == 0:
        _say("nothing was recorded: no region was entered after setup()")


def _is_on(region: Any) -> bool:
    from ._recorder import DisabledProfileRegion

    return not isinstance(region, DisabledProfileRegion)


def _naming(error: OSError, path: str | None) -> OSError:
    """The error, made to say which file could not be written."""
    if path is None or path in str(error):
        return error
    text = f"{path!r} could not be written, what was recorded stays: {error.strerror or error}"
    return OSError(error.errno, text) if error.errno is not None else OSError(text)


def _job(config: Any) -> dict[str, Any]:
    """With whom to publish: arguments for the recorder. All ranks of a job call it."""
    if config._size == 1 or config._writes_alone():
        return {}
    from mpi4py import MPI

    if MPI.Is_finalized():
        raise RuntimeError(
            "MPI has ended already: finalize the profile on every rank before MPI.Finalize()"
        )
    if config.output_mode == "parallel":
        raise RuntimeError(
            "output_mode='parallel' requires an h5py build with MPI support, which this build does "
            "not use; 'auto' and 'direct' hand the calls of all ranks to rank 0"
        )
    return {"comm": config.comm, "timeout": config.finalize_timeout or 0}


def _extras(config: Any, in_memory: bool) -> list[tuple[str, str]]:
    """What instruments of the Python half found, as named texts of this rank."""
    texts = [] if config._likwid is None else config._likwid.texts(config._rank)
    if config._lines is None:
        return texts
    records = config._lines.records(since_written=not in_memory)
    if not records:
        return texts
    from ._records import _text

    return [*texts, ("json_line_profile", _text(config._rank, records))]


def _publish(manager: ProfileManager, is_last: bool) -> dict[str, Any]:
    """Hands over what was recorded. Runs that write no HDF5 file come back as an image."""
    config = manager._config
    in_memory = config._output is None
    from ._recorder import now_ns, trace_check

    trace_check(manager._profiler)
    config._finalize_time_ns = now_ns()
    try:
        report = manager._profiler.publish(
            config.metadata,
            manager._scopes.published(),
            want_image=in_memory or config._format != "hdf5",
            keep_calls=in_memory,
            with_open_calls=is_last,
            extras=_extras(config, in_memory),
            rank=config._rank,
            **_job(config),
        )
    except OSError as error:
        raise _naming(error, config._output) from None
    if not in_memory:
        manager._scopes.forget_closed()
        if config._lines is not None:
            config._lines.mark_written()
    return report


def _read(config: Any, report: dict[str, Any]) -> ProfilingResults:
    from .results import ProfilingResults

    if report["image"] is not None:
        is_in_memory = config._output is None
        return ProfilingResults._from_image(
            report["image"],
            file_path=config.file_path if is_in_memory else config._output,
            is_in_memory=is_in_memory,
        )
    return ProfilingResults.from_h5(config._output)


def _write_other_format(config: Any, results: ProfilingResults) -> None:
    if config._format == "json" and config._output is not None:
        from .json_export import write_json

        write_json(results, config._output)
    elif config._format == "html" and config._output is not None:
        from .html_report import create_html_report

        create_html_report(results, config._output)


def _tell_capture(config: Any) -> None:
    """Says once where the allocations are."""
    if config._memory_capture is not None:
        from ._plain import shown

        print(f"wrote Memray allocation profile to {shown(config._memory_capture.path)}")


def _title(config: Any, results: ProfilingResults) -> str | None:
    if config._output is not None:
        return None
    return f"{results.display_label} (in memory, {results.num_ranks} rank(s))"


def _finish_other_rank(
    manager: ProfileManager, report: dict[str, Any], return_results: bool
) -> ProfilingResults | None:
    """A rank beside rank 0 has handed its calls over, or written a file: no results, nothing is printed."""
    from .results import ProfilingResults

    manager._last = ProfilingResults(is_root=False, num_ranks=manager._config._size)
    _warn(report)
    return manager._last if return_results else None


def _merge_traces(
    config: Any, report: dict[str, Any], results: ProfilingResults, native_traces: Any
) -> ProfilingResults:
    """Results with what other recorders left; a file that was written gets it too."""
    from ._native_merge import merge_traces

    merged = merge_traces(config, results, native_traces, report["has_native"])
    if merged is not results and config._output is not None and config._format == "hdf5":
        level = config.hdf5_compression_level
        merged._run.write(
            config._output,
            compression=config.hdf5_compression,
            compression_level=-1 if level is None else level,
            chunk_size=config.hdf5_chunk_size or 0,
        )
    return merged


def _print_summary(results: ProfilingResults, title: str | None, least_percent: float) -> None:
    if not results.is_root:
        return
    from .summary import summary_text, write_text

    write_text(summary_text(results, title=title, min_percent=least_percent), None)


def publish(
    manager: ProfileManager,
    verbose: bool,
    return_results: bool,
    is_last: bool = False,
    native_traces: Any = None,
    verbose_line_profiler: bool = False,
) -> ProfilingResults | None:
    """Writes, reads back and prints the run of a manager that records."""
    config = manager._config
    config.stop_memory_profiling()
    config.pylikwid_markerclose()
    report = _publish(manager, is_last)
    if manager._session is not None:
        manager._session.mark_finalized()  # whatever becomes of the summary, the file is complete
    _tell_losses(report)
    if not report["is_root"]:
        return _finish_other_rank(manager, report, return_results)
    results = None
    needs_results = verbose or return_results or verbose_line_profiler or native_traces is not None
    if needs_results or report["image"] is not None:
        results = _read(config, report)
        manager._last = results
        if native_traces is not None:
            results = manager._last = _merge_traces(config, report, results, native_traces)
        _write_other_format(config, results)
    else:
        manager._last = config._output
    if config._writes_alone() and config._rank > 0:
        return _finish_other_rank(manager, report, return_results)
    if verbose and results is not None:
        _print_summary(results, _title(config, results), manager._least_shown_percent)
        _tell_capture(config)
    if verbose_line_profiler and results is not None:
        from .summary import write_text

        write_text(results._run.line_profile_text(), None)
    _tell_tags(manager)
    _tell_silence(manager, report, verbose)
    _warn(report)
    return results if return_results else None
