"""`scope-profiler export plot-data`: values worked out by hand from calls at round times."""

import csv
import json

import pytest

from profile_file import write_profile

HEADERS = {
    "gantt": "file,rank,region,start_seconds,end_seconds",
    "timeline_density": "file,region,bin_start_seconds,bin_end_seconds,occupied_seconds",
    "flame_chart": "file,rank,call_id,parent_call_id,region,call_path,source_file,source_lineno,depth,"
                   "start_seconds,end_seconds,inclusive_duration_seconds,exclusive_duration_seconds",
    "flame_graph": "file,rank,call_id,parent_call_id,region,call_path,depth,start_seconds,end_seconds,"
                   "inclusive_duration_seconds,exclusive_duration_seconds",
    "callgraph": "call_id,parent_id,name,depth",
    "durations": "file,region,metric,value_seconds",
    "duration_timeseries": "file,region,call_index,time_seconds,mean_duration_seconds,"
                           "min_duration_seconds,max_duration_seconds,num_ranks",
    "histogram": "file,region,bin_low_seconds,bin_high_seconds,bin_center_seconds,count",
    "imbalance": "file,region,rank,value_seconds,mean_over_ranks_seconds",
    "rank_heatmap": "file,rank,region,total_duration_seconds",
}
SCALING = {"speedup": "speedup", "weak_scaling": "normalized_runtime",
           "weak_scaling_efficiency": "efficiency", "scaling_efficiency": "efficiency"}
STEMS = {"density": "timeline_density", "timeseries": "duration_timeseries"}


def make(path, label, ranks, factor, threads=4):
    """session 0-10 s, work 1-9 s, leaf 2-3 s (a quarter more on each further rank) and 5-7 s, all
    lengths times the factor."""
    return write_profile(
        path, metadata={"label": label, "mpi_size": ranks, "omp_num_threads": threads},
        regions=["scope_profiler.session", "work", "leaf"],
        calls={rank: {"scope_profiler.session": [(1, 1 + 10 * factor)],
                      "work": [(2, 2 + 8 * factor)],
                      "leaf": [(3, 3 + factor + rank / 4), (6, 6 + 2 * factor)]}
               for rank in range(ranks)},
        sources={"leaf": ("solver.py", 3, "")})


@pytest.fixture
def two(tmp_path):
    return make(tmp_path / "a.h5", "one", 2, 1), make(tmp_path / "b.h5", "half", 4, 0.5)


def rows(command, kind, *words):
    done = command("export", "plot-data", *words, "-o", "out", "-p", kind)
    assert (done.code, done.err) == (0, "")
    path = command.folder / "out" / f"{STEMS.get(kind, kind)}_data.csv"
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def cells(found, *columns):
    return [tuple(row[column] for column in columns) for row in found]


@pytest.mark.parametrize("stem", HEADERS)
def test_columns_are_the_documented_ones(command, two, stem):
    kind = {stem_: kind_ for kind_, stem_ in STEMS.items()}.get(stem, stem)
    assert command("export", "plot-data", two[0], "-p", kind, "-o", "out").code == 0
    text = (command.folder / "out" / f"{stem}_data.csv").read_text()
    assert text.splitlines()[0] == HEADERS[stem]


def test_without_a_choice_durations_and_gantt_and_the_statistics(command, two):
    done = command("export", "plot-data", *two, "-o", "out")
    assert done.out.split() == ["wrote", "out/durations_data.csv", "wrote", "out/gantt_data.csv",
                                "wrote", "out/region_statistics.json"]


def test_gantt_counts_from_the_first_entry(command, two):
    found = rows(command, "gantt", two[0])
    assert cells(found, "file", "rank", "region", "start_seconds", "end_seconds") == [
        ("one", "0", "scope_profiler.session", "0.0", "10.0"),
        ("one", "1", "scope_profiler.session", "0.0", "10.0"),
        ("one", "0", "work", "1.0", "9.0"), ("one", "1", "work", "1.0", "9.0"),
        ("one", "0", "leaf", "2.0", "3.0"), ("one", "0", "leaf", "5.0", "7.0"),
        ("one", "1", "leaf", "2.0", "3.25"), ("one", "1", "leaf", "5.0", "7.0")]


