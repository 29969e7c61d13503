"""Counters and line records: read from files of other releases, and never lost on the way."""

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
import scope_profiler
from scope_profiler import LikwidRegionResult, PerfEventTotals
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults

RECORDS = Path(__file__).resolve().parents[1] / "format" / "data" / "hdf5-records.h5"


ENVIRONMENT = {"LIKWID_EVENTS": "FLOPS_DP", "LIKWID_THREADS": "0,1", "num_regions": 1}


def check(run, environment=ENVIRONMENT):
    """What the writer of that file was given."""
    assert run.likwid_ranks == [0] and run.has_likwid
    solve = run.get_likwid_region("solve/inner")
    assert isinstance(solve, LikwidRegionResult)
    assert (solve.tag, solve.group_id, solve.group_name, solve.source) == (
        "solve/inner", 0, "FLOPS_DP", "full_api")
    assert list(solve.cpus) == [0, 1] and solve.times.tolist() == [1.5, 2.5]
    assert solve.call_counts.tolist() == [3, 4]
    assert (solve.event_names, solve.counter_names) == (["INSTR", "CYC"], ["FIXC0", "FIXC1"])
    assert solve.events.tolist() == [[10.0, 20.0], [30.5, 40.0]]
    assert solve.metric_names == ["Runtime [s]", "CPI", "nanm"]
    np.testing.assert_array_equal(solve.metrics, [[1, 2], [3, 4], [np.nan, 5]])
    totals = {"solve": PerfEventTotals(3, {"cycles": 1000, "instructions": 2**63 + 5})}
    assert run.get_perf_events() == {0: totals, 1: totals} and run.has_perf_events
    assert run._likwid_environment == {0: environment}
    assert sorted(run.line_profile) == [0, 1]
    for (record,) in run.line_profile.values():
        assert (record["region"], record["filename"], record["function"]) == ("solve", "s.py", "f")
        assert (record["first_lineno"], record["unit"]) == (3, 1e-6)
        assert record["line_numbers"].tolist() == [3, 4, 5] and record["hits"].tolist() == [1, 2, 3]
        assert record["times"].tolist() == [10.0, 20.0, 30.5]
        assert (record["source"], record["source_first_lineno"]) == ("def f():\n  pass\n", 3)


@pytest.fixture
def run():
    return scope_profiler.read_h5(RECORDS)


def test_read_from_a_file_of_another_release(run):
    check(run)
    check(scope_profiler.load(RECORDS))


def test_a_summary_only_read_takes_them_too_or_not():
    # That file has no statistics stored but for its own rows, so both ways are looked at.
    check(scope_profiler.read_h5_summary(RECORDS))
    bare = scope_profiler.read_h5_summary(RECORDS, include_likwid=False, include_line_profile=False)
    assert not bare.has_likwid and not bare.line_profile and bare.has_perf_events


def test_they_survive_every_way_of_writing(run, tmp_path):
    scope_profiler.write_profile(run, tmp_path / "again.h5")
    check(scope_profiler.read_h5(tmp_path / "again.h5"))
    scope_profiler.write_profile(run, tmp_path / "again.json.gz")
    check(scope_profiler.read_json(tmp_path / "again.json.gz"))


def test_they_survive_pickling_parts_and_merging(run, tmp_path):
    import pickle

    check(pickle.loads(pickle.dumps(run)))
    check(run.narrowed(skip_calls=1))
    other = ProfilingResults({"x": MPIRegion("x", {0: Region([0], [5])})})
    merged = scope_profiler.merge_results(other, run)
    check(merged)
    scope_profiler.write_profile(merged, tmp_path / "merged.h5")
    check(scope_profiler.read_h5(tmp_path / "merged.h5"))


def test_records_of_a_run_that_was_built_by_hand_are_written(run, tmp_path):
    built = ProfilingResults(
        {region.name: region for region in run}, likwid=run.get_likwid_regions(),
        perf_events=run.get_perf_events(), line_profile=run.line_profile, num_ranks=2)
    scope_profiler.write_profile(built, tmp_path / "built.h5")
    check(scope_profiler.read_h5(tmp_path / "built.h5"), environment={"num_regions": 1})


def test_a_rank_writer_keeps_them(run, tmp_path):
    from scope_profiler.h5writer import ProfilingWriter

    regions = {"solve": (np.array([10]), np.array([15]))}
    with ProfilingWriter(tmp_path / "w.h5", metadata={"mpi_size": 2}) as writer:
        for rank in (0, 1):
            writer.write_rank(rank, {
                "regions": regions, "likwid": run.get_likwid_regions(rank),
                "likwid_environment": {} if rank else ENVIRONMENT,
                "perf_events": run.get_perf_events(rank)[rank],
                "line_profile": run.line_profile[rank]})
    check(scope_profiler.read_h5(tmp_path / "w.h5"))
    with ProfilingWriter.open_existing(tmp_path / "w.h5") as writer:
        writer.write_rank(2, {"regions": regions})
    check(scope_profiler.read_h5(tmp_path / "w.h5"))


