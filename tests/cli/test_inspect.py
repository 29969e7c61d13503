"""`scope-profiler inspect`: layout, filters, files that cannot be read."""

import json

import h5py
import pytest

from profile_file import write_profile

RULE = "=" * 78


def size_of(path):
    return f"{path.stat().st_size / 2**20:.2f} MiB"


def table_of(text):
    """The cells of the region table (the first frame), line by line, blanks normalised."""
    frame = text[text.index("  ╭"):text.index("  ╰")]
    rows = [line.strip()[1:-1].split("  ") for line in frame.splitlines() if line[2] == "│"]
    return [[cell.strip() for cell in row if cell.strip()] for row in rows]


def test_metadata_layout(command, sample):
    result = command("inspect", "--metadata-only", "sample.h5")
    path = "/bin:" * 40
    assert result.err == "" and result.code == 0
    assert result.out == f"""\
{RULE}
tuned - sample.h5
2 rank(s), 3 region(s), {size_of(sample)}, 10.000000 s wall clock, 10.500000 s total (setup to finalize)

Run
  label             tuned
  start_time_ns     1000000000
  finalize_time_ns  11500000000

System
  platform  Linux

Parallelism
  mpi_size         2
  omp_num_threads  4
  total_cores      8

Slurm
  SLURM_JOB_ID  77

Environment
  PATH  {path[:96]} […]

Other
  flavour  sweet
  ratio    0.25

Modules (2)
  gcc/12
  hdf5/1.10
"""


def test_full_shows_whole_values(command, sample):
    result = command("inspect", "--metadata-only", "--full", "sample.h5")
    assert f"  PATH  {'/bin:' * 40}\n" in result.out
    assert "[…]" not in result.out


def test_value_of_exactly_the_limit_is_not_clipped(command, tmp_path):
    write_profile(tmp_path / "x.h5", {"note": "ä" * 96, "long": "ä" * 97}, [], {})
    out = command("inspect", "--metadata-only", "x.h5").out
    assert f"  note  {'ä' * 96}\n" in out
    assert f"  long  {'ä' * 96} […]\n" in out


def test_region_table(command, sample):
    """Two ranks with the same calls: totals double, shares stay (own: 2 of 10, 5 of 10 seconds)."""
    result = command("inspect", "--regions-only", "sample.h5")
    assert result.code == 0
    assert result.out.startswith(f"{RULE}\ntuned - sample.h5\n2 rank(s), 3 region(s), ")
    assert "Parallelism" not in result.out
    assert table_of(result.out) == [
        ["region", "% session", "total [s]"],
        ["scope_profiler.session (2x)", "100.00%", "20.000000"],
        ["└─ (own)", "20.00%", "4.000000"],
        ["└─ work (2x)", "80.00%", "16.000000"],
        ["│ └─ (own)", "50.00%", "10.000000"],
        ["│ └─ leaf (4x)", "30.00%", "6.000000"],
    ]


def test_one_rank(command, sample):
    result = command("inspect", "--regions-only", "sample.h5", "--ranks", "1")
    assert ["└─ leaf (2x)", "30.00%", "3.000000"] in [
        [cell.replace("│ ", "") for cell in row] for row in table_of(result.out)]


@pytest.mark.parametrize("ranks", [["0-1"], ["0", "1"], ["1 0"], ["0,1"], ["1", "0", "0-1"]])
def test_rank_lists_and_files_may_be_mixed(command, sample, ranks):
    everything = command("inspect", "--regions-only", "sample.h5").out
    assert command("inspect", "--ranks", *ranks, "sample.h5", "--regions-only").out == everything


def names_of(result):
    names = [row[0].lstrip("│└─ ").split(" (")[0] for row in table_of(result.out)[1:]]
    return [name for name in names if name != "own" and not name.startswith("(own)")]


def test_filters_are_anchored_at_the_start(command, sample):
    options = ["--regions-only", "sample.h5", "--columns", "region", "total"]
    assert "no regions recorded" in command("inspect", *options, "--include", "ork").out
    assert names_of(command("inspect", *options, "--include", "w.rk")) == ["work"]
    assert names_of(command("inspect", *options, "-i", "work", "-i", "leaf")) == ["work", "leaf"]
    assert names_of(command("inspect", *options, "--exclude", "l")) == [
        "scope_profiler.session", "work"]


