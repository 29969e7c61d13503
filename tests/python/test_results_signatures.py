"""What results, readers and writers are called with: programs pass these names."""

import inspect

import pytest
import scope_profiler as sp
from scope_profiler import call_stack, native_trace, profile_io, summary

CASES = [
    (sp.read_h5, "(file_path, verbose=False)"),
    (
        sp.read_h5_summary,
        "(file_path, verbose=False, *, fallback=True, include_likwid=True, "
        "include_line_profile=True, regions=None, ranks=None)",
    ),
    (sp.read_json, "(file_path, verbose=False)"),
    (sp.read_profile, "(file_path, verbose=False)"),
    (sp.load, "(path, verbose=False)"),
    (profile_io.read_profile_summary, "(file_path, **kwargs)"),
    (sp.write_json, "(results, filepath, *, include=None, exclude=None, ranks=None, indent=None)"),
    (sp.write_profile, "(results, file_path, **kwargs)"),
    (
        sp.export_json,
        "(profiling_data, filepath, ranks=None, include=None, exclude=None, verbose=True, "
        "indent=None)",
    ),
    (
        sp.collect_region_statistics,
        "(profiling_data, ranks=None, include=None, exclude=None, labels=None)",
    ),
    (
        sp.write_region_statistics_json,
        "(profiling_data, filepath, ranks=None, include=None, exclude=None, labels=None)",
    ),
    (
        sp.create_html_report,
        "(profiling_data, filepath, *, include=None, exclude=None, ranks=None, sort='start', "
        "columns=None, charts_cdn=False, include_charts=True, individual_reports=True)",
    ),
    (sp.merge_results, "(*result_sets, label=None, file_path=None)"),
    (sp.ProfilingResults.from_h5, "(file_path, verbose=False)"),
    (sp.ProfilingResults.get_region, "(self, region_name)"),
    (sp.ProfilingResults.summary, "(self, include=None, exclude=None)"),
    (
        sp.ProfilingResults.call_stack,
        "(self, rank=0, include=None, exclude=None, relative=True, origin=None)",
    ),
    (sp.ProfilingResults.call_graph, "(self, rank=0, include=None, exclude=None)"),
    (
        sp.ProfilingResults.events,
        "(self, include=None, exclude=None, ranks=None, relative=True, origin=None)",
    ),
    (
        sp.ProfilingResults.print_summary,
        "(self, include=None, exclude=None, ranks=None, sort='start', title=None, stream=None, "
        "suppress_notes=False, columns=None, percentage_mode='coverage', "
        "reduction='pooled')",
    ),
    (sp.ProfilingResults.to_dataframe, "(self, include=None, exclude=None, per_rank=False)"),
    (sp.Region.percentile_duration, "(self, percentile)"),
    (sp.Region.for_thread, "(self, thread_index)"),
    (sp.Region.events, "(self, origin=0.0)"),
    (sp.MPIRegion.percentile_duration, "(self, percentile)"),
    (sp.MPIRegion.events, "(self, ranks=None, origin=0.0)"),
    (call_stack.build_call_stack, "(regions, rank=0, origin=0.0)"),
    (call_stack.regions_from_snapshot, "(regions, rank=0)"),
    (summary.region_row, "(region, ranks=None, *, include_exclusive=False)"),
    (native_trace.convert_traces, "(inputs, output_path, label=None)"),
    (native_trace.write_results, "(results, output_path)"),
    (native_trace.load_traces, "(inputs, label=None)"),
    (
        sp.export_prof,
        "(profiling_data, filepath, ranks=None, include=None, exclude=None, verbose=True, "
        "call_paths=True)",
    ),
    (
        sp.to_pstats,
        "(profiling_data, ranks=None, include=None, exclude=None, call_paths=True)",
    ),
    (
        sp.export_chrome_trace,
        "(profiling_data, filepath, ranks=None, include=None, exclude=None, verbose=True)",
    ),
    (
        sp.export_speedscope,
        "(profiling_data, filepath, ranks=None, include=None, exclude=None, verbose=True)",
    ),
    (sp.load_prof, "(filepath)"),
    (
        call_stack.CallArrays,
        "(names, source_files, source_lines, region_index, call_index, start_ns, end_ns, depth, "
        "parent, exclusive_ns, lane=None)",
    ),
]


@pytest.mark.parametrize(
    ("function", "expected"), CASES, ids=[function.__qualname__ for function, _ in CASES]
)
def test_names_order_and_defaults(function, expected):
    signature = inspect.signature(function)
    bare = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    assert str(inspect.Signature(bare)) == expected
