"""The summary table as Python users see it."""

import io

import pytest
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults
from scope_profiler.summary import (
    format_region_table,
    gpu_timing_warnings,
    normalize_region_table_columns,
    print_region_table,
    region_row,
    region_rows,
)

S = 1_000_000_000


@pytest.fixture
def run():
    return ProfilingResults(
        {
            "scope_profiler.session": Region([0], [10 * S]),
            "work": Region([1 * S], [9 * S]),
            "leaf": Region([2 * S, 5 * S], [3 * S, 7 * S]),
        },
        metadata={"label": "demo"},
        file_path="out/run.h5",
    )


def printed(run, **options):
    stream = io.StringIO()
    run.print_summary(stream=stream, **options)
    return stream.getvalue()


TABLE = """\
  ╭────────────────────────────────────────────────────────╮
  │ region                    % session      total [s]     │
  ├────────────────────────────────────────────────────────┤
  │ scope_profiler.session    100.00%        10.000000     │
  │ └─ (own)                     20.00%         2.000000   │
  │ └─ work                      80.00%         8.000000   │
  │ │ └─ (own)                     50.00%         5.000000 │
  │ │ └─ leaf (2x)                 30.00%         3.000000 │
  ╰────────────────────────────────────────────────────────╯

"""


def test_the_table(run):
    assert printed(run, suppress_notes=True) == TABLE


def test_the_box_below_names_run_and_commands(run):
    text = printed(run)
    assert text.startswith(TABLE[:-1])
    assert "Summary: demo - out/run.h5 (1 rank(s))" in text
    assert "scope-profiler inspect out/run.h5" in text
    assert "Summary: mine" in printed(run, title="mine")
    assert "\x1b" not in text


def test_colors_on_a_terminal_only(run):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    run.print_summary(stream=stream, suppress_notes=True)
    assert "\x1b[1;36m" in stream.getvalue()


def test_standard_output_is_the_default(run, capsys):
    run.print_summary(suppress_notes=True)
    assert capsys.readouterr().out == TABLE


def test_a_stream_that_lacks_the_characters(run):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    run.print_summary(stream=stream)
    stream.flush()
    assert b"scope_profiler.session" in raw.getvalue()


def test_filters_are_regular_expressions_of_python(run):
    text = printed(run, include=r"le(?=af)", columns=["name", "calls"], suppress_notes=True)
    assert "leaf" in text and "work" not in text
    assert "no regions recorded" in printed(run, include="nothing")
    with pytest.raises(ValueError, match="'bogus'"):
        printed(run, sort="bogus")


def test_rows_of_call_paths(run):
    rows = region_rows(run)
    assert [(row["call_path"], row["depth"]) for row in rows] == [
        ("scope_profiler.session", 0),
        ("scope_profiler.session > work", 1),
        ("scope_profiler.session > work > leaf", 2),
    ]
    leaf = rows[2]
    assert set(leaf) == {
        "name", "call_path", "num_ranks", "calls", "total", "coverage", "exclusive", "avg", "min",
        "max", "first", "last", "std", "p50", "p95", "p99", "imbalance", "depth", "recursive",
        "start", "parent_coverage",
    }  # fmt: skip
    assert (leaf["calls"], leaf["total"], leaf["exclusive"]) == (2, 3.0, 3.0)
    assert (leaf["p50"], leaf["p95"]) == (1.5, pytest.approx(1.95))
    assert leaf["parent_coverage"] == 8.0 and leaf["recursive"] is False


def test_recursion_counts_overlapping_time_once():
    run = ProfilingResults({"rec": Region([0, 1 * S, 2 * S], [10 * S, 9 * S, 3 * S])})
    (row,) = region_rows(run)
    assert row["recursive"] and row["calls"] == 3
    assert row["total"] == row["coverage"] == row["exclusive"] == 10.0
    assert row["avg"] == pytest.approx(19 / 3) and (row["first"], row["last"]) == (10.0, 10.0)
    alone = region_row(run["rec"], include_exclusive=True)
    assert (alone["total"], alone["coverage"], alone["exclusive"]) == (19.0, 10.0, 10.0)
    assert "rec ↻ (3x)" in printed(run, suppress_notes=True)


