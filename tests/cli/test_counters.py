"""Counters in `inspect`: the tables that the release which wrote the file prints for it."""

import json
from pathlib import Path

RECORDS = Path(__file__).resolve().parents[1] / "format" / "data" / "hdf5-records.h5"

LIKWID = """\
LIKWID counters (rank 0, group FLOPS_DP)
  ╭─────────────┬────────────────────┬────────────────────╮
  │ counter     │ solve/inner@cpu0   │ solve/inner@cpu1   │
  ├─────────────┼────────────────────┼────────────────────┤
  │ call count  │ 3                  │ 4                  │
  │ runtime [s] │ 1.5                │ 2.5                │
  ╰─────────────┴────────────────────┴────────────────────╯
  Events
  ╭───────────┬────────────────────┬────────────────────╮
  │ counter   │ solve/inner@cpu0   │ solve/inner@cpu1   │
  ├───────────┼────────────────────┼────────────────────┤
  │ INSTR     │ 10                 │ 20                 │
  │ CYC       │ 30.5               │ 40                 │
  ╰───────────┴────────────────────┴────────────────────╯
  Metrics
  ╭─────────────┬────────────────────┬────────────────────╮
  │ counter     │ solve/inner@cpu0   │ solve/inner@cpu1   │
  ├─────────────┼────────────────────┼────────────────────┤
  │ Runtime [s] │ 1                  │ 2                  │
  │ CPI         │ 3                  │ 4                  │
  │ nanm        │ nan                │ 5                  │
  ╰─────────────┴────────────────────┴────────────────────╯
"""
PERF = """\
Perf events (rank 1)
  ╭──────────┬─────────┬──────────┬────────────────╮
  │ region   │ calls   │ cycles   │ instructions   │
  ├──────────┼─────────┼──────────┼────────────────┤
  │ solve    │ 3       │ 1000     │ 9.22337e+18    │
  ╰──────────┴─────────┴──────────┴────────────────╯
"""


def test_tables_of_all_ranks(command):
    done = command("inspect", RECORDS)
    assert (done.code, done.err) == (0, "")
    assert LIKWID in done.out and PERF in done.out and PERF.replace("1)", "0)") in done.out


def test_only_of_the_ranks_asked_for(command):
    done = command("inspect", RECORDS, "-r", "1")
    assert "LIKWID" not in done.out and PERF in done.out and "(rank 0)" not in done.out


def test_not_without_the_regions(command):
    assert "Perf events" not in command("inspect", RECORDS, "--metadata-only").out


def test_converted_profiles_show_the_same(command):
    assert command("convert", RECORDS, "-o", "again.h5", "-q").code == 0
    done = command("inspect", "again.h5")
    assert LIKWID in done.out and PERF in done.out
    assert command("convert", RECORDS, "-o", "again.json", "-q").code == 0
    assert LIKWID in command("inspect", "again.json").out


def test_records_of_a_wrong_form_show_what_fits(command):
    for likwid in ("[]", "7", '{"0": []}', '{"0": {"a": 1}}', '{"x": {}}', '{"0": {"a": {"cpus": [0]}}}',
                   '{"0": {"a": {"cpus": [0], "event_names": ["E"], "events": 3, "times": "x"}}}'):
        path = command.folder / "odd.json"
        path.write_text('{"format": "scope-profiler-profile", "format_version": 1, "num_ranks": 1, '
                        f'"regions": [], "likwid": {likwid}}}')
        done = command("inspect", path)
        assert done.code in (0, 3), (likwid, done.err)
    assert "nan" in done.out


def test_very_many_columns_are_cut_and_said(command):
    path = command.folder / "many.json"
    cpus = list(range(500))
    path.write_text('{"format": "scope-profiler-profile", "format_version": 1, "num_ranks": 1, '
                    f'"regions": [], "likwid": {{"0": {{"a": {{"cpus": {cpus}, "times": {cpus}}}}}}}}}')
    done = command("inspect", path)
    assert done.code == 0 and "(the first 128 columns of rank 0; a JSON export has all)" in done.out


DERIVED = """\
  Derived
  ╭──────────┬───────┬─────────────────╮
  │ region   │ IPC   │ branch miss %   │
  ├──────────┼───────┼─────────────────┤
  │ a        │ 2.5   │ 2               │
  │ b        │ nan   │ nan             │
  ╰──────────┴───────┴─────────────────╯
  estimates: there were more events than counters, which took turns
"""


def test_derived_rates_and_estimates(command):
    """What two events say together is a table of its own; what never had its turn is not 0."""
    assert command("convert", RECORDS, "-o", "run.json", "-q").code == 0
    path = command.folder / "run.json"
    run = json.loads(path.read_text())
    first = {"cycles": 400, "instructions": 1000, "branches": 50, "branch-misses": 1}
    run["perf_events"] = {"0": {
        "a": {"calls": 2, "values": first, "is_scaled": True},
        "b": {"calls": 1, "values": {"instructions": 7, "cycles": 0}},
    }}  # fmt: skip
    path.write_text(json.dumps(run))
    done = command("inspect", "run.json")
    assert (done.code, done.err) == (0, "")
    assert DERIVED in done.out
    assert "│ b        │ 1       │ 0        │ 7              │ nan        │ nan             │" in done.out
