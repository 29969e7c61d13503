"""Call trees: found from intervals, or as recorded."""

import numpy as np
import pytest
from scope_profiler.call_stack import (
    CallArrays,
    NestingError,
    build_call_arrays,
    build_call_stack,
    call_stack_children,
    call_stack_roots,
    exclusive_totals_ns,
    regions_from_snapshot,
    split_by_lane,
)
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults


def regions(**calls):
    """Regions on rank 0 from lists of (start, end)."""
    return {
        name: MPIRegion(name, {0: Region([s for s, _ in spans], [e for _, e in spans])})
        for name, spans in calls.items()
    }


def shape(stack):
    return [(call["name"], call["depth"], call["parent"]) for call in stack]


def test_a_tree_from_intervals():
    stack = build_call_stack(
        regions(work=[(0, 100)], leaf=[(10, 20), (30, 60)], deep=[(35, 40)]), 0
    )
    assert shape(stack) == [
        ("work", 0, None),
        ("leaf", 1, 0),
        ("leaf", 1, 0),
        ("deep", 2, 2),
    ]
    assert [round(call["exclusive_duration"] * 1e9) for call in stack] == [60, 10, 25, 5]
    assert stack[3]["call_path"] == "work > leaf > deep"
    assert [call["call_id"] for call in stack] == [0, 1, 2, 3]
    assert list(stack[0]) == [
        "call_id", "name", "call_index", "start", "end", "duration", "inclusive_duration",
        "exclusive_duration", "depth", "parent", "call_path", "source_file", "source_lineno",
        "lane", "color",
    ]  # fmt: skip
    assert [call["lane"] for call in stack] == [-1, -1, -1, -1]


def test_roots_and_children_by_their_ids():
    stack = build_call_stack(
        regions(work=[(0, 100), (200, 210)], leaf=[(10, 20), (30, 60)], deep=[(35, 40)]), 0
    )
    assert call_stack_roots(stack) == [0, 4]
    assert call_stack_children(stack, 0) == [1, 2]
    assert call_stack_children(stack, None) == [0, 4]
    assert call_stack_children(stack) == [[1, 2], [], [3], [], []]


def test_times_count_from_an_origin():
    members = regions(work=[(2_000, 9_000)], leaf=[(3_000, 4_000)])
    shifted = build_call_stack(members, 0, origin=1.5e-6)
    assert [round(call["start"] * 1e9) for call in shifted] == [500, 1_500]
    assert [round(call["end"] * 1e9) for call in shifted] == [7_500, 2_500]


def test_touching_calls_are_siblings_and_empty_ones_nest():
    stack = build_call_stack(regions(a=[(0, 10)], b=[(10, 20)], instant=[(5, 5)]), 0)
    assert shape(stack) == [("a", 0, None), ("instant", 1, 0), ("b", 0, None)]


def test_of_equal_intervals_the_earlier_region_is_the_parent():
    stack = build_call_stack(regions(first=[(0, 10)], second=[(0, 10)]), 0)
    assert shape(stack) == [("first", 0, None), ("second", 1, 0)]
    assert [call["exclusive_duration"] for call in stack] == [0.0, pytest.approx(1e-8)]


def test_calls_that_cross_name_both():
    with pytest.raises(NestingError) as caught:
        build_call_stack(regions(late=[(10, 200)], early=[(0, 50)]), 0)
    text = str(caught.value)
    assert isinstance(caught.value, ValueError)
    for part in ("recorded calls are not properly nested", "late", "early", "10", "200", "0", "50"):
        assert part in text


def test_a_call_that_ends_before_it_starts():
    with pytest.raises(NestingError, match="a recorded call ends before it starts"):
        build_call_stack(regions(a=[(10, 5)]), 0)


def test_arrays_hold_every_call_sorted():
    arrays = build_call_arrays(regions(b=[(50, 60)], a=[(0, 40), (45, 70)]), 0)
    assert len(arrays) == 3
    assert arrays.names == ["b", "a"]
    assert arrays.start_ns.tolist() == [0, 45, 50]
    assert arrays.region_index.tolist() == [1, 1, 0]
    assert arrays.call_index.tolist() == [0, 1, 0]
    assert arrays.parent.tolist() == [-1, -1, 1]
    assert arrays.exclusive_ns.tolist() == [40, 15, 10]
    assert len(arrays.lane) == 0
    assert arrays.source_files == [None, None]
    assert CallArrays(*arrays[:-1]).lane.tolist() == []


def test_lanes_are_told_apart():
    members = {
        "a": MPIRegion("a", {0: Region([0, 5], [10, 20], thread_ids=[0, 1])}),
        "b": MPIRegion("b", {0: Region([2, 8], [8, 15], thread_ids=[0, 1])}),
    }
    arrays = build_call_arrays(members, 0)
    assert arrays.lane.tolist() == [-2, -2, -3, -3]
    assert arrays.depth.tolist() == [0, 1, 0, 1]
    parts = split_by_lane(arrays)
    assert [(lane, part.start_ns.tolist()) for lane, part in parts] == [(-3, [5, 8]), (-2, [0, 2])]
    assert parts[0][1].parent.tolist() == [-1, 0]
    assert [call["lane"] for call in build_call_stack(members, 0)] == [-2, -2, -3, -3]


def test_threads_without_lanes_cannot_be_nested():
    with pytest.raises(NestingError):
        build_call_arrays(regions(a=[(0, 10), (5, 20)]), 0)


