"""Whole runs built in memory: mapping, filters, times, lanes, tables, merging."""

import inspect
import io
from pathlib import Path

import pytest
from scope_profiler.concurrency import TaskInfo, ThreadInfo, lane_ids
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults, merge_results

START = 1_000_000_000


def ns(value):
    return pytest.approx(value * 1e-9, rel=1e-9)


@pytest.fixture
def run():
    """Two ranks; "late" stands first in the file but starts last."""
    return ProfilingResults(
        {
            "late": MPIRegion("late", {0: Region([START + 700], [START + 800])}),
            "solve": MPIRegion(
                "solve",
                {
                    0: Region([START + 100, START + 300], [START + 200, START + 600], tags=("a",)),
                    1: Region([START + 150], [START + 250]),
                },
            ),
            "solve/inner": MPIRegion("solve/inner", {0: Region([START + 400], [START + 500])}),
        },
        metadata={
            "start_time_ns": START,
            "finalize_time_ns": START + 2000,
            "label": "base",
            "modules": [],
            "mpi_size": 2,
        },
        file_path="out/run.h5",
    )


def test_a_run_is_a_mapping_that_iterates_over_regions(run):
    assert len(run) == 3 and "solve" in run and "nothing" not in run
    assert run.region_names == ["late", "solve", "solve/inner"]
    assert [region.name for region in run] == run.region_names
    assert run["solve"] is run.get_region("solve")
    assert run["solve"].ranks == [0, 1]
    with pytest.raises(KeyError) as caught:
        run["solver"]
    assert caught.value.args[0] == (
        "No region named 'solver'. Available regions: ['late', 'solve', 'solve/inner']"
    )


def test_filters_match_at_the_start_and_sort_by_first_entry(run):
    def names(**filters):
        return [region.name for region in run.get_regions(**filters)]

    assert names() == ["solve", "solve/inner", "late"]
    assert names(include="solve$") == ["solve"]
    assert names(include=["inner"]) == []
    assert names(include=[".*inner", "late"]) == ["solve/inner", "late"]
    assert names(exclude="solve") == ["late"]
    assert names(include="solve", exclude="solve/") == ["solve"]


def test_times_of_the_run(run):
    assert run.run_start_time == run.time_origin == 1.0
    assert run.minimum_start_time == ns(START + 100)
    assert run.maximum_end_time == ns(START + 800)
    assert run.time_span == ns(700)
    assert run.startup_time == ns(100)
    assert run.total_time == ns(2000)
    assert run.finalize_time == ns(START + 2000)


def test_times_without_metadata():
    run = ProfilingResults({"a": MPIRegion("a", {0: Region([500], [900])})})
    assert run.time_origin == ns(500)
    for name in ("run_start_time", "total_time", "finalize_time"):
        assert getattr(run, name) is None, name
    assert run.startup_time == 0.0
    exact = ProfilingResults(
        {"a": MPIRegion("a", {0: Region([500], [900])})},
        metadata={"start_time_ns": 100.0, "finalize_time_ns": 1_100.0},
    )
    assert (exact.startup_time, exact.total_time) == (ns(400), ns(1_000))
    odd = ProfilingResults(
        {"a": MPIRegion("a", {0: Region([500], [900])})}, metadata={"start_time_ns": "early"}
    )
    assert odd.run_start_time is None and odd.time_origin == ns(500)


def test_an_empty_run():
    run = ProfilingResults()
    assert len(run) == 0 and run.num_ranks == 0 and run.summary() == []
    assert run.time_span == 0.0 and run.minimum_start_time is None
    assert run.events() == [] and run.call_stack() == [] and run.call_graph() == []
    assert run.threads == {} and run.tasks == {}


def test_labels_and_ranks(run):
    assert (run.label, run.display_label, run.num_ranks) == ("base", "base", 2)
    assert run.default_title() == "base - out/run.h5 (2 rank(s))"
    run.label = None
    assert (run.label, run.display_label) == (None, "run")
    assert run.default_title() == "out/run.h5 (2 rank(s))"
    elsewhere = ProfilingResults(file_path=Path.cwd().parent / "run.h5")
    assert elsewhere.default_title() == "../run.h5 (0 rank(s))"
    assert ProfilingResults().default_title() == "profile (in memory, 0 rank(s))"
    run.label = "other"
    assert run.metadata["label"] == "other" and run.num_nodes is None
    assert ProfilingResults({"a": Region([0], [1])}).num_nodes == 1


def test_the_number_of_ranks_is_the_larger_one():
    regions = {"a": MPIRegion("a", {3: Region([0], [1])})}
    assert ProfilingResults(regions).num_ranks == 4
    assert ProfilingResults(regions, metadata={"mpi_size": 8}).num_ranks == 8
    assert ProfilingResults(regions, num_ranks=16).num_ranks == 16