def test_gantt_as_json_tells_depths(command, two):
    done = command("export", "plot-data", two[0], "-p", "gantt", "--format", "json", "-o", "out")
    assert done.code == 0
    document = json.loads((command.folder / "out" / "gantt_data.json").read_text())
    assert (document["format"], document["format_version"], document["plot"]) == (
        "scope-profiler-plot-data", 1, "gantt")
    assert [(i["region"], i["depth"]) for i in document["intervals"] if i["rank"] == 0] == [
        ("scope_profiler.session", 0), ("work", 1), ("leaf", 2), ("leaf", 2)]
    assert set(document["colors"]) == {"scope_profiler.session", "work", "leaf"}
    assert document["file_ranks"] == {"one": 2}


def test_density_spreads_calls_over_bins(command, two):
    found = rows(command, "density", two[0], "--bins", "4")
    busy = {}
    for row in found:
        busy.setdefault(row["region"], []).append(float(row["occupied_seconds"]))
    # Bins of 2.5 s; leaf: 2-3 and 2-3.25 across the first edge, 5-7 twice within the third.
    assert busy == {"scope_profiler.session": [5, 5, 5, 5], "work": [3, 5, 5, 3],
                    "leaf": [1, 1.25, 4, 0]}


def test_density_of_a_part(command, two):
    found = rows(command, "density", two[0], "--bins", "2", "--start-time", "1.5", "--end-time",
                 "5.5", "--min-duration", "1.1", "-i", "leaf")
    assert cells(found, "bin_start_seconds", "bin_end_seconds", "occupied_seconds") == [
        ("1.5", "3.5", "1.25"), ("3.5", "5.5", "1.0")]


def test_flame_chart_is_the_call_stack_of_a_rank(command, two):
    found = rows(command, "flame_chart", two[0], "-r", "1")
    assert cells(found, "call_id", "parent_call_id", "call_path", "source_lineno", "depth",
                 "start_seconds", "exclusive_duration_seconds") == [
        ("0", "", "scope_profiler.session", "", "0", "1.0", "2.0"),
        ("1", "0", "scope_profiler.session > work", "", "1", "2.0", "4.75"),
        ("2", "1", "scope_profiler.session > work > leaf", "3", "2", "3.0", "1.25"),
        ("3", "1", "scope_profiler.session > work > leaf", "3", "2", "6.0", "2.0")]


def test_what_is_filtered_out_leaves_its_calls_to_those_around(command, two):
    found = rows(command, "flame_chart", two[0], "-e", "work")
    assert cells(found, "call_id", "parent_call_id", "call_path", "depth") == [
        ("0", "", "scope_profiler.session", "0"), ("1", "0", "scope_profiler.session > leaf", "1"),
        ("2", "0", "scope_profiler.session > leaf", "1")]


def test_flame_graph_sums_up_paths(command, two):
    found = rows(command, "flame_graph", two[0])
    assert cells(found, "call_id", "parent_call_id", "region", "start_seconds",
                 "inclusive_duration_seconds", "exclusive_duration_seconds") == [
        ("0", "", "scope_profiler.session", "0.0", "10.0", "2.0"),
        ("1", "0", "work", "0.0", "8.0", "5.0"), ("2", "1", "leaf", "0.0", "3.0", "3.0")]


def test_callgraph_of_calls_and_of_regions(command, two):
    assert cells(rows(command, "callgraph", two[0]), "call_id", "parent_id", "name", "depth") == [
        ("0", "", "scope_profiler.session", "0"), ("1", "0", "work", "1"), ("2", "1", "leaf", "2"),
        ("3", "1", "leaf", "2")]
    found = rows(command, "callgraph", two[0], "--compact-callgraph")
    assert cells(found, "parent", "child") == [("scope_profiler.session", "work"), ("work", "leaf")]


