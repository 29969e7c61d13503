"""Regions of one rank and of several: statistics, arrays, events."""

import math

import numpy as np
import pytest
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.region import EventDataUnavailableError, Region

# Durations 20, 40 and 90 ns.
STARTS = [10, 100, 300]
ENDS = [30, 140, 390]


def ns(value):
    return pytest.approx(value * 1e-9, rel=1e-12)


def test_statistics_of_three_calls():
    region = Region(STARTS, ENDS)
    assert region.num_calls == len(region) == 3
    assert region.total_duration == region.inclusive_duration == ns(150)
    assert region.average_duration == ns(50)
    assert region.min_duration == region.first_duration == ns(20)
    assert region.max_duration == region.last_duration == ns(90)
    # deviations -30, -10, 40 from the mean
    assert region.std_duration == ns(math.sqrt((900 + 100 + 1600) / 3))
    assert (region.first_start_time, region.last_end_time) == (ns(10), ns(390))


def test_percentiles_are_interpolated():
    region = Region(STARTS, ENDS)
    assert region.p50_duration == ns(40)
    assert region.p95_duration == ns(40 + 0.9 * 50)
    assert region.p99_duration == ns(40 + 0.98 * 50)
    assert (region.percentile_duration(0), region.percentile_duration(100)) == (ns(20), ns(90))
    for p in (-0.1, 100.1, float("nan")):
        with pytest.raises(ValueError, match="0..100"):
            region.percentile_duration(p)


def test_arrays_are_views_in_ns_and_copies_in_seconds():
    region = Region(STARTS, ENDS)
    assert region.start_times_ns.dtype == np.int64
    assert region.start_times_ns.tolist() == STARTS
    assert region.end_times_ns.tolist() == ENDS
    assert region.durations_ns.tolist() == [20, 40, 90]
    assert region.durations.tolist() == [ns(20), ns(40), ns(90)]
    assert np.shares_memory(region.durations_ns, region.durations_ns)
    with pytest.raises(ValueError):
        region.durations_ns[0] = 1


def test_an_array_outlives_its_region():
    durations = Region(STARTS, ENDS).durations_ns
    filler = [Region([0], [i]) for i in range(1000)]
    assert durations.tolist() == [20, 40, 90]
    assert len(filler) == 1000


def test_stamps_beyond_doubles_stay_exact():
    base = 2**53 + 1
    region = Region([base, base + 10], [base + 1, base + 17])
    assert region.start_times_ns.tolist() == [base, base + 10]
    assert region.end_times_ns.tolist() == [base + 1, base + 17]
    assert region.durations_ns.tolist() == [1, 7]
    assert region.durations[0] == 1e-9


def test_an_empty_region_is_all_zero():
    region = Region([], [])
    summary = region.get_summary()
    assert summary == {
        "num_calls": 0,
        "total_duration": 0.0,
        "inclusive_duration": 0.0,
        "exclusive_duration": 0.0,
        "average_duration": 0.0,
        "min_duration": 0.0,
        "max_duration": 0.0,
        "first_duration": 0.0,
        "last_duration": 0.0,
        "std_duration": 0.0,
    }
    assert (region.p50_duration, region.p95_duration, region.p99_duration) == (0.0, 0.0, 0.0)
    assert region.events() == [] and region.durations.tolist() == []
    assert region.first_start_time is None and not region.has_timing


def test_one_call_has_no_spread():
    region = Region([5], [12])
    assert region.std_duration == 0.0
    assert region.p50_duration == region.p99_duration == ns(7)


def test_optional_columns():
    region = Region(
        STARTS,
        ENDS,
        gpu_durations=[5, -1, 9],
        call_ids=[4, 7, 9],
        parent_ids=[-1, 4, -1],
        thread_ids=[0, 1, 0],
        task_ids=[-1, 3, -1],
        await_times=[0, 15, 30],
        event_metadata=[{"i": 0}, {"i": 1}, {"i": 2}],
    )
    assert region.call_ids.tolist() == [4, 7, 9]
    assert region.parent_ids.tolist() == [-1, 4, -1]
    assert region.thread_ids.tolist() == [0, 1, 0]
    assert region.task_ids.tolist() == [-1, 3, -1]
    assert region.await_times_ns.tolist() == [0, 15, 30]
    assert region.total_await_duration == ns(45)
    assert region.has_gpu_timing and region.gpu_total_duration == ns(14)
    assert region.gpu_average_duration == ns(7)
    assert region.event_metadata == ({"i": 0}, {"i": 1}, {"i": 2})
    assert region.events()[1] == {
        "call_index": 1,
        "start": ns(100),
        "end": ns(140),
        "duration": ns(40),
        "gpu_duration": None,
        "call_id": 7,
        "parent_id": 4,
        "thread": 1,
        "task": 3,
        "await_duration": ns(15),
        "metadata": {"i": 1},
    }


