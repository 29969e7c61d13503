"""What the reader makes of files: those of other writers, and those that are wrong."""

import shutil

import h5py
import numpy as np
import pytest
import store_table as st
from test_hdf5_writer import write_solve

TEXT = h5py.string_dtype()


def expect_error(table, path, status, *parts):
    with pytest.raises(st.StoreError) as caught:
        st.Reader(table, path).close()
    assert caught.value.status == status, caught.value
    for part in (*parts, str(path)):
        assert part in str(caught.value)


# ---- Files of other releases -------------------------------------------------------------------


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_fixture_of_each_schema(table, data, schema):
    with st.Reader(table, data / f"hdf5-schema-{schema}.h5") as run:
        assert (run.schema, run.num_ranks, run.num_calls) == (schema, 1, 3)
        assert run.regions == ["solve"] and run.metadata == {"mpi_size": 1}
        assert run.columns == {"start", "duration"}
        (row,) = run.rows
        assert (row.region, row.rank, row.count) == (b"solve", 0, 3)
        assert (row.source_file, row.source_line, row.source_text) == (b"solver.py", 7, b"")
        assert row.tags_json == b'["golden"]'
        assert row.exclusive_total == -1 and not row.has_statistics
        assert run.calls(0, "start").tolist() == [10, 20, 40]
        assert run.calls(0, "duration").tolist() == [5, 13, 15]


@pytest.mark.parametrize("name", ["field-rank2-chunked-no-metadata.h5", "field-rank1-metadata.h5"])
def test_field_file_equals_what_h5py_reads(table, data, name):
    with h5py.File(data / name) as file, st.Reader(table, data / name) as run:
        ranks = sorted(n for n in file if n.startswith("rank"))
        assert run.num_ranks == len(ranks)
        expected = [(region, int(rank[4:])) for rank in ranks for region in file[rank]["regions"]]
        assert [(r.region.decode(), r.rank) for r in run.rows] == expected
        for i, (region, rank) in enumerate(expected):
            group = file[f"rank{rank}/regions"][region]
            start, end = group["start_times"][:], group["end_times"][:]
            assert run.calls(i, "start").tolist() == start.tolist()
            assert (run.calls(i, "start") + run.calls(i, "duration")).tolist() == end.tolist()
        metadata = dict(file["metadata"].attrs) if "metadata" in file else {}
        assert sorted(run.metadata) == sorted(metadata)
        for key, value in run.metadata.items():
            assert value == (metadata[key].tolist() if hasattr(metadata[key], "tolist")
                             else metadata[key])


def test_damaged_object_header(table, data):
    expect_error(table, data / "field-damaged-object-header.h5", st.DAMAGED,
                 "not a readable HDF5 profiling file", "interrupted", "truncated or damaged")


# ---- Kinds of types ------------------------------------------------------------------------------


def make_columnar(path, starts, durations, counts=None, offsets=None, texts=None, schema=3,
                  libver=None, **events):
    """A file by another writer; `texts` gives the string type."""
    texts = texts or TEXT
    counts = [len(starts)] if counts is None else counts
    offsets = np.cumsum([0, *counts])[:-1] if offsets is None else offsets
    kind = object if h5py.check_string_dtype(texts).length is None else texts
    names = np.array([f"r{i}" for i in range(len(counts))], kind)
    with h5py.File(path, "w", libver=libver) as file:
        file.attrs["scope_profiler_schema"] = schema
        file.create_group("metadata")
        file.create_dataset("region_table/names", data=names, dtype=texts)
        index = file.create_group("rank_region_index")
        index["region_ids"] = np.arange(len(counts), dtype="u4")
        index["ranks"] = np.zeros(len(counts), "u4")
        index["event_offsets"] = np.array(offsets, "u8")
        index["event_counts"] = np.array(counts, "u8")
        index["source_lines"] = np.full(len(counts), -1)
        index["exclusive_totals"] = np.full(len(counts), -1)
        for name in ("source_files", "source_texts", "tags"):
            index.create_dataset(name, data=np.array(["[]"] * len(counts), kind), dtype=texts)
        group = file.create_group("events")
        group["start_deltas" if schema == 3 else "start_times"] = starts
        group["durations" if schema == 3 else "end_times"] = durations
        for name, values in events.items():
            group[name] = values


