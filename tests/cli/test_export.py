"""`scope-profiler export`: each file is read by something that is not ours."""

import csv
import gzip
import io
import json
import marshal
import pstats
import xml.etree.ElementTree as xml

import pytest

from profile_file import write_profile

NS = 1e-9


def strict(path):
    """JSON without the numbers that JSON does not have."""

    def refuse(word):
        raise AssertionError(word)

    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    return json.loads(data, parse_constant=refuse)


@pytest.fixture
def recursive(tmp_path):
    """r calls itself twice, then s, which calls r: 0-100, 10-50, 20-30, s 60-90, r 70-80 ns."""
    return write_profile(
        tmp_path / "recursive.h5", metadata={"mpi_size": 1}, regions=["r", "s"],
        calls={0: {"r": [(0, 100 * NS), (10 * NS, 50 * NS), (20 * NS, 30 * NS), (70 * NS, 80 * NS)],
                   "s": [(60 * NS, 90 * NS)]}})


@pytest.fixture
def empty(tmp_path):
    return write_profile(tmp_path / "empty.h5", metadata={}, regions=[], calls={0: {}})


def export(command, kind, *words):
    done = command("export", kind, *words)
    assert (done.code, done.err) == (0, "")
    return [command.folder / line.removeprefix("wrote ") for line in done.out.splitlines()]


# ---- speedscope ------------------------------------------------------------------------------


