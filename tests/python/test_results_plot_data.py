"""Plot data from Python; the values themselves are tested with the command."""

import csv
import json

import pytest
from scope_profiler import export_plot_data
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.plot_data import PLOT_KINDS
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults


@pytest.fixture
def run():
    return ProfilingResults(
        {"main": MPIRegion("main", {0: Region([0], [10**9]), 1: Region([0], [3 * 10**9])}),
         "leaf": MPIRegion("leaf", {0: Region([10**8], [2 * 10**8])})},
        metadata={"label": "first"})


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("kind", PLOT_KINDS)
def test_every_kind_is_written(run, tmp_path, kind):
    data = [run, run] if kind.startswith(("speedup", "weak", "scaling")) else run
    path = export_plot_data(data, kind, tmp_path / "new" / "x.json", data_format="json")
    document = json.loads(path.read_text())
    assert (document["format"], document["format_version"]) == ("scope-profiler-plot-data", 1)


def test_values_labels_and_filters(run, tmp_path):
    path = export_plot_data([run, run], "durations", tmp_path / "d.csv", labels=["a", "b"],
                            include="main", metrics="avg", reduction="max")
    assert [(row["file"], row["region"], row["metric"], row["value_seconds"]) for row in rows(path)] == [
        ("a", "main", "avg", "3.0"), ("b", "main", "avg", "3.0")]
    path = export_plot_data(run, "gantt", tmp_path / "g.csv", ranks=1)
    assert [row["region"] for row in rows(path)] == ["main"]


def test_parquet_has_the_same_columns_with_types(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = export_plot_data(run, "gantt", tmp_path / "g.parquet", data_format="parquet")
    table = parquet.read_table(path)
    assert table.column_names == ["file", "rank", "region", "start_seconds", "end_seconds"]
    assert table.to_pylist()[0] == {"file": "first", "rank": 0, "region": "main",
                                    "start_seconds": 0.0, "end_seconds": 1.0}


@pytest.mark.parametrize("kind, arguments, text", [
    ("pie", {}, "unknown plot 'pie'; choose from gantt"),
    ("gantt", {"data_format": "xml"}, "csv, json, parquet"),
    ("gantt", {"include": "nothing"}, "No regions matched"),
    ("gantt", {"labels": ["a", "b"]}, "labels must match"),
    ("durations", {"metrics": ["mode"]}, "unknown metric 'mode'"),
    ("speedup", {}, "at least two profiling files")])
def test_wrong_choices_are_named(run, tmp_path, kind, arguments, text):
    with pytest.raises(ValueError, match=text):
        export_plot_data(run, kind, tmp_path / "x.csv", **arguments)
    assert not (tmp_path / "x.csv").exists()


def test_no_run_is_no_file(run, tmp_path):
    run.is_root = False
    assert export_plot_data(run, "gantt", tmp_path / "x.csv") is None