@pytest.mark.parametrize("dtype", ["i1", "u1", "<i2", ">i2", "<i4", ">u4", ">i8", "<u8", ">u8"])
def test_integers_of_any_make(table, tmp_path, dtype):
    make_columnar(tmp_path / "a.h5", np.array([10, 20], dtype), np.array([3, 4], dtype),
                  call_ids=np.array([0, 1], dtype))
    with h5py.File(tmp_path / "a.h5", "a") as file:
        index = file["rank_region_index"]
        for name in ("region_ids", "ranks", "event_offsets", "event_counts", "source_lines"):
            values = index[name][:]
            del index[name]
            index[name] = np.maximum(values, 0).astype(dtype)
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.calls(0, "start").tolist() == [10, 30]
        assert run.calls(0, "duration").tolist() == [3, 4]
        assert run.calls(0, "call_id").tolist() == [0, 1]
        assert run.rows[0].count == 2 and run.rows[0].source_line == 0


@pytest.mark.parametrize("texts", [TEXT, h5py.string_dtype("ascii"), h5py.string_dtype("utf-8", 9),
                                   h5py.string_dtype("ascii", 2)])
def test_texts_of_any_make(table, tmp_path, texts):
    make_columnar(tmp_path / "a.h5", [1], [1], texts=texts)
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file["metadata"].attrs.create("t", "ab", dtype=texts)
        file["metadata"].attrs.create("l", ["ab", "c"], dtype=texts)
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.regions == ["r0"] and run.rows[0].tags_json == b"[]"
        assert run.metadata == {"t": "ab", "l": ["ab", "c"]}


def test_padding_of_fixed_texts(table, tmp_path):
    make_columnar(tmp_path / "a.h5", [1], [1])
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file["region_table/names"]
        type_id = h5py.h5t.C_S1.copy()
        type_id.set_size(8)
        type_id.set_strpad(h5py.h5t.STR_SPACEPAD)
        space = h5py.h5s.create_simple((1,))
        dataset = h5py.h5d.create(file["region_table"].id, b"names", type_id, space)
        dataset.write(space, space, np.array([b"ab c    "], "S8"), mtype=type_id)
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.regions == ["ab c"]


def test_texts_that_are_not_utf8(table, tmp_path):
    make_columnar(tmp_path / "a.h5", [1], [1])
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file["region_table/names"]
        file.create_dataset("region_table/names", data=np.array([b"r\xff\xfe"], object), dtype=TEXT)
        file["metadata"].attrs["x"] = b"caf\xe9"
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.regions == ["r\ufffd\ufffd"] and run.metadata["x"] == "caf\ufffd"


def test_metadata_of_any_make(table, tmp_path):
    make_columnar(tmp_path / "a.h5", [1], [1])
    values = {"i": np.int8(-3), "u": np.uint64(2**64 - 1), "f": np.float32(0.5), "b": True,
              "one": np.array([4]), "big": np.array(-2.5, ">f8")}
    with h5py.File(tmp_path / "a.h5", "a") as file:
        for key, value in values.items():
            file["metadata"].attrs[key] = value
        file["metadata"].attrs["skipped"] = np.array([1, 2])
        file["metadata"].attrs["complex"] = 1j
        file["metadata"].attrs["long"] = np.longdouble(0.25)
        file["metadata"].attrs["nothing"] = h5py.Empty("i8")
        file["metadata"].attrs["notext"] = h5py.Empty(TEXT)
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.metadata == {"i": -3, "u": 2**63 - 1, "f": 0.5, "b": 1, "one": 4, "big": -2.5,
                                "notext": ""}


