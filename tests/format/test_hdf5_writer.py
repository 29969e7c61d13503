"""What the writer puts into a file, read back by h5py, value by value."""

import os
import stat

import h5py
import numpy as np
import pytest
import store_table as st

STATISTICS = {"total": 33, "minimum": 5, "maximum": 15, "first": 5, "last": 15,
              "start_minimum": 10, "end_maximum": 55, "gpu_count": 2, "gpu_total": 7, "mean": 11.0,
              "m2": 56.0}
STATISTICS_TYPE = np.dtype([(n, "<i8") for n in ("total", "minimum", "maximum", "first", "last",
                                                 "start_minimum", "end_maximum")] +
                           [("gpu_count", "<u8"), ("gpu_total", "<i8"), ("mean", "<f8"),
                            ("m2", "<f8")])


def write_solve(table, path, **options):
    """The run of the fixtures."""
    writer = st.Writer(table, path, **options)
    writer.metadata({"mpi_size": 1})
    writer.begin_rank(0, [st.row("solve", 0, 3, STATISTICS, source_file="solver.py", source_line=7,
                                 tags_json='["golden"]')])
    writer.calls(start=[10, 20, 40], duration=[5, 13, 15])
    writer.commit()


def is_variable_utf8(dataset_or_attribute_type):
    return (dataset_or_attribute_type.is_variable_str() and
            dataset_or_attribute_type.get_cset() == h5py.h5t.CSET_UTF8)


def text(dataset):
    assert is_variable_utf8(dataset.id.get_type())
    return [value.decode() for value in dataset[:]]


def test_has_exactly_the_members_of_the_published_schema(table, tmp_path):
    write_solve(table, tmp_path / "a.h5")
    members = []
    with h5py.File(tmp_path / "a.h5") as file:
        file.visit(members.append)
        assert sorted(file.attrs) == ["scope_profiler_schema", "storage_layout"]
        for name in members:
            if name != "metadata":
                assert len(file[name].attrs) == 0, name
    columns = ["region_ids", "ranks", "event_offsets", "event_counts", "source_lines",
               "exclusive_totals", "summary_statistics", "source_files", "source_texts", "tags"]
    assert sorted(members) == sorted(
        ["metadata", "region_table", "region_table/names", "rank_region_index", "events",
         "events/start_deltas", "events/durations"] +
        [f"rank_region_index/{name}" for name in columns])


