"""Figures of counters, with values worked out by hand. On each of two ranks the region `solve` has two
threads; rank 1 counts twice what rank 0 does."""

import csv
import json

import pytest

pytest.importorskip("matplotlib")
np = pytest.importorskip("numpy")

import scope_profiler as sp  # noqa: E402
from scope_profiler import LikwidRegionResult, MPIRegion, PerfEventTotals, Region  # noqa: E402
from scope_profiler import plotting_scripts as plots  # noqa: E402

FLOPS, BANDWIDTH = "DP [MFLOP/s]", "Memory bandwidth [MBytes/s]"


def likwid(factor):
    return LikwidRegionResult(
        "solve", 0, "MEM_DP", [0, 1], np.array([1.0, 2.0]), np.array([3, 3]), ["INSTR", "INSTR"],
        ["FIXC0", "PMC1"], factor * np.array([[10.0, 30.0], [1.0, 2.0]]),
        ["Runtime [s]", FLOPS, BANDWIDTH],
        factor * np.array([[1.0, 2.0], [1000.0, 3000.0], [2000.0, np.nan]]))


def totals(factor):
    return {"solve": PerfEventTotals(3, {"cycles": 100 * factor, "instructions": 250 * factor,
                                         "cache-misses": 5}),
            "idle": PerfEventTotals(1, {"cycles": 0, "instructions": 0, "cache-misses": 0})}


@pytest.fixture
def run():
    region = MPIRegion("solve", {rank: Region([10], [20]) for rank in (0, 1)})
    return sp.ProfilingResults(
        {"solve": region}, metadata={"label": "tuned"}, num_ranks=2,
        likwid={0: {"solve": likwid(1), "other": LikwidRegionResult("other")}, 1: {"solve": likwid(2)}},
        perf_events={0: totals(1), 1: totals(3)})


def document(function, *arguments, path, **options):
    function(*arguments, data_filepath=path, data_format="json", verbose=False, **options)
    return json.loads(path.read_text())


def widths(figure):
    return [bar.get_width() for bar in figure.axes[0].patches]


def test_names_of_what_likwid_measured(run):
    assert plots.available_likwid_metrics(run) == [
        "Runtime [s]", FLOPS, BANDWIDTH, "INSTR:FIXC0", "INSTR:PMC1"]


def test_likwid(run, tmp_path):
    # Threads of both ranks: 1000, 3000, 2000, 6000.
    assert widths(plots.plot_likwid(run, FLOPS, return_fig=True)) == [3000.0]
    assert widths(plots.plot_likwid(run, "INSTR:FIXC0", ranks=1, return_fig=True)) == [40.0]
    # What is no number does not count: 2000 and 4000 are left.
    assert widths(plots.plot_likwid(run, BANDWIDTH, return_fig=True)) == [3000.0]
    made = document(plots.plot_likwid, [run, run], FLOPS, labels=["a", "b"], path=tmp_path / "d.json")
    assert list(made) == ["format", "format_version", "plot", "metric", "bars", "colors"]
    assert made["plot"] == "likwid" and made["metric"] == FLOPS
    assert made["bars"] == [{"series": name, "region": "solve", "value": 3000.0} for name in "ab"]
    assert list(made["colors"]) == ["a", "b"] and made["colors"]["a"] != made["colors"]["b"]
    with pytest.raises(ValueError, match="no selected region .* 'CPI'; there are Runtime"):
        plots.plot_likwid(run, "CPI")
    with pytest.raises(ValueError, match="None of the selected files recorded LIKWID"):
        plots.plot_likwid(sp.ProfilingResults({}), FLOPS)


def test_perf_events(run, tmp_path):
    figure = plots.plot_perf_events(run, return_fig=True)
    # (250 + 750) / (100 + 300); `idle` has no cycles, so no such figure.
    assert widths(figure) == [2.5]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["solve"]
    assert widths(plots.plot_perf_events(run, "cycles", return_fig=True)) == [400.0, 0.0]
    # 10 misses in 1000 instructions; on rank 0 alone 5 in 250.
    assert widths(plots.plot_perf_events(run, "cache-misses-per-ki", return_fig=True)) == [10.0]
    assert widths(plots.plot_perf_events(run, "cache-misses-per-ki", ranks=0, return_fig=True)) == [20.0]
    plots.plot_perf_events(run, "cycles", include="solve", data_filepath=tmp_path / "d.csv")
    with open(tmp_path / "d.csv", newline="") as file:
        assert list(csv.reader(file)) == [["series", "region", "value"], ["tuned", "solve", "400.0"]]
    with pytest.raises(ValueError, match="'branches'; there are cache-misses, cycles, .*, ipc"):
        plots.plot_perf_events(run, "branches")
    with pytest.raises(ValueError, match="None of the selected files recorded perf-event data"):
        plots.plot_perf_events(sp.ProfilingResults({}))


