"""Counters and line records: the groups that other releases write and read, looked at with h5py."""

import json
import math

import h5py
import numpy as np
import pytest

import store_table as st

LIKWID = {"tag": "a/b", "group_id": 2, "group_name": "MEM", "source": "marker_api", "cpus": [0, 3],
          "times": [1.5, 2], "call_counts": [7, 8], "event_names": ["E", "E"],
          "counter_names": ["C0", "C1"], "events": [[1, 2.5], [None, 4]], "metric_names": [],
          "metrics": []}
LINES = {"region": "r", "filename": "x.py", "function": "f", "first_lineno": 3, "unit": 1,
         "line_numbers": [3, 4], "hits": [1, 2**40], "times": [10, 0.5]}


def write(table, path, *extras):
    writer = st.Writer(table, path)
    writer.begin_rank(0, [st.row("r", 0, 1)])
    writer.calls(start=[1], duration=[1])
    for name, values, rank in extras:
        texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
        writer.extra(name, texts, rank)
    writer.commit()


def texts_of(table, path):
    """{name: {rank: records}} as a reader gives them."""
    found = {}
    with st.Reader(table, path) as run:
        description = run.description
        for extra in description.extras[:description.num_extras]:
            for text in extra.texts[:extra.length]:
                found.setdefault(extra.name.decode(), {}).update(json.loads(text))
    return found


def contents(node):
    """Everything below a group: attributes and datasets with their types."""
    def value_of(item):
        value = item[()] if isinstance(item, h5py.Dataset) else item
        kind = str(value.dtype) if hasattr(value, "dtype") else type(value).__name__
        return kind, np.shape(value), str(np.asarray(value).tolist())

    found = {f"{node.name}@{key}": value_of(value) for key, value in node.attrs.items()}
    for item in node.values():
        if isinstance(item, h5py.Dataset):
            found[item.name] = value_of(item)
        else:
            found[item.name] = "group"
            found.update(contents(item))
    return found


def test_a_file_of_another_release_is_written_again_value_by_value(table, data, tmp_path):
    extras = []
    with st.Reader(table, data / "hdf5-records.h5") as run:
        description = run.description
        for extra in description.extras[:description.num_extras]:
            extras.append((extra.name.decode(), [t.decode() for t in extra.texts[:1]], extra.rank))
    write(table, tmp_path / "again.h5", *extras)
    with h5py.File(data / "hdf5-records.h5") as old, h5py.File(tmp_path / "again.h5") as new:
        assert "scope_profiler_extra" not in new
        for rank in ("rank0", "rank1"):
            before = contents(old[rank])
            assert contents(new[rank]) == before and len(before) > 12
    assert texts_of(table, tmp_path / "again.h5") == texts_of(table, data / "hdf5-records.h5")


def test_layout_of_hardware_counters(table, tmp_path):
    path = tmp_path / "a.h5"
    write(table, path, ("json_likwid", [{"0": {"a/b": LIKWID, "c": {**LIKWID, "tag": "c"}}}], 0),
          ("json_likwid_environment", [{"0": {"LIKWID_MODE": "1", "num_regions": 77}}], 0))
    with h5py.File(path) as file:
        likwid = file["rank0/likwid"]
        assert dict(likwid.attrs) == {"LIKWID_MODE": "1", "num_regions": 2}
        assert sorted(likwid["regions"]) == ["a|b", "c"]
        region = likwid["regions/a|b"]
        attributes = {key: getattr(value, "tolist", lambda v=value: v)()
                      for key, value in region.attrs.items()}
        assert attributes == {"tag": "a/b", "group_id": 2, "group_name": "MEM",
                              "source": "marker_api", "event_names": ["E", "E"],
                              "counter_names": ["C0", "C1"], "metric_names": []}
        assert region.attrs["metric_names"].shape == (0,)
        shapes = {name: (item.dtype.str, item.shape) for name, item in region.items()}
        assert shapes == {"cpus": ("<i8", (2,)), "times": ("<f8", (2,)), "call_counts": ("<i8", (2,)),
                          "events": ("<f8", (2, 2)), "metrics": ("<f8", (0, 2))}
        assert region["events"][0].tolist() == [1.0, 2.5] and region["events"][1, 1] == 4.0
        assert math.isnan(region["events"][1, 0])
    again = texts_of(table, path)
    assert again["json_likwid"]["0"]["a/b"] == LIKWID
    assert again["json_likwid_environment"] == {"0": {"LIKWID_MODE": "1", "num_regions": 2}}


def test_layout_of_perf_events(table, tmp_path):
    path = tmp_path / "a.h5"
    totals = {"calls": 3, "values": {"cycles": 2**64 - 1, "branches": 0}}
    rest = {"calls": 1, "event_names": ["cycles"], "values": [5]}
    write(table, path, ("json_perf_events", [{"0": {"x/y": totals, "x|y": rest}, "12": {"r": rest}}], 0),
          ("json_perf_events", [{"1": {".": totals}}], 1))
    with h5py.File(path) as file:
        group = file["rank0/perf_events"]
        assert sorted(group) == ["x|y", "x|y|2"]
        assert group["x|y"].attrs["calls"] == 3 and group["x|y"].attrs["tag"] == "x/y"
        assert group["x|y"].attrs["calls"].dtype == np.int64
        assert group["x|y"].attrs["event_names"].tolist() == ["cycles", "branches"]
        assert group["x|y/values"].dtype == np.dtype("<u8")
        assert group["x|y/values"][:].tolist() == [2**64 - 1, 0]
        assert group["x|y|2"].attrs["tag"] == "x|y"
        assert "tag" not in file["rank12/perf_events/r"].attrs
        assert file["rank1/perf_events/|"].attrs["tag"] == "."
    assert texts_of(table, path)["json_perf_events"] == {
        "0": {"x/y": {"calls": 3, "event_names": ["cycles", "branches"], "values": [2**64 - 1, 0]},
              "x|y": rest},
        "1": {".": {"calls": 3, "event_names": ["cycles", "branches"], "values": [2**64 - 1, 0]}},
        "12": {"r": rest}}