def test_root_attributes(table, tmp_path):
    write_solve(table, tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        schema = file.attrs.get_id("scope_profiler_schema")
        assert schema.dtype == np.dtype("<i8") and schema.shape == ()
        assert file.attrs["scope_profiler_schema"] == 3
        layout = file.attrs.get_id("storage_layout")
        assert is_variable_utf8(layout.get_type()) and layout.shape == ()
        assert file.attrs["storage_layout"] == "columnar"


def test_values_and_types(table, tmp_path):
    write_solve(table, tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        index = file["rank_region_index"]
        expected = {"region_ids": ("<u4", [0]), "ranks": ("<u4", [0]),
                    "event_offsets": ("<u8", [0]), "event_counts": ("<u8", [3]),
                    "source_lines": ("<i8", [7]), "exclusive_totals": ("<i8", [-1])}
        for name, (dtype, values) in expected.items():
            assert index[name].dtype == np.dtype(dtype), name
            assert index[name][:].tolist() == values, name
        assert text(file["region_table/names"]) == ["solve"]
        assert text(index["source_files"]) == ["solver.py"]
        assert text(index["source_texts"]) == [""]
        assert text(index["tags"]) == ['["golden"]']
        for name, values in (("start_deltas", [10, 10, 20]), ("durations", [5, 13, 15])):
            assert file["events"][name].dtype == np.dtype("<i8")
            assert file["events"][name][:].tolist() == values


def test_statistics_are_88_packed_bytes_in_order(table, tmp_path):
    write_solve(table, tmp_path / "a.h5")
    with h5py.File(tmp_path / "a.h5") as file:
        dataset = file["rank_region_index/summary_statistics"]
        assert dataset.dtype == STATISTICS_TYPE and dataset.dtype.itemsize == 88
        assert dict(zip(STATISTICS, dataset[0].tolist())) == STATISTICS


def test_statistics_are_left_out_when_a_row_lacks_them(table, tmp_path):
    for large in (False, True):
        path = tmp_path / f"{large}.h5"
        count = 3_000_000 if large else 1
        writer = st.Writer(table, path)
        writer.begin_rank(0, [st.row("a", 0, count, STATISTICS), st.row("empty", 0, 0)])
        writer.calls(start=np.arange(count), duration=np.ones(count))
        writer.begin_rank(1, [st.row("b", 1, 1)])
        writer.calls(start=[5], duration=[1])
        writer.commit()
        with h5py.File(path) as file:
            assert "summary_statistics" not in file["rank_region_index"]


def test_an_empty_row_has_zero_statistics(table, tmp_path):
    writer = st.Writer(table, tmp_path / "a.h5")
    writer.begin_rank(0, [st.row("a", 0, 0), st.row("b", 0, 1, STATISTICS)])
    writer.calls(start=[1], duration=[2])
    writer.commit()
    with h5py.File(tmp_path / "a.h5") as file:
        statistics = file["rank_region_index/summary_statistics"]
        assert statistics[0].tolist() == (0,) * 9 + (0.0, 0.0)
        assert statistics["total"].tolist() == [0, 33]


def test_metadata_kinds(table, tmp_path):
    values = {"number": -5, "large": 2**63 - 1, "real": 0.125, "nan": float("nan"),
              "text": "Größe \U0001F680\n\"x\"", "empty": "", "list": ["a", "", "ü"], "none": [],
              "größe": 1}
    writer = st.Writer(table, tmp_path / "a.h5")
    writer.metadata(values)
    writer.metadata({"number": 6})  # a later entry replaces an earlier one
    writer.commit()
    with h5py.File(tmp_path / "a.h5") as file:
        attributes = file["metadata"].attrs
        assert sorted(attributes) == sorted(values)
        assert len(file["metadata"]) == 0
        assert attributes["number"] == 6 and attributes["large"] == 2**63 - 1
        assert attributes.get_id("number").dtype == np.dtype("<i8")
        assert attributes.get_id("real").dtype == np.dtype("<f8")
        assert attributes["real"] == 0.125 and np.isnan(attributes["nan"])
        assert attributes["text"] == values["text"] and attributes["empty"] == ""
        assert attributes["list"].tolist() == values["list"]
        assert attributes["none"].shape == (0,)
        for name in ("text", "list", "none"):
            assert is_variable_utf8(attributes.get_id(name).get_type()), name
        assert attributes.get_id("text").shape == ()
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert np.isnan(run.metadata.pop("nan"))
        values.pop("nan")
        assert run.metadata == {**values, "number": 6}


def test_metadata_too_long_for_an_attribute(table, tmp_path):
    writer = st.Writer(table, tmp_path / "a.h5")
    writer.metadata({"text": "x" * 1_000_000, "list": [f"module/{i}" for i in range(4000)],
                     "longer": ["a"] * 4001})
    writer.commit()
    with h5py.File(tmp_path / "a.h5") as file:
        attributes = file["metadata"].attrs
        assert attributes["text"] == "x" * 1_000_000
        assert attributes["list"][3999] == "module/3999"
        assert attributes["longer"] == '["a"' + ', "a"' * 4000 + "]"


def test_texts_that_are_not_utf8_are_replaced(table, tmp_path):
    writer = st.Writer(table, tmp_path / "a.h5")
    writer.metadata({b"k\xff": b"v\xfe"})
    writer.begin_rank(0, [st.row(b"r\xe4gion", 0, 1, source_file=b"/p\xe9re/x.py")])
    writer.calls(start=[1], duration=[1])
    writer.commit()
    with h5py.File(tmp_path / "a.h5") as file:
        assert text(file["region_table/names"]) == ["r\ufffdgion"]
        assert text(file["rank_region_index/source_files"]) == ["/p\ufffdre/x.py"]
        assert dict(file["metadata"].attrs) == {"k\ufffd": "v\ufffd"}


def test_start_deltas_begin_anew_in_each_row(table, tmp_path):
    """Pieces that the calls come in do not matter."""
    starts = [100, 130, 7, 50, 2**62, 2**62 + 1]
    for size in (1, 2, 3, 4, 6):
        writer = st.Writer(table, tmp_path / "a.h5")
        writer.begin_rank(0, [st.row("a", 0, 2), st.row("none", 0, 0), st.row("b", 0, 1),
                              st.row("c", 0, 3)])
        for first in range(0, 6, size):
            piece = starts[first:first + size]
            writer.calls(start=piece, duration=[9] * len(piece))
        writer.commit()
        with h5py.File(tmp_path / "a.h5") as file:
            assert file["events/start_deltas"][:].tolist() == [100, 30, 7, 50, 2**62 - 50, 1]
            assert file["rank_region_index/event_offsets"][:].tolist() == [0, 2, 2, 3]


def test_regions_come_in_order_of_first_appearance(table, tmp_path):
    names = ["b", "a/b", "emoji \U0001F680", "\"q\"\n", "b"]
    writer = st.Writer(table, tmp_path / "a.h5")
    writer.begin_rank(4, [st.row(n, 4, 1) for n in names[:2]])
    writer.calls(start=[1, 2], duration=[1, 1])
    writer.begin_rank(1, [st.row(n, 1, 1) for n in names[2:]])
    writer.calls(start=[1, 2, 3], duration=[1, 1, 1])
    writer.begin_rank(2, [])
    writer.commit()
    with h5py.File(tmp_path / "a.h5") as file:
        assert text(file["region_table/names"]) == ["b", "a/b", "emoji \U0001F680", "\"q\"\n"]
        assert file["rank_region_index/region_ids"][:].tolist() == [0, 1, 2, 3, 0]
        assert file["rank_region_index/ranks"][:].tolist() == [4, 4, 1, 1, 1]


@pytest.mark.parametrize("count", [3, 40_000, 3_000_000])
def test_optional_columns_are_chunked_shuffled_and_packed(table, tmp_path, count):
    columns = {"call_id": np.arange(count), "parent_id": np.arange(count) // 3 - 1,
               "thread_id": np.arange(count) % 4, "task_id": np.full(count, -1),
               "await_": np.arange(count) * 7, "gpu": np.arange(count) % 100 - 1}
    names = {"call_id": "call_ids", "parent_id": "parent_ids", "thread_id": "thread_ids",
             "task_id": "task_ids", "await_": "await_ns", "gpu": "gpu_durations"}
    start, duration = np.cumsum(np.arange(count) % 1000), np.arange(count) % 77
    writer = st.Writer(table, tmp_path / "a.h5")
    writer.begin_rank(0, [st.row("a", 0, count)],
                      columns=[c.rstrip("_") for c in ("start", "duration", *columns)])
    for first in range(0, count, 100_000):
        piece = slice(first, first + 100_000)
        writer.calls(start=start[piece], duration=duration[piece],
                     **{k: v[piece] for k, v in columns.items()})
    writer.commit()
    with h5py.File(tmp_path / "a.h5") as file:
        assert (np.cumsum(file["events/start_deltas"][:]) == start).all()
        assert (file["events/durations"][:] == duration).all()
        for key, values in columns.items():
            dataset = file["events"][names[key]]
            assert dataset.dtype == np.dtype("<i8")
            assert (dataset[:] == values).all(), key
            assert (dataset.compression, dataset.compression_opts) == ("gzip", 1)
            assert dataset.shuffle and dataset.chunks == (min(count, 32768),)
        if count > 1000:
            assert file["events/call_ids"].id.get_storage_size() < count / 4


def test_columns_of_later_ranks_are_filled_up(table, tmp_path):
    for count in (5, 2_000_000):
        writer = st.Writer(table, tmp_path / "a.h5")
        writer.begin_rank(0, [st.row("a", 0, count)])
        writer.calls(start=np.arange(count), duration=np.ones(count))
        writer.begin_rank(1, [st.row("a", 1, 2)],
                          columns=("start", "duration", "call_id", "await", "gpu"))
        writer.calls(start=[1, 2], duration=[3, 4], call_id=[8, 9], await_=[5, 6], gpu=[1, -1])
        writer.begin_rank(2, [st.row("a", 2, 1)], columns=("start", "duration", "gpu"))
        writer.calls(start=[1], duration=[3], gpu=[77])
        writer.begin_rank(3, [st.row("a", 3, 0)],
                          columns=("start", "duration", "task_id"))  # has no call at all
        writer.commit()
        with h5py.File(tmp_path / "a.h5") as file:
            events = file["events"]
            assert sorted(events) == ["await_ns", "call_ids", "durations", "gpu_durations",
                                      "start_deltas"]
            for name, missing, tail in (("call_ids", -1, [8, 9, -1]), ("await_ns", 0, [5, 6, 0]),
                                        ("gpu_durations", -1, [1, -1, 77])):
                assert (events[name][:count] == missing).all()
                assert events[name][count:].tolist() == tail


def test_event_metadata_exists_only_when_a_row_has_some(table, tmp_path):
    writer = st.Writer(table, tmp_path / "a.h5")
    for rank, json in enumerate((None, "[]", '[{"n": 1}]', None)):
        writer.begin_rank(rank, [st.row("a", rank, 1, event_metadata_json=json)])
        writer.calls(start=[1], duration=[1])
        if rank == 1:
            earlier = st.Writer(table, tmp_path / "b.h5")
            earlier.begin_rank(0, [st.row("a", 0, 0, event_metadata_json="[]")])
            earlier.commit()
    writer.commit()
    with h5py.File(tmp_path / "b.h5") as file:
        assert "event_metadata" not in file["rank_region_index"]
    with h5py.File(tmp_path / "a.h5") as file:
        assert text(file["rank_region_index/event_metadata"]) == ["[]", "[]", '[{"n": 1}]', "[]"]


def test_large_event_metadata_is_streamed(table, tmp_path):
    texts = ['[{"blob": "' + str(i) * 3_000_000 + '"}]' for i in range(9)]
    writer = st.Writer(table, tmp_path / "a.h5")
    for rank, json in enumerate(texts):
        writer.begin_rank(rank, [st.row(f"r{rank}", rank, 1, event_metadata_json=json)])
        writer.calls(start=[rank], duration=[1])
    writer.commit()
    with h5py.File(tmp_path / "a.h5") as file:
        assert text(file["rank_region_index/event_metadata"]) == texts
        assert text(file["region_table/names"]) == [f"r{i}" for i in range(9)]
        assert file["events/start_deltas"][:].tolist() == list(range(9))
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert [r.event_metadata_json.decode() for r in run.rows] == texts


def test_lane_tables(table, tmp_path):
    thread = dict(rank=0, index=0, ident=140, native_id=77, is_daemon=True, start_ns=5, end_ns=-1,
                  cpu_ns=9, name="Main Thread")
    task = dict(rank=0, index=0, thread_index=0, created_ns=1, done_ns=2, steps=3, running_ns=4,
                suspended_ns=5, kind="task", name="Task-1", coroutine_name="main")
    writer = st.Writer(table, tmp_path / "a.h5")
    writer.begin_rank(0, [], threads=[thread], tasks=[task])
    writer.begin_rank(1, [], threads=[{**thread, "rank": 1, "is_daemon": False}])
    writer.commit()
    with h5py.File(tmp_path / "a.h5") as file:
        threads, tasks = file["thread_table"], file["task_table"]
        assert {n: threads[n].dtype.str for n in threads if n != "name"} == {
            "ranks": "<u4", "index": "<i8", "ident": "<i8", "native_id": "<i8", "daemon": "|i1",
            "start_ns": "<i8", "end_ns": "<i8", "cpu_ns": "<i8"}
        assert text(threads["name"]) == ["Main Thread"] * 2
        assert threads["ranks"][:].tolist() == [0, 1] and threads["daemon"][:].tolist() == [1, 0]
        assert [threads[n][0] for n in ("ident", "native_id", "start_ns", "end_ns", "cpu_ns")] == [
            140, 77, 5, -1, 9]
        assert sorted(tasks) == sorted(["ranks", "index", "thread_index", "created_ns", "done_ns",
                                        "steps", "running_ns", "suspended_ns", "kind", "name",
                                        "coro_name"])
        assert [tasks[n][0] for n in ("created_ns", "done_ns", "steps", "running_ns",
                                      "suspended_ns")] == [1, 2, 3, 4, 5]
        assert [text(tasks[n]) for n in ("kind", "name", "coro_name")] == [["task"], ["Task-1"],
                                                                          ["main"]]


def test_aggregate_layout(table, tmp_path):
    writer = st.Writer(table, tmp_path / "a.h5", aggregate=True)
    writer.begin_rank(0, [st.row("a", 0, 10, aggregate=(10, 100, 1, 50, -1)),
                          st.row("b", 0, 2, aggregate=(2, 30, 10, 20, 30))], columns=())
    writer.commit()
    with h5py.File(tmp_path / "a.h5") as file:
        assert file.attrs["storage_layout"] == "aggregate"
        index = file["rank_region_index"]
        assert index["aggregate_counts"].dtype == np.dtype("<u8")
        for name, values in (("aggregate_counts", [10, 2]), ("aggregate_totals", [100, 30]),
                             ("aggregate_minimums", [1, 10]), ("aggregate_maximums", [50, 20]),
                             ("aggregate_exclusives", [-1, 30]), ("region_ids", [0, 1]),
                             ("ranks", [0, 0])):
            assert index[name][:].tolist() == values, name
        for name in ("event_offsets", "event_counts", "source_lines", "exclusive_totals",
                     "summary_statistics", "source_files", "source_texts", "tags"):
            assert index[name].shape == (0,), name
        assert file["events/start_deltas"].shape == (0,)
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.is_aggregate and run.columns == set() and run.num_calls == 0
        assert run.rows[0].aggregate.maximum == 50 and run.rows[1].aggregate.exclusive == 30


def test_arrays_of_the_extension_group(table, tmp_path):
    writer = st.Writer(table, tmp_path / "a.h5")
    writer.extra("flags", [1, -2, 3], rank=0)
    writer.extra("flags", list(range(100_000)), rank=7)
    writer.extra("offsets", [0.5, -1.5])
    writer.extra("kinds", ["a", "ü"], rank=3)
    for name in ("", "a/b", "a.b", "parts"):
        with pytest.raises(st.StoreError, match="cannot name an array"):
            writer.extra(name, [1])
    with pytest.raises(st.StoreError, match="two types of values"):
        writer.extra("flags", ["a"])
    writer.commit()
    with h5py.File(tmp_path / "a.h5") as file:
        group = file["scope_profiler_extra"]
        assert dict(group.attrs) == {"version": 1}
        assert group["flags"][:].tolist() == [1, -2, 3, *range(100_000)]
        assert group["flags"].compression == "gzip" and group["offsets"].chunks is None
        assert group["offsets"][:].tolist() == [0.5, -1.5]
        assert text(group["kinds"]) == ["a", "ü"]
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert run.extras == {"flags": {0: [1, -2, 3], 7: list(range(100_000))},
                              "offsets": {0: [0.5, -1.5]},
                              "kinds": {3: [b"a", "ü".encode()]}}


# ---- Storage ---------------------------------------------------------------------------------------


def test_small_files_are_compact(table, tmp_path):
    st.Writer(table, tmp_path / "empty.h5").commit()
    assert os.path.getsize(tmp_path / "empty.h5") < 32 * 1024
    write_solve(table, tmp_path / "a.h5")
    assert os.path.getsize(tmp_path / "a.h5") < 32 * 1024
    with h5py.File(tmp_path / "a.h5") as file:
        assert file.id.get_create_plist().get_version()[0] == 0  # superblock
        def check(name, item):
            if isinstance(item, h5py.Dataset):
                assert item.chunks is None and item.maxshape == item.shape, name
        file.visititems(check)


def write_many(table, path, count, **options):
    rng = np.random.default_rng(count)
    start, duration = np.cumsum(rng.integers(50, 400, count)), rng.integers(20, 300, count)
    writer = st.Writer(table, path, **options)
    writer.begin_rank(0, [st.row("a", 0, count)])
    writer.calls(start=start, duration=duration)
    writer.commit()
    return start, duration


@pytest.mark.parametrize("count", [100, 100_000, 2_000_000])
def test_plain_files_take_under_20_bytes_a_call(table, tmp_path, count):
    start, duration = write_many(table, tmp_path / "a.h5", count)
    with h5py.File(tmp_path / "a.h5") as file:
        assert (np.cumsum(file["events/start_deltas"][:]) == start).all()
        assert (file["events/durations"][:] == duration).all()
        assert file["events/durations"].compression is None
    assert os.path.getsize(tmp_path / "a.h5") < 20 * count + 32 * 1024


@pytest.mark.parametrize("count, compressed", [(16_383, False), (16_384, True), (2_000_000, True)])
def test_auto_compresses_large_runs(table, tmp_path, count, compressed):
    start, duration = write_many(table, tmp_path / "a.h5", count, compression="auto")
    with h5py.File(tmp_path / "a.h5") as file:
        for name, values in (("start_deltas", np.diff(start, prepend=0)), ("durations", duration)):
            dataset = file["events"][name]
            assert (dataset[:] == values).all()
            assert dataset.compression == ("gzip" if compressed else None)
            assert dataset.shuffle == compressed
            assert dataset.compression_opts == (4 if compressed else None)
    if compressed:
        assert os.path.getsize(tmp_path / "a.h5") < 6 * count
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert (run.calls(0, "start") == start).all() and (run.calls(0, "duration") == duration).all()


@pytest.mark.parametrize("compression, level, options", [
    ("gzip", -1, 4), ("gzip", 0, 0), ("gzip", 6, 6), ("lzf", -1, None), (None, -1, None)])
@pytest.mark.parametrize("chunk, count", [(8, 20), (8, 8), (1000, 20), (600_000, 700_000)])
def test_chunk_size_and_filters(table, tmp_path, compression, level, options, chunk, count):
    path = tmp_path / "a.h5"
    try:
        start, duration = write_many(table, path, count, compression=compression, level=level,
                                     chunk_size=chunk)
    except st.StoreError as error:
        assert compression == "lzf" and error.status == st.UNSUPPORTED
        pytest.skip(str(error))
    with h5py.File(path) as file:
        for name, values in (("start_deltas", np.diff(start, prepend=0)), ("durations", duration)):
            dataset = file["events"][name]
            assert (dataset[:] == values).all()
            assert dataset.chunks == (chunk,) and dataset.maxshape == (None,)
            assert (dataset.compression, dataset.compression_opts) == (compression, options)
            assert dataset.shuffle == (compression is not None)
        assert file["rank_region_index/ranks"].chunks == (chunk,)
    with st.Reader(table, path) as run:
        assert (run.calls(0, "start") == start).all() and (run.calls(0, "duration") == duration).all()


def test_zstd(table, tmp_path):
    try:
        start, duration = write_many(table, tmp_path / "a.h5", 50_000, compression="zstd")
    except st.StoreError as error:
        assert error.status == st.UNSUPPORTED
        pytest.skip(str(error))
    with h5py.File(tmp_path / "a.h5") as file:
        properties = file["events/durations"].id.get_create_plist()
        assert [properties.get_filter(i)[0] for i in range(2)] == [h5py.h5z.FILTER_SHUFFLE, 32015]
        assert properties.get_filter(1)[2] == (3,)
    with st.Reader(table, tmp_path / "a.h5") as run:
        assert (run.calls(0, "start") == start).all() and (run.calls(0, "duration") == duration).all()
    pytest.importorskip("hdf5plugin")
    with h5py.File(tmp_path / "a.h5") as file:
        assert (file["events/durations"][:] == duration).all()


@pytest.mark.parametrize("options, message", [
    ({"compression": "bzip2"}, "'bzip2' is not one of auto, gzip, lzf, zstd"),
    ({"compression": "gzip", "level": 10}, "level 10 .* outside 0 to 9"),
    ({"compression": "lzf", "level": 2}, "no levels|not available"),
    ({"chunk_size": 2**40}, "chunk .* too large")])
def test_options_that_are_refused(table, tmp_path, options, message):
    with pytest.raises(st.StoreError, match=message):
        st.Writer(table, tmp_path / "a.h5", **options)
    assert os.listdir(tmp_path) == []


# ---- Publication -----------------------------------------------------------------------------------


def test_nothing_is_visible_before_commit(table, tmp_path):
    path = tmp_path / "a.h5"
    path.write_text("before")
    writer = st.Writer(table, path)
    writer.begin_rank(0, [st.row("a", 0, 1)])
    assert path.read_text() == "before"
    names = sorted(os.listdir(tmp_path))
    assert len(names) == 2 and names[0].startswith(".a.h5.") and names[0].endswith(".tmp")
    with pytest.raises(st.StoreError, match="announced 1 calls but gave 0"):
        writer.commit()
    assert path.read_text() == "before" and os.listdir(tmp_path) == ["a.h5"]
    other = st.Writer(table, path)
    other.abort()
    assert path.read_text() == "before" and os.listdir(tmp_path) == ["a.h5"]
    write_solve(table, path)
    assert h5py.is_hdf5(path) and os.listdir(tmp_path) == ["a.h5"]


def test_missing_folders_are_made(table, tmp_path):
    write_solve(table, tmp_path / "x/y/a.h5")
    assert h5py.is_hdf5(tmp_path / "x/y/a.h5")


def test_rights_follow_the_umask(table, tmp_path):
    previous = os.umask(0o027)
    try:
        write_solve(table, tmp_path / "a.h5")
    finally:
        os.umask(previous)
    assert stat.S_IMODE(os.stat(tmp_path / "a.h5").st_mode) == 0o640


def test_what_is_no_regular_file_is_left_alone(table, tmp_path):
    os.mkdir(tmp_path / "folder.h5")
    os.mkfifo(tmp_path / "pipe.h5")
    for name in ("folder.h5", "pipe.h5"):
        with pytest.raises(st.StoreError, match="not a regular file"):
            st.Writer(table, tmp_path / name)
    assert sorted(os.listdir(tmp_path)) == ["folder.h5", "pipe.h5"]


def test_longest_possible_name(table, tmp_path):
    name = "n" * 252 + ".h5"
    write_solve(table, tmp_path / name)
    assert os.listdir(tmp_path) == [name]


def test_no_descriptor_stays_open(table, tmp_path):
    write_solve(table, tmp_path / "warm.h5")
    before = os.listdir("/proc/self/fd")
    for i in range(20):
        write_solve(table, tmp_path / "a.h5")
        writer = st.Writer(table, tmp_path / "b.h5")
        writer.begin_rank(0, [st.row("a", 0, 1)], columns=("start", "duration", "call_id"))
        writer.abort()
    assert len(os.listdir("/proc/self/fd")) == len(before)
