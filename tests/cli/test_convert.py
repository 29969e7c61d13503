"""`scope-profiler convert`, `merge` and `completion`."""

import json
import shutil
import subprocess

import pytest

from profile_file import write_profile


def document(command, path):
    result = command("export", "json", path, "-q")
    assert result.code == 0, result.err
    return json.loads((command.folder / "profile.json").read_text())


def test_there_and_back_again(command, sample):
    before = document(command, sample)
    result = command("convert", sample, "-o", "deep/a.json.gz")
    assert (result.code, result.out) == (0, "deep/a.json.gz: 2 rank(s), 3 region(s), 8 call(s)\n")
    assert command("convert", "deep/a.json.gz", "-o", "b.h5", "--compression", "gzip", "-q").out == ""
    assert command("convert", "b.h5", "-o", "c.JSON").code == 0
    assert json.loads((command.folder / "c.JSON").read_text()) == before


def test_a_label_for_the_result(command, sample):
    assert command("convert", sample, "-o", "a.json", "--label", "other").code == 0
    assert json.loads((command.folder / "a.json").read_text())["metadata"]["label"] == "other"


def test_merge(command, tmp_path):
    write_profile(tmp_path / "a.h5", {"label": "first"}, ["x"], {0: {"x": [(1, 2)]}})
    write_profile(tmp_path / "b.h5", {"label": "second", "more": 1}, ["y"], {0: {"y": [(1, 3)]}})
    write_profile(tmp_path / "c.h5", {}, ["x"], {1: {"x": [(4, 6)]}})
    result = command("merge", "[abc].h5", "-o", "all.h5")
    assert (result.code, result.out) == (0, "all.h5: 2 rank(s), 2 region(s), 3 call(s)\n")
    rows = {(row["name"], row["rank"]): row["end_times_ns"] for row in document(command, "all.h5")["regions"]}
    assert rows == {("x", 0): [2 * 10**9], ("x", 1): [6 * 10**9], ("y", 0): [3 * 10**9]}


@pytest.mark.parametrize("words, code, text", [
    (["convert", "sample.h5"], 2, "the following arguments are required: -o/--output"),
    (["convert", "sample.h5", "-o", "x.html"], 2, "is the name of a report"),
    (["convert", "sample.h5", "sample.h5", "-o", "x.h5"], 2, "one profile at a time"),
    (["convert", "missing.h5", "-o", "x.h5"], 1, "missing.h5"),
    (["convert", "sample.h5", "-o", "/proc/x.h5"], 1, "/proc/x.h5"),
    (["merge", "sample.h5", "sample.h5", "-o", "x.h5"], 1, "both runs have a region"),
    (["completion", "tcsh"], 2, "invalid choice: 'tcsh' (choose from 'bash', 'zsh', 'fish')"),
])
def test_errors(command, sample, words, code, text):
    result = command(*words)
    assert (result.code, text in result.err) == (code, True), result.err
    assert not (command.folder / "x.h5").exists()


@pytest.mark.parametrize("words, expected", [
    (["ex"], "export"),
    (["diff", "--metric", "p"], "p50 p95 p99"),
    (["check", "--fail"], "--fail-on-new"),
    (["export", "--fixed"], "--fixed-width"),
])
def test_completion_in_bash(command, tmp_path, words, expected):
    (tmp_path / "script").write_text(command("completion", "bash").out)
    listed = " ".join(words)
    probe = (f"source ./script; COMP_WORDS=(scope-profiler {listed}); COMP_CWORD={len(words)}; "
             '_scope_profiler; echo "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", probe], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (expected + "\n", "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_of_other_shells_names_everything(command, tmp_path, shell):
    script = command("completion", shell).out
    names = [line.split()[0] for line in command("help").out.split("commands:\n")[1].splitlines()
             if line.startswith("  ") and line[2] != " " and line[2] != "-"]
    assert names
    for name in names:
        assert name in script
    for option in ("max-regression", "no-call-paths", "include"):
        assert option in script
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        assert subprocess.run([shell, "-n", "script"], cwd=tmp_path).returncode == 0
