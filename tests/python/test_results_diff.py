"""Comparing runs from Python."""

import io

import pytest
from scope_profiler.diff import (
    METRICS,
    check_files,
    check_rows,
    diff_files,
    diff_rows,
    print_diff_table,
)
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults

S = 1_000_000_000


@pytest.fixture
def runs():
    a = ProfilingResults({"work": Region([0, 10 * S], [2 * S, 14 * S]), "gone": Region([0], [S]),
                          "same": Region([0], [3 * S])})
    b = ProfilingResults({"work": Region([0, 10 * S], [2 * S, 17 * S]), "new": Region([0], [S]),
                          "same": Region([0], [3 * S])})
    return a, b


def test_rows(runs):
    assert diff_rows(*runs) == [
        {"name": "work", "a": 6.0, "b": 9.0, "delta": 3.0, "pct": 50.0},
        {"name": "gone", "a": 1.0, "b": None, "delta": -1.0, "pct": -100.0},
        {"name": "new", "a": None, "b": 1.0, "delta": 1.0, "pct": None},
        {"name": "same", "a": 3.0, "b": 3.0, "delta": 0.0, "pct": 0.0},
    ]


def test_order_and_choice(runs):
    def names(**options):
        return [row["name"] for row in diff_rows(*runs, **options)]

    assert names(sort="name") == ["gone", "new", "same", "work"]
    assert names(sort="pct") == ["gone", "work", "same", "new"]
    assert names(threshold=60) == ["gone", "new"]
    assert names(include="[nw]") == ["work", "new"]
    assert names(exclude=["g", "n"]) == ["work", "same"]
    assert names(ranks=7) == []


@pytest.mark.parametrize("metric, value", [
    ("total", 6.0), ("avg", 3.0), ("min", 2.0), ("max", 4.0), ("p50", 3.0), ("p95", 3.9),
    ("p99", 3.98), ("imbalance", 0.0), ("calls", 2.0),
])
def test_metrics(runs, metric, value):
    row = next(row for row in diff_rows(*runs, metric=metric) if row["name"] == "work")
    assert row["a"] == pytest.approx(value)
    assert metric in METRICS


def test_device_times_count_where_they_are(runs):
    a = ProfilingResults({"k": Region([0, 5], [4, 9], gpu_durations=[-1, 3 * S]), "c": Region([0], [1])})
    [row] = diff_rows(a, a, metric="gpu_total")
    assert (row["name"], row["a"]) == ("k", 3.0)
    assert [row["name"] for row in diff_rows(*runs, metric="gpu_avg")] == []


def test_budgets(runs):
    assert [row["name"] for row in check_rows(*runs)] == ["work"]
    assert check_rows(*runs, max_regression=50) == []
    assert [row["name"] for row in check_rows(*runs, 50, fail_on_new=True)] == ["new"]
    assert set(check_rows(*runs)[0]) == {"name", "a", "b", "delta", "pct"}
    with pytest.raises(ValueError, match="must not be negative"):
        check_rows(*runs, max_regression=-1)


@pytest.mark.parametrize("options", [{"metric": "speed"}, {"sort": "size"}])
def test_unknown_choices(runs, options):
    with pytest.raises(ValueError, match="choose from"):
        diff_rows(*runs, **options)


def test_files(runs, tmp_path):
    from scope_profiler import write_profile

    a = write_profile(runs[0], tmp_path / "a.json")
    b = write_profile(runs[1], tmp_path / "b.json.gz")
    out = io.StringIO()
    assert diff_files(a, b, stream=out)[0]["name"] == "work"
    assert out.getvalue().startswith(f"a: {a}\nb: {b}\nMetric: total\n╭")
    assert "Only in a: gone\nOnly in b: new\n" in out.getvalue()
    out = io.StringIO()
    assert check_files(a, b, stream=out) == 1
    assert out.getvalue().endswith("Regression check: FAIL\nBudget violations: work (+50.00%)\n")
    assert check_files(a, b, 50, stream=io.StringIO()) == 0


def test_table_of_rows(runs, capsys):
    print_diff_table(diff_rows(*runs), "before", "after")
    text = capsys.readouterr().out
    assert text.startswith("a: before\nb: after\n")
    assert "│ work   │ 6.000000 │ 9.000000 │ +3.000000 │  +50.00% │\n" in text


def test_the_same_run_twice(runs):
    assert all(row["delta"] == 0 for row in diff_rows(runs[0], runs[0]))
