"""Figures: what is drawn is looked at in the figures themselves, with times worked out by hand.

`sample` has two ranks; on each: session 0-10 s, work 1-9 s in it, leaf 2-3 s and 5-7 s in that."""

import csv
import json

import pytest
from profile_file import write_profile

pytest.importorskip("matplotlib")
np = pytest.importorskip("numpy")

import scope_profiler as sp  # noqa: E402
from scope_profiler import plotting_scripts as plots  # noqa: E402

SESSION = "scope_profiler.session"


@pytest.fixture
def run(sample):
    return sp.load(sample)


@pytest.fixture
def faster(tmp_path):
    """Four ranks, each twice as fast as those of `sample`."""
    calls = {SESSION: [(1.0, 6.0)], "work": [(1.5, 5.5)], "leaf": [(2.0, 2.5), (3.5, 4.5)]}
    return sp.load(
        write_profile(
            tmp_path / "faster.h5",
            metadata={"label": "more ranks", "mpi_size": 4, "omp_num_threads": 4, "total_cores": 16},
            regions=[SESSION, "work", "leaf"],
            calls={rank: calls for rank in range(4)},
        )
    )


def draw(function, *arguments, **options):
    return function(*arguments, return_fig=True, verbose=False, **options)


def bars(axis):
    """Left and right edge of every bar that broken_barh drew, rounded."""
    found = []
    for collection in axis.collections:
        for path in collection.get_paths():
            box = path.get_extents()
            found.append((round(box.x0, 6), round(box.x1, 6)))
    return found


def tick_names(axis):
    return [label.get_text() for label in axis.get_yticklabels()]


def test_gantt(run):
    [axis] = draw(plots.plot_gantt, run).axes
    assert tick_names(axis) == [SESSION, "work", "leaf"]
    # Each region on both ranks.
    assert bars(axis) == 2 * [(0, 10)] + 2 * [(1, 9)] + 2 * [(2, 3), (5, 7)]
    assert axis.get_xlim() == (0, 10)
    assert axis.get_title() == "tuned"


def test_gantt_options(run):
    def leaf(**options):
        return bars(draw(plots.plot_gantt, run, ranks=0, include="leaf", **options).axes[0])

    # Alone, the first entry of any region is that of the first leaf.
    assert leaf() == [(0, 1), (3, 5)]
    assert leaf(min_duration=1.5) == [(3, 5)]
    assert leaf(aggregate_calls=2) == [(0, 5)]
    assert leaf(start_time=2) == [(3, 5)]
    assert leaf(end_time=2) == [(0, 1)]
    assert leaf(collapse_depth=1) == []
    shown = draw(plots.plot_gantt, run, ranks=0, collapse_depth=1).axes[0]
    assert bars(shown) == [(0, 10), (1, 9)]
    with pytest.raises(ValueError, match="aggregate_calls must be at least 1"):
        plots.plot_gantt(run, aggregate_calls=0)


def test_density(run):
    figure = draw(plots.plot_timeline_density, run, ranks=0, bins=10)
    axis = figure.axes[0]
    seconds = axis.images[0].get_array()
    assert tick_names(axis) == [SESSION, "work", "leaf"]
    assert np.allclose(seconds[0], 1)
    assert np.allclose(seconds[1], [0] + 8 * [1] + [0])
    assert np.allclose(seconds[2], [0, 0, 1, 0, 0, 1, 1, 0, 0, 0])


def corners(axis):
    """(left, right, level) of the boxes of a flame."""
    [collection] = axis.collections
    boxes = [path.get_extents() for path in collection.get_paths()]
    return [(round(b.x0, 6), round(b.x1, 6), int(b.y0)) for b in boxes]


def test_flame_chart(run):
    figure = draw(plots.plot_flame_chart, run, ranks=[0, 1])
    assert [axis.get_title() for axis in figure.axes] == ["tuned, rank 0", "tuned, rank 1"]
    for axis in figure.axes:
        assert corners(axis) == [(0, 10, 0), (1, 9, 1), (2, 3, 2), (5, 7, 2)]
        assert [text.get_text() for text in axis.texts] == [SESSION, "work", "leaf", "leaf"]
    with pytest.raises(ValueError, match="Invalid rank requested: 7"):
        plots.plot_flame_chart(run, ranks=7)