def test_a_callgraph_is_of_one_run(command, two):
    done = command("export", "plot-data", *two, "-p", "callgraph")
    assert done.code == 2
    assert "a call graph shows one rank of one run" in done.err


def test_durations_by_metric_and_run(command, two):
    found = rows(command, "durations", *two, "--metrics", "avg", "total", "--sort-by", "name",
                 "--top-n", "2")
    assert cells(found, "file", "region", "metric", "value_seconds") == [
        ("one", "leaf", "avg", "1.5625"), ("one", "scope_profiler.session", "avg", "10.0"),
        ("half", "leaf", "avg", "0.9375"), ("half", "scope_profiler.session", "avg", "5.0"),
        ("one", "leaf", "total", "6.25"), ("one", "scope_profiler.session", "total", "20.0"),
        ("half", "leaf", "total", "7.5"), ("half", "scope_profiler.session", "total", "20.0")]


def test_durations_of_the_slowest_rank(command, two):
    found = rows(command, "durations", two[0], "-i", "leaf", "--reduce", "max")
    assert cells(found, "value_seconds") == [("3.25",)]


def test_regions_that_not_every_run_has_are_no_bars(command, tmp_path, two):
    other = write_profile(tmp_path / "c.h5", metadata={"label": "c"}, regions=["work"],
                          calls={0: {"work": [(0, 1)]}})
    assert {row["region"] for row in rows(command, "durations", two[0], other)} == {"work"}


def test_timeseries_is_call_by_call_over_ranks(command, two):
    found = rows(command, "timeseries", two[0], "-i", "leaf")
    assert cells(found, "call_index", "time_seconds", "mean_duration_seconds",
                 "min_duration_seconds", "max_duration_seconds", "num_ranks") == [
        ("0", "2.0", "1.125", "1.0", "1.25", "2"), ("1", "5.0", "2.0", "2.0", "2.0", "2")]


def test_histogram_bins_are_shared_by_the_regions_of_a_run(command, two):
    found = rows(command, "histogram", two[0], "--bins", "4")
    counts = {}
    for row in found:
        counts.setdefault(row["region"], []).append(int(row["count"]))
    assert counts == {"scope_profiler.session": [0, 0, 0, 2], "work": [0, 0, 0, 2],
                      "leaf": [4, 0, 0, 0]}
    assert cells(found[:2], "bin_low_seconds", "bin_high_seconds", "bin_center_seconds") == [
        ("1.0", "3.25", "2.125"), ("3.25", "5.5", "4.375")]


def test_histogram_of_equal_durations(command, two):
    found = rows(command, "histogram", two[0], "--bins", "2", "-i", "work")
    assert cells(found, "bin_low_seconds", "bin_high_seconds", "count") == [
        ("7.5", "8.0", "0"), ("8.0", "8.5", "2")]


def test_imbalance_and_heatmap_are_rank_by_rank(command, two):
    found = rows(command, "imbalance", two[0], "-i", "leaf", "--imbalance-metric", "avg")
    assert cells(found, "rank", "value_seconds", "mean_over_ranks_seconds") == [
        ("0", "1.5", "1.5625"), ("1", "1.625", "1.5625")]
    found = rows(command, "rank_heatmap", two[0], "-i", "leaf")
    assert cells(found, "rank", "total_duration_seconds") == [("0", "3.0"), ("1", "3.25")]


@pytest.mark.parametrize("kind, wanted", [
    ("speedup", ["1.0", str(1.5625 / 0.9375)]), ("weak_scaling", ["1.0", "0.6"]),
    ("weak_scaling_efficiency", ["1.0", str(1.5625 / 0.9375)]),
    ("scaling_efficiency", ["1.0", str(1.5625 / 0.9375 / 2)])])
def test_runs_against_each_other(command, two, kind, wanted):
    found = rows(command, kind, *two, "-i", "leaf")
    assert cells(found, "region", "num_ranks") == [("leaf", "2"), ("leaf", "4")]
    assert [row[SCALING[kind]] for row in found] == wanted


