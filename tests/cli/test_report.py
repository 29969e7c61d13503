"""scope-profiler report: options, files and the numbers in the data of a page. What a browser makes of
it is tested in tests/browser."""

import json
import re

import pytest

from profile_file import write_profile


def data_of(page):
    """The data block of a page, read as a browser would."""
    text = page.read_text(encoding="utf-8")
    blocks = re.findall(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    assert len(blocks) == 1
    return json.loads(blocks[0])


def write_run(path, ranks, seconds, label=None):
    """`ranks` ranks with a session of 1 s more than `work`, which takes `seconds` on each."""
    metadata = {"mpi_size": ranks, "omp_num_threads": 2, "num_nodes": 1}
    if label:
        metadata["label"] = label
    calls = {rank: {"scope_profiler.session": [(1.0, 2.0 + seconds)], "work": [(1.5, 1.5 + seconds)]}
             for rank in range(ranks)}
    return write_profile(path, metadata, ["scope_profiler.session", "work"], calls)


def test_one_file(command, sample):
    result = command("report", sample)
    assert (result.code, result.out, result.err) == (0, "Report written to: report.html\n", "")
    page = command.folder / "report.html"
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "<html" in text
    assert "<title>tuned · scope-profiler report</title>" in text
    for word in ("Charts", "gpu total [s]", "asynchronous GPU work"):
        assert word in text
    data = data_of(page)
    assert (data["format"], data["format_version"], data["kind"]) == ("scope-profiler-report", 1, "run")
    assert data["wall"] == 10_000_000_000
    assert data["setup_to_finalize"] == 10_500_000_000
    # work covers 1-9 s of each rank's 10 s
    assert (data["covered"], data["extent"]) == (16_000_000_000, 20_000_000_000)
    names = [region["name"] for region in data["regions"]]
    assert names == ["scope_profiler.session", "work", "leaf"]
    assert data["regions"][1]["text"] == "def work():\n\tleaf()\n"
    # parent, region, calls, total, own: 2 ranks of session 10 (own 2), work 8 (own 5), leaf 3
    assert data["tree"] == [0, 0, 2, 20_000_000_000, 4_000_000_000,
                            1, 1, 2, 16_000_000_000, 10_000_000_000,
                            2, 2, 4, 6_000_000_000, 6_000_000_000]
    hot = [(f["region"], f["cost"], f["share"]) for f in data["findings"] if f["kind"] == "hotspot"]
    assert hot == [(1, 10_000_000_000, 0.625), (2, 6_000_000_000, 0.375)]
    row = dict(zip(data["table"]["columns"], data["table"]["rows"][1]))
    assert (row["region"], row["parent"], row["calls"], row["total"]) == (1, 0, 2, 16_000_000_000)
    assert (row["percent"], row["parent_percent"]) == (80.0, 80.0)


def test_filters(command, sample):
    assert command("report", sample, "-o", "out/x.html", "--include", "leaf", "--ranks", "1").code == 0
    data = data_of(command.folder / "out" / "x.html")
    assert data["ranks"] == [1] and data["num_calls"] == 2 and data["num_calls_recorded"] == 8
    assert data["include"] == ["leaf"]
    assert len(data["table"]["rows"]) == 1


def test_page_is_small_and_asks_for_nothing(command, sample):
    command("report", sample, "-q")
    text = (command.folder / "report.html").read_text(encoding="utf-8")
    assert len(text) < 1_500_000
    assert "Content-Security-Policy" in text and "default-src 'none'" in text
    assert not re.search(r"""<(script|link|img|iframe)[^>]+(src|href)=["']?(https?:|//)""", text)


def test_many_calls_are_reduced(command, tmp_path):
    """120,000 short calls and 10 long ones: the long ones are carried, the page stays small."""
    short = [(1 + i * 1e-5, 1 + i * 1e-5 + 1e-6 * (1 + i % 7)) for i in range(120_000)]
    long = [(3 + i, 3.5 + i) for i in range(10)]
    path = write_profile(tmp_path / "many.h5", {}, ["short", "long"], {0: {"short": short, "long": long}})
    assert command("report", path, "-q").code == 0
    page = command.folder / "report.html"
    assert page.stat().st_size < 2_500_000
    timeline = data_of(page)["timeline"]
    assert timeline["exact"] + timeline["dense"] == 120_010
    assert 0 < timeline["exact"] <= 40_000 and timeline["threshold"] > 0
    calls = timeline["calls"][0]
    assert calls[2::4].count(1) == 10  # region 1
    assert min(calls[1::4]) > timeline["threshold"]
    assert sum(timeline["cells"][0][2::5]) == timeline["dense"]


def test_several_files(command, tmp_path):
    runs = [write_run(tmp_path / "a.h5", 1, 8.0, "small: 1"), write_run(tmp_path / "b.h5", 2, 5.0),
            write_run(tmp_path / "c.h5", 4, 3.0)]
    result = command("report", *runs, "-o", "all.html")
    assert result.code == 0
    found = sorted(path.name for path in command.folder.glob("all*.html"))
    assert found == ["all-1-small-1.html", "all-2-b.html", "all-3-c.html", "all.html"]
    data = data_of(command.folder / "all.html")
    assert data["kind"] == "comparison"
    assert [(r["ranks"], r["cores"], r["link"]) for r in data["runs"]] == [
        (1, 2, "all-1-small-1.html"), (2, 4, "all-2-b.html"), (4, 8, "all-3-c.html")]
    assert [r["wall"] for r in data["runs"]] == [9_000_000_000, 6_000_000_000, 4_000_000_000]
    values = {r["name"]: [v[0] for v in r["values"]] for r in data["regions"]}
    assert values["work"] == [8_000_000_000, 5_000_000_000, 3_000_000_000]
    change = {row["name"]: row for row in data["changes"][0]["rows"]}["work"]
    assert (change["a"], change["b"], change["percent"]) == (8_000_000_000, 5_000_000_000, -37.5)
    assert data["changes"][0]["per_rank"] is True
    assert data_of(command.folder / "all-2-b.html")["label"] == "b"


def test_no_individual_reports(command, tmp_path):
    runs = [write_run(tmp_path / f"{n}.h5", 1, 1.0 + n) for n in range(2)]
    assert command("report", *runs, "--no-individual-reports", "--scaling", "weak", "--speedup-x", "cores").code == 0
    assert [path.name for path in command.folder.glob("*.html")] == ["report.html"]
    data = data_of(command.folder / "report.html")
    assert [run["link"] for run in data["runs"]] == [None, None]
    assert (data["scaling"], data["x"]) == (2, 4)


def test_repeated_runs_are_groups(command, tmp_path):
    """Three and three runs of two labels: medians with an interval, not single runs."""
    runs = [write_run(tmp_path / f"{label}{n}.h5", 1, base + n / 100, label)
            for label, base in (("old", 8.0), ("new", 6.0)) for n in range(3)]
    assert command("report", *runs, "--no-individual-reports", "-q").code == 0
    data = data_of(command.folder / "report.html")
    assert [(c["baseline"], c["runs"]) for c in data["changes"]] == [([0, 1, 2], [3, 4, 5])]
    row = {row["name"]: row for row in data["changes"][0]["rows"]}["work"]
    assert (row["a"], row["b"]) == (8_010_000_000, 6_010_000_000)
    assert row["low"] < row["percent"] < row["high"] < 0


@pytest.mark.parametrize("words, code, text", [
    (["report"], 2, "the following arguments are required: FILE..."),
    (["report", "no.h5"], 1, "no.h5"),
    (["report", "SAMPLE", "--label", "a", "--label", "b"], 2, "argument --label: one a file, got 2 for 1 file(s)"),
    (["report", "SAMPLE", "--scaling", "huge"], 2, "invalid choice: 'huge'"),
    (["report", "SAMPLE", "--columns", "speed"], 2, "speed"),
    (["report", "SAMPLE", "-o", "/dev/null/x.html"], 1, "/dev/null"),
])
def test_refusals(command, sample, words, code, text):
    result = command(*[sample if word == "SAMPLE" else word for word in words])
    assert result.code == code and text in result.err
    assert not (command.folder / "report.html").exists()


def test_names_are_texts(command, tmp_path):
    names = ["</script><script>alert(1)</script>", 'q"\'&', "\u202erev", "x" * 10_000, "🔥 hot"]
    path = write_profile(tmp_path / "n.h5", {"label": "<b>&"}, names, {0: {name: [(i, i + 0.5)] for i, name in enumerate(names, 1)}})
    assert command("report", path, "-q").code == 0
    page = command.folder / "report.html"
    assert "alert(1)</script>" not in page.read_text(encoding="utf-8")
    assert "<title>&lt;b&gt;&amp; · scope-profiler report</title>" in page.read_text(encoding="utf-8")
    assert [region["name"] for region in data_of(page)["regions"]] == names


def test_show(command, sample, tmp_path):
    """The page is handed to the program that BROWSER names."""
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\necho "$1" > shown\n')
    browser.chmod(0o755)
    assert command("report", sample, "--show", "-q", BROWSER=str(browser)).code == 0
    assert (command.folder / "shown").read_text() == "report.html\n"