def test_roofline(run, tmp_path):
    made = document(plots.plot_roofline, run, path=tmp_path / "d.json", peak_flops=16.0)
    first, second = made["points"]
    assert first == {
        "file": "tuned", "region": "solve", "rank": 0, "performance_gflops": 4.0, "bandwidth_gbs": 2.0,
        "arithmetic_intensity_flops_per_byte": 2.0, "runtime_seconds": 2.0, "flops_metric": FLOPS,
        "bandwidth_metric": BANDWIDTH}
    assert (second["rank"], second["performance_gflops"], second["bandwidth_gbs"]) == (1, 8.0, 4.0)
    assert (made["peak_flops_gflops"], made["peak_bandwidth_gbs"]) == (16.0, 4.0)
    assert made["empirical_ceilings"] == {"flops": False, "bandwidth": True}
    # The roof rises with the bandwidth up to 16 / 4 FLOP a byte; points lie at 2.
    roof = [(p["arithmetic_intensity_flops_per_byte"], p["performance_gflops"])
            for p in made["roofline"]]
    assert len(roof) == 160
    assert roof[0] == (pytest.approx(0.5), pytest.approx(2.0))
    assert roof[-1] == (pytest.approx(16.0), 16.0)
    steps = np.diff(np.log([x for x, _ in roof]))
    assert np.allclose(steps, steps[0])
    assert all(y == pytest.approx(min(16.0, 4 * x)) for x, y in roof)


def test_roofline_figure(run, capsys):
    axis = plots.plot_roofline(run, return_fig=True, peak_bandwidth=100.0).axes[0]
    [points] = axis.collections
    assert points.get_offsets().tolist() == [[2.0, 4.0], [2.0, 8.0]]
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")
    assert plots.plot_roofline(run)["peak_flops_gflops"] == 8.0
    assert plots.collect_roofline_points(run, ranks=1)[0]["rank"] == 1
    assert plots.collect_roofline_points(run, flops_metric="CPI") == []
    with pytest.raises(ValueError, match="peak_flops must be positive, not -1"):
        plots.plot_roofline(run, peak_flops=-1)
    with pytest.raises(ValueError, match="no selected region has both"):
        plots.plot_roofline(run, exclude="solve")


@pytest.mark.parametrize("unit, factor", [
    ("FLOP/s", 1e-9), ("kFLOP/s", 1e-6), ("MFLOP/s", 1e-3), ("GFLOPS/s", 1), ("TFLOP/s", 1e3)])
def test_units_of_rates(unit, factor):
    region = LikwidRegionResult("r", times=[1], cpus=[0], metric_names=[f"SP [{unit}]", "bandwidth [GBytes/s]"],
                                metrics=[[7.0], [2.0]])
    run = sp.ProfilingResults({}, likwid={0: {"r": region}})
    [point] = plots.collect_roofline_points(run)
    assert point["performance_gflops"] == pytest.approx(7 * factor)
    assert point["bandwidth_gbs"] == 2.0


def test_parquet(run, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    plots.plot_roofline(run, data_filepath=tmp_path / "d.parquet", data_format="parquet")
    table = parquet.read_table(tmp_path / "d.parquet")
    assert table["rank"].to_pylist() == [0, 1] and table["bandwidth_gbs"].to_pylist() == [2.0, 4.0]


def test_the_command_draws_them(command, run, tmp_path):
    sp.write_profile(run, tmp_path / "run.h5")
    for kind, more in (("roofline", ["--peak-flops", "20"]), ("perf_events", ["--metric", "cycles"]),
                       ("likwid", ["--metric", FLOPS])):
        done = command("plot", kind, tmp_path / "run.h5", "-o", tmp_path / "out", *more)
        assert done.code == 0, done.err
        assert (tmp_path / "out" / f"{kind}_plot.png").stat().st_size > 1000
    failed = command("plot", "likwid", tmp_path / "run.h5")
    assert failed.code == 2 and "likwid needs --metric" in failed.err
