"""HDF5 profiles: what is read equals what h5py reads, what is written is what h5py finds."""

import contextlib
import io
import json
import math
import os
import random
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scope_profiler import _results
from scope_profiler.call_stack import NestingError
from scope_profiler.h5reader import (
    CorruptProfileError,
    EventDataUnavailableError,
    HDF5SchemaError,
    SummaryDataUnavailable,
    load_h5,
    read_h5,
    read_h5_summary,
)
from scope_profiler.h5schema import CURRENT_SCHEMA_VERSION, migrate_schema, read_schema_version
from scope_profiler.h5writer import ColumnarIndex, ProfilingWriter, write_metadata
from scope_profiler.json_export import read_json, write_json
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.native_trace import convert_traces, load_traces, read_native_h5
from scope_profiler.profile_io import load, read_profile, read_profile_summary, write_profile
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults

h5py = pytest.importorskip("h5py")

DATA = Path(__file__).resolve().parents[1] / "format" / "data"


def ns(value):
    return pytest.approx(value * 1e-9, rel=1e-9)


# ---- files of earlier versions ---------------------------------------------------------------


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_every_schema_reads(schema):
    path = DATA / f"hdf5-schema-{schema}.h5"
    run = read_h5(path)
    assert run.num_ranks == 1 and run.region_names == ["solve"]
    region = run["solve"][0]
    assert region.start_times_ns.tolist() == [10, 20, 40]
    assert region.end_times_ns.tolist() == [15, 33, 55]
    assert region.tags == ("golden",)
    assert (region.source_file, region.source_lineno) == ("solver.py", 7)
    assert region.call_ids is None and region.thread_ids is None
    assert run.file_path == path and run.has_event_data


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_without_stored_statistics_a_summary_reads_everything(schema):
    path = DATA / f"hdf5-schema-{schema}.h5"
    run = read_h5_summary(path)
    assert run.has_event_data and run["solve"].p50_duration == ns(13)
    with pytest.raises(SummaryDataUnavailable, match=path.name):
        read_h5_summary(path, fallback=False)


def test_a_file_from_the_field_equals_what_h5py_reads():
    path = DATA / "field-rank2-chunked-no-metadata.h5"
    run = read_h5(path)
    with h5py.File(path) as file:
        for rank in range(2):
            for name, group in file[f"rank{rank}/regions"].items():
                region = run[name][rank]
                assert np.array_equal(region.start_times_ns, group["start_times"][:])
                assert np.array_equal(region.end_times_ns, group["end_times"][:])
    assert run.num_ranks == 2 and run.run_start_time is None
    assert run.time_origin == run.minimum_start_time


def test_metadata_equals_what_h5py_reads():
    path = DATA / "field-rank1-metadata.h5"
    metadata = read_h5(path).metadata
    with h5py.File(path) as file:
        expected = dict(file["metadata"].attrs)
    assert metadata.keys() == expected.keys()
    for key, value in expected.items():
        plain = value.tolist() if hasattr(value, "tolist") else value
        assert metadata[key] == plain, key


# ---- files written by h5py -------------------------------------------------------------------


def make_file(path, columns=None, **changes):
    """Writes a schema-3 profile with h5py: two ranks, two regions."""
    rng = np.random.default_rng(5)
    counts = [4, 3, 5]
    starts = [np.sort(rng.integers(10**15, 10**15 + 10**6, count)) for count in counts]
    durations = rng.integers(0, 10, sum(counts))
    text = h5py.string_dtype("utf-8")
    index = {
        "region_ids": np.array([0, 1, 0], np.uint32),
        "ranks": np.array([0, 0, 1], np.uint32),
        "event_offsets": np.array([0, 4, 7], np.uint64),
        "event_counts": np.array(counts, np.uint64),
        "source_lines": np.array([3, -1, 3], np.int64),
        "exclusive_totals": np.array([-1, -1, -1], np.int64),
    }
    texts = {
        "source_files": ["a.py", "", "a.py"],
        "source_texts": ["with region:", "", "with region:"],
        "tags": ['["x", "y"]', "[]", '["x", "y"]'],
        "event_metadata": ["[]", '[{"i": 1}, {}, {"i": 3}]', "[]"],
    }
    index.update(changes.pop("index", {}))
    with h5py.File(path, "w") as file:
        file.attrs["scope_profiler_schema"] = changes.pop("schema", np.int64(3))
        file.attrs["storage_layout"] = "columnar"
        metadata = file.create_group("metadata")
        metadata.attrs["mpi_size"] = np.int64(4)
        metadata.attrs["start_time_ns"] = np.int64(10**15)
        metadata.attrs["label"] = "hand made"
        metadata.attrs.create("modules", ["gcc", "hdf5"], dtype=text)
        metadata.attrs.create("empty", np.array([], dtype=object), (0,), dtype=text)
        file.create_group("region_table").create_dataset("names", data=["sol/ve", "ü"], dtype=text)
        group = file.create_group("rank_region_index")
        for name, values in index.items():
            group.create_dataset(name, data=values)
        for name, values in texts.items():
            group.create_dataset(name, data=values, dtype=text)
        events = file.create_group("events")
        deltas = np.concatenate([np.diff(values, prepend=0) for values in starts])
        events.create_dataset("start_deltas", data=deltas.astype(np.int64))
        events.create_dataset("durations", data=durations.astype(np.int64))
        for name, values in (columns or {}).items():
            events.create_dataset(name, data=np.asarray(values, np.int64))
    return starts, np.split(durations, np.cumsum(counts)[:-1])