def test_flame_graph(run):
    [axis] = draw(plots.plot_flame_graph, run).axes
    # Both leaves are one box of 3 s, at the left edge of what they are in.
    assert corners(axis) == [(0, 10, 0), (0, 8, 1), (0, 3, 2)]
    assert plots.plot_flame is plots.plot_flame_graph


def test_many_calls_become_few_marks(tmp_path):
    calls = [(i * 1e-3, i * 1e-3 + 9e-4) for i in range(20_000)]
    path = write_profile(tmp_path / "many.h5", metadata={}, regions=["tick"], calls={0: {"tick": calls}})
    run = sp.load(path)
    [chart] = draw(plots.plot_flame_chart, run).axes
    assert 3_000 < len(corners(chart)) <= 4_002
    [gantt] = draw(plots.plot_gantt, run).axes
    assert len(bars(gantt)) == 1  # all gaps are below a pixel
    # Zoomed in, single calls are seen.
    [part] = draw(plots.plot_gantt, run, start_time=1.0, end_time=1.1).axes
    assert len(bars(part)) > 90


def test_call_graph(run, faster):
    [axis] = draw(plots.plot_callgraph, run, rank=1).axes
    texts = [text.get_text() for text in axis.texts if text.get_text()]
    assert texts == [f"{SESSION}\n1x, 10 s", "work\n1x, 8 s", "leaf\n2x, 3 s"]
    [axis] = draw(plots.plot_callgraph, run, compact=True, fluid=True).axes
    assert [text.get_text() for text in axis.texts if text.get_text()] == [SESSION, "work", "leaf"]
    arrows = [text for text in axis.texts if getattr(text, "arrowprops", None)]
    assert len(arrows) == 2
    with pytest.raises(ValueError, match="of one run, not of 2"):
        plots.plot_callgraph([run, faster])


def widths(axis):
    return [round(patch.get_width(), 6) for patch in axis.patches]


def test_durations(run, faster):
    [axis] = draw(plots.plot_durations, [run, faster]).axes
    assert tick_names(axis) == [SESSION, "work", "leaf"]
    assert widths(axis) == [20, 16, 6, 20, 16, 6]  # 2 ranks of 10, 8, 3; 4 ranks of half of that
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["tuned", "more ranks"]
    [axis] = draw(plots.plot_durations, run, metric="avg", sort_by="name", log_scale=True).axes
    assert tick_names(axis) == ["leaf", SESSION, "work"] and axis.get_xscale() == "log"
    assert widths(axis) == [1.5, 10, 8]
    [axis] = draw(plots.plot_durations, run, metric="max", top_n=2).axes
    assert widths(axis) == [10, 8]


def test_durations_of_groups_and_children(run):
    [axis] = draw(
        plots.plot_durations, run, combine_regions={"inside": ["work", "leaf"]}, sort_by="total"
    ).axes
    assert tick_names(axis) == ["inside", SESSION] and widths(axis) == [22, 20]
    [axis] = draw(plots.plot_durations, run, ranks=0, stack_children=True).axes
    # Of the session: work, own; of work: leaf, own; leaf is all its own.
    assert widths(axis) == [8, 2, 3, 5, 3]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"metric": "median"}, "unknown metric 'median'; choose from avg, min, max, total"),
        ({"sort_by": "age"}, "unknown sort_by 'age'"),
        ({"combine_regions": {"g": "zzz"}}, "the group 'g' matched no regions"),
        ({"combine_regions": {"leaf": "work"}}, "the group 'leaf' has the name of a region"),
        ({"stack_children": True, "metric": "min"}, "no meaning for 'min'"),
        ({"include": "zzz"}, "No regions matched the selected filters."),
        ({"labels": ["a", "b"]}, "labels must match the number of profiling files."),
        ({"backend": "plotly"}, "backend must be 'matplotlib', not 'plotly'"),
    ],
)
def test_durations_refuse(run, options, text):
    with pytest.raises(ValueError, match=text):
        plots.plot_durations(run, **options)