def test_an_axis_of_text(command, two):
    done = command("export", "plot-data", *two, "-p", "speedup", "--x", "label", "--format", "json")
    assert done.code == 0
    document = json.loads((command.folder / "speedup_data.json").read_text())
    assert document["options"] == {"x_field": "label", "x_label": "label", "baseline": "one"}
    assert [p["label"] for p in document["points"] if p["region"] == "work"] == ["one", "half"]


@pytest.mark.parametrize("words, code, text", [
    (["-p", "speedup"], 2, "requires at least two profiling files, got 1"),
    (["-p", "pie"], 2, "invalid choice: 'pie'"),
    (["-p", "gantt", "-i", "nope"], 1, "No regions matched the selected filters."),
    (["--format", "parquet"], 2, "scope_profiler.export_plot_data"),
    (["--bins", "0"], 2, "is not a number between 1"),
    (["--bins", "2.5"], 2, "is not a whole number"),
    (["--label", "a", "--label", "b"], 2, "give one for each of the 1 profiles, not 2"),
    (["--start-time", "3", "--end-time", "2"], 2, "must lie behind --start-time"),
])
def test_mistakes_are_named(command, two, words, code, text):
    done = command("export", "plot-data", two[0], *words)
    assert done.code == code and text in done.err


def test_an_axis_that_a_run_lacks(command, two):
    done = command("export", "plot-data", *two, "-p", "speedup", "--x", "colour")
    assert done.code == 1 and "has no 'colour' for the axis; it has label, mpi_size" in done.err


def test_the_options_belong_to_plot_data(command, two):
    done = command("export", "csv", two[0], "--bins", "3")
    assert done.code == 2 and "--bins: not for csv, only for plot-data" in done.err


def test_other_exports_beside_it(command, two):
    done = command("export", "plot-data", two[0], "-o", "out", "--with", "all")
    assert done.code == 0
    assert {path.name for path in (command.folder / "out").iterdir()} >= {
        "profile_rank0.prof", "profile_rank0.svg", "profile.speedscope.json", "gantt_data.csv"}


def test_labels_are_unique(command, two):
    found = rows(command, "durations", two[0], two[0], "-i", "work")
    assert cells(found, "file") == [("one",), ("one (2)",)]


def test_names_with_commas_and_quotes_are_quoted(command, tmp_path):
    odd = write_profile(tmp_path / "odd.h5", metadata={"label": 'a,"b"'}, regions=["x,\ny"],
                        calls={0: {"x,\ny": [(0, 1)]}})
    assert cells(rows(command, "durations", odd), "file", "region") == [('a,"b"', "x,\ny")]


def test_crossing_calls_still_have_intervals(command, tmp_path):
    crossing = write_profile(tmp_path / "x.h5", metadata={"label": "x"}, regions=["a", "b"],
                             calls={0: {"a": [(0, 2)], "b": [(1, 3)]}})
    done = command("export", "plot-data", crossing, "-p", "gantt", "--format", "json")
    assert done.code == 0
    document = json.loads((command.folder / "gantt_data.json").read_text())
    assert [i["depth"] for i in document["intervals"]] == [None, None]
    done = command("export", "plot-data", crossing, "-p", "flame_chart")
    assert done.code == 1 and "not properly nested" in done.err


def test_a_filter_that_fits_in_no_run_is_said_once(command, two):
    done = command("export", "statistics", *two, "-i", "wrok", "-i", "leaf", "-o", "out")
    assert done.code == 0
    assert done.err == ("scope-profiler export: no region matches 'wrok'; the nearest names are 'work', "
                        "'leaf', 'scope_profiler.session'\n")


def test_a_filter_that_fits_in_one_of_the_runs_is_none_to_speak_of(command, tmp_path, two):
    other = write_profile(tmp_path / "c.h5", metadata={"label": "c"}, regions=["other"],
                          calls={0: {"other": [(0, 1)]}})
    done = command("export", "statistics", two[0], other, "-i", "work", "-i", "other", "-o", "out")
    assert (done.code, done.err) == (0, "")
