"""Runs and regions in notebooks. `sample` has two ranks; on each: session 0-10 s, work 1-9 s in it, leaf
2-3 s and 5-7 s in that."""

import re
from html.parser import HTMLParser

import pytest
from profile_file import write_profile

sp = pytest.importorskip("scope_profiler")

from scope_profiler._notebook import seconds  # noqa: E402


class Cells(HTMLParser):
    """Texts of the rows of a table; fails on a tag that is not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open = [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data


def test_a_run_is_a_table_of_call_paths(sample):
    text = sp.load(sample)._repr_html_()
    assert "tuned" in text and "(2 rank(s))" in text
    assert Cells(text).rows == [
        ["region", "calls", "total", "own", "mean", "share"],
        ["scope_profiler.session", "2", "20 s", "4 s", "10 s", "100.0 %"],
        ["work", "2", "16 s", "10 s", "8 s", "80.0 %"],
        ["leaf", "4", "6 s", "6 s", "1.5 s", "30.0 %"],
    ]
    assert re.findall(r"padding-left:([\d.]+)em", text) == ["0.3", "1.5", "2.7"]


def test_a_region_is_a_table_of_ranks(sample):
    text = sp.load(sample)["leaf"]._repr_html_()
    assert Cells(text).rows == [
        ["rank", "calls", "total", "mean", "min", "max", "of the longest rank"],
        ["0", "2", "3 s", "1.5 s", "1 s", "2 s", "100.0 %"],
        ["1", "2", "3 s", "1.5 s", "1 s", "2 s", "100.0 %"],
    ]


def test_names_are_text(tmp_path):
    name = "<script>alert('x')</script>"
    path = write_profile(tmp_path / "x.h5", metadata={"label": "<b>"}, regions=[name],
                         calls={0: {name: [(0.0, 1.0)]}})  # fmt: skip
    run = sp.load(path)
    for text in (run._repr_html_(), run[name]._repr_html_()):
        assert "<script>" not in text and "&lt;script&gt;" in text
    assert "<b><b>" not in run._repr_html_()


def test_long_tables_are_cut(tmp_path):
    names = [f"region {i}" for i in range(60)]
    path = write_profile(tmp_path / "x.h5", metadata={}, regions=names,
                         calls={0: {name: [(0.0, 1.0)] for name in names}})  # fmt: skip
    text = sp.load(path)._repr_html_()
    assert len(Cells(text).rows) == 51 and "10 more rows" in text


def test_other_ranks_and_empty_runs_say_so():
    assert "no regions" in sp.ProfilingResults()._repr_html_()
    assert "rank 0 of the job" in sp.ProfilingResults(is_root=False)._repr_html_()


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (0.0, "0 ns"), (2.0, "2 s"), (1.5e-3, "1.5 ms"), (1e-6, "1 µs"), (3e-8, "30 ns"),
     (12345.678, "1.235e+04 s")],
)  # fmt: skip
def test_times_have_the_unit_that_suits(value, text):
    assert seconds(value) == text


def test_the_report_is_shown_in_a_frame(sample, tmp_path):
    page = sp.load(sample).report()
    assert page.html.lstrip().lower().startswith("<!doctype html")
    frame = page._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and frame.count("<") == 2
    path = sp.load(sample).report(tmp_path / "r.html")
    assert path.read_text(encoding="utf-8") == page.html
