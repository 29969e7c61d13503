"""Exports from Python. How the formats are read by other tools is tested with the command."""

import json
import pstats
import random

import pytest
from scope_profiler import (
    NestingError,
    export_chrome_trace,
    export_flamegraph_svg,
    export_json,
    export_prof,
    export_speedscope,
    load_prof,
    to_pstats,
)
from scope_profiler.prof_export import (
    ScopeProfile,
    build_pstats,
    build_pstats_dict,
    write_prof_file,
)
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults


def nested_run(seed, label="x"):
    """A random program: regions call each other, times are whole."""
    rng = random.Random(seed)
    calls = {name: [] for name in "abc"}

    def call(start, end, depth):
        calls[rng.choice("abc")].append((start, end))
        at = start
        while depth < 6 and rng.random() < 0.6:
            first = rng.randint(at, end)
            last = rng.randint(first, end)
            if last > first:
                call(first, last, depth + 1)
            at = last

    for i in range(5):
        call(1000 * i, 1000 * i + 900, 0)
    regions = {}
    for name, intervals in calls.items():
        intervals.sort()
        regions[name] = Region(
            [a for a, _ in intervals], [b for _, b in intervals],
            source_file="p.py" if name == "a" else None, source_lineno=3 if name == "a" else None)
    return ProfilingResults({name: {0: region} for name, region in regions.items()},
                            metadata={"label": label})


