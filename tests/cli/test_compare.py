"""`scope-profiler diff` and `check`."""

import json
import xml.etree.ElementTree as xml

import pytest

from profile_file import write_profile


def profile(folder, name, **lengths):
    """A run in which each region is one call of that many seconds, one after the other."""
    calls, at = {}, 1.0
    for region, length in lengths.items():
        calls[region] = [(at, at + length)]
        at += length
    return write_profile(folder / name, metadata={"mpi_size": 1}, regions=list(lengths),
                         calls={0: calls})


@pytest.fixture
def pair(tmp_path):
    profile(tmp_path, "a.h5", work=8.0, leaf=3.0, old=1.0)
    profile(tmp_path, "b.h5", work=10.0, leaf=3.0, new=0.5)


@pytest.fixture
def groups(tmp_path):
    """Five runs a side; `work` takes a quarter longer in the second."""
    for i, noise in enumerate((0.99, 1.01, 1.0, 1.005, 0.995)):
        profile(tmp_path, f"base{i}.h5", work=8.0 * noise, leaf=1.0 + i * 1e-3)
        profile(tmp_path, f"cand{i}.h5", work=10.0 * noise, leaf=1.0 + (4 - i) * 1e-3)


def test_diff(command, pair):
    result = command("diff", "a.h5", "b.h5")
    assert (result.code, result.err) == (0, "")
    assert result.out == """\
a: a.h5
b: b.h5
Metric: total
╭────────┬──────────┬───────────┬───────────┬──────────╮
│ region │    a [s] │     b [s] │ delta [s] │   change │
├────────┼──────────┼───────────┼───────────┼──────────┤
│ work   │ 8.000000 │ 10.000000 │ +2.000000 │  +25.00% │
│ old    │ 1.000000 │         - │ -1.000000 │ -100.00% │
│ new    │        - │  0.500000 │ +0.500000 │        - │
│ leaf   │ 3.000000 │  3.000000 │  0.000000 │   +0.00% │
╰────────┴──────────┴───────────┴───────────┴──────────╯
Only in a: old
Only in b: new
"""


def test_diff_of_chosen_regions_and_order(command, pair):
    result = command("diff", "a.h5", "b.h5", "--metric", "calls", "--sort", "name", "--exclude", "old")
    assert result.out == """\
a: a.h5
b: b.h5
Metric: calls
╭────────┬───┬───┬───────┬────────╮
│ region │ a │ b │ delta │ change │
├────────┼───┼───┼───────┼────────┤
│ leaf   │ 1 │ 1 │     0 │ +0.00% │
│ new    │ - │ 1 │    +1 │      - │
│ work   │ 1 │ 1 │     0 │ +0.00% │
╰────────┴───┴───┴───────┴────────╯
Only in b: new
"""


def test_threshold_leaves_out_small_changes_only(command, pair):
    result = command("diff", "a.h5", "b.h5", "--threshold", "30%", "--json")
    assert [row["name"] for row in json.loads(result.out)["regions"]] == ["old", "new"]


def test_same_profile(command, pair):
    result = command("diff", "a.h5", "a.h5", "--include", "nothing")
    assert result.out == "a: a.h5\nb: a.h5\nMetric: total\n(no regions)\n"


def test_json_and_hdf5_mixed(command, pair):
    assert command("export", "json", "a.h5", "--gzip").code == 0
    result = command("check", "a.h5", "profile.json.gz")
    assert result.code == 0
    assert "Regression check: PASS\n" in result.out


@pytest.mark.parametrize("words, code, verdict", [
    ([], 1, "Regression check: FAIL\nBudget violations: work (+25.00%)\n"),
    (["--max-regression", "25"], 0, "Regression check: PASS\n"),
    (["--max-regression", "24.9"], 1,
     "Regression check: FAIL\nBudget violations: work (+25.00%)\n"),
    (["--max-regression", "25", "--fail-on-new"], 1,
     "Regression check: FAIL\nBudget violations: new (new region)\n"),
    (["--include", "leaf"], 0, "Regression check: PASS\n"),
    (["--metric", "calls"], 0, "Regression check: PASS\n"),
])
def test_check(command, pair, words, code, verdict):
    result = command("check", "a.h5", "b.h5", *words)
    assert (result.code, result.err) == (code, "")
    assert result.out.startswith("Baseline:  a.h5\nCandidate: b.h5\nRegression budget: +")
    assert result.out.endswith(verdict)


def test_check_of_ranks(command, tmp_path):
    for name, slow in (("a.h5", 4.0), ("b.h5", 6.0)):
        write_profile(tmp_path / name, metadata={"mpi_size": 2}, regions=["w"],
                      calls={0: {"w": [(0, 4.0)]}, 1: {"w": [(0, slow)]}})
    values = {}
    for how in ("pooled", "max", "mean", "min", "sum"):
        [row] = json.loads(command("diff", "a.h5", "b.h5", "--reduce", how, "--json").out)["regions"]
        values[how] = (row["a"], row["b"])
    assert values == {"pooled": (8.0, 10.0), "max": (4.0, 6.0), "mean": (4.0, 5.0), "min": (4.0, 4.0),
                      "sum": (8.0, 10.0)}
    [row] = json.loads(command("diff", "a.h5", "b.h5", "--metric", "imbalance", "--json").out)["regions"]
    assert (row["a"], row["b"]) == (0.0, pytest.approx(20.0))
    assert command("check", "a.h5", "b.h5", "--ranks", "0").code == 0