def check_speedscope(document):
    """The rules of speedscope's file format for evented profiles."""
    assert document["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = document["shared"]["frames"]
    assert all(set(frame) <= {"name", "file", "line", "col"} for frame in frames)
    assert 0 <= document["activeProfileIndex"] < len(document["profiles"])
    for profile in document["profiles"]:
        assert (profile["type"], profile["unit"]) == ("evented", "seconds")
        stack, time = [], profile["startValue"]
        for event in profile["events"]:
            assert set(event) == {"type", "frame", "at"}
            assert time <= event["at"] <= profile["endValue"]
            time = event["at"]
            assert 0 <= event["frame"] < len(frames)
            if event["type"] == "O":
                stack.append(event["frame"])
            else:
                assert stack.pop() == event["frame"]
        assert stack == []


def test_speedscope_events_nest(command, sample):
    [path] = export(command, "speedscope", sample, "-o", "out")
    document = strict(path)
    assert path.name == "profile.speedscope.json"
    check_speedscope(document)
    assert document["name"] == "tuned"
    assert [p["name"] for p in document["profiles"]] == ["rank 0", "rank 1"]
    assert [(e["type"], e["frame"], e["at"]) for e in document["profiles"][0]["events"]] == [
        ("O", 0, 0), ("O", 1, 1), ("O", 2, 2), ("C", 2, 3), ("O", 2, 5), ("C", 2, 7), ("C", 1, 9),
        ("C", 0, 10)]


def test_speedscope_of_an_empty_run(command, empty):
    [path] = export(command, "speedscope", empty)
    check_speedscope(strict(path))


# ---- trace events ----------------------------------------------------------------------------


def test_chrome_trace_follows_the_trace_event_rules(command, sample):
    [path] = export(command, "chrome-trace", sample, "-o", "out")
    document = strict(path)
    assert path.name == "profile.trace.json"
    assert document["displayTimeUnit"] == "ms"
    assert document["metadata"]["name"] == "tuned"
    calls = [event for event in document["traceEvents"] if event["ph"] == "X"]
    names = [event for event in document["traceEvents"] if event["ph"] == "M"]
    assert {(e["name"], e["pid"], e["args"]["name"]) for e in names} == {
        ("process_name", 0, "rank 0"), ("thread_name", 0, "main"),
        ("process_name", 1, "rank 1"), ("thread_name", 1, "main")}
    for event in calls:
        assert event["cat"] == "scope-profiler"
        assert {"name", "pid", "tid", "ts", "dur", "args"} <= set(event)
        assert event["args"]["duration_s"] == event["dur"] / 1e6
    leaves = [event for event in calls if event["name"] == "leaf" and event["pid"] == 1]
    assert [(e["ts"], e["dur"], e["args"]["call_index"]) for e in leaves] == [
        (2e6, 1e6, 0), (5e6, 2e6, 1)]
    assert leaves[0]["args"]["source_file"] == "solver.py"
    assert leaves[0]["args"]["source_line"] == 3
    for pid in (0, 1):  # viewers want an enclosing call before those inside
        order = [(e["ts"], -e["dur"]) for e in calls if e["pid"] == pid]
        assert order == sorted(order)


# ---- pstats ----------------------------------------------------------------------------------


def test_prof_is_read_by_pstats(command, sample):
    [path] = export(command, "prof", sample, "-o", "out")
    assert path.name == "profile_rank0.prof"
    stats = pstats.Stats(str(path), stream=io.StringIO()).stats
    root = ("~", 0, "<tuned rank 0>")
    session = ("~", 0, "scope_profiler.session")
    work = ("solver.py", 12, "scope_profiler.session > work")
    leaf = ("solver.py", 3, "scope_profiler.session > work > leaf")
    assert stats == {
        root: (1, 1, 0.0, 10.0, {}),
        session: (1, 1, 2.0, 10.0, {root: (1, 1, 2.0, 10.0)}),
        work: (1, 1, 5.0, 8.0, {session: (1, 1, 5.0, 8.0)}),
        leaf: (2, 2, 3.0, 3.0, {work: (2, 2, 3.0, 3.0)}),
    }


def test_prof_counts_recursion_as_cprofile_does(command, recursive):
    [path] = export(command, "prof", recursive, "--no-call-paths")
    stats = marshal.loads(path.read_bytes())
    root, r, s = ("~", 0, "<recursive rank 0>"), ("~", 0, "r"), ("~", 0, "s")
    # r: own 100-40-30, 40-10, 10, 10; primitive is the outermost alone. s: own 30-10.
    assert stats[r][:4] == pytest.approx((1, 4, 80 * NS, 100 * NS))
    assert stats[s][:4] == pytest.approx((1, 1, 20 * NS, 30 * NS))
    assert set(stats[r][4]) == {root, r, s}
    assert stats[r][4][root] == pytest.approx((1, 1, 30 * NS, 100 * NS))
    assert stats[r][4][r] == pytest.approx((2, 1, 40 * NS, 40 * NS))
    assert stats[r][4][s] == pytest.approx((1, 1, 10 * NS, 10 * NS))
    assert stats[s][4] == {r: pytest.approx((1, 1, 20 * NS, 30 * NS))}
    assert stats[root] == (1, 1, 0.0, pytest.approx(100 * NS), {})


def test_prof_writes_a_file_for_each_rank_asked_for(command, sample):
    paths = export(command, "prof", sample, "--ranks", "0-1")
    assert [path.name for path in paths] == ["profile_rank0.prof", "profile_rank1.prof"]


@pytest.mark.parametrize("words, code, text", [
    (["--ranks", "7"], 1, "Invalid rank requested: 7"),
    (["--include", "nothing"], 1, "No regions matched the selected filters."),
])
def test_prof_says_what_is_missing(command, sample, words, code, text):
    done = command("export", "prof", sample, *words)
    assert done.code == code
    assert text in done.err


def test_prof_of_a_run_without_calls(command, empty):
    done = command("export", "prof", empty)
    assert done.code == 1
    assert "No calls recorded for the requested ranks." in done.err


# ---- pictures and lines ----------------------------------------------------------------------


def test_flamegraph_is_an_xml_document(command, tmp_path):
    odd = "<b>&\"quoted\"</b> \x01\u65e5"
    profile = write_profile(tmp_path / "odd.h5", metadata={"label": "a < b"}, regions=[odd, "leaf"],
                            calls={0: {odd: [(0, 1.0)], "leaf": [(0.25, 0.5)]}})
    [path] = export(command, "flamegraph", profile, "--width", "800", "--fixed-width")
    assert path.name == "profile_rank0.svg"
    root = xml.parse(path).getroot()
    space = {"svg": "http://www.w3.org/2000/svg"}
    assert root.get("width") == "800"
    boxes = {group.find("svg:title", space).text: group.find("svg:rect", space)
             for group in root.findall("svg:g", space)}
    titles = list(boxes)
    assert titles[0] == "<a < b rank 0> (1.000000000 s, 100.00 %)"
    assert titles[1].startswith("<b>&\"quoted\"</b> \\x01\u65e5 (1 calls, 1.000000000 s")
    leaf = boxes[titles[2]]
    assert float(leaf.get("x")) == 10  # at the left of what it belongs to
    assert float(leaf.get("width")) == 780 * 0.25


def test_flamegraph_leaves_out_what_is_small(command, sample):
    [path] = export(command, "flamegraph", sample, "--threshold", "50")
    text = path.read_text()
    assert "<title>work" in text
    assert "<title>leaf" not in text
    assert 'width="100%"' in text


def test_folded_lines(command, recursive):
    [path] = export(command, "folded", recursive)
    assert path.read_text() == "r 30\nr;r 30\nr;r;r 10\nr;s 20\nr;s;r 10\n"


def test_csv_is_read_by_csv(command, sample):
    [path] = export(command, "csv", sample, "--ranks", "1", "--exclude", "scope")
    rows = list(csv.DictReader(path.open(newline="")))
    assert [(r["rank"], r["region"], r["call_index"], int(r["start_ns"]), int(r["duration_ns"]))
            for r in rows] == [
        ("1", "work", "0", 2_000_000_000, 8_000_000_000),
        ("1", "leaf", "0", 3_000_000_000, 1_000_000_000),
        ("1", "leaf", "1", 6_000_000_000, 2_000_000_000)]


def test_csv_quotes_names(command, tmp_path):
    names = ['a,b', 'say "x"', "two\nlines", " lead", "plain"]
    profile = write_profile(tmp_path / "names.h5", metadata={}, regions=names,
                            calls={0: {name: [(i, i + 1)] for i, name in enumerate(names)}})
    [path] = export(command, "csv", profile)
    assert [row["region"] for row in csv.DictReader(path.open(newline=""))] == names


# ---- JSON ------------------------------------------------------------------------------------


def test_json_holds_the_whole_run(command, sample):
    [path] = export(command, "json", sample)
    document = strict(path)
    assert list(document) == ["format", "format_version", "exporter", "time_unit", "num_ranks",
                              "event_data_available", "metadata", "regions"]
    assert document["format"] == "scope-profiler-profile"
    assert document["metadata"]["modules"] == ["gcc/12", "hdf5/1.10"]
    assert document["metadata"]["ratio"] == 0.25
    assert [(row["name"], row["rank"]) for row in document["regions"]] == [
        (name, rank) for name in ("scope_profiler.session", "work", "leaf") for rank in (0, 1)]
    leaf = document["regions"][4]
    assert leaf["start_times_ns"] == [3_000_000_000, 6_000_000_000]
    assert leaf["end_times_ns"] == [4_000_000_000, 8_000_000_000]
    assert document["regions"][2]["source_text"] == "def work():\n\tleaf()\n"
    # The layout of Python's json module, on one line and indented.
    assert path.read_text() == json.dumps(document, ensure_ascii=False) + "\n"
    [path] = export(command, "json", sample, "--indent", "2")
    assert path.read_text() == json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def test_json_is_compressed_byte_for_byte_the_same(command, sample):
    [path] = export(command, "json", sample, "--gzip", "-o", "a")
    [again] = export(command, "json", sample, "--gzip", "-o", "b")
    assert path.name == "profile.json.gz"
    data = path.read_bytes()
    assert data == again.read_bytes()
    assert data[3] == 0 and data[4:8] == bytes(4)  # no name, time 0
    [plain] = export(command, "json", sample)
    assert gzip.decompress(data) == plain.read_bytes()


def test_statistics_of_several_runs(command, sample, recursive):
    [path] = export(command, "statistics", sample, recursive, "--ranks", "0", "--include", "work",
                    "--include", "r")
    document = strict(path)
    assert path.name == "region_statistics.json"
    assert document["plot"] == "region_statistics"
    assert document["filters"] == {"include": ["work", "r"], "exclude": None, "ranks": [0]}
    assert document["common_regions"] == []
    first, second = document["files"]
    assert (first["label"], second["label"]) == ("tuned", "recursive")
    assert first["file_path"] == str(sample)
    assert first["total_time_seconds"] == 10.5
    assert first["region_statistics"] == {"work": {
        "count": 1, "average_duration_seconds": 8.0, "min_duration_seconds": 8.0,
        "max_duration_seconds": 8.0, "first_duration_seconds": 8.0, "last_duration_seconds": 8.0,
        "std_duration_seconds": 0.0, "total_duration_seconds": 8.0,
        "per_rank": {"0": {
            "count": 1, "average_duration_seconds": 8.0, "min_duration_seconds": 8.0,
            "max_duration_seconds": 8.0, "first_duration_seconds": 8.0,
            "last_duration_seconds": 8.0, "std_duration_seconds": 0.0,
            "total_duration_seconds": 8.0}}}}
    assert second["region_statistics"]["r"]["count"] == 4


# ---- names and errors ------------------------------------------------------------------------


def test_several_profiles_get_their_labels(command, sample, recursive):
    paths = export(command, "json", sample, recursive, sample, "-o", "out/deep")
    assert [path.name for path in paths] == [
        "profile_tuned.json", "profile_recursive.json", "profile_tuned_2.json"]


def test_quiet_names_nothing(command, sample):
    done = command("export", "csv", sample, "-q")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (command.folder / "profile.csv").exists()


@pytest.mark.parametrize("words, text", [
    (["export"], "the following arguments are required: KIND FILE..."),
    (["export", "csv"], "the following arguments are required: FILE..."),
    (["export", "xlsx", "f.h5"], "argument KIND: invalid choice: 'xlsx' (choose from 'chrome-trace'"),
    (["export", "csv", "f.h5", "--gzip"], "argument --gzip: not for csv, only for json"),
    (["export", "json", "f.h5", "--indent", "x"], "'x' is not a number between 0 and 16"),
    (["export", "flamegraph", "f.h5", "--width", "5"], "not a number between 100 and 1e+06"),
])
def test_usage_errors(command, words, text):
    done = command(*words)
    assert done.code == 2
    assert text in done.err


def test_bad_pattern_is_a_usage_error(command, sample):
    done = command("export", "csv", sample, "--include", "(")
    assert done.code == 2
    assert "'('" in done.err


def test_files_that_cannot_be_read(command, tmp_path):
    done = command("export", "json", "missing.h5")
    assert done.code == 1 and "missing.h5" in done.err
    (tmp_path / "text.h5").write_text("hello")
    done = command("export", "json", "text.h5")
    assert done.code == 3 and "text.h5" in done.err


def test_output_that_cannot_be_written(command, sample, tmp_path):
    (tmp_path / "file").write_text("")
    done = command("export", "json", sample, "-o", "file")
    assert done.code == 1
    assert "file/profile.json" in done.err