def test_several_metrics_are_several_files(run, tmp_path):
    paths = plots.plot_durations(
        run, metrics=["avg", "max"], filepath=tmp_path / "d.svg", data_filepath=tmp_path / "d.csv",
        verbose=False,
    )  # fmt: skip
    assert paths == [str(tmp_path / "d_avg.svg"), str(tmp_path / "d_max.svg")]
    assert all((tmp_path / f"d_{name}.svg").read_text().startswith("<?xml") for name in ("avg", "max"))
    with open(tmp_path / "d.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["region"], row["metric"], float(row["value_seconds"])) for row in rows} == {
        (SESSION, "avg", 10), (SESSION, "max", 10), ("work", "avg", 8), ("work", "max", 8),
        ("leaf", "avg", 1.5), ("leaf", "max", 2)}  # fmt: skip


def test_timeseries(run):
    [axis] = draw(plots.plot_duration_timeseries, run).axes
    lines = {line.get_label(): line.get_xydata().tolist() for line in axis.lines}
    assert lines == {SESSION: [[0, 10]], "work": [[1, 8]], "leaf": [[2, 1], [5, 2]]}
    assert len(axis.collections) == 3  # bands over two ranks


def test_histogram(run):
    [axis] = draw(plots.plot_duration_histogram, run, bins=3).axes
    values = {patch.get_label(): patch.get_data() for patch in axis.patches}
    # From 1 s to 10 s in three bins of 3 s.
    assert np.allclose(values["leaf"].edges, [1, 4, 7, 10])
    assert values["leaf"].values.tolist() == [4, 0, 0]
    assert values["work"].values.tolist() == [0, 0, 2]


def test_imbalance(tmp_path):
    run = sp.load(write_profile(
        tmp_path / "uneven.h5", metadata={}, regions=["solve"],
        calls={0: {"solve": [(0.0, 2.0)]}, 1: {"solve": [(0.0, 4.0)]}},
    ))  # fmt: skip
    [axis] = draw(plots.plot_imbalance, run).axes
    [points] = axis.collections
    assert points.get_offsets().tolist() == [[2, 0], [4, 0]]
    [mean] = axis.lines
    assert mean.get_xdata().tolist() == [3, 3] and mean.get_linestyle() == "--"


def test_rank_heatmap(run):
    figure = draw(plots.plot_rank_heatmap, run)
    assert figure.axes[0].images[0].get_array().tolist() == [[10, 10], [8, 8], [3, 3]]
    figure = draw(plots.plot_rank_heatmap, run, ranks=[1], exclusive=True)
    assert figure.axes[0].images[0].get_array().tolist() == [[2], [5], [3]]
    with pytest.raises(ValueError, match=r"Invalid ranks requested: \[5\]"):
        plots.plot_rank_heatmap(run, ranks=[0, 5])


@pytest.mark.parametrize(
    ("function", "at_four_ranks"),
    [
        # The mean of a rank halves while ranks double.
        (plots.plot_speedup, 2.0),
        (plots.plot_weak_scaling, 0.5),
        (plots.plot_weak_scaling_efficiency, 2.0),
        (plots.plot_scaling_efficiency, 1.0),
    ],
)
def test_scaling(run, faster, function, at_four_ranks):
    [axis] = draw(function, [faster, run]).axes
    lines = {line.get_label(): line.get_xydata().tolist() for line in axis.lines}
    assert lines["work"] == [[2, 1], [4, at_four_ranks]]
    ideal = 2.0 if function is plots.plot_speedup else 1.0
    assert lines["ideal"] == [[2, 1], [4, ideal]]
    assert axis.get_xlabel() == "MPI ranks"
    with pytest.raises(ValueError, match="requires at least two profiling files"):
        function(run)
    with pytest.raises(ValueError, match="no selected region is in every run|No regions matched"):
        function([run, faster], include="zzz")


def test_work_of_weak_scaling_must_be_equal(run, faster):
    with pytest.raises(ValueError, match="the same work on a rank"):
        plots.plot_weak_scaling_efficiency([run, faster], work_per_rank=[1, 2])


