"""Calls as an Arrow stream, read by libraries that know nothing of this one."""

import gc

import numpy as np
import pytest
from scope_profiler.region import EventDataUnavailableError, Region
from scope_profiler.results import ProfilingResults

pyarrow = pytest.importorskip("pyarrow", minversion="14")


@pytest.fixture
def run():
    return ProfilingResults({
        0: {"a\u00e9": Region([2**53 + 1, 2**53 + 9], [2**53 + 2, 2**53 + 16], call_ids=[4, 5],
                          parent_ids=[-1, 4]),
            "b": Region([7], [9])},
        3: {"a\u00e9": Region([1], [4], call_ids=[0], parent_ids=[-1])},
    })


def test_table(run):
    table = pyarrow.table(run)
    table.validate(full=True)
    assert table.column_names == ["name", "rank", "call_index", "start_ns", "duration_ns", "call_id",
                                  "parent_id"]
    rows = sorted(table.to_pylist(), key=lambda row: (row["rank"], row["name"], row["call_index"]))
    assert rows == [
        {"name": "a\u00e9", "rank": 0, "call_index": 0, "start_ns": 2**53 + 1, "duration_ns": 1,
         "call_id": 4, "parent_id": -1},
        {"name": "a\u00e9", "rank": 0, "call_index": 1, "start_ns": 2**53 + 9, "duration_ns": 7,
         "call_id": 5, "parent_id": 4},
        {"name": "b", "rank": 0, "call_index": 0, "start_ns": 7, "duration_ns": 2, "call_id": None,
         "parent_id": None},
        {"name": "a\u00e9", "rank": 3, "call_index": 0, "start_ns": 1, "duration_ns": 3, "call_id": 0,
         "parent_id": -1},
    ]


def test_times_are_not_copied(run):
    region = run["b"][0]
    table = pyarrow.table(region)
    column = table["start_ns"].chunk(0)
    assert column.buffers()[1].address == region.start_times_ns.__array_interface__["data"][0]


def test_parts_of_a_run(run):
    assert pyarrow.table(run["a\u00e9"]).num_rows == 3
    assert pyarrow.table(run["b"][0])["name"].to_pylist() == ["b"]


def test_a_table_outlives_the_run():
    run = ProfilingResults({"a": Region(np.arange(0, 2000, 2), np.arange(1, 2001, 2))})
    table = pyarrow.table(run)
    del run
    gc.collect()
    assert table["start_ns"].to_numpy().sum() == sum(range(0, 2000, 2))
    assert table["duration_ns"].to_numpy().sum() == 1000


def test_runs_without_calls():
    assert pyarrow.table(ProfilingResults({})).num_rows == 0
    assert pyarrow.table(ProfilingResults({"a": Region([], [])})).num_rows == 0
    totals = Region((), (), aggregate={"count": 2, "total": 5, "minimum": 2, "maximum": 3, "exclusive": 5})
    assert pyarrow.table(ProfilingResults({"a": totals})).num_rows == 0


def test_statistics_alone_are_not_enough(run, tmp_path):
    from scope_profiler import read_h5_summary, write_profile

    path = write_profile(ProfilingResults({"a": Region([0], [1])}), tmp_path / "x.h5")
    with pytest.raises(EventDataUnavailableError):
        pyarrow.table(read_h5_summary(path))


def test_a_stream_that_nobody_reads_is_freed(run):
    capsule = run.__arrow_c_stream__()
    assert "arrow_array_stream" in repr(capsule)
    del capsule
    gc.collect()


def test_parquet_holds_the_same(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table(run)
    parquet.write_table(table, tmp_path / "x.parquet")
    assert parquet.read_table(tmp_path / "x.parquet").to_pylist() == table.to_pylist()


def test_polars_takes_it_as_an_arrow_object(run):
    polars = pytest.importorskip("polars")
    calls = polars.from_arrow(run)  # a series of structs
    frame = calls.struct.unnest() if isinstance(calls, polars.Series) else calls
    assert frame.shape == (4, 7) and frame["start_ns"].max() == 2**53 + 9
    assert polars.from_arrow(pyarrow.table(run)).equals(frame)


def test_duckdb_asks_it(run):
    duckdb = pytest.importorskip("duckdb")
    calls = pyarrow.table(run)
    found = duckdb.sql("select name, count(*), sum(duration_ns) from calls group by name order by name")
    assert calls.num_rows == 4
    assert [(name, count, int(total)) for name, count, total in found.fetchall()] == [
        ("a\u00e9", 3, 11), ("b", 1, 2)]


def test_pandas_gets_the_same_from_it(run):
    pandas = pytest.importorskip("pandas")
    frame = pyarrow.table(run).to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame["duration_ns"].sum() == 13
    ours = run.to_events_dataframe(relative=False)
    assert len(ours) == len(frame) == 4


def test_polars_reads_it(run):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(run)
    assert frame.shape == (4, 7)
    assert frame["duration_ns"].sum() == 13
    assert sorted(frame["name"].cast(polars.String).to_list()) == ["a\u00e9"] * 3 + ["b"]