def test_rows_of_calls_that_do_not_nest():
    run = ProfilingResults({"a": Region([0], [10]), "b": Region([5], [20])})
    assert [(row["name"], row["depth"]) for row in region_rows(run)] == [("a", 0), ("b", 0)]


def test_sorting(run):
    names = {
        key: [row["name"] for row in region_rows(run, sort=key)]
        for key in ("total", "calls", "name")
    }
    assert names["total"] == ["scope_profiler.session", "work", "leaf"]
    assert names["calls"][0] == "leaf"
    assert names["name"] == ["leaf", "scope_profiler.session", "work"]


def test_no_number_is_nan():
    run = ProfilingResults(
        {"never": Region([], []), "once": Region([0], [5])}, metadata={"mpi_size": 1}
    )
    text = printed(run, columns=["region", "calls", "avg", "min", "std", "p50", "p99", "imbalance"])
    assert "nan" not in text.lower() and "inf " not in text.lower()
    for row in region_rows(run):
        assert all(value == value for value in row.values())


def test_columns():
    assert normalize_region_table_columns(["name", "calls"]) == ("region", "calls")
    assert normalize_region_table_columns("total") == ("total",)
    assert normalize_region_table_columns(None) is None
    with pytest.raises(ValueError, match=r"Unknown region summary column\(s\).*'bogus'.*region"):
        normalize_region_table_columns(["bogus"])
    with pytest.raises(ValueError, match="At least one region summary column must be selected."):
        normalize_region_table_columns([])


def test_percentage_modes(run):
    text = printed(run, percentage_mode="exclusive", suppress_notes=True)
    work = next(line for line in text.splitlines() if "─ work" in line)
    assert "50.00%" in work
    with pytest.raises(ValueError, match="percentage_mode must be 'coverage' or 'exclusive'"):
        printed(run, percentage_mode="both")


def test_a_row_of_one_region():
    region = MPIRegion("r", {0: Region([0], [4 * S]), 1: Region([0], [2 * S])})
    row = region_row(region)
    assert (row["calls"], row["total"], row["num_ranks"]) == (2, 6.0, 2)
    assert row["imbalance"] == pytest.approx(100 * (4 / 3 - 1)) and row["exclusive"] is None
    assert region_row(region, ranks=1, include_exclusive=True)["exclusive"] == 2.0


def test_rows_may_be_changed_and_printed(run):
    rows = region_rows(run)
    stream = io.StringIO()
    print_region_table(rows, stream=stream, suppress_notes=True)
    assert stream.getvalue() == TABLE
    stream = io.StringIO()
    print_region_table(rows[1:2], stream=stream, total_time=16.0, title="part", columns="percent")
    assert "50.00%" in stream.getvalue() and "Summary: part" in stream.getvalue()
    keys, lines = format_region_table(rows, ["region", "calls"])
    assert keys == [("region", "region"), ("calls", "n")]
    assert lines[-1] == ["│ └─ leaf", "2"]
    for bad in ([1], [{}], [{"name": 3}]):
        with pytest.raises((TypeError, ValueError)):
            print_region_table(bad, stream=stream)


def test_device_time_beyond_host_time_is_a_warning():
    run = ProfilingResults({"kernel": Region([0], [5], gpu_durations=[50])})
    rows = region_rows(run)
    assert rows[0]["gpu_total"] == pytest.approx(50e-9)
    (text,) = gpu_timing_warnings(rows)
    assert "asynchronous GPU work" in text and "kernel" in text
    assert "gpu total [s]" in printed(run)
    assert gpu_timing_warnings(region_rows(ProfilingResults({"a": Region([0], [1])}))) == []
