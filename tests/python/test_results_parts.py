"""Parts of runs and reductions over ranks, against the same worked out naively in Python."""

import random

import pytest
import scope_profiler
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.region import EventDataUnavailableError, Region
from scope_profiler.results import ProfilingResults


def grow(rng, start, end, depth, names, calls, parent=-1):
    """Random nested calls as (name, start, end, id, parent)."""
    at = start
    while at < end and len(calls) < 400:
        begin = at + rng.randrange(1, 9)
        stop = begin + rng.randrange(0, max(1, (end - start) // 2) + 1)
        if stop > end:
            return
        number = len(calls)
        calls.append((rng.choice(names), begin, stop, number, parent))
        if depth < 5:
            grow(rng, begin, stop, depth + 1, names, calls, number)
        at = stop


def make(seed, with_ids):
    rng = random.Random(seed)
    per_rank = {}
    for rank in range(2):
        calls = [("main", 0, 5000, 0, -1)]
        grow(rng, 0, 5000, 1, ["step", "load", "save", "main"], calls, 0)
        per_rank[rank] = calls
    regions = {}
    for name in ("main", "step", "load", "save"):
        parts = {}
        for rank, calls in per_rank.items():
            rows = sorted((c for c in calls if c[0] == name), key=lambda c: (c[1], c[3]))
            if not rows:
                continue
            ids = {"call_ids": [c[3] for c in rows], "parent_ids": [c[4] for c in rows]}
            parts[rank] = Region([c[1] for c in rows], [c[2] for c in rows],
                                 event_metadata=[{"id": c[3]} for c in rows],
                                 **(ids if with_ids else {}))
        regions[name] = MPIRegion(name, parts)
    return ProfilingResults(regions), per_rank


def ids_of(results, rank):
    """Which calls are there, told by their metadata, with their times."""
    found = {}
    for region in results:
        if rank not in region:
            continue
        part = region[rank]
        starts, ends = part.start_times_ns.tolist(), part.end_times_ns.tolist()
        for metadata, start, end in zip(part.event_metadata, starts, ends):
            found[metadata["id"]] = (start, end)
    return found


def drop_first(calls, limits, spare):
    """Calls left when the first ones of each region go with all that is inside them."""
    counts, gone = {}, set()
    order = sorted(calls, key=lambda c: c[3])  # ids are in order of starts, parents first
    totals = {name: sum(c[0] == name for c in calls) for name in limits}
    for name, _, _, number, parent in order:
        limit = limits.get(name, 0)
        if spare and totals.get(name, 0) <= limit:
            limit = 0
        counts[name] = counts.get(name, 0) + 1
        if counts[name] <= limit or parent in gone:
            gone.add(number)
    return {c[3]: (c[1], c[2]) for c in calls if c[3] not in gone}


@pytest.mark.parametrize("seed", range(12))
def test_first_calls_are_those_of_a_naive_count(seed):
    results, per_rank = make(seed, with_ids=True)
    everywhere = results.narrowed(skip_calls=2)
    named = results.narrowed(skip_calls={"step": 3, "load": 500})
    for rank, calls in per_rank.items():
        names = {c[0] for c in calls}
        assert ids_of(everywhere, rank) == drop_first(calls, dict.fromkeys(names, 2), True)
        assert ids_of(named, rank) == drop_first(calls, {"step": 3, "load": 500}, False)


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_a_window_keeps_and_cuts_what_overlaps_it(seed, with_ids):
    results, per_rank = make(seed, with_ids)
    low, high = 700, 2900
    part = results.narrowed(start=low * 1e-9, end=high * 1e-9)
    for rank, calls in per_rank.items():
        wanted = {number: (max(a, low), min(b, high)) for _, a, b, number, _ in calls
                  if a < high and (b > low or a == b >= low)}
        assert ids_of(part, rank) == wanted
    for region in part:
        for rank in region.ranks:
            lengths = [end - start for start, end in zip(region[rank].start_times_ns.tolist(),
                                                         region[rank].end_times_ns.tolist())]
            assert region[rank].num_calls == len(lengths)
            assert round(region[rank].total_duration * 1e9) == sum(lengths)


def test_the_part_of_a_file_reads_through_the_file(tmp_path):
    results, per_rank = make(3, with_ids=True)
    scope_profiler.write_profile(results, tmp_path / "whole.h5")
    whole = scope_profiler.read_h5(tmp_path / "whole.h5")
    part = whole.narrowed(skip_calls={"step": 1})
    del whole
    assert ids_of(part, 0) == drop_first(per_rank[0], {"step": 1}, False) != {}
    scope_profiler.write_profile(part, tmp_path / "part.h5")
    assert ids_of(scope_profiler.read_h5(tmp_path / "part.h5"), 0) == ids_of(part, 0)
    left = [call for call in per_rank[0] if call[3] in ids_of(part, 0)]
    assert ids_of(part.narrowed(skip_calls={"step": 1}), 0) == drop_first(left, {"step": 1}, False)


def test_more_calls_than_a_block():
    starts = list(range(0, 100_000, 10))
    run = ProfilingResults({"x": MPIRegion("x", {0: Region(starts, [s + 5 for s in starts])})})
    part = run.narrowed(skip_calls=4097)
    assert part["x"].num_calls == 10_000 - 4097
    assert part["x"][0].start_times_ns.tolist() == starts[4097:]
    cut = run.narrowed(start=50_003e-9, end=50_052e-9)["x"][0]
    assert list(zip(cut.start_times_ns.tolist(), cut.end_times_ns.tolist())) == [
        (50_003, 50_005), (50_010, 50_015), (50_020, 50_025), (50_030, 50_035), (50_040, 50_045),
        (50_050, 50_052)]


def test_statistics_of_what_is_whole_stay_as_stored():
    run = ProfilingResults({"x": MPIRegion("x", {0: Region([0, 10], [5, 20])}),
                            "y": MPIRegion("y", {0: Region([30], [40])})})
    part = run.narrowed(skip_calls={"x": 1})
    assert (part["x"].num_calls, part["x"].total_duration) == (1, 1e-8)
    assert (part["y"].num_calls, part["y"].total_duration) == (1, 1e-8)
    assert run["x"].num_calls == 2  # the whole run is as it was


def test_crossing_calls_lose_only_themselves():
    run = ProfilingResults({"a": MPIRegion("a", {0: Region([0, 50], [20, 60])}),
                            "b": MPIRegion("b", {0: Region([10, 70], [30, 80])})})
    part = run.narrowed(skip_calls={"a": 1})
    assert part["a"][0].start_times_ns.tolist() == [50]
    assert part["b"][0].start_times_ns.tolist() == [10, 70]


@pytest.mark.parametrize("arguments, text", [
    ({"skip_calls": -1}, "must not be negative"), ({"skip_calls": {"x": -2}}, "must not be negative"),
    ({"skip_calls": {"no": 1}}, "there is no region 'no'"), ({"warmup": "no"}, "no region 'no'"),
    ({"start": -1.0}, "0 or more"), ({"start": 2.0, "end": 1.0}, "behind start"),
    ({"start": float("nan")}, "0 or more")])
def test_wrong_choices_are_named(arguments, text):
    run = ProfilingResults({"x": MPIRegion("x", {0: Region([0], [5])})})
    with pytest.raises(ValueError, match=text):
        run.narrowed(**arguments)


def test_runs_without_calls_have_no_parts(tmp_path):
    run = ProfilingResults({"x": MPIRegion("x", {0: Region([0], [5])})})
    scope_profiler.write_profile(run, tmp_path / "x.h5")
    with pytest.raises(EventDataUnavailableError):
        scope_profiler.read_h5_summary(tmp_path / "x.h5").narrowed(skip_calls=1)


# ---- Reductions ------------------------------------------------------------------------------


@pytest.fixture
def uneven():
    """x takes 10 + 30 ns on rank 0, 20 ns on rank 1; y is on rank 1 alone; rank 2 has no call."""
    return ProfilingResults({
        "x": MPIRegion("x", {0: Region([0, 100], [10, 130]), 1: Region([0], [20]),
                             2: Region([], [])}),
        "y": MPIRegion("y", {1: Region([50], [57])})})


@pytest.mark.parametrize("how, total, calls, longest", [
    ("max", 40, 2, 30), ("min", 20, 1, 20), ("mean", 30, 1.5, 25), ("sum", 60, 3, 50)])
def test_a_region_is_reduced_over_the_ranks_with_calls(uneven, how, total, calls, longest):
    summary = uneven["x"].reduced(how)
    assert (summary["name"], summary["num_ranks"], summary["num_calls"]) == ("x", 2, calls)
    assert summary["total_duration"] == pytest.approx(total * 1e-9)
    assert summary["max_duration"] == pytest.approx(longest * 1e-9)
    assert uneven["y"].reduced(how)["total_duration"] == pytest.approx(7e-9)


def test_pooled_is_the_summary_and_others_are_named(uneven):
    assert uneven["x"].reduced("pooled") == uneven["x"].get_summary()
    with pytest.raises(ValueError, match="choose from pooled, max, mean, min, sum"):
        uneven["x"].reduced("median")


def test_summary_rows_and_table_are_reduced(uneven, capsys):
    from scope_profiler.summary import region_rows

    rows = {row["name"]: row for row in region_rows(uneven, reduction="max")}
    assert (rows["x"]["calls"], round(rows["x"]["total"] * 1e9)) == (2, 40)
    assert rows["x"]["num_ranks"] == 2 and round(rows["y"]["total"] * 1e9) == 7
    uneven.print_summary(reduction="max")
    assert "Each number is the largest of the ranks" in " ".join(capsys.readouterr().out.split())
    with pytest.raises(ValueError, match="choose from pooled"):
        uneven.print_summary(reduction="median")


def test_comparisons_are_reduced(uneven):
    from scope_profiler.diff import diff_rows

    rows = {row["name"]: row for row in diff_rows(uneven, uneven, reduction="mean")}
    assert rows["x"]["a"] == pytest.approx(30e-9)