def test_sort_and_columns(command, sample):
    result = command("inspect", "--regions-only", "sample.h5", "--sort", "name", "--columns",
                     "region", "calls", "max")
    rows = table_of(result.out)
    assert rows[0] == ["region", "n", "max [s]"]
    assert names_of(result) == ["leaf", "scope_profiler.session", "work"]
    assert rows[1][1:] == ["4", "2.000"]


def test_bad_column_and_pattern(command, sample):
    result = command("inspect", "sample.h5", "--columns", "weight")
    assert result.code == 2 and "Unknown region summary column(s)" in result.err
    assert "weight" in result.err and "parent_percent" in result.err
    result = command("inspect", "sample.h5", "--include", "(")
    assert result.code == 2 and "(" in result.err.splitlines()[-1]


def test_source(command, sample):
    result = command("inspect", "--metadata-only", "sample.h5", "--source", "work", "leaf", "lost")
    assert result.out.endswith("""
Source (3)
  work  (solver.py:12)
    def work():
        leaf()
  leaf  (solver.py:3)
    source not captured
  lost  no such region; the regions are: scope_profiler.session, work, leaf
""")


def test_several_files_and_patterns(command, sample, tmp_path):
    write_profile(tmp_path / "second.h5", {}, ["only"], {0: {"only": [(1.0, 2.0)]}})
    result = command("inspect", "s*.h5", "--metadata-only")
    assert result.code == 0
    titles = [line for line in result.out.splitlines() if line.endswith(".h5")]
    assert titles == ["tuned - sample.h5", "second.h5"]


def test_pattern_without_match(command):
    result = command("inspect", "no*.h5")
    assert (result.code, result.out) == (1, "")
    assert result.err == "scope-profiler inspect: No files matched pattern 'no*.h5'\n"


def test_name_that_looks_like_a_pattern(command, sample, tmp_path):
    sample.rename(tmp_path / "run[1].h5")
    assert "tuned - run[1].h5\n" in command("inspect", "run[1].h5", "--metadata-only").out


def test_name_that_looks_like_an_option(command, sample, tmp_path):
    sample.rename(tmp_path / "--full")
    assert "tuned - --full\n" in command("inspect", "--metadata-only", "--", "--full").out


def test_missing_file(command):
    result = command("inspect", "missing.h5")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("scope-profiler inspect: ") and "missing.h5" in result.err
    assert len(result.err.splitlines()) == 1