def test_columns_that_were_not_recorded_are_none():
    region = Region(STARTS, ENDS)
    for name in (
        "call_ids",
        "parent_ids",
        "thread_ids",
        "task_ids",
        "await_times",
        "await_times_ns",
        "total_await_duration",
        "gpu_durations",
        "gpu_durations_ns",
        "gpu_total_duration",
        "gpu_average_duration",
    ):
        assert getattr(region, name) is None, name
    assert region.event_metadata == ({}, {}, {}) and region.threads == []
    assert list(region.events()[0]) == ["call_index", "start", "end", "duration"]


def test_events_count_from_an_origin():
    region = Region([2_000_000_000], [2_000_000_500])
    (event,) = region.events(origin=2.0)
    assert (event["start"], event["end"]) == (0.0, ns(500))


def test_only_calls_with_metadata_show_it():
    region = Region([0, 10], [5, 20], event_metadata=[{"i": 1}, {}])
    assert region.event_metadata == ({"i": 1}, {})
    assert [event.get("metadata") for event in region.events()] == [{"i": 1}, None]


def test_source_and_tags():
    region = Region([0], [1], source_file="a.py", source_lineno=3, tags=("x", "ü"))
    assert (region.source_file, region.source_lineno, region.source_text) == ("a.py", 3, None)
    assert region.tags == ("x", "ü") and region.has_source
    assert not Region([0], [1]).has_source


def test_calls_of_one_thread():
    region = Region(
        [0, 10, 20], [5, 30, 25], thread_ids=[0, 1, 1], event_metadata=[{}, {"a": 1}, {"a": 2}]
    )
    assert region.threads == [0, 1]
    part = region.for_thread(1)
    assert part.durations_ns.tolist() == [20, 5]
    # the call at 20 lies inside the one at 10
    assert part.exclusive_durations_ns.tolist() == [15, 5]
    assert part.event_metadata == ({"a": 1}, {"a": 2})
    assert region.for_thread(7).num_calls == 0
    with pytest.raises(ValueError, match="track_threads=True"):
        Region(STARTS, ENDS).for_thread(0)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="end_times has 1 entries for 2 calls"):
        Region([0, 1], [2])
    with pytest.raises(ValueError, match="event_metadata has 1 entries for 2 calls"):
        Region([0, 1], [2, 3], event_metadata=[{}])
    with pytest.raises(ValueError, match="call_ids"):
        Region([0, 1], [2, 3], call_ids=[1])


def test_times_must_be_whole_numbers():
    assert Region(np.array([1.0]), np.array([4.0])).durations_ns.tolist() == [3]
    with pytest.raises(TypeError, match="start_times"):
        Region([0.5], [2])
    with pytest.raises(ValueError, match="one-dimensional"):
        Region([[0, 1]], [[2, 3]])


def test_totals_instead_of_calls():
    totals = {"count": 3, "total": 90, "minimum": 10, "maximum": 50, "exclusive": 70}
    region = Region([], [], aggregate=totals)
    assert region.num_calls == 3 and region.average_duration == ns(30)
    assert (region.min_duration, region.max_duration) == (ns(10), ns(50))
    assert region.total_exclusive_duration == ns(70)
    assert region.events() == [] and region.durations.tolist() == []
    assert region.p50_duration is None and region.has_event_data
    assert region.std_duration is None and region.first_duration is None
    assert region.stored_summary == totals and region.first_start_time is None
    assert region.has_timing
    never = Region([], [], aggregate=dict.fromkeys(totals, 0))
    assert (never.num_calls, never.std_duration, never.p50_duration) == (0, 0.0, 0.0)
    assert not never.has_timing


def test_stored_statistics_instead_of_calls():
    stored = {
        "count": 2, "total": 30, "minimum": 10, "maximum": 20, "first": 10, "last": 20,
        "start_minimum": 100, "end_maximum": 200, "exclusive": 25, "mean": 15.0, "m2": 50.0,
        "gpu_count": 0, "gpu_total": 0,
    }  # fmt: skip
    region = Region([], [], aggregate=stored, event_data_available=False)
    assert not region.has_event_data
    assert region.stored_summary == stored
    assert region.std_duration == ns(5) and region.p50_duration is None
    assert region.total_exclusive_duration == ns(25)
    assert region.first_start_time == ns(100)
    for ask in (region.events, lambda: region.durations, lambda: region.call_ids):
        with pytest.raises(EventDataUnavailableError, match=r"read_h5\(\)"):
            ask()


# ---- several ranks ---------------------------------------------------------------------------


@pytest.fixture
def pooled():
    # rank 1 starts first, rank 0 ends last
    return MPIRegion("step", {1: Region([5], [15]), 0: Region([10, 100], [40, 160])})