def test_members_without_a_place_are_one_attribute(table, tmp_path):
    path = tmp_path / "a.h5"
    lanes = [{"thread": 0, "calls": 1, "values": {"cycles": 4}}, {"thread": 1, "calls": 2}]
    record = {"calls": 3, "event_names": ["cycles"], "values": [9], "is_scaled": True,
              "lanes": lanes, "ragged": [[1], [2, 3]], "label": "x"}
    write(table, path, ("json_perf_events", [{"0": {"r": record}}], 0))
    with h5py.File(path, "a") as file:
        group = file["rank0/perf_events/r"]
        assert json.loads(group.attrs["more_json"]) == {
            "is_scaled": True, "lanes": lanes, "ragged": [[1], [2, 3]]}
        assert sorted(group.attrs) == ["calls", "event_names", "label", "more_json"]
    assert texts_of(table, path)["json_perf_events"] == {"0": {"r": record}}
    with h5py.File(path, "a") as file:
        file["rank0/perf_events/r"].attrs["more_json"] = "no object"
    assert texts_of(table, path)["json_perf_events"]["0"]["r"]["more_json"] == "no object"


def test_layout_of_line_records(table, tmp_path):
    path = tmp_path / "a.h5"
    many = [{**LINES, "first_lineno": i} for i in range(12)]
    write(table, path, ("json_line_profile", [{"3": many[:5]}, {"3": many[5:]}], 3))
    with h5py.File(path) as file:
        group = file["rank3/line_profile"]
        assert sorted(group, key=int) == [str(i) for i in range(12)]
        last = group["11"]
        assert {key: (value.dtype if hasattr(value, "dtype") else str, value)
                for key, value in last.attrs.items()} == {
            "region": (str, "r"), "filename": (str, "x.py"), "function": (str, "f"),
            "first_lineno": (np.int64, 11), "unit": (np.float64, 1.0)}
        assert {name: item.dtype.str for name, item in last.items()} == {
            "line_numbers": "<i8", "hits": "<i8", "times": "<f8"}
        assert last["hits"][:].tolist() == [1, 2**40] and last["times"][:].tolist() == [10.0, 0.5]
    assert texts_of(table, path)["json_line_profile"] == {"3": many}


@pytest.mark.parametrize("name, text", [
    ("json_likwid", "no JSON"),
    ("json_likwid", '{"0": {"a": {"tag": "a"}}}'),
    ("json_likwid", json.dumps({"0": {"a": {**LIKWID, "events": [[1, 2], [3]]}}})),
    ("json_likwid", json.dumps({"0": {"a": {**LIKWID, "cpus": [1.5, 2]}}})),
    ("json_likwid", '{"x": {}}'),
    ("json_likwid", '{"0": {"": {}}}'),
    ("json_likwid", json.dumps({"0": {"a": {**LIKWID, "cut\0here": 1}}})),
    ("json_perf_events", '{"0": {"a": {"calls": 1, "values": {"cycles": -1}}}}'),
    ("json_perf_events", '{"0": {"a": {"calls": 1, "values": {"cycles": 18446744073709551616}}}}'),
    ("json_line_profile", json.dumps({"0": [{**LINES, "hits": [1, None]}]})),
    ("json_line_profile", '{"0": {}}'),
    ("json_line_profile", '{"0": []} more'),
])
def test_what_has_no_place_there_stays_a_text(table, tmp_path, name, text):
    path = tmp_path / "a.h5"
    fits = {"json_likwid": {"1": {"c": LIKWID}}, "json_line_profile": {"1": [LINES]},
            "json_perf_events": {"1": {"r": {"calls": 0, "values": {}}}}}[name]
    write(table, path, (name, [text, fits], 0))
    with h5py.File(path) as file:
        assert file["scope_profiler_extra"][name].asstr()[:].tolist() == [text]
        assert "rank0" not in file and "rank1" in file


def test_records_of_a_streamed_run(table, tmp_path):
    """Calls beyond what waits in memory: the file is written while records come in between."""
    count = 3_000_000
    writer = st.Writer(table, tmp_path / "a.h5", compression="gzip")
    for rank in (0, 1):
        writer.begin_rank(rank, [st.row("r", rank, count)])
        for first in range(0, count, 1_000_000):
            values = np.arange(first, first + 1_000_000)
            writer.calls(start=values, duration=values)
        writer.extra("json_line_profile", [json.dumps({str(rank): [LINES]})], rank)
    writer.commit()
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["rank1/line_profile/0/hits"][:].tolist() == [1, 2**40]
        assert file["events/durations"].shape == (2 * count,)
