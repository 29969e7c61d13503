"""Warm-up and windows of time left out, and ranks reduced, in every command that reads profiles."""

import csv
import json

import pytest

from profile_file import write_profile


@pytest.fixture
def steps(tmp_path):
    """main 0-100 s on rank 0 (0-60 on rank 1); in it step 10-20, 30-34, 50-52 (and on rank 0 70-71),
    and in each step load, a second long; a mark that ends at 40 s on rank 0."""
    steps = [(10, 20), (30, 34), (50, 52), (70, 71)]
    loads = [(11, 12), (31, 32), (50.5, 51.5), (70, 71)]
    return write_profile(
        tmp_path / "steps.h5", metadata={"mpi_size": 2}, regions=["main", "step", "load", "mark"],
        calls={0: {"main": [(0, 100)], "step": steps, "load": loads, "mark": [(39, 40)]},
               1: {"main": [(0, 60)], "step": steps[:3], "load": loads[:3]}})


def summary(command, *words):
    done = command("inspect", "--json", *words)
    assert (done.code, done.err) == (0, "")
    [run] = json.loads(done.out)["files"]
    return {row["call_path"]: row for row in run["regions"]}


def totals(rows, *names):
    return {path: (row["calls"], row["total"]) for path, row in rows.items() if row["calls"]}


# ---- Warm-up ---------------------------------------------------------------------------------


def test_the_first_calls_go_with_what_is_inside_them(command, steps):
    rows = summary(command, steps, "-r", "0", "--skip-calls", "1")
    # One call each of step (10-20) and, inside it, load; main and mark have no more than one.
    assert totals(rows) == {
        "main": (1, 100), "main > step": (3, 7), "main > step > load": (3, 3), "main > mark": (1, 1)}
    assert rows["main > step"]["first"] == 4


def test_what_was_left_out_is_told(command, steps):
    done = command("inspect", steps, "--skip-calls", "1", "--skip-calls", "load=2", "--from", "5")
    assert done.code == 0
    text = " ".join(done.out.split()).replace("│ │", "").replace("  ", " ")
    assert "Left out: the first 1 call of each region, the first 2 of 'load', the first 5 s." in text
    assert "Left out" not in command("inspect", steps).out


def test_of_one_region_alone(command, steps):
    rows = summary(command, steps, "-r", "0", "--skip-calls", "step=2")
    assert totals(rows) == {
        "main": (1, 100), "main > step": (2, 3), "main > step > load": (2, 2), "main > mark": (1, 1)}


def test_more_than_there_are_leaves_none_of_that_region(command, steps):
    rows = summary(command, steps, "-r", "0", "--skip-calls", "mark=9")
    assert "main > mark" not in rows and rows["mark"]["calls"] == 0


def test_until_a_mark(command, steps):
    rows = summary(command, steps, "--warmup", "mark", "-r", "0")
    assert totals(rows) == {"main": (1, 60), "main > step": (2, 3), "main > step > load": (2, 2)}
    assert rows["main"]["exclusive"] == 57


def test_a_rank_without_the_mark_takes_that_of_the_others(command, steps):
    rows = summary(command, steps, "--warmup", "mark", "-r", "1")
    assert totals(rows) == {"main": (1, 20), "main > step": (1, 2), "main > step > load": (1, 1)}


def test_calls_are_cut_at_the_window(command, steps):
    rows = summary(command, steps, "-r", "0", "--from", "15", "--to", "50.75")
    assert totals(rows) == {
        "main": (1, 35.75), "main > step": (3, 5 + 4 + 0.75), "main > step > load": (2, 1.25),
        "main > mark": (1, 1)}


def test_percentages_are_those_of_the_part(command, sample):
    done = command("inspect", sample, "--regions-only", "--from", "5", "--columns", "region", "percent")
    # session 5-10, work 5-9, leaf 5-7: hundredths of 5 s.
    lines = {line.split()[-2].strip("│"): line for line in done.out.splitlines() if "%" in line}
    assert done.code == 0
    assert "100.00%" in done.out and "80.00%" in done.out and "40.00%" in done.out, lines


