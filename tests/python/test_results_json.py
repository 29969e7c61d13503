"""JSON profiles."""

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from scope_profiler.concurrency import TaskInfo, ThreadInfo
from scope_profiler.json_export import (
    JSONProfileError,
    export_json,
    is_json_path,
    read_json,
    write_json,
)
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.profile_io import load, profile_format, sniff_profile_format
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults

DATA = Path(__file__).resolve().parents[1] / "format" / "data"


@pytest.fixture
def run():
    return ProfilingResults(
        {
            "zeta": MPIRegion(
                "zeta",
                {
                    10: Region([0], [5]),
                    2: Region(
                        [2**53 + 1, 2**53 + 9],
                        [2**53 + 2, 2**53 + 16],
                        call_ids=[0, 1],
                        parent_ids=[-1, 0],
                        thread_ids=[0, 0],
                        task_ids=[-1, 0],
                        await_times=[0, 3],
                        gpu_durations=[-1, 4],
                        event_metadata=[{}, {"n": 1}],
                        tags=("slow",),
                        source_file="z.py",
                        source_lineno=4,
                    ),
                },
            ),
            "alpha": MPIRegion("alpha", {2: Region([7], [8])}),
        },
        metadata={"label": "x", "modules": [], "weight": 0.5, "mpi_size": 11},
        threads={2: [ThreadInfo(0, 2, "MainThread", 1, 2, False, 0, -1, 9)]},
        tasks={2: [TaskInfo(0, 2, "task", "T", "c", 0, 1, 2, 3, 4, 5)]},
    )


def test_the_published_example_reads():
    run = read_json(DATA / "json-v1.json")
    region = run["solve"]
    assert run.num_ranks == 1 and region.tags == ("golden",)
    assert region[0].start_times_ns.tolist() == [10, 20, 40]
    assert region[0].end_times_ns.tolist() == [15, 33, 55]
    assert (region.source_file, region.source_lineno) == ("solver.py", 7)


def test_keys_and_their_order(run, tmp_path):
    document = json.loads(write_json(run, tmp_path / "x.json").read_text())
    assert list(document) == [
        "format", "format_version", "exporter", "time_unit", "num_ranks", "event_data_available",
        "metadata", "regions", "threads", "tasks",
    ]  # fmt: skip
    assert document["format"] == "scope-profiler-profile" and document["format_version"] == 1
    assert [(row["name"], row["rank"]) for row in document["regions"]] == [
        ("zeta", 2), ("zeta", 10), ("alpha", 2),
    ]  # fmt: skip
    assert document["regions"][0] == {
        "name": "zeta",
        "rank": 2,
        "source_file": "z.py",
        "source_lineno": 4,
        "tags": ["slow"],
        "start_times_ns": [2**53 + 1, 2**53 + 9],
        "end_times_ns": [2**53 + 2, 2**53 + 16],
        "event_metadata": [{}, {"n": 1}],
        "gpu_durations_ns": [-1, 4],
        "call_ids": [0, 1],
        "parent_ids": [-1, 0],
        "thread_ids": [0, 0],
        "task_ids": [-1, 0],
        "await_ns": [0, 3],
    }
    assert document["regions"][2] == {
        "name": "alpha", "rank": 2, "start_times_ns": [7], "end_times_ns": [8],
    }  # fmt: skip
    assert document["threads"] == {
        "2": [
            {
                "index": 0, "name": "MainThread", "ident": 1, "native_id": 2, "daemon": False,
                "start_ns": 0, "end_ns": -1, "cpu_ns": 9,
            }
        ]
    }  # fmt: skip


def test_nothing_is_lost_in_a_round_trip(run, tmp_path):
    path = write_json(run, tmp_path / "x.json")
    back = read_json(path)
    assert back.region_names == ["zeta", "alpha"] and back.num_ranks == 11
    assert back.metadata == run.metadata and back.file_path == path
    assert back.threads == run.threads and back.tasks == run.tasks
    assert back.events(relative=False) == run.events(relative=False)
    assert back.summary() == run.summary()
    assert write_json(back, tmp_path / "y.json").read_bytes() == path.read_bytes()


def test_compressed_documents_are_stable(run, tmp_path):
    first = write_json(run, tmp_path / "a.json.gz").read_bytes()
    second = write_json(run, tmp_path / "b.JSON.GZ").read_bytes()
    assert first == second and first[4:8] == bytes(4)
    assert gzip.decompress(first) == write_json(run, tmp_path / "c.json").read_bytes()
    assert load(tmp_path / "b.JSON.GZ")["alpha"].num_calls == 1


def test_filters_and_indent(run, tmp_path):
    path = write_json(run, tmp_path / "x.json", include="z", ranks=10, indent=2)
    assert path.read_text().startswith('{\n  "format"')
    document = json.loads(path.read_text())
    assert [(row["name"], row["rank"]) for row in document["regions"]] == [("zeta", 10)]


def test_one_line_unless_asked(run, tmp_path):
    assert write_json(run, tmp_path / "x.json").read_text().count("\n") == 1