def test_recorded_parents_win_over_intervals():
    # The intervals cross, the recorded parents say what happened.
    members = {
        "outer": MPIRegion("outer", {0: Region([0], [50], call_ids=[0], parent_ids=[-1])}),
        "inner": MPIRegion("inner", {0: Region([10], [80], call_ids=[1], parent_ids=[0])}),
    }
    assert shape(build_call_stack(members, 0)) == [("outer", 0, None), ("inner", 1, 0)]
    # exclusive time loses the overlap, not the length
    assert exclusive_totals_ns(members, 0) == {"outer": 10, "inner": 70}


def test_a_recorded_parent_may_sort_behind_its_child():
    members = {
        "child": MPIRegion("child", {0: Region([5], [5], call_ids=[1], parent_ids=[0])}),
        "parent": MPIRegion("parent", {0: Region([5], [5], call_ids=[0], parent_ids=[-1])}),
    }
    paths = {call["name"]: call["call_path"] for call in build_call_stack(members, 0)}
    assert paths == {"child": "parent > child", "parent": "parent"}


def test_exclusive_time_spans_all_regions_whatever_the_filter():
    run = ProfilingResults(regions(work=[(0, 100)], leaf=[(10, 40)]))
    assert run["work"].total_exclusive_duration == pytest.approx(70e-9)
    (call,) = run.call_stack(include="work")
    assert call["exclusive_duration"] == pytest.approx(70e-9)


def test_filters_hand_children_to_the_next_call_around_them():
    run = ProfilingResults(regions(a=[(0, 100)], b=[(10, 90)], c=[(20, 80)], d=[(30, 40)]))
    assert shape(run.call_stack(exclude=["b", "c"])) == [("a", 0, None), ("d", 1, 0)]
    assert [
        (node["name"], node["depth"], node["parent_id"]) for node in run.call_graph(exclude="b")
    ] == [("a", 0, None), ("c", 1, 0), ("d", 2, 1)]
    assert shape(run.call_stack(include="nothing")) == []


def test_a_graph_has_the_recorded_ids():
    run = ProfilingResults(
        {
            "a": MPIRegion("a", {0: Region([0], [50], call_ids=[17], parent_ids=[-1])}),
            "b": MPIRegion("b", {0: Region([5], [9], call_ids=[19], parent_ids=[17])}),
        }
    )
    assert run.call_graph() == [
        {"call_id": 17, "parent_id": None, "name": "a", "call_index": 0, "depth": 0},
        {"call_id": 19, "parent_id": 17, "name": "b", "call_index": 0, "depth": 1},
    ]


def test_graph_and_stack_agree_where_ids_are_missing():
    run = ProfilingResults(regions(a=[(0, 100), (200, 300)], b=[(10, 90), (200, 300)]))
    graph = [(node["name"], node["depth"]) for node in run.call_graph()]
    assert graph == [(call["name"], call["depth"]) for call in run.call_stack()]
    assert graph == [("a", 0), ("b", 1), ("a", 0), ("b", 1)]


def test_deep_recursion_needs_no_stack_of_its_own():
    depth = 20_000
    region = Region(range(depth), range(2 * depth, depth, -1))
    arrays = build_call_arrays({"rec": MPIRegion("rec", {0: region})}, 0)
    assert arrays.depth.tolist() == list(range(depth))
    assert int(arrays.exclusive_ns.sum()) == 2 * depth
    assert int(arrays.exclusive_ns.min()) > 0


def test_recursion_adds_up_to_the_outermost_call():
    run = ProfilingResults(regions(rec=[(0, 100), (10, 90), (20, 80)]))
    stack = run.call_stack()
    assert [call["depth"] for call in stack] == [0, 1, 2]
    assert sum(call["exclusive_duration"] for call in stack) == pytest.approx(100e-9)


def test_regions_from_a_snapshot():
    snapshot = {"a": ([0], [5], None, [3], [-1]), "b": ([1], [2])}
    a, b = regions_from_snapshot(snapshot, rank=2)
    assert a[2].call_ids.tolist() == [3] and a[2].gpu_durations is None
    assert (b.name, b.ranks) == ("b", [2])
    assert exclusive_totals_ns({"a": ([0], [5]), "b": ([1], [2])}) == {"a": 4, "b": 1}


def test_a_run_of_totals_has_no_calls():
    totals = {"count": 3, "total": 90, "minimum": 10, "maximum": 50, "exclusive": 70}
    members = {"a": MPIRegion("a", {0: Region([], [], aggregate=totals)})}
    assert build_call_stack(members, 0) == []
    run = ProfilingResults(members)
    assert run.call_stack() == [] and run.call_graph() == []


def test_against_a_naive_model():
    """Random well-nested programs: the tree is that of a stack kept while generating them."""
    random = np.random.default_rng(7)
    for _ in range(20):
        spans, clock = {name: [] for name in "abcd"}, 0
        expected, stack = [], []
        for _ in range(200):
            clock += int(random.integers(1, 5))
            if stack and random.random() < 0.5:
                entry = stack.pop()
                entry["end"] = clock
                spans[entry["name"]].append((entry["start"], clock))
            else:
                entry = {"name": "abcd"[random.integers(4)], "start": clock, "depth": len(stack)}
                stack.append(entry)
                expected.append(entry)
        while stack:
            clock += 1
            entry = stack.pop()
            entry["end"] = clock
            spans[entry["name"]].append((entry["start"], clock))
        made = build_call_stack(
            regions(**{name: sorted(calls) for name, calls in spans.items()}), 0
        )
        assert [(call["name"], call["depth"]) for call in made] == [
            (entry["name"], entry["depth"]) for entry in expected
        ]