# ---- several runs a side ---------------------------------------------------------------------


def test_slower_runs_fail(command, groups):
    result = command("check", "base*.h5", "--repeats", "--max-regression", "5", "--", "cand*.h5")
    assert result.code == 1
    assert "Budget violations: run total (+22." in result.out
    assert "p = 0.004)" in result.out
    assert "Slower regions: work (+25." in result.out
    assert "5 runs against 5:" in result.out


def test_noise_passes(command, groups, tmp_path):
    for i in range(5):
        (tmp_path / f"base{i}.h5").rename(tmp_path / f"x{i}.h5")
    result = command("check", "x0.h5", "x1.h5", "x4.h5", "--", "x1.h5", "x2.h5", "x3.h5", "x4.h5")
    assert result.code == 0
    assert "Regression check: PASS\n" in result.out


def test_a_budget_larger_than_the_change_passes(command, groups):
    assert command("check", "base*.h5", "--max-regression", "30", "--", "cand*.h5").code == 0


def test_machine_forms_agree(command, groups):
    result = command("check", "base*.h5", "--json", "--junit", "out.xml", "--", "cand*.h5")
    assert result.code == 1
    document = json.loads(result.out)
    assert (document["runs_a"], document["runs_b"], document["passed"]) == (5, 5, False)
    assert document["run_total"]["p_value"] == pytest.approx(1 / 252)
    work = next(row for row in document["regions"] if row["name"] == "work")
    assert work["a"] == 8.0 and work["b"] == 10.0
    assert work["low"] < 25 < work["high"] and work["confidence"] == pytest.approx(1 - 8 / 252)
    assert work["false_discovery_rate"] == pytest.approx(2 / 252)
    suite = xml.parse(command.folder / "out.xml").getroot()
    assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "3", "1")
    assert [case.get("name") for case in suite if case.find("failure") is not None] == ["run total"]


def test_junit_of_one_run_a_side(command, pair):
    assert command("check", "a.h5", "b.h5", "--fail-on-new", "--junit", "out.xml").code == 1
    suite = xml.parse(command.folder / "out.xml").getroot()
    failed = {case.get("name"): case.find("failure").get("message")
              for case in suite if case.find("failure") is not None}
    assert failed == {"work": "work (+25.00%), budget +0%", "new": "new (new region), budget +0%"}


def test_markdown(command, tmp_path):
    profile(tmp_path, "a.h5", **{"a|b`c": 1.0})
    profile(tmp_path, "b.h5", **{"a|b`c": 2.0})
    result = command("check", "a.h5", "b.h5", "--markdown")
    assert result.out == (
        "**Regression check: FAIL** (budget +0%, total)\n\n"
        "| region | a [s] | b [s] | delta [s] | change |\n"
        "| :--- | ---: | ---: | ---: | ---: |\n"
        "| `a\\|b'c` :warning: | 1.000000 | 2.000000 | +1.000000 | +100.00% |\n")


# ---- errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize("words, code, text", [
    (["diff", "a.h5"], 2, "the following arguments are required: A B | A... -- B..."),
    (["diff", "a.h5", "b.h5", "a.h5"], 2, "give two profiles, or several a side with -- between them"),
    (["diff", "a.h5", "b.h5", "--", "a.h5"], 2, "cannot compare 2 with 1 run(s)"),
    (["check", "a.h5", "--repeats", "--", "b.h5"], 2, "needs 3 or more profiles a side, got 1 and 1"),
    (["check", "a.h5", "b.h5", "--max-regression", "-1"], 2, "is not a percentage of 0 or more"),
    (["diff", "a.h5", "b.h5", "--metric", "speed"], 2, "argument --metric: invalid choice: 'speed'"),
    (["diff", "a.h5", "b.h5", "--include", "("], 2, "'('"),
    (["diff", "a.h5", "missing.h5"], 1, "missing.h5"),
    (["diff", "nothing*.h5", "--", "b.h5"], 1, "No files matched pattern 'nothing*.h5'"),
    (["check", "a.h5", "b.h5", "--max-regression", "99", "--junit", "no/such/x.xml"], 1, "no/such/x.xml"),
])
def test_errors(command, pair, words, code, text):
    result = command(*words)
    assert (result.code, text in result.err) == (code, True), result.err


def test_a_bad_file(command, pair, tmp_path):
    (tmp_path / "bad.h5").write_text("hello")
    assert command("check", "a.h5", "bad.h5").code == 3