def test_colors_are_those_of_the_regions(run):
    from matplotlib.colors import to_hex

    [axis] = draw(plots.plot_duration_timeseries, run).axes
    for line in axis.lines:
        assert to_hex(line.get_color()) == run[line.get_label()].color


def test_names_are_text_not_formulas(tmp_path):
    name = r"$\frac{" * 3 + "</script>"
    run = sp.load(write_profile(tmp_path / "x.h5", metadata={}, regions=[name],
                                calls={0: {name: [(0.0, 1.0)]}}))  # fmt: skip
    plots.plot_gantt(run, filepath=tmp_path / "x.png", verbose=False)
    plots.plot_flame_graph(run, filepath=tmp_path / "y.png", verbose=False)


def test_other_ranks_draw_nothing(run, tmp_path):
    run.is_root = False
    assert plots.plot_gantt(run, filepath=tmp_path / "x.png") is None
    assert not (tmp_path / "x.png").exists()


# ---- The command ---------------------------------------------------------------------------------


def test_the_command_draws_and_says_where(command, python, sample, tmp_path):
    done = command("plot", sample, "-o", "figures")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "saved figures/gantt_plot.png", "saved figures/durations_plot.png",
        "Outputs saved to: figures",
    ]  # fmt: skip
    assert (tmp_path / "figures" / "gantt_plot.png").read_bytes().startswith(b"\x89PNG")
    document = json.loads((tmp_path / "figures" / "region_statistics.json").read_text())
    assert document["files"][0]["region_statistics"]["leaf"]["count"] == 4


def test_the_command_takes_options_of_its_kinds(command, python, sample, tmp_path):
    done = command("plot", "durations", sample, sample, "-q", "--label", "a", "--label", "b",
                   "--metrics", "avg", "max", "--combine-regions", "inner=work,leaf",
                   "--format", "svg", "-r", "0-1")  # fmt: skip
    assert (done.code, done.err, done.out) == (0, "", "")
    text = (tmp_path / "durations_plot_max.svg").read_text()
    assert (tmp_path / "durations_plot_avg.svg").exists() and "<!-- inner -->" in text


def test_all_leaves_out_what_there_are_no_data_for(command, python, sample, tmp_path):
    done = command("plot", "all", sample, "-o", "all")
    assert (done.code, done.err) == (0, "")
    drawn = {path.name for path in (tmp_path / "all").glob("*.png")}
    assert drawn == {f"{kind}_plot.png" for kind in (
        "gantt", "density", "flame_chart", "flame_graph", "callgraph", "durations", "timeseries",
        "histogram", "imbalance", "rank_heatmap")}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["durations", "SAMPLE", "--label", "a", "--label", "b"], 2, "2 labels for 1 files"),
        (["gantt"], 2, "the following arguments are required: FILE"),
        (["durations", "SAMPLE", "--metrics", "median"], 2, "invalid choice: 'median'"),
        (["gantt", "missing.h5"], 1, "missing.h5"),
        (["speedup", "SAMPLE"], 1, "requires at least two profiling files"),
        (["gantt", "SAMPLE", "--start-time", "soon"], 1, "--start-time: 'soon' is no number"),
        (["durations", "SAMPLE", "--combine-regions", "x"], 1, "'x' is not NAME=REGEX,..."),
        (["gantt", "SAMPLE", "-i", "zzz"], 1, "No regions matched the selected filters."),
    ],
)
def test_the_command_says_what_is_wrong(command, python, sample, words, code, text):
    done = command("plot", *[sample if word == "SAMPLE" else word for word in words])
    assert done.code == code and text in done.err, (done.code, done.err)


def test_a_file_that_is_no_profile(command, python, tmp_path):
    (tmp_path / "text.h5").write_text("no profile")
    assert command("plot", "gantt", "text.h5").code == 3


def test_kinds_are_listed(command):
    listed = command("plot", "list").out
    for kind in ("default", "quick", "all", "gantt", "scaling_efficiency"):
        assert f"\n{kind} " in "\n" + listed
