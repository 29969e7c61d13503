"""Pages from Python. What is on them is tested with the command and in a browser."""

import json
import re

import pytest
import scope_profiler as sp
from scope_profiler import html_report


@pytest.fixture
def run():
    with sp.session(output=None, verbose=False, label="first & best"):
        for _ in range(3):
            with sp.region("work"), sp.region("leaf"):
                pass
    return sp.last_results()


def data_of(page):
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)[1])


def names_of(data):
    return [data["regions"][row[0]]["name"] for row in data["table"]["rows"]]


def test_one_run(run, tmp_path):
    page = sp.create_html_report(run, tmp_path / "new" / "x.html")
    assert page == tmp_path / "new" / "x.html"
    text = page.read_text(encoding="utf-8")
    for word in ("<html", "gpu total [s]", "asynchronous GPU work", "Charts", "work", "leaf"):
        assert word in text
    assert "<title>first &amp; best · scope-profiler report</title>" in text
    data = data_of(page)
    assert data["label"] == "first & best" and data["num_calls"] == 7  # with the session
    assert names_of(data) == ["scope_profiler.session", "work", "leaf"]


def test_method(run, tmp_path):
    assert run.report(tmp_path / "x.html", include_charts=False) == tmp_path / "x.html"
    assert data_of(tmp_path / "x.html")["charts"] is False


def test_selection(run, tmp_path):
    sp.create_html_report(run, tmp_path / "x.html", include="lea", columns=["region", "total"], sort="total")
    data = data_of(tmp_path / "x.html")
    assert names_of(data) == ["leaf"] and data["shown_columns"] == ["region", "total"]


def test_files_and_several(run, tmp_path):
    sp.write_profile(run, tmp_path / "a.h5")
    page = sp.create_html_report([tmp_path / "a.h5", run], tmp_path / "all.html")
    assert sorted(path.name for path in tmp_path.glob("*.html")) == ["all-1-first-best.html", "all-2-first-best.html", "all.html"]
    assert "<title>scope-profiler comparison</title>" in page.read_text(encoding="utf-8")
    assert [r["link"] for r in data_of(page)["runs"]] == ["all-1-first-best.html", "all-2-first-best.html"]
    sp.create_html_report([run, run], tmp_path / "alone" / "x.html", individual_reports=False, charts_cdn=True)
    assert [path.name for path in (tmp_path / "alone").iterdir()] == ["x.html"]


def test_statistics_without_calls(run, tmp_path):
    sp.write_profile(run, tmp_path / "a.h5")
    summary = sp.read_h5_summary(tmp_path / "a.h5")
    data = data_of(sp.create_html_report(summary, tmp_path / "x.html"))
    assert data["num_calls"] == 7 and data["timeline"]["exact"] == 0


def test_refusals(run, tmp_path):
    with pytest.raises(ValueError, match="At least one profiling result is required."):
        sp.create_html_report([], tmp_path / "x.html")
    with pytest.raises(ValueError, match="speed"):
        sp.create_html_report(run, tmp_path / "x.html", columns=["speed"])
    with pytest.raises(ValueError, match="quick"):
        sp.create_html_report(run, tmp_path / "x.html", sort="quick")
    with pytest.raises(OSError):
        sp.create_html_report(run, "/dev/null/x.html")
    with pytest.raises(TypeError, match="Run objects"):
        html_report.report([run], tmp_path / "x.html")


def test_recording_into_a_page(tmp_path):
    path = tmp_path / "out" / "run.html"
    with sp.session(output=path, verbose=False), sp.region("work"):
        pass
    assert names_of(data_of(path)) == ["scope_profiler.session", "work"]
    assert [p.name for p in path.parent.iterdir()] == ["run.html"]
    assert sp.last_results()["work"].num_calls == 1


def test_communication(tmp_path):
    """Messages of two ranks: rank 0 sends 100 and 50 bytes to 1, which sends 1 byte back."""

    def send(calls):
        return sp.Region([c[0] for c in calls], [c[1] for c in calls], tags=["mpi", "mpi.kind:point-to-point"],
                         event_metadata=[c[2] for c in calls])  # fmt: skip

    run = sp.ProfilingResults({
        0: {"MPI_Send": send([(0, 10, {"bytes": 100, "to": 1}), (20, 25, {"bytes": 50, "to": 1})])},
        1: {"MPI_Send": send([(0, 3, {"bytes": 1, "to": 0})])},
    }, num_ranks=2)  # fmt: skip
    mpi = data_of(sp.create_html_report(run, tmp_path / "x.html"))["mpi"]
    assert mpi["links"] == [0, 1, 2, 150, 1, 0, 1, 1] and mpi["links_left_out"] == 0
    assert mpi["ranks"] == [[0, 2, 15, 0, 0], [1, 1, 3, 0, 0]]
    assert mpi["operations"] == [["MPI_Send", 3, 151, 18, 0]]