def test_metadata_keeps_its_types(run):
    assert run.metadata["modules"] == [] and run.metadata["mpi_size"] == 2
    assert run._run.metadata() == run.metadata


def test_events_count_from_the_start_of_the_run(run):
    events = run.events()
    assert [(event["name"], event["rank"]) for event in events] == [
        ("solve", 0), ("solve", 1), ("solve", 0), ("solve/inner", 0), ("late", 0),
    ]  # fmt: skip
    assert events[0]["start"] == ns(100)
    assert run.events(relative=False)[0]["start"] == ns(START + 100)
    assert run.events(origin=1.0, ranks=1)[0]["start"] == ns(150)
    assert len(run.events(include="solve$", ranks=[0])) == 2


def test_summary_rows(run):
    row = next(row for row in run.summary() if row["name"] == "solve")
    assert row["num_calls"] == 3 and row["num_ranks"] == 2
    assert row["total_duration"] == ns(500)
    assert row["exclusive_duration"] == ns(400)
    assert row["p50"] == row["p50_duration"] == ns(100)
    # totals 400 and 100 on the two ranks: 400 over 250
    assert row["rank_imbalance"] == pytest.approx(1.6)
    assert row["imbalance"] == row["rank_imbalance_pct"] == pytest.approx(60)
    assert row["tags"] == ("a",)


def test_summary_without_a_tree_has_no_exclusive_time():
    crossing = ProfilingResults({"a": MPIRegion("a", {0: Region([0, 5], [10, 20])})})
    (row,) = crossing.summary()
    assert row["total_duration"] == ns(25) and row["exclusive_duration"] is None


def test_summary_of_some_regions(run):
    def names(**filters):
        return [row["name"] for row in run.summary(**filters)]

    assert names() == ["solve", "solve/inner", "late"]
    assert names(include="solve", exclude=["solve/"]) == ["solve"]


def test_call_stack_counts_from_the_start_of_the_run(run):
    def starts(**options):
        return [call["start"] for call in run.call_stack(include="solve$", **options)]

    assert starts() == [ns(100), ns(300)]
    assert starts(relative=False) == [ns(START + 100), ns(START + 300)]
    assert starts(origin=(START + 50) * 1e-9) == [ns(50), ns(250)]


def test_data_frames(run):
    pytest.importorskip("pandas")
    frame = run.to_dataframe()
    assert list(frame["name"]) == ["solve", "solve/inner", "late"]
    per_rank = run.to_dataframe(include="solve$", per_rank=True)
    assert list(per_rank["rank"]) == [0, 1] and list(per_rank["num_calls"]) == [2, 1]
    events = run.to_events_dataframe(ranks=0)
    assert list(events.columns) == ["name", "rank", "call_index", "start", "end", "duration"]
    assert list(events["name"]) == ["solve", "solve", "solve/inner", "late"]
    assert events["start"][0] == ns(100)
    assert len(run.to_events_dataframe(include="nothing")) == 0