def test_optional_parts_may_be_missing(table, tmp_path):
    make_columnar(tmp_path / "a.h5", [1], [2])
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file["metadata"]
        for name in ("source_lines", "exclusive_totals", "source_files", "source_texts", "tags"):
            del file["rank_region_index"][name]
    with st.Reader(table, tmp_path / "a.h5") as run:
        (row,) = run.rows
        assert (row.source_file, row.source_line, row.tags_json) == (b"", -1, b"[]")
        assert run.num_ranks == 1


def test_schema_2_with_optional_columns(table, tmp_path):
    make_columnar(tmp_path / "a.h5", [10, 30, 5], [12, 33, 9], counts=[2, 1], schema=2,
                  call_ids=[1, 2, 0])
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.columns == {"start", "duration", "call_id"}
        assert run.calls(0, "start").tolist() == [10, 30]
        assert run.calls(0, "duration").tolist() == [2, 3]
        assert run.calls(1, "start").tolist() == [5] and run.calls(1, "duration").tolist() == [4]


def test_schema_1_with_everything(table, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for rank in (0, 2, 10):
            for name in ("b", "a"):
                group = file.create_group(f"rank{rank}/regions/{name}")
                group["start_times"] = [rank, rank + 10]
                group["end_times"] = [rank + 1, rank + 12]
        group["call_ids"], group["parent_ids"], group["gpu_durations"] = [4, 5], [-1, 4], [7, -1]
        group.attrs["source_file"], group.attrs["source_lineno"] = "x.py", 3
        group.attrs["source_text"], group.attrs["tags"] = "f()", ["p", 'q"']
        nested = file.create_group("rank0/regions/outer/inner")  # a name with a slash
        nested["start_times"], nested["end_times"] = [1], [2]
        file.create_group("rank3")
        file.create_group("rank007/regions/x")
        file.create_group("other")
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.num_ranks == 4  # 0, 2, 3, 10
        assert [(r.region, r.rank) for r in run.rows] == [
            (b"a", 0), (b"b", 0), (b"a", 2), (b"b", 2), (b"a", 10), (b"b", 10)]
        assert run.columns == {"start", "duration", "call_id", "parent_id", "gpu"}
        assert run.calls(4, "call_id").tolist() == [4, 5]
        assert run.calls(4, "gpu").tolist() == [7, -1]
        assert run.calls(0, "call_id").tolist() == [-1, -1]  # this row has none
        assert run.calls(5, "start").tolist() == [10, 20]
        assert run.calls(5, "duration").tolist() == [1, 2]
        row = run.rows[4]
        assert (row.source_file, row.source_line, row.source_text) == (b"x.py", 3, b"f()")
        assert row.tags_json == b'["p", "q\\""]'


def test_number_of_ranks(table, tmp_path):
    for size, ranks, expected in ((1, (0,), 1), (8, (0, 1), 8), (2, (0, 6), 7), (4, (), 4)):
        writer = st.Writer(table, tmp_path / "a.h5")
        writer.metadata({"mpi_size": size})
        for rank in ranks:
            writer.begin_rank(rank, [st.row("a", rank, 0)])
        writer.commit()
        with st.Reader(table, tmp_path / "a.h5") as run:
            assert run.num_ranks == expected


# ---- Newer and older layouts of the file -----------------------------------------------------------


@pytest.mark.parametrize("version", ["v108", "v110"])
@pytest.mark.parametrize("compression", [None, "gzip"])
def test_files_of_a_newer_layout(table, tmp_path, version, compression):
    count = 5000
    starts, durations = np.arange(count) % 50, np.arange(count) % 9
    make_columnar(tmp_path / "a.h5", starts, durations, counts=[3, count - 3],
                  libver=(version, version), call_ids=np.arange(count, dtype=">i4"))
    with h5py.File(tmp_path / "a.h5", "a", libver=(version, version)) as file:
        assert file.id.get_create_plist().get_version()[0] >= 2
        for name in ("start_deltas", "durations"):
            values = file["events"][name][:]
            del file["events"][name]
            file.create_dataset(f"events/{name}", data=values, chunks=(700,), maxshape=(None,),
                                compression=compression, shuffle=compression is not None)
        for i in range(30):  # so many that they are stored in another way
            file["metadata"].attrs[f"k{i:02}"] = i
        file["metadata"].attrs["list"] = ["a", "ü"]
        file["metadata"].attrs["bad"] = b"caf\xe9"
        extra = file.create_group("scope_profiler_extra")
        extra.attrs["version"] = 1
        extra["numbers"], extra["reals"] = [1, 2], [0.5]
        extra.create_dataset("texts", data=np.array(["x", ""], object), dtype=TEXT)
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.regions == ["r0", "r1"] and run.num_calls == count
        assert (run.calls(0, "start") == np.cumsum(starts[:3])).all()
        assert (run.calls(1, "start") == np.cumsum(starts[3:])).all()
        assert (run.calls(1, "start", 4000, 10) == np.cumsum(starts[3:])[4000:4010]).all()
        assert (run.calls(1, "duration") == durations[3:]).all()
        assert (run.calls(1, "call_id") == np.arange(3, count)).all()
        assert run.metadata["k29"] == 29 and run.metadata["list"] == ["a", "ü"]
        assert run.metadata["bad"] == "caf\ufffd"
        assert run.extras == {"numbers": {0: [1, 2]}, "reals": {0: [0.5]}, "texts": {0: [b"x", b""]}}


def test_errors_are_the_same_in_a_newer_layout(table, tmp_path):
    path, libver = tmp_path / "a.h5", ("v108", "v108")
    make_columnar(path, [1, 2, 3], [1, 1], counts=[3], libver=libver)
    expect_error(table, path, st.DAMAGED,
                 "claims 3 recorded events but its event columns hold 2")
    make_columnar(path, range(4), range(4), counts=[2, 2], offsets=[0, 1], libver=libver)
    expect_error(table, path, st.DAMAGED, "overlapping region rows")
    make_columnar(path, [1], [1], schema=9, libver=libver)
    expect_error(table, path, st.SCHEMA, "supports versions through 3")
    make_columnar(path, [1], [1], libver=libver)
    with h5py.File(path, "a", libver=libver) as file:
        del file["rank_region_index/ranks"]
    expect_error(table, path, st.DAMAGED, "lacks the dataset 'ranks'")
    content = path.read_bytes()
    path.write_bytes(content[:len(content) // 2])
    expect_error(table, path, st.NOT_A_PROFILE, "not a readable HDF5 profiling file")


def test_newer_groups_inside_an_old_layout(table, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        regions = file.create_group("rank0").create_group("regions", track_order=True)
        group = regions.create_group("solve")
        group["start_times"], group["end_times"] = [1, 5], [3, 6]
        assert file.id.get_create_plist().get_version()[0] == 0
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.calls(0, "duration").tolist() == [2, 1]


def test_bytes_before_the_file(table, tmp_path):
    make_columnar(tmp_path / "b.h5", [4, 5], [1, 2])
    with h5py.File(tmp_path / "a.h5", "w", userblock_size=1024) as file:
        with h5py.File(tmp_path / "b.h5") as source:
            file.attrs["scope_profiler_schema"] = 3
            for name in source:
                source.copy(name, file)
    assert (tmp_path / "a.h5").read_bytes()[:8] == b"\0" * 8
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.calls(0, "start").tolist() == [4, 9] and run.regions == ["r0"]


def test_many_regions(table, tmp_path):
    """So many that groups and texts take several nodes."""
    count = 3000
    writer = st.Writer(table, tmp_path / "a.h5")
    writer.begin_rank(0, [st.row(f"region {i} " + "x" * (i % 300), 0, 1, source_line=i)
                          for i in range(count)])
    writer.calls(start=np.arange(count), duration=np.ones(count))
    writer.commit()
    with st.Reader(table, tmp_path / "a.h5") as run, h5py.File(tmp_path / "a.h5") as file:
        assert run.regions == [n.decode() for n in file["region_table/names"][:]]
        assert [r.source_line for r in run.rows] == list(range(count))
    with h5py.File(tmp_path / "b.h5", "w") as file:
        for i in range(count // 10):
            group = file.create_group(f"rank0/regions/r{i:04}")
            group["start_times"], group["end_times"] = [i], [i + 1]
    with st.Reader(table, tmp_path / "b.h5") as run:
        assert run.regions == [f"r{i:04}" for i in range(count // 10)]
        assert run.calls(77, "start").tolist() == [77]


# ---- Calls ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"compression": "gzip"}, {"chunk_size": 1000}])
def test_starts_are_added_up_from_anywhere(table, tmp_path, options):
    rng = np.random.default_rng(5)
    counts = [70_000, 1, 0, 400_000]
    start = [np.cumsum(rng.integers(0, 1000, n)) + 2**40 for n in counts]
    writer = st.Writer(table, tmp_path / "a.h5", **options)
    writer.begin_rank(0, [st.row(f"r{i}", 0, n) for i, n in enumerate(counts)])
    writer.calls(start=np.concatenate(start), duration=np.zeros(sum(counts)))
    writer.commit()
    with st.Reader(table, tmp_path / "a.h5") as run:
        for _ in range(60):
            row = int(rng.choice([0, 1, 3]))
            first = int(rng.integers(0, counts[row] + 1))
            count = int(rng.integers(0, counts[row] - first + 1))
            assert (run.calls(row, "start", first, count) == start[row][first:first + count]).all()
        for row in range(4):
            assert (run.calls(row, "start") == start[row]).all()
        for row, first, count in ((0, 0, 70_001), (2, 1, 0), (3, 400_000, 1), (0, 2**63, 2**40)):
            if count < 2**30:
                with pytest.raises(st.StoreError, match="has .* calls"):
                    run.calls(row, "start", first, count)
        with pytest.raises(st.StoreError) as caught:
            run.calls(0, "await")
        assert caught.value.status == st.NOT_FOUND


def test_two_readers_of_one_file(table, tmp_path):
    write_solve(table, tmp_path / "a.h5")
    one = st.Reader(table, tmp_path / "a.h5")
    two = st.Reader(table, tmp_path / "a.h5")
    one.close()
    assert two.calls(0, "start").tolist() == [10, 20, 40]
    two.close()


def test_statistics_come_back(table, tmp_path):
    write_solve(table, tmp_path / "a.h5")
    with st.Reader(table, tmp_path / "a.h5") as run:
        statistics = run.rows[0].statistics
        assert run.rows[0].has_statistics
        assert (statistics.total, statistics.end_maximum, statistics.gpu_count) == (33, 55, 2)
        assert (statistics.mean, statistics.m2) == (11.0, 56.0)


# ---- Wrong files -----------------------------------------------------------------------------------


def test_missing_file(table, tmp_path):
    expect_error(table, tmp_path / "no.h5", st.NOT_FOUND, "HDF5 file not found")
    expect_error(table, tmp_path / "no" / "way.h5", st.NOT_FOUND, "HDF5 file not found")


@pytest.mark.parametrize("content", [b"", b"x", b"\x89HDF\r\n\x1a\n", b"\x89HDF\r\n\x1a\n" * 9,
                                     b"{}" * 5000])
def test_files_of_another_kind(table, tmp_path, content):
    (tmp_path / "a.h5").write_bytes(content)
    expect_error(table, tmp_path / "a.h5", st.NOT_A_PROFILE, "not a readable HDF5 profiling file",
                 "interrupted")


def test_folder_and_foreign_hdf5(table, tmp_path):
    expect_error(table, tmp_path, st.NOT_A_PROFILE, "not a readable HDF5 profiling file")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = 1
    expect_error(table, tmp_path / "a.h5", st.NOT_A_PROFILE, "holds no profile")


@pytest.mark.parametrize("cut", [1, 100, 0.5, 0.9])
def test_truncated_file(table, tmp_path, cut):
    write_solve(table, tmp_path / "whole.h5")
    content = (tmp_path / "whole.h5").read_bytes()
    size = cut if isinstance(cut, int) else int(len(content) * cut)
    (tmp_path / "a.h5").write_bytes(content[:size])
    expect_error(table, tmp_path / "a.h5", st.NOT_A_PROFILE, "not a readable HDF5 profiling file",
                 "truncated or damaged", "interrupted")


@pytest.mark.parametrize("value, part", [
    (0, "must be positive"), (-1, "must be positive"), (2.0, "must be an integer"),
    ("3", "must be an integer"), (np.array([1, 2]), "must be an integer"),
    (4, "this package supports versions through 3"), (2**40, "Upgrade scope-profiler")])
def test_schema_numbers(table, tmp_path, value, part):
    write_solve(table, tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file.attrs["scope_profiler_schema"] = value
    expect_error(table, tmp_path / "a.h5", st.SCHEMA, "schema version", part)


@pytest.mark.parametrize("name", ["events", "events/start_deltas", "events/durations",
                                  "region_table/names", "rank_region_index/ranks",
                                  "rank_region_index/event_counts", "rank_region_index"])
def test_missing_datasets(table, tmp_path, name):
    write_solve(table, tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file[name]
    expect_error(table, tmp_path / "a.h5", st.DAMAGED, "lacks the", "truncated or damaged",
                 name.split("/")[-1])


@pytest.mark.parametrize("schema", [2, 3])
def test_columns_shorter_than_claimed(table, tmp_path, schema):
    make_columnar(tmp_path / "a.h5", [1, 2, 3], [1, 1, 1], counts=[2, 3], schema=schema)
    expect_error(table, tmp_path / "a.h5", st.DAMAGED,
                 "claims 5 recorded events but its event columns hold 3", "truncated or damaged")
    make_columnar(tmp_path / "a.h5", [1, 2, 3], [1, 1], schema=schema)
    expect_error(table, tmp_path / "a.h5", st.DAMAGED,
                 "claims 3 recorded events but its event columns hold 2")
    make_columnar(tmp_path / "a.h5", [1, 2, 3], [1, 1, 1], schema=schema, parent_ids=[-1])
    expect_error(table, tmp_path / "a.h5", st.DAMAGED,
                 "claims 3 recorded events but its event columns hold 1")


def test_schema_1_columns_shorter_than_claimed(table, data, tmp_path):
    shutil.copy(data / "hdf5-schema-1.h5", tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5", "a") as file:
        group = file["rank0/regions/solve"]
        del group["end_times"]
        group["end_times"] = [15]
    expect_error(table, tmp_path / "a.h5", st.DAMAGED,
                 "claims 3 recorded events but its event columns hold 1")


@pytest.mark.parametrize("offsets, counts", [([0, 1], [2, 2]), ([2, 0], [2, 3]), ([0, 0], [1, 4])])
def test_overlapping_rows(table, tmp_path, offsets, counts):
    make_columnar(tmp_path / "a.h5", range(4), range(4), counts=counts, offsets=offsets)
    expect_error(table, tmp_path / "a.h5", st.DAMAGED, "overlapping region rows",
                 "truncated or damaged")


def test_rows_may_stand_in_any_order(table, tmp_path):
    make_columnar(tmp_path / "a.h5", [5, 6, 7], [1, 2, 3], counts=[2, 0, 1], offsets=[1, 1, 0])
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.calls(0, "start").tolist() == [6, 13] and run.calls(2, "start").tolist() == [5]


@pytest.mark.parametrize("offset, count", [(2**64 - 1, 2), (1, 2**64 - 1), (2**63, 2**63)])
def test_absurd_slices(table, tmp_path, offset, count):
    make_columnar(tmp_path / "a.h5", [1], [1], counts=[count], offsets=[offset])
    expect_error(table, tmp_path / "a.h5", st.DAMAGED, "recorded events")


@pytest.mark.parametrize("name, values", [
    ("event_counts", [1, 1]), ("ranks", []), ("region_ids", [9]), ("ranks", [2**33]),
    ("event_offsets", [0.0]), ("tags", [1]), ("source_lines", "x")])
def test_index_that_does_not_fit_together(table, tmp_path, name, values):
    make_columnar(tmp_path / "a.h5", [1], [1])
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file["rank_region_index"][name]
        file["rank_region_index"][name] = values
    expect_error(table, tmp_path / "a.h5", st.DAMAGED, "truncated or damaged")


@pytest.mark.parametrize("values", [5, [[1, 2], [3, 4]], ["a"], [0.5]])
def test_columns_of_the_wrong_shape(table, tmp_path, values):
    make_columnar(tmp_path / "a.h5", [1], [1])
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file["events/durations"]
        file["events/durations"] = values
    expect_error(table, tmp_path / "a.h5", st.DAMAGED, "durations", "truncated or damaged")


def test_huge_claims_without_bytes(table, tmp_path):
    """A column that was made long but never written holds nothing."""
    make_columnar(tmp_path / "a.h5", [1], [1], counts=[10**12])
    with h5py.File(tmp_path / "a.h5", "a") as file:
        for name in ("start_deltas", "durations"):
            del file["events"][name]
            file.create_dataset(f"events/{name}", (10**12,), "i8", chunks=(1000,),
                                maxshape=(None,), compression="gzip")
    expect_error(table, tmp_path / "a.h5", st.DAMAGED, "more than it stores")
    make_columnar(tmp_path / "a.h5", [1], [1])
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file["rank_region_index/region_ids"]
        file.create_dataset("rank_region_index/region_ids", (10**12,), "u4", chunks=(1000,),
                            maxshape=(None,))
    expect_error(table, tmp_path / "a.h5", st.DAMAGED, "more than it stores")


def test_links_to_other_files_are_not_followed(table, tmp_path):
    make_columnar(tmp_path / "b.h5", [1], [1])
    make_columnar(tmp_path / "a.h5", [1], [1])
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file["events/durations"]
        file["events/durations"] = h5py.ExternalLink("b.h5", "/events/durations")
    expect_error(table, tmp_path / "a.h5", st.DAMAGED, "lacks the dataset 'durations'")
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file["events/durations"]
        (tmp_path / "raw").write_bytes(b"\0" * 8)
        file.create_dataset("events/durations", (1,), "i8", external=[(tmp_path / "raw", 0, 8)])
    expect_error(table, tmp_path / "a.h5", st.DAMAGED, "durations")


def test_unknown_filter(table, tmp_path):
    make_columnar(tmp_path / "a.h5", [1], [1])
    with h5py.File(tmp_path / "a.h5", "a") as file:
        del file["events/durations"]
        try:
            file.create_dataset("events/durations", (1,), "i8", chunks=(1,), compression=32026,
                                shuffle=False, allow_unknown_filter=True)
        except (TypeError, ValueError):
            pytest.skip("this h5py creates no dataset with an unknown filter")
    with pytest.raises(st.StoreError, match="filter that this build lacks: number 32026"):
        st.Reader(table, tmp_path / "a.h5")


def test_extension_of_a_newer_version_is_left_alone(table, tmp_path):
    make_columnar(tmp_path / "a.h5", [1], [1])
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file.create_group("scope_profiler_extra").attrs["version"] = 2
        file["scope_profiler_extra/strange"] = [[1.5]]
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.extras == {}


def test_parts_that_do_not_fit(table, tmp_path):
    writer = st.Writer(table, tmp_path / "a.h5")
    writer.extra("x", [1, 2, 3])
    writer.commit()
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file["scope_profiler_extra/parts/lengths"][0] = 4
    expect_error(table, tmp_path / "a.h5", st.DAMAGED, "part table that does not fit 'x'")
