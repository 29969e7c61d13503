"""Runs and regions cross to other processes and can be copied."""

import copy
import pickle

import pytest
from scope_profiler.concurrency import ThreadInfo
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults

TOTALS = {"count": 3, "total": 90, "minimum": 10, "maximum": 50, "exclusive": 70}


def through_pickle(thing):
    return pickle.loads(pickle.dumps(thing))


@pytest.fixture
def run():
    outer = Region(
        [0, 100], [50, 180], call_ids=[0, 2], parent_ids=[-1, -1], thread_ids=[0, 0],
        event_metadata=[{"n": 1}, {}], source_file="a.py", source_lineno=4, source_text="with a:",
        tags=("t", "u"),
    )  # fmt: skip
    inner = Region([10], [40], call_ids=[1], parent_ids=[0], thread_ids=[0])
    return ProfilingResults(
        {"outer": MPIRegion("outer", {0: outer}), "inner": MPIRegion("inner", {0: inner})},
        metadata={"label": "L", "start_time_ns": 0, "finalize_time_ns": 200, "modules": []},
        num_ranks=3,
        file_path="x/run.h5",
        threads={0: [ThreadInfo(0, 0, "MainThread", 1, 2, False, 0, -1, 5)]},
    )


@pytest.mark.parametrize("copied", [through_pickle, copy.deepcopy, copy.copy])
def test_a_run(run, copied):
    back = copied(run)
    assert back.summary() == run.summary()
    assert back.events() == run.events()
    assert back.call_stack() == run.call_stack()
    assert back.call_graph() == run.call_graph()
    assert back.threads == run.threads
    assert (back.metadata, back.label, back.num_ranks) == (run.metadata, "L", 3)
    assert (back.file_path, back.is_root, back.region_names) == (
        run.file_path, True, ["outer", "inner"],
    )  # fmt: skip


@pytest.mark.parametrize("copied", [through_pickle, copy.deepcopy])
def test_a_region_keeps_what_only_the_run_knows(run, copied):
    outer = copied(run["outer"])
    assert isinstance(outer, MPIRegion) and outer.name == "outer"
    assert outer.get_summary() == run["outer"].get_summary()
    alone = copied(run["outer"][0])
    assert alone.exclusive_durations_ns.tolist() == [20, 80]
    assert alone.total_exclusive_duration == pytest.approx(100e-9)
    assert alone.event_metadata == ({"n": 1}, {})
    assert (alone.tags, alone.source_file, alone.source_lineno, alone.source_text) == (
        ("t", "u"), "a.py", 4, "with a:",
    )  # fmt: skip


def test_totals_and_calls_that_cross(run):
    totals = through_pickle(Region([], [], aggregate=TOTALS))
    assert totals.stored_summary == TOTALS
    crossing = {"a": MPIRegion("a", {0: Region([10], [200])}), "b": MPIRegion("b", {0: Region([0], [50])})}
    back = through_pickle(ProfilingResults(crossing))
    assert back["a"].num_calls == 1 and through_pickle(crossing["a"][0]).num_calls == 1
