"""The document of region statistics."""

import json

import pytest
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults
from scope_profiler.statistics import collect_region_statistics, write_region_statistics_json


@pytest.fixture
def run():
    return ProfilingResults(
        {
            "b": MPIRegion("b", {0: Region([10, 50], [20, 80]), 1: Region([], [])}),
            "a": MPIRegion("a", {0: Region([0], [5])}),
        },
        metadata={"label": "first", "start_time_ns": 0, "finalize_time_ns": 2_000_000_000},
        file_path="x/run.h5",
    )


def test_the_document(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    document = collect_region_statistics(run)
    assert list(document) == ["units", "filters", "common_regions", "files"]
    assert document["units"] == {"durations": "seconds"}
    (file,) = document["files"]
    assert file["label"] == "first" and file["file_path"] == str(tmp_path / "x" / "run.h5")
    assert (file["num_ranks"], file["total_time_seconds"]) == (2, 2.0)
    assert list(file["region_statistics"]) == ["a", "b"]
    b = file["region_statistics"]["b"]
    assert b["count"] == 2
    assert b["total_duration_seconds"] == pytest.approx(40e-9)
    assert b["average_duration_seconds"] == pytest.approx(20e-9)
    assert (b["min_duration_seconds"], b["max_duration_seconds"]) == (1e-8, 3e-8)
    assert (b["first_duration_seconds"], b["last_duration_seconds"]) == (1e-8, 3e-8)
    assert b["std_duration_seconds"] == pytest.approx(10e-9)
    assert b["per_rank"]["0"] == {key: value for key, value in b.items() if key != "per_rank"}
    assert b["per_rank"]["1"] == {
        "count": 0, **{key: None for key in b if key not in ("count", "per_rank")},
    }  # fmt: skip


def test_filters(run):
    document = collect_region_statistics(run, include="b", ranks=0)
    assert document["filters"] == {"include": "b", "exclude": None, "ranks": [0]}
    assert list(document["files"][0]["region_statistics"]["b"]["per_rank"]) == ["0"]
    assert list(collect_region_statistics(run, exclude=["b"])["files"][0]["region_statistics"]) == [
        "a"
    ]


def test_several_runs(run, tmp_path):
    other = ProfilingResults({"b": Region([0], [1]), "c": Region([0], [1])}, file_path="other.h5")
    silent = ProfilingResults({}, is_root=False)
    path = tmp_path / "deep" / "stats.json"
    returned = write_region_statistics_json([run, other, silent], path)
    text = path.read_text()
    document = json.loads(text, parse_constant=lambda constant: pytest.fail(constant))
    assert list(document)[:3] == ["format", "format_version", "plot"]
    assert document["plot"] == "region_statistics"
    assert {key: document[key] for key in returned} == returned
    assert document["common_regions"] == ["b"]
    assert [file["label"] for file in document["files"]] == ["first", "other"]
    assert text.startswith('{\n  "format"')


def test_labels_are_unique_or_given(run):
    def labels(**given):
        files = collect_region_statistics([run, run, run], **given)["files"]
        return [file["label"] for file in files]

    assert labels() == ["first", "first (2)", "first (3)"]
    assert labels(labels=["x", "y", "x"]) == ["x", "y", "x (2)"]
    with pytest.raises(ValueError, match="labels must match the number of profiling files"):
        labels(labels=["x"])


def test_ranks_come_first(run):
    assert collect_region_statistics(run, [1], "b") == collect_region_statistics(
        run, ranks=1, include="b"
    )


def test_no_runs():
    with pytest.raises(ValueError, match="No profiling data provided"):
        collect_region_statistics([])