@pytest.mark.parametrize("call_paths", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_two_ways_to_sum_up_calls_agree(seed, call_paths):
    """The library walks the calls; build_pstats_dict sums up dictionaries."""
    run = nested_run(seed)
    [stats] = to_pstats(run, call_paths=call_paths).values()
    expected = build_pstats_dict(run.call_stack(), "<x rank 0>", call_paths)
    assert set(stats.stats) == set(expected)
    for key, value in expected.items():
        assert stats.stats[key][:4] == pytest.approx(value[:4], abs=1e-15)
        assert set(stats.stats[key][4]) == set(value[4])
        for caller, sums in value[4].items():
            assert stats.stats[key][4][caller] == pytest.approx(sums, abs=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_filters_leave_exclusive_times_as_they_are(seed):
    run = nested_run(seed)
    [stats] = to_pstats(run, include="[ab]", call_paths=False).values()
    expected = build_pstats_dict(run.call_stack(include="[ab]"), "<x rank 0>", False)
    assert {key: value[:4] for key, value in stats.stats.items()} == {
        key: pytest.approx(value[:4], abs=1e-15) for key, value in expected.items()}


def test_prof_files_round_trip(tmp_path):
    run = nested_run(1)
    [path] = export_prof(run, tmp_path / "deep" / "p.prof", verbose=False)
    assert path.name == "p_rank0.prof"
    assert load_prof(path).stats == to_pstats(run)["x", 0].stats
    stats = build_pstats_dict(run.call_stack(), "<x rank 0>")
    written = write_prof_file(tmp_path / "again.prof", stats)
    assert load_prof(written).stats == stats
    ScopeProfile(stats).dump_stats(tmp_path / "third.prof")
    assert pstats.Stats(str(tmp_path / "third.prof")).total_calls == sum(
        value[1] for value in stats.values())


def test_no_calls_make_no_statistics():
    assert build_pstats_dict([]) == {}
    assert build_pstats([]).stats == {}


def test_load_prof_refuses_other_files(tmp_path):
    (tmp_path / "x.prof").write_bytes(b"hello")
    with pytest.raises(ValueError, match="holds no statistics of cProfile"):
        load_prof(tmp_path / "x.prof")
    with pytest.raises(FileNotFoundError):
        load_prof(tmp_path / "missing.prof")


@pytest.mark.parametrize("arguments, text", [
    ({"include": "nothing"}, "No regions matched the selected filters."),
    ({"ranks": [3]}, "Invalid rank requested: 3"),
    ({"ranks": -1}, "Invalid rank requested: -1"),
])
def test_wrong_choices(tmp_path, arguments, text):
    for export in (export_prof, export_flamegraph_svg):
        with pytest.raises(ValueError, match=text.replace(".", r"\.")):
            export(nested_run(0), tmp_path / "x", verbose=False, **arguments)
    with pytest.raises(ValueError, match=text.replace(".", r"\.")):
        to_pstats(nested_run(0), **arguments)


def test_a_run_without_calls(tmp_path):
    run = ProfilingResults({}, num_ranks=1)
    with pytest.raises(ValueError, match="No calls recorded for the requested ranks"):
        export_prof(run, tmp_path / "x.prof")
    for export in (export_speedscope, export_chrome_trace, export_json):
        [path] = export(run, tmp_path / "x.json", verbose=False)
        json.loads(path.read_text())


def test_names_of_several_runs(tmp_path, capsys):
    runs = [nested_run(1, "first run"), nested_run(2, "second/run"), nested_run(3, "first run")]
    names = [path.name for path in export_speedscope(runs, tmp_path / "p.speedscope.json")]
    assert names == ["p_first_run.speedscope.json", "p_second_run.speedscope.json",
                     "p_first_run_2.speedscope.json"]
    assert capsys.readouterr().out.splitlines()[0] == f"wrote {tmp_path / names[0]}"
    names = [path.name for path in export_chrome_trace(runs, tmp_path / "p.trace.json", verbose=False)]
    assert names[0] == "p_first_run.trace.json"
    names = [path.name for path in export_prof(runs, tmp_path / "p.prof", verbose=False)]
    assert names[2] == "p_first_run_2_rank0.prof"
    assert list(to_pstats(runs)) == [("first run", 0), ("second/run", 0), ("first run_2", 0)]
    assert capsys.readouterr().out == ""


def test_other_ranks_export_nothing(tmp_path):
    run = nested_run(1)
    run.is_root = False
    for export in (export_prof, export_speedscope, export_chrome_trace, export_flamegraph_svg):
        assert export(run, tmp_path / "x") == []
    assert to_pstats(run) == {}
    assert list(tmp_path.iterdir()) == []


def test_a_label_set_later_counts(tmp_path):
    run = nested_run(1)
    run.label = "renamed"
    [path] = export_speedscope(run, tmp_path / "x.speedscope.json", verbose=False)
    assert json.loads(path.read_text())["name"] == "renamed"
    assert list(to_pstats(run)) == [("renamed", 0)]


def test_metadata_and_lanes_of_calls_reach_the_trace(tmp_path):
    run = ProfilingResults({"a": Region(
        [0, 10], [5, 20], call_ids=[0, 1], parent_ids=[-1, -1], gpu_durations=[-1, 3],
        await_times=[0, 2], event_metadata=[{}, {"n": [1, "two"]}])})
    [path] = export_chrome_trace(run, tmp_path / "x.trace.json", verbose=False)
    first, second = (e["args"] for e in json.loads(path.read_text())["traceEvents"] if e["ph"] == "X")
    assert first == {"rank": 0, "call_index": 0, "duration_s": 5e-9, "call_id": 0, "parent_id": -1,
                     "await_duration": 0.0}
    assert second == {"rank": 0, "call_index": 1, "duration_s": 1e-8, "call_id": 1, "parent_id": -1,
                      "gpu_duration": 3e-9, "await_duration": 2e-9, "metadata": {"n": [1, "two"]}}


def test_calls_that_cross(tmp_path):
    run = ProfilingResults({"a": Region([0], [100]), "b": Region([50], [150])})
    with pytest.raises(NestingError):
        export_prof(run, tmp_path / "x.prof")
    assert list(tmp_path.iterdir()) == []
    [path] = export_speedscope(run, tmp_path / "x.json", verbose=False)
    [profile] = json.loads(path.read_text())["profiles"]
    assert [(e["type"], e["frame"], round(e["at"] * 1e9)) for e in profile["events"]] == [
        ("O", 0, 0), ("O", 1, 50), ("C", 1, 100), ("C", 0, 100), ("O", 1, 100), ("C", 1, 150)]