def test_metadata_becomes_plain_json(tmp_path):
    run = ProfilingResults(
        {},
        metadata={
            "node": b"node01",
            "count": np.int64(3),
            "limit": float("inf"),
            "flag": np.bool_(True),
            "half": np.float64(0.5),
            "list": np.array(["a", "b"]),
        },
    )
    path = write_json(run, tmp_path / "x.json")
    metadata = json.loads(path.read_text(), parse_constant=lambda text: pytest.fail(text))[
        "metadata"
    ]
    assert metadata == {
        "node": "node01", "count": 3, "limit": None, "flag": True, "half": 0.5, "list": ["a", "b"],
    }  # fmt: skip
    assert math.isnan(read_json(path).metadata["limit"])


def test_totals_instead_of_calls(tmp_path):
    totals = {"count": 3, "total": 90, "minimum": 10, "maximum": 50, "exclusive": 70}
    run = ProfilingResults({"a": Region([], [], aggregate=totals)})
    path = write_json(run, tmp_path / "x.json")
    (row,) = json.loads(path.read_text())["regions"]
    assert row == {"name": "a", "rank": 0, "aggregate": totals}
    back = read_json(path)
    assert back.summary() == run.summary() and back["a"].events() == []


def test_stored_statistics_instead_of_calls(tmp_path):
    stored = {
        "count": 2, "total": 30, "minimum": 10, "maximum": 20, "first": 10, "last": 20,
        "start_minimum": 100, "end_maximum": 200, "exclusive": 25, "gpu_count": 0, "gpu_total": 0,
        "mean": 15, "m2": 50.5,
    }  # fmt: skip
    region = Region([], [], aggregate=stored, event_data_available=False)
    run = ProfilingResults({"a": region}, event_data_available=False)
    path = write_json(run, tmp_path / "x.json")
    document = json.loads(path.read_text())
    assert document["event_data_available"] is False
    assert document["regions"] == [
        {"name": "a", "rank": 0, "aggregate": stored, "event_data_available": False}
    ]
    back = read_json(path)
    assert not back.has_event_data and not back["a"][0].has_event_data
    assert back.summary() == run.summary()


def test_several_runs_get_names_of_their_own(run, tmp_path, capsys):
    other = ProfilingResults({}, metadata={"label": "other run"})
    silent = ProfilingResults({}, is_root=False)
    paths = export_json([run, other, run, silent], tmp_path / "all.json", verbose=False)
    assert [path.name for path in paths] == ["all_x.json", "all_other_run.json", "all_x_2.json"]
    assert capsys.readouterr().out == ""
    assert export_json(silent, tmp_path / "none.json") == []
    assert export_json(run, tmp_path / "deep" / "one.json") == [tmp_path / "deep" / "one.json"]
    assert "one.json" in capsys.readouterr().out


def test_names_of_json_profiles():
    assert is_json_path("a.json") and is_json_path(Path("A.Json.GZ"))
    assert not is_json_path("a.json.zip") and not is_json_path("a.h5")
    assert profile_format("a.html") == "html" and profile_format("a.dat") == "hdf5"


def test_bad_documents(tmp_path):
    with pytest.raises(FileNotFoundError, match="JSON profile not found"):
        read_json(tmp_path / "missing.json")
    path = tmp_path / "bad.json"
    for content in (
        b"", b"{", b"[]", b'{"format": "other"}', b"\x1f\x8b\x08broken", b"\xff\xfe{}",
        b'{"format": "scope-profiler-profile", "regions": [1]}',
        b'{"format": "scope-profiler-profile", "regions": [{"name": "a", "rank": 0, '
        b'"start_times_ns": [1], "end_times_ns": [1, 2]}]}',
        b'{"format": "scope-profiler-profile", "regions": 5}',
        b'{"format": "scope-profiler-profile", "regions": [{"name": "a", "rank": -1, '
        b'"start_times_ns": [], "end_times_ns": []}]}',
        b"[" * 100_000,
    ):  # fmt: skip
        path.write_bytes(content)
        with pytest.raises(
            JSONProfileError, match="is not a scope-profiler JSON profile"
        ) as caught:
            read_json(path)
        assert str(path) in str(caught.value)


def test_versions(tmp_path):
    path = tmp_path / "x.json"
    path.write_text('{"format": "scope-profiler-profile", "format_version": 2}')
    with pytest.raises(JSONProfileError, match="Upgrade scope-profiler"):
        read_json(path)
    path.write_text('{"format": "scope-profiler-profile"}')
    assert len(read_json(path)) == 0


def test_the_kind_is_seen_from_the_content(run, tmp_path):
    plain = write_json(run, tmp_path / "x.json").rename(tmp_path / "x.dat")
    assert sniff_profile_format(plain) == "json" and len(load(plain)) == 2
    page = tmp_path / "x.h5"
    page.write_text("<!doctype html>")
    assert sniff_profile_format(page) == "html"
    with pytest.raises(ValueError, match="write-only"):
        load(page)
    with pytest.raises(FileNotFoundError, match="^No profile at"):
        load(tmp_path / "missing.h5")
    with pytest.raises(OSError):
        load(tmp_path)