def test_values_written_by_h5py(tmp_path):
    path = tmp_path / "made.h5"
    ids = list(range(7)) + list(range(5))
    starts, durations = make_file(
        path, {"thread_ids": [0] * 12, "call_ids": ids, "gpu_durations": [-1] * 11 + [6]}
    )
    run = read_h5(path)
    assert run.region_names == ["sol/ve", "ü"] and run.num_ranks == 4
    rows = [run["sol/ve"][0], run["ü"][0], run["sol/ve"][1]]
    for region, start, duration in zip(rows, starts, durations):
        assert np.array_equal(region.start_times_ns, start)
        assert np.array_equal(region.durations_ns, duration)
        assert region.total_duration == ns(int(duration.sum()))
        assert region.std_duration == pytest.approx(float(np.std(duration)) * 1e-9)
        for p in (0, 33.3, 50, 95):
            expected = float(np.percentile(duration, p)) * 1e-9
            assert region.percentile_duration(p) == pytest.approx(expected)
    assert rows[1].call_ids.tolist() == [4, 5, 6]
    assert rows[1].event_metadata == ({"i": 1}, {}, {"i": 3})
    assert rows[0].tags == ("x", "y") and rows[0].source_text == "with region:"
    assert rows[1].source_file is None and rows[1].source_lineno is None
    assert rows[2].gpu_total_duration == ns(6) and not rows[0].has_gpu_timing
    assert run.metadata["modules"] == ["gcc", "hdf5"] and run.metadata["empty"] == []
    assert isinstance(run.metadata["mpi_size"], int) and run.label == "hand made"
    pooled = np.concatenate([durations[0], durations[2]])
    assert run["sol/ve"].p95_duration == pytest.approx(float(np.percentile(pooled, 95)) * 1e-9)
    assert run["sol/ve"].std_duration == pytest.approx(float(np.std(pooled)) * 1e-9)


def test_unknown_things_inside_a_known_version_are_ignored(tmp_path):
    path = tmp_path / "made.h5"
    make_file(path)
    with h5py.File(path, "r+") as file:
        file.attrs["of_the_future"] = "x"
        file.create_group("of_the_future")["data"] = [1, 2]
        file["events"].attrs["note"] = 1
    assert read_h5(path)["ü"].num_calls == 3


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        (np.int64(0), "must be positive"),
        (np.int64(-3), "must be positive"),
        (np.int64(999), "supports versions through 3"),
        ("three", "must be an integer"),
        (np.float64(3.0), "must be an integer"),
    ],
)
def test_schema_versions_that_are_refused(tmp_path, schema, words):
    path = tmp_path / "made.h5"
    make_file(path, schema=schema)
    with pytest.raises(HDF5SchemaError) as caught:
        read_h5(path)
    text = str(caught.value)
    assert "schema version" in text and words in text and "made.h5" in text
    if schema == 999:
        assert "999" in text and "Upgrade scope-profiler" in text
    with h5py.File(path) as file, pytest.raises(HDF5SchemaError, match=words):
        read_schema_version(file)


def test_the_schema_of_an_open_file():
    with h5py.File(DATA / "hdf5-schema-1.h5") as file:
        assert read_schema_version(file) == 1
    with h5py.File(DATA / "hdf5-schema-3.h5") as file:
        assert read_schema_version(file) == CURRENT_SCHEMA_VERSION == 3