def test_labels_of_equal_events_are_unique():
    region = LikwidRegionResult("x", event_names=["A", "A", "B"], counter_names=["C0", "C1", "C2"])
    assert region.event_labels == ["A:C0", "A:C1", "B"]
    assert LikwidRegionResult("x", event_names=["A", "A"]).event_labels == ["A#0", "A#1"]
    assert region.as_dict()["event_names"] == ["A", "A", "B"]


@pytest.mark.parametrize("damage", ["short matrix", "group for a dataset", "text for a dataset"])
def test_damage_is_named(tmp_path, damage):
    path = tmp_path / "damaged.h5"
    path.write_bytes(RECORDS.read_bytes())
    with h5py.File(path, "a") as file:
        group = file["rank0/likwid/regions/solve|inner"]
        if damage == "short matrix":
            del group["events"]
            group["events"] = np.arange(3.0)  # no rows of two
        elif damage == "group for a dataset":
            del group["times"]
            group.create_group("times")
        else:
            del group["times"]
            group["times"] = ["a", "b"]
    if damage == "short matrix":
        assert scope_profiler.read_h5(path).get_likwid_region("solve/inner").events.tolist() == [0, 1, 2]
    else:
        with pytest.raises(scope_profiler.CorruptProfileError, match="damaged.h5"):
            scope_profiler.read_h5(path)


def test_the_command_converts_without_loss(tmp_path):
    import shutil
    import subprocess
    import sys

    command = Path(sys.executable).parent / "scope-profiler"
    if not command.exists() and not shutil.which("scope-profiler"):
        pytest.skip("the command is not installed")
    for name in ("c.h5", "c.json"):
        subprocess.run([command, "convert", RECORDS, "-q", "-o", tmp_path / name], check=True)
    check(scope_profiler.load(tmp_path / "c.h5"))
    check(scope_profiler.load(tmp_path / "c.json"))
    document = json.loads((tmp_path / "c.json").read_text())
    assert document["likwid"]["0"]["solve/inner"]["metrics"][2] == [None, 5.0]
    assert document["likwid_environment"] == {"0": ENVIRONMENT}
    assert sorted(document["perf_events"]) == ["0", "1"]


# ---- Tables and text: what the release that wrote the file gives for it --------------------------


def test_tables_of_counters(run):
    from scope_profiler.summary import likwid_tables, perf_event_tables

    (table,) = likwid_tables(run)
    assert (table["rank"], table["group"]) == (0, "FLOPS_DP")
    assert table["columns"] == ["solve/inner@cpu0", "solve/inner@cpu1"]
    assert [heading for heading, _ in table["sections"]] == ["", "Events", "Metrics"]
    assert table["sections"][0][1] == [("call count", [3, 4]), ("runtime [s]", [1.5, 2.5])]
    assert table["sections"][1][1] == [("INSTR", [10.0, 20.0]), ("CYC", [30.5, 40.0])]
    assert perf_event_tables(run) == [
        {"rank": rank, "events": ["cycles", "instructions"],
         "rows": [("solve", 3, 1000, 2**63 + 5)]} for rank in (0, 1)]
    assert likwid_tables(run, exclude="solve") == perf_event_tables(run, include="x") == []
    assert [table["rank"] for table in perf_event_tables(run, ranks=1)] == [1]


def test_printed_tables_are_those_of_the_command(run, capsys):
    from scope_profiler import inspect_file
    from scope_profiler.summary import print_likwid_tables, print_perf_event_tables

    print_likwid_tables(run)
    print_perf_event_tables(run)
    printed = capsys.readouterr().out
    inspect_file(RECORDS)
    whole = capsys.readouterr().out
    assert printed.rstrip() in whole and "FLOPS_DP" in printed


def test_printed_summary_of_counters(run, capsys):
    run.print_likwid_summary()
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["rank 0  region 'solve/inner'  group FLOPS_DP",
                         "  cpu 0: 3 call(s), 1.500000 s",
                         "    INSTR                                     10.0000"]
    assert lines[-1] == "    nanm                                       5.0000"
    ProfilingResults({}, file_path="a.h5").print_likwid_summary()
    assert capsys.readouterr().out == "No LIKWID data in a.h5\n"


def test_counters_as_a_data_frame(run):
    pytest.importorskip("pandas")
    frame = run.likwid_to_dataframe()
    assert list(frame) == ["rank", "region", "thread", "cpu", "group", "time", "call_count", "INSTR",
                           "CYC", "Runtime [s]", "CPI", "nanm"]
    assert frame["CYC"].tolist() == [30.5, 40.0] and frame["cpu"].tolist() == [0, 1]
    assert ProfilingResults({}).likwid_to_dataframe().empty