def test_pooled_statistics(pooled):
    assert pooled.ranks == [0, 1] == list(pooled)
    assert len(pooled) == 2 and 1 in pooled and 2 not in pooled
    assert pooled.num_calls == 3
    assert pooled.total_duration == ns(100)
    assert pooled.average_duration == ns(100 / 3)
    assert (pooled.min_duration, pooled.max_duration) == (ns(10), ns(60))
    assert (pooled.first_duration, pooled.last_duration) == (ns(10), ns(60))
    assert (pooled.first_start_time, pooled.last_end_time) == (ns(5), ns(160))
    empty = MPIRegion("step", {})
    assert empty.num_calls == 0 and empty.first_start_time is None and empty.total_duration == 0.0
    assert pooled.p50_duration == ns(30)
    assert pooled.std_duration == ns(np.std([10, 30, 60]))
    assert pooled.total_exclusive_duration == ns(100)


def test_statistics_by_rank(pooled):
    assert pooled.num_calls_per_rank() == {0: 2, 1: 1}
    assert pooled.total_durations() == {0: ns(90), 1: ns(10)}
    assert pooled.average_durations() == {0: ns(45), 1: ns(10)}
    assert pooled.min_durations() == {0: ns(30), 1: ns(10)}
    assert pooled.max_durations() == {0: ns(60), 1: ns(10)}
    assert pooled[1].num_calls == 1
    with pytest.raises(KeyError, match=r"Available ranks: \[0, 1\]"):
        pooled[4]


def test_imbalance_is_slowest_over_mean(pooled):
    assert pooled.rank_imbalance == pytest.approx(90 / 50)
    assert pooled.rank_imbalance_pct == pytest.approx(80)
    alone = MPIRegion("step", {0: Region([0], [9]), 1: Region([], [])})
    assert (alone.rank_imbalance, alone.rank_imbalance_pct) == (0.0, 0.0)


def test_summary_and_events_name_the_region(pooled):
    summary = pooled.get_summary()
    assert list(summary)[:3] == ["name", "num_ranks", "num_calls"]
    assert (summary["name"], summary["num_ranks"], summary["num_calls"]) == ("step", 2, 3)
    events = pooled.events(ranks=1, origin=5e-9)
    assert events == [
        {
            "name": "step",
            "rank": 1,
            "call_index": 0,
            "start": 0.0,
            "end": ns(10),
            "duration": ns(10),
        }
    ]
    assert [event["rank"] for event in pooled.events()] == [0, 0, 1]
    assert len(pooled.events(ranks=[0])) == 2


def test_repr_of_a_pooled_region(pooled):
    assert repr(pooled) == (
        "<MPIRegion 'step': 3 calls on 2 rank(s), total 0.000000 s, avg 3.333e-08 s>"
    )


def test_a_color_belongs_to_a_name(pooled):
    assert pooled.color == MPIRegion("step", {}).color
    assert len(pooled.color) == 7 and int(pooled.color[1:], 16) >= 0


def test_calls_of_all_ranks(pooled):
    assert pooled.durations.tolist() == [ns(30), ns(60), ns(10)]
    assert pooled.inclusive_durations.tolist() == pooled.durations.tolist()
    assert pooled.exclusive_durations.tolist() == pooled.durations.tolist()
    assert pooled.gpu_durations is None
    assert MPIRegion("step", {}).durations.tolist() == []
    timed = Region([0], [9], gpu_durations=[4])
    assert MPIRegion("g", {0: Region([0], [9]), 1: timed}).gpu_durations.tolist() == [ns(4)]


def test_source_and_tags_come_from_the_first_rank_that_has_them():
    later = Region([0], [1], source_file="b.py", source_lineno=3, source_text="b", tags=("t",))
    region = MPIRegion("r", {0: Region([0], [1]), 1: later})
    assert region.has_source and region.tags == ("t",)
    assert (region.source_file, region.source_lineno, region.source_text) == ("b.py", 3, "b")


def test_ranks_sort_as_numbers():
    region = MPIRegion("r", {rank: Region([0], [1]) for rank in (11, 2, 10, 0, 1)})
    assert region.ranks == [0, 1, 2, 10, 11]


def test_stored_statistics_of_ranks_combine_exactly():
    def stored(durations, start):
        values = np.array(durations)
        return Region(
            [],
            [],
            aggregate={
                "count": len(values), "total": int(values.sum()), "minimum": int(values.min()),
                "maximum": int(values.max()), "first": durations[0], "last": durations[-1],
                "start_minimum": start, "end_maximum": start + 1000, "exclusive": -1,
                "mean": float(values.mean()), "m2": float(((values - values.mean()) ** 2).sum()),
            },
            event_data_available=False,
        )  # fmt: skip

    pooled = MPIRegion("r", {0: stored([10, 30, 50], 7), 1: stored([100, 200], 3)})
    everything = [10, 30, 50, 100, 200]
    assert pooled.num_calls == 5 and not pooled.has_event_data
    assert pooled.average_duration == ns(np.mean(everything))
    assert pooled.std_duration == ns(np.std(everything))
    assert (pooled.first_duration, pooled.last_duration) == (ns(100), ns(50))
    assert pooled.p50_duration is None