# ---- damaged files ---------------------------------------------------------------------------


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"HDF5 file not found.*gone\.h5"):
        read_h5(tmp_path / "gone.h5")
    with pytest.raises(OSError, match=tmp_path.name):
        read_h5(tmp_path)


@pytest.mark.parametrize(
    "content",
    [b"", bytes(4096), b"region,calls\n", b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" * 99],
)
def test_files_that_are_no_profile(tmp_path, content):
    path = tmp_path / "junk.h5"
    path.write_bytes(content)
    with pytest.raises(CorruptProfileError, match="not a readable HDF5 profiling file") as caught:
        read_h5(path)
    assert "junk.h5" in str(caught.value) and isinstance(caught.value, OSError)


def test_a_cut_file_is_never_a_shorter_run(tmp_path):
    good = (DATA / "hdf5-schema-3.h5").read_bytes()
    path = tmp_path / "cut.h5"
    for part in range(16):
        path.write_bytes(good[: len(good) * part // 16])
        with pytest.raises((OSError, ValueError)):
            read_h5(path).events()


def test_a_file_damaged_in_the_field():
    path = DATA / "field-damaged-object-header.h5"
    with pytest.raises(CorruptProfileError, match=path.name):
        read_h5(path)


def test_a_column_that_is_too_short(tmp_path):
    path = tmp_path / "made.h5"
    make_file(path)
    with h5py.File(path, "r+") as file:
        durations = file["events/durations"][:-2]
        del file["events/durations"]
        file["events"].create_dataset("durations", data=durations)
    with pytest.raises(CorruptProfileError, match="truncated or damaged") as caught:
        read_h5(path).events()
    assert "made.h5" in str(caught.value)


def test_columns_that_hold_less_than_the_index_claims(tmp_path):
    path = tmp_path / "made.h5"
    make_file(path, index={"event_counts": np.array([4, 3, 50], np.uint64)})
    with pytest.raises(
        CorruptProfileError, match=r"claims \d+ recorded events but its event columns hold \d+"
    ):
        read_h5(path)


def test_rows_that_overlap(tmp_path):
    path = tmp_path / "made.h5"
    make_file(path, index={"event_offsets": np.array([0, 2, 7], np.uint64)})
    with pytest.raises(CorruptProfileError, match="overlapping region rows"):
        read_h5(path)


@pytest.mark.parametrize(
    "name",
    ["region_table/names", "rank_region_index/ranks", "events/durations", "events/start_deltas"],
)
def test_a_dataset_that_is_missing(tmp_path, name):
    path = tmp_path / "made.h5"
    make_file(path)
    with h5py.File(path, "r+") as file:
        del file[name]
    with pytest.raises(CorruptProfileError, match=r"made\.h5"):
        read_h5(path).events()


def test_flipped_bits_never_crash(tmp_path):
    """In a child, because the library underneath may be the one that gives up."""
    child = subprocess.run(
        [sys.executable, "-c", _FLIP, str(DATA / "hdf5-schema-3.h5"), str(tmp_path / "bad.h5")],
        capture_output=True,
        text=True,
        timeout=250,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.returncode == 0, child.stderr[-2000:]


_FLIP = """
import random, sys
from scope_profiler.h5reader import read_h5
good, path = open(sys.argv[1], "rb").read(), sys.argv[2]
bits = random.Random(3)
for _ in range(300):
    bad = bytearray(good)
    bad[bits.randrange(len(bad))] ^= 1 << bits.randrange(8)
    open(path, "wb").write(bad)
    try:
        run = read_h5(path)
        run.events(), run.summary(), run.metadata
    except (OSError, ValueError, KeyError, UnicodeError):
        pass
"""


# ---- writing ---------------------------------------------------------------------------------


@pytest.fixture
def run():
    return ProfilingResults(
        {
            "outer": MPIRegion(
                "outer",
                {
                    0: Region([100], [1100], call_ids=[0], parent_ids=[-1], thread_ids=[0]),
                    1: Region([90], [95], call_ids=[0], parent_ids=[-1], thread_ids=[0]),
                },
            ),
            "inner": MPIRegion(
                "inner",
                {
                    0: Region(
                        [200, 500],
                        [300, 900],
                        call_ids=[1, 2],
                        parent_ids=[0, 0],
                        thread_ids=[0, 0],
                        event_metadata=[{"i": 0}, {"i": 1}],
                        tags=("t",),
                        source_file="x.py",
                        source_lineno=9,
                    )
                },
            ),
        },
        metadata={"label": "written", "mpi_size": 2, "modules": [], "list": ["a"], "half": 0.5},
    )


def test_what_is_written_reads_back(run, tmp_path):
    back = read_h5(write_profile(run, tmp_path / "w.h5"))
    assert back.metadata == run.metadata and back.num_ranks == 2
    assert back.region_names == run.region_names
    assert back.events(relative=False) == run.events(relative=False)
    assert back.call_graph() == run.call_graph()
    assert back.summary() == run.summary()
    assert back["inner"][0].source_lineno == 9


def test_what_is_written_is_what_h5py_finds(run, tmp_path):
    path = write_profile(run, tmp_path / "w.h5")
    with h5py.File(path) as file:
        assert file.attrs["scope_profiler_schema"] == 3
        assert file["region_table/names"].asstr()[:].tolist() == ["outer", "inner"]
        index = file["rank_region_index"]
        assert index["ranks"][:].tolist() == [0, 0, 1]
        assert index["event_counts"][:].tolist() == [1, 2, 1]
        assert file["events/start_deltas"][:].tolist() == [100, 200, 300, 90]
        assert file["events/durations"][:].tolist() == [1000, 100, 400, 5]
        assert file["events/parent_ids"][:].tolist() == [-1, 0, 0, -1]
        assert index["summary_statistics"]["total"].tolist() == [1000, 500, 5]
        assert json.loads(index["event_metadata"].asstr()[1]) == [{"i": 0}, {"i": 1}]
        assert list(file["metadata"].attrs["modules"]) == []
        assert file["metadata"].attrs["modules"].shape == (0,)
        assert "gpu_durations" not in file["events"]


def test_summary_reads_agree_with_full_ones(run, tmp_path):
    path = write_profile(run, tmp_path / "w.h5")
    full, stored = read_h5(path), read_h5_summary(path)
    assert not stored.has_event_data and stored.metadata == full.metadata
    percentiles = {"p50", "p95", "p99", "p50_duration", "p95_duration", "p99_duration"}
    for mine, theirs in zip(stored.summary(), full.summary()):
        for key, value in theirs.items():
            if key in percentiles:
                assert mine[key] is None
            elif key != "exclusive_duration":
                assert mine[key] == (pytest.approx(value) if isinstance(value, float) else value), (
                    key
                )
    assert stored.minimum_start_time == full.minimum_start_time
    for ask in (stored.events, stored.call_stack, stored.call_graph, stored["inner"].events):
        with pytest.raises(EventDataUnavailableError, match=r"read_h5\(\)"):
            ask()
    stream = io.StringIO()
    stored.print_summary(stream=stream)
    assert "inner" in stream.getvalue()
    assert read_profile_summary(path).summary() == stored.summary()
    some = read_h5_summary(path, regions=["outer"], ranks=[1])
    assert some.region_names == ["outer"] and some["outer"].ranks == [1]


def test_stored_exclusive_totals_survive_a_summary_read(tmp_path):
    given = {0: {"a": 30, "b": 20}}
    run = ProfilingResults(
        {"a": Region([0], [50]), "b": Region([10], [30])}, exclusive_totals=given
    )
    path = write_profile(run, tmp_path / "w.h5")
    assert read_h5_summary(path)["a"].total_exclusive_duration == ns(30)
    assert read_h5(path)["a"].total_exclusive_duration == ns(30)


def test_totals_only_files(tmp_path):
    totals = {"count": 3, "total": 90, "minimum": 10, "maximum": 50, "exclusive": 70}
    run = ProfilingResults({"a": Region([], [], aggregate=totals)})
    path = write_profile(run, tmp_path / "w.h5")
    with h5py.File(path) as file:
        assert file.attrs["storage_layout"] == "aggregate"
        assert file["rank_region_index/aggregate_counts"][:].tolist() == [3]
        assert len(file["events/start_deltas"]) == 0
    for back in (read_h5(path), read_h5_summary(path)):
        assert back["a"].num_calls == 3 and back["a"].events() == []
        assert back["a"].total_exclusive_duration == ns(70)
    alone = read_h5(path)["a"][0]
    assert (alone.num_calls, alone.average_duration, len(alone)) == (3, ns(30), 3)
    assert (alone.p50_duration, alone.std_duration) == (None, None)
    assert read_json(write_json(read_h5(path), tmp_path / "w.json")).summary() == run.summary()


@pytest.mark.parametrize("compression", ["gzip", "lzf"])
def test_compression_is_that_of_h5py(tmp_path, compression):
    region = Region(range(0, 400, 2), range(1, 401, 2))
    run = ProfilingResults({"a": region})
    level = 4 if compression == "gzip" else None
    path = tmp_path / "w.h5"
    write_profile(run, path, compression=compression, compression_level=level, chunk_size=8)
    with h5py.File(path) as file:
        for name in ("start_deltas", "durations"):
            dataset = file["events"][name]
            assert dataset.compression == compression and dataset.shuffle
            assert dataset.chunks == (8,) and dataset.compression_opts == level
            assert dataset[:3].tolist() == ([0, 2, 2] if name == "start_deltas" else [1, 1, 1])
    assert read_h5(path)["a"][0].start_times_ns.tolist() == list(range(0, 400, 2))


def test_statistics_alone_cannot_be_written(run, tmp_path):
    path = write_profile(run, tmp_path / "w.h5")
    with pytest.raises(EventDataUnavailableError):
        write_profile(read_h5_summary(path), tmp_path / "x.h5")
    assert not (tmp_path / "x.h5").exists()


def test_pages_are_written_but_not_read(run, tmp_path):
    page = write_profile(run, tmp_path / "x.html")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(ValueError, match="HTML"):
        load(page)


def test_the_name_decides_on_reading_and_writing(run, tmp_path):
    for name in ("a.h5", "a.json", "a.json.gz", "a.data"):
        path = write_profile(run, tmp_path / name)
        assert read_profile(path).events() == load(path).events() == run.events()


def test_a_writer_goes_rank_by_rank(tmp_path):
    path = tmp_path / "w.h5"
    with ProfilingWriter(path, metadata={"mpi_size": 3}) as writer:
        assert writer.write_rank(0, {"regions": {"a": ([10], [20], None, [0], [-1])}})
        assert writer.write_rank(1, {"regions": {}}) is False
        with pytest.raises(ValueError, match="rank 0"):
            writer.write_rank(0, {"regions": {"a": ([1], [2])}})
        assert writer.index_state.state() == {"names": ["a"], "ranks": [0]}
        assert not path.exists()
    state = writer.index_state
    with ProfilingWriter.open_existing(path, index_state=state) as writer:
        payload = {
            "regions": {"b": ([1, 3], [2, 9])},
            "sources": {"b": ("b.py", 4, None)},
            "tags": {"b": ("t",)},
            "exclusive_totals": {"b": 7},
        }
        assert writer.write_rank(2, payload)
    run = read_h5(path)
    assert run.num_ranks == 3 and run["a"].ranks == [0] and run["b"].ranks == [2]
    assert run["a"][0].call_ids.tolist() == [0]
    assert run["b"].source_lineno == 4 and run["b"].total_exclusive_duration == ns(7)
    with pytest.raises(ValueError, match="ranks"):
        ProfilingWriter.open_existing(path, index_state=ColumnarIndex(["a"], [5]))


def test_a_failing_block_leaves_the_old_file(tmp_path):
    path = tmp_path / "w.h5"
    with ProfilingWriter(path) as writer:
        writer.write_rank(0, {"regions": {"old": ([0], [1])}})
    before = path.read_bytes()
    with contextlib.suppress(RuntimeError), ProfilingWriter(path) as writer:
        writer.write_rank(0, {"regions": {"new": ([0], [1])}})
        raise RuntimeError
    assert path.read_bytes() == before and [entry.name for entry in tmp_path.iterdir()] == ["w.h5"]


def test_a_folder_that_cannot_be_written(run, tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(OSError, match="file"):
        write_profile(run, blocked / "w.h5")
    (tmp_path / "w.h5").mkdir()
    with pytest.raises(OSError, match=r"w\.h5"):
        write_profile(run, tmp_path / "w.h5")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "w.h5"]


def test_metadata_through_h5py(tmp_path):
    path = tmp_path / "made.h5"
    make_file(path)
    with h5py.File(path, "r+") as file:
        write_metadata(file, {"modules": [], "host": b"node01", "list": ["a", "b"], "n": 5})
    metadata = read_h5(path).metadata
    assert metadata["modules"] == [] and metadata["list"] == ["a", "b"]
    assert metadata["host"] == "node01" and metadata["n"] == 5


def test_odd_metadata_is_saved(tmp_path):
    values = {
        "path": "ä" * 100_000, "nan": float("nan"),
        "bool": True, "none": None, "big": 2**70, "np": np.float32(0.5), "bytes": b"x",
    }  # fmt: skip
    run = ProfilingResults({"a": Region([0], [1])}, metadata=values)
    back = read_h5(write_profile(run, tmp_path / "w.h5")).metadata
    assert back["path"] and set(back["path"].replace("...[truncated]", "")) == {"ä"}
    assert math.isnan(back["nan"])
    assert (back["bool"], back["none"], back["big"]) == (1, "", str(2**70))
    assert (back["np"], back["bytes"]) == (0.5, "x")


def test_names_of_any_kind_survive_a_file(tmp_path):
    names = ["a/b", 'quote"', "new\nline", "emoji \U0001f600", " ", "x" * 5000, "../up", "."]
    run = ProfilingResults({name: Region([0], [1]) for name in names})
    assert read_h5(write_profile(run, tmp_path / "w.h5")).region_names == names


def test_ranks_sort_as_numbers(tmp_path):
    run = ProfilingResults({"a": MPIRegion("a", {rank: Region([0], [1]) for rank in range(12)})})
    assert read_h5(write_profile(run, tmp_path / "w.h5"))["a"].ranks == list(range(12))


def test_older_schemas_are_brought_up_to_date(tmp_path):
    for schema in (1, 2):
        path = migrate_schema(DATA / f"hdf5-schema-{schema}.h5", tmp_path / f"{schema}.h5")
        with h5py.File(path) as file:
            assert read_schema_version(file) == 3
        run = read_h5(path)
        assert run["solve"][0].durations_ns.tolist() == [5, 13, 15]
        assert run["solve"].tags == ("golden",)


def test_calls_that_do_not_nest_keep_their_times(tmp_path):
    run = ProfilingResults({"a": Region([0, 5], [10, 20])})
    back = read_h5(write_profile(run, tmp_path / "w.h5"))
    assert back["a"].num_calls == 2 and back.summary()[0]["exclusive_duration"] is None
    with pytest.raises(NestingError):
        back.call_stack()
    with pytest.raises(NestingError):
        back["a"].total_exclusive_duration  # noqa: B018


def test_the_dictionary_form_builds_the_same_run(run, tmp_path):
    path = write_profile(run, tmp_path / "w.h5")
    assert ProfilingResults(**load_h5(path)).events() == run.events()


# ---- native traces ---------------------------------------------------------------------------


def test_converted_traces_have_no_ids(tmp_path):
    source = DATA / "native-v2.spt"
    path = convert_traces(source, tmp_path / "trace.h5")
    with h5py.File(path) as file:
        assert "call_ids" not in file["events"] and "parent_ids" not in file["events"]
    run = read_h5(path)
    assert run.label == "trace" and run["solve"].source_file == "solver.c"
    assert run["solve"][0].start_times_ns.tolist() == [10, 20, 40]
    assert [(node["name"], node["depth"]) for node in run.call_graph()] == [
        (call["name"], call["depth"]) for call in run.call_stack()
    ]


def test_traces_and_profiles_of_ranks_mix(tmp_path):
    made = ProfilingResults(
        {1: {"k": Region([50], [60])}}, metadata={"host": "n1", "start_time_ns": 40}
    )
    write_profile(made, tmp_path / "p_rank00001.h5")
    (tmp_path / "p_rank00000.spt").write_bytes((DATA / "native-v1.spt").read_bytes())
    run = load_traces(tmp_path, label="both")
    assert run.region_names == ["solve", "k"] and run.num_ranks == 2
    assert run.metadata["host"] == "n1" and run.metadata["start_time_ns"] == 10
    ranks, metadata = read_native_h5(tmp_path / "p_rank00001.h5")
    assert list(ranks) == [1] and metadata["host"] == "n1"


# ---- many calls ------------------------------------------------------------------------------


def test_a_random_run_equals_its_model(tmp_path):
    """Nested programs on two ranks, written and read: same calls, depths, exclusive times."""
    rng = random.Random(11)
    expected, parts = {}, {name: {} for name in "abc"}
    for rank in range(2):
        clock, stack, calls, spans = 10**12, [], [], {name: [] for name in "abc"}
        for _ in range(3000):
            clock += rng.randrange(1, 50)
            if stack and rng.random() < 0.5:
                call = stack.pop()
                call["end"] = clock
                if stack:
                    stack[-1]["children"] += clock - call["start"]
            else:
                call = {
                    "name": rng.choice("abc"),
                    "start": clock,
                    "depth": len(stack),
                    "children": 0,
                }
                stack.append(call)
                calls.append(call)
        while stack:
            clock += 1
            call = stack.pop()
            call["end"] = clock
            if stack:
                stack[-1]["children"] += clock - call["start"]
        for call in calls:
            spans[call["name"]].append((call["start"], call["end"]))
        for name, pairs in spans.items():
            parts[name][rank] = Region([s for s, _ in pairs], [e for _, e in pairs])
        expected[rank] = [
            (c["name"], c["depth"], c["end"] - c["start"] - c["children"]) for c in calls
        ]
    run = ProfilingResults({name: MPIRegion(name, ranks) for name, ranks in parts.items()})
    back = read_h5(write_profile(run, tmp_path / "w.h5"))
    for rank, calls in expected.items():
        stack = back.call_stack(rank=rank)
        assert [
            (call["name"], call["depth"], round(call["exclusive_duration"] * 1e9)) for call in stack
        ] == calls
        for name in "abc":
            own = sum(exclusive for called, _, exclusive in calls if called == name)
            assert back[name][rank].total_exclusive_duration == ns(own)


def test_reading_leaves_no_open_file(run, tmp_path):
    path = write_profile(run, tmp_path / "w.h5")
    back = _results.Run.open(path)
    assert back.schema == 3 and back.file_bytes == path.stat().st_size and back.path == str(path)
    del back
    with h5py.File(path, "r+") as file:
        file.attrs["touched"] = 1


def test_single_nanoseconds_beyond_doubles_survive_every_format(tmp_path):
    base = 2**53 + 1
    spans = [(base, base + 1), (base + 1_000_002, base + 1_000_009)]
    trace = b"SCOPEPRF" + struct.pack("<iiqi4sq", 1, 0, 1, 4, b"tick", 2)
    trace += struct.pack("<4q", *(start for start, _ in spans), *(end for _, end in spans))
    source = tmp_path / "t_rank00000.spt"
    source.write_bytes(trace)
    file = convert_traces(tmp_path, tmp_path / "t.h5")
    document = write_json(read_h5(file), tmp_path / "t.json")
    for run in (load_traces(source), read_h5(file), read_json(document)):
        region = run["tick"][0]
        starts, ends = region.start_times_ns.tolist(), region.end_times_ns.tolist()
        assert list(zip(starts, ends)) == spans
        assert region.durations_ns.tolist() == [1, 7] and region.durations[0] == 1e-9
        first, second = run.events()
        assert (first["start"], second["start"]) == (0.0, 1_000_002 / 1e9)
        assert second["duration"] == 7 / 1e9


def test_recursion_of_thousands_of_levels_reads(tmp_path):
    depth = 3000
    region = Region(range(depth), range(2 * depth, depth, -1))
    run = read_h5(write_profile(ProfilingResults({"rec": region}), tmp_path / "w.h5"))
    stack = run.call_stack()
    assert [call["depth"] for call in stack] == list(range(depth))
    assert stack[-1]["call_path"].count(" > ") == depth - 1
    stream = io.StringIO()
    run.print_summary(stream=stream)
    assert "rec ↻ (3k" in stream.getvalue() or "rec ↻ (3.00k" in stream.getvalue()


def test_a_run_without_calls_goes_through_every_format(tmp_path):
    empty = ProfilingResults({}, metadata={"label": "nothing"})
    idle = ProfilingResults({"never": Region([], [])})
    for run in (empty, idle):
        for name in ("w.h5", "w.json", "w.json.gz"):
            back = load(write_profile(run, tmp_path / name))
            assert back.summary() == run.summary() and back.events() == []
        text = (tmp_path / "w.json").read_text()
        json.loads(text, parse_constant=lambda constant: pytest.fail(constant))
        stream = io.StringIO()
        read_h5(tmp_path / "w.h5").print_summary(stream=stream)
        assert "nan" not in stream.getvalue()