def test_files_that_are_no_profiles(command, sample, tmp_path):
    whole = sample.read_bytes()
    (tmp_path / "text.h5").write_text("not a profile\n")
    (tmp_path / "empty.h5").write_bytes(b"")
    (tmp_path / "cut.h5").write_bytes(whole[: len(whole) // 2])
    with h5py.File(sample, "a") as file:
        file.attrs["scope_profiler_schema"] = 99
    sample.rename(tmp_path / "newer.h5")
    for name in ("text.h5", "empty.h5", "cut.h5", "newer.h5"):
        result = command("inspect", name)
        assert (result.code, result.out) == (3, ""), name
        assert result.err.startswith("scope-profiler inspect: ") and name in result.err
        assert len(result.err.splitlines()) == 1
    assert "schema version" in command("inspect", "newer.h5").err


def test_quiet_answers_by_the_exit_code(command, sample, tmp_path):
    (tmp_path / "bad.h5").write_text("no")
    assert command("inspect", "-q", "sample.h5").code == 0
    result = command("inspect", "-q", "sample.h5", "bad.h5")
    assert (result.code, result.out) == (3, "") and "bad.h5" in result.err


def test_a_bad_file_does_not_hide_the_others(command, sample, tmp_path):
    (tmp_path / "bad.h5").write_text("no")
    result = command("inspect", "bad.h5", "sample.h5", "--metadata-only")
    assert result.code == 3
    assert "tuned - sample.h5" in result.out and "bad.h5" in result.err


def test_export_metadata(command, sample, tmp_path):
    result = command("inspect", "-q", "sample.h5", "--export-metadata", "meta.json")
    assert (result.code, result.out, result.err) == (0, "", "")
    text = (tmp_path / "meta.json").read_text()
    data = json.loads(text)
    assert text == json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    (file,) = data["files"]
    assert file["file_path"].endswith("sample.h5") and file["num_ranks"] == 2
    assert file["metadata"]["PATH"] == "/bin:" * 40
    assert file["metadata"]["modules"] == ["gcc/12", "hdf5/1.10"]
    assert file["metadata"]["mpi_size"] == 2 and file["metadata"]["ratio"] == 0.25
    to_stdout = command("inspect", "-q", "sample.h5", "--export-metadata", "-")
    assert to_stdout.out == text


def test_export_metadata_that_cannot_be_written(command, sample):
    result = command("inspect", "sample.h5", "--export-metadata", "no/where.json")
    assert (result.code, result.out) == (1, "")
    assert result.err == ("scope-profiler inspect: cannot write 'no/where.json': "
                          "No such file or directory\n")


def test_names_cannot_steer_the_terminal(command, tmp_path):
    name = "evil\x1b[31m\nsecond line"
    write_profile(tmp_path / "x.h5", {"note": "a\x1b]0;title\x01\nb"}, [name], {0: {name: [(1, 2)]}})
    result = command("inspect", "x.h5", "--source", name)
    assert "\x1b" not in result.out
    assert "  note  a\\x1b]0;title\\x01\\nb\n" in result.out
    assert "  evil\\x1b[31m\\nsecond line\n" in result.out


def test_color_only_on_a_terminal(command, sample):
    words = ("inspect", "sample.h5", "--metadata-only")
    assert "\x1b" not in command(*words, TERM="xterm").out
    assert "\x1b[1;36mParallelism\x1b[0m" in command.on_terminal(*words)
    assert "\x1b" not in command.on_terminal(*words, NO_COLOR="1")
    assert "\x1b" not in command.on_terminal(*words, TERM="dumb")


# ---- fewer rows, machine form, hints ---------------------------------------------------------


def test_depth_leaves_levels_out(command, sample):
    result = command("inspect", sample, "--regions-only", "--depth", "1", "--columns", "region", "total")
    assert "work" not in result.out and "(own)" not in result.out
    result = command("inspect", sample, "--regions-only", "--depth", "2", "--columns", "region", "total")
    assert "work" in result.out and "leaf" not in result.out
    assert result.out.count("(own)") == 1


def test_top_keeps_the_largest_rows(command, sample):
    result = command("inspect", sample, "--regions-only", "--top", "2", "--columns", "region", "total")
    assert "work" in result.out and "leaf" not in result.out
    result = command("inspect", sample, "--regions-only", "--top", "1", "--sort", "calls", "--json")
    [row] = json.loads(result.out)["files"][0]["regions"]
    assert (row["name"], row["calls"]) == ("leaf", 4)


def test_json_holds_rows_and_metadata(command, sample):
    result = command("inspect", sample, "--json", "--columns", "region")
    assert (result.code, result.err) == (0, "")
    document = json.loads(result.out, parse_constant=lambda word: 1 / 0)
    assert document["format"] == "scope-profiler-inspection"
    [file] = document["files"]
    assert (file["num_ranks"], file["num_calls"]) == (2, 8)
    assert file["metadata"]["modules"] == ["gcc/12", "hdf5/1.10"]
    assert [row["call_path"] for row in file["regions"]] == [
        "scope_profiler.session", "scope_profiler.session > work",
        "scope_profiler.session > work > leaf"]
    leaf = file["regions"][2]
    assert (leaf["calls"], leaf["total"], leaf["p50"], leaf["gpu_total"]) == (4, 6.0, 1.5, None)
    assert "metadata" not in json.loads(command("inspect", sample, "--json", "--regions-only").out)["files"][0]


def test_filters_that_fit_nothing_are_said_once(command, sample):
    result = command("inspect", sample, "--include", "leef", "--include", "work", "--ranks", "0", "9")
    assert result.code == 0
    assert result.err == (
        f"scope-profiler inspect: {sample}: no region matches 'leef'; the nearest names are 'leaf', "
        "'work', 'scope_profiler.session'\n"
        f"scope-profiler inspect: {sample}: there is no rank 9; the run has the ranks 0 to 1\n")


@pytest.mark.parametrize("words", [["--top", "0"], ["--depth", "-1"], ["--top", "many"]])
def test_counts_are_checked(command, sample, words):
    result = command("inspect", sample, *words)
    assert result.code == 2
    assert "is not a number of 1 or more" in result.err