def test_exports_take_the_part(command, steps):
    done = command("export", "csv", steps, "--skip-calls", "1", "-i", "step", "-r", "0")
    assert done.code == 0
    with open(command.folder / "profile.csv", newline="") as file:
        found = list(csv.DictReader(file))
    assert [(row["call_index"], row["start_ns"], row["duration_ns"]) for row in found] == [
        ("0", "30000000000", "4000000000"), ("1", "50000000000", "2000000000"),
        ("2", "70000000000", "1000000000")]


def test_comparisons_take_the_part(command, steps, tmp_path):
    slow_start = write_profile(
        tmp_path / "slow.h5", metadata={}, regions=["step"],
        calls={0: {"step": [(0, 50), (60, 64), (70, 72), (80, 81)]}})
    words = ("-i", "step", "-r", "0", "--max-regression", "5")
    assert command("check", steps, slow_start, *words).code == 1
    assert command("check", steps, slow_start, *words, "--skip-calls", "1").code == 0


def test_convert_writes_the_part(command, steps):
    assert command("convert", steps, "-o", "part.h5", "--warmup", "mark").code == 0
    assert totals(summary(command, "part.h5", "-r", "0")) == {
        "main": (1, 60), "main > step": (2, 3), "main > step > load": (2, 2)}


@pytest.mark.parametrize("words, code, text", [
    (["--skip-calls", "x"], 2, "'x' is not a number of calls"),
    (["--skip-calls", "step="], 2, "'step=' is not a number of calls"),
    (["--skip-calls", "-1"], 2, "'-1' is not a number of calls"),
    (["--skip-calls", "stpe=1"], 1, "no region is called 'stpe'; the nearest names are 'step'"),
    (["--warmup", "marc"], 1, "no region is called 'marc'; the nearest names are 'mark'"),
    (["--from", "-1"], 2, "'-1' is not a number of seconds"),
    (["--from", "3", "--to", "2"], 2, "--to: must lie behind --from"),
])
def test_mistakes_are_named(command, steps, words, code, text):
    done = command("inspect", steps, *words)
    assert done.code == code and text in done.err and done.out == ""


# ---- Reductions ------------------------------------------------------------------------------


@pytest.mark.parametrize("how, step, main, mark", [
    ("pooled", (7, 33), (2, 160), (1, 1)), ("sum", (7, 33), (2, 160), (1, 1)),
    ("max", (4, 17), (1, 100), (1, 1)), ("min", (3, 16), (1, 60), (1, 1)),
    ("mean", (4, 16.5), (1, 80), (1, 1))])
def test_ranks_are_reduced(command, steps, how, step, main, mark):
    rows = summary(command, steps, "--reduce", how)
    assert totals(rows)["main"] == main and totals(rows)["main > step"] == step
    assert totals(rows)["main > mark"] == mark  # only of the rank that has it


def test_each_number_is_reduced_by_itself(command, steps):
    rows = summary(command, steps, "--reduce", "max")
    step = rows["main > step"]
    assert (step["avg"], step["min"], step["max"]) == (pytest.approx(16 / 3), 2, 10)
    assert step["exclusive"] == 13 and rows["main"]["exclusive"] == 82
    assert step["imbalance"] == pytest.approx((17 / 16.5 - 1) * 100)
    assert step["num_ranks"] == 2


def test_percentages_of_reduced_rows(command, sample):
    done = command("inspect", sample, "--reduce", "max", "--regions-only")
    assert done.code == 0 and "80.00%" in done.out and "100.00%" in done.out
    assert "Each number is the largest of the ranks that have the row." in done.out


def test_runs_without_call_paths_are_reduced_too(command, tmp_path):
    crossing = write_profile(tmp_path / "x.h5", metadata={}, regions=["a", "b"],
                             calls={0: {"a": [(0, 2)], "b": [(1, 3)]}, 1: {"a": [(0, 4)]}})
    rows = summary(command, crossing, "--reduce", "max")
    assert totals(rows) == {"a": (1, 4), "b": (1, 2)}


def test_sorted_and_limited_after_reducing(command, steps):
    done = command("inspect", "--json", steps, "--reduce", "max", "--sort", "total", "--top", "2")
    [run] = json.loads(done.out)["files"]
    assert [row["name"] for row in run["regions"]] == ["main", "step"]


def test_an_unknown_reduction_lists_the_choices(command, steps):
    done = command("inspect", steps, "--reduce", "median")
    assert done.code == 2 and "choose from 'pooled', 'max', 'mean', 'min', 'sum'" in done.err