def test_data_frames_without_pandas(run, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    for ask in (run.to_dataframe, run.to_events_dataframe):
        with pytest.raises(ImportError, match=r"scope-profiler\[pproc\]"):
            ask()


@pytest.fixture
def threaded():
    return ProfilingResults(
        {
            "a": MPIRegion(
                "a",
                {0: Region([0, 10, 5], [100, 30, 50], thread_ids=[0, 0, 1], task_ids=[-1, 0, 0])},
            ),
        },
        threads={
            0: [
                ThreadInfo(0, 0, "MainThread", 11, 12, False, 0, -1, 2_000_000_000),
                ThreadInfo(1, 0, "solver0", 13, 14, True, 5, 105, 50),
            ]
        },
        tasks={0: [TaskInfo(0, 0, "task", "Task-1", "app.main.<locals>.fetch", 1, 1, -1, 3, 9, 4)]},
    )


def test_lane_tables_and_labels(threaded):
    main, solver = threaded.threads[0]
    assert main.alive and main.wall_time is None and main.end_time is None
    assert main.cpu_time == 2.0 and main.name == "MainThread"
    assert not solver.alive and solver.wall_time == ns(100) and solver.daemon is True
    (task,) = threaded.tasks[0]
    assert not task.done and task.wall_time is None and task.awaiting_time == ns(4)
    assert task.running_time == ns(9) and task.created_time == ns(1) and task.kind == "task"
    assert threaded.lane_label(0) == "Task-1 (fetch) on solver0"
    assert threaded.lane_label(-2) == "MainThread"
    assert threaded.lane_label(-3) == "solver0"
    assert threaded.lane_label(-1) == "unknown lane"


def test_thread_summary():
    run = ProfilingResults(
        {"a": MPIRegion("a", {0: Region([0, 10, 5], [100, 30, 50], thread_ids=[0, 0, 1])})},
        threads={0: [ThreadInfo(0, 0, "MainThread", 1, 2, False, 0, -1, -1)]},
    )
    assert run.thread_summary() == [
        {
            "index": 0,
            "name": "MainThread",
            "alive": True,
            "wall_time": None,
            "cpu_time": None,
            "num_calls": 2,
            "region_time": ns(100),
        }
    ]
    assert run.thread_summary(rank=5) == []


def test_lane_ids():
    assert lane_ids([0, 1, 5, -1], None).tolist() == [-2, -3, -7, -1]
    assert lane_ids([0, 1, 5, -1], [0, -1, 3, -1]).tolist() == [0, -3, 3, -1]
    assert lane_ids(None, [4, -1]).tolist() == [4, -1]
    assert lane_ids(None, None).tolist() == []


def test_runs_of_other_ranks_are_silent(run):
    other = ProfilingResults(is_root=False)
    stream = io.StringIO()
    other.print_summary(stream=stream)
    assert stream.getvalue() == "" and not other.is_root


def test_merging(run):
    extra = ProfilingResults(
        {"mpi": MPIRegion("mpi", {2: Region([5], [9])})}, metadata={"label": "b", "host": "n1"}
    )
    merged = merge_results(run, ProfilingResults({"x": Region([0], [1])}, is_root=False), extra)
    assert merged.region_names == ["late", "solve", "solve/inner", "mpi"]
    assert merged.num_ranks == 3
    assert (merged.label, merged.metadata["host"]) == ("base", "n1")
    assert merged["solve"][0].tags == ("a",)
    assert merged["solve"].total_exclusive_duration == ns(400)
    assert merge_results(run, label="both", file_path="new.h5").label == "both"


def test_merging_refuses(run):
    with pytest.raises(ValueError, match="appears in more than one result set"):
        merge_results(run, run)
    with pytest.raises(ValueError):
        merge_results(ProfilingResults(is_root=False))


def test_counters_by_rank():
    run = ProfilingResults(
        {"a": Region([0], [1])},
        likwid={1: {"tag": "r1"}, 0: {}},
        perf_events={0: {"a": "totals"}},
        line_profile={0: [{"region": "a"}]},
    )
    assert run.has_likwid and run.likwid_ranks == [1]
    assert run.get_likwid_region("tag", rank=1) == "r1"
    with pytest.raises(KeyError, match="tag"):
        run.get_likwid_region("tag")
    assert run.get_perf_events() == {0: {"a": "totals"}} and run.has_perf_events
    assert run.line_profile == {0: [{"region": "a"}]}


def test_regions_may_be_given_by_rank():
    run = ProfilingResults({1: {"a": Region([0], [5])}, 0: {"a": Region([0], [7])}})
    assert run["a"].total_durations() == {0: ns(7), 1: ns(5)}


def test_given_exclusive_totals_are_used():
    run = ProfilingResults({"a": Region([0], [50])}, exclusive_totals={0: {"a": 20}})
    assert run["a"].total_exclusive_duration == ns(20)


def test_names_of_any_kind_survive():
    names = ["a/b", 'quote"', "new\nline", "emoji \U0001f600", " "]
    run = ProfilingResults({name: Region([0], [1]) for name in names})
    assert run.region_names == names and all(name in run for name in names)


def test_public_functions_have_signatures():
    assert list(inspect.signature(ProfilingResults.print_summary).parameters)[1:] == [
        "include", "exclude", "ranks", "sort", "title", "stream", "suppress_notes", "columns",
        "percentage_mode", "reduction",
    ]  # fmt: skip
    for owner in (Region, MPIRegion, ProfilingResults):
        for name, member in inspect.getmembers(owner, inspect.isroutine):
            if not name.startswith("_"):
                assert inspect.signature(member) is not None and member.__doc__, name


def test_statistics_of_each_rank_as_a_data_frame_have_percentiles():
    pytest.importorskip("pandas")
    run = ProfilingResults({"a": MPIRegion("a", {0: Region([0, 10], [2, 16]), 1: Region([0], [3])})})
    frame = run.to_dataframe(per_rank=True)
    assert frame["rank"].tolist() == [0, 1]
    assert frame["p50_duration"].tolist() == pytest.approx([4e-9, 3e-9])
    assert frame["p99_duration"].tolist() == pytest.approx([5.96e-9, 3e-9])
