"""Communication matrix, time in MPI and waits in collectives, from runs whose calls were put there by hand."""

import numpy as np
import pytest
from scope_profiler import ProfilingResults, Region, write_profile


def region(kind, calls):
    """A region of MPI with (start, end, metadata) of its calls in ns."""
    return Region(
        [c[0] for c in calls], [c[1] for c in calls], tags=["mpi", f"mpi.kind:{kind}"], event_metadata=[c[2] for c in calls])  # fmt: skip


@pytest.fixture(params=["built", "read"])
def results(request, tmp_path):
    collective = lambda seq, **more: {"comm": 0, "seq": seq, **more}  # noqa: E731
    regions = {
        0: {
            "MPI_Send": region("point-to-point", [
                (0, 10, {"bytes": 100, "to": 1}), (20, 25, {"bytes": 50, "to": 1}), (30, 31, {"bytes": 7})]),
            "MPI_Startall": region("point-to-point", [
                (40, 44, {"bytes": [8, 16], "to": [1, 2]})]),
            "MPI_Get": region("one-sided", [(50, 52, {"bytes": 12, "from": 2})]),
            "MPI_Barrier": region("collective", [(100, 400, collective(0)), (500, 520, collective(1))]),
            "MPI_Ibarrier": region("collective", [(600, 601, collective(2))]),
        },
        1: {
            "MPI_Send": region("point-to-point", [(0, 3, {"bytes": 1, "to": 0})]),
            "MPI_Barrier": region("collective", [(350, 400, collective(0)), (450, 520, collective(1))]),
        },
        2: {
            "MPI_Barrier": region("collective", [(200, 410, collective(0)), (510, 530, collective(1))]),
            "solve": Region([0], [1000]),
        },
    }  # fmt: skip
    built = ProfilingResults(regions, num_ranks=3)
    if request.param == "built":
        return built
    from scope_profiler import read_profile

    write_profile(built, tmp_path / "run.h5")
    return read_profile(tmp_path / "run.h5")


def test_messages_by_sender_and_receiver(results):
    mpi = results.mpi
    assert mpi.bytes.tolist() == [[0, 158, 16], [1, 0, 0], [12, 0, 0]]
    assert mpi.messages.tolist() == [[0, 3, 1], [1, 0, 0], [1, 0, 0]]
    assert [tuple(link) for link in mpi.links] == [
        (0, 1, 3, 158), (0, 2, 1, 16), (1, 0, 1, 1), (2, 0, 1, 12)]  # fmt: skip


def test_waits_in_collectives(results):
    """The first barrier: rank 1 comes last, at 350, so 0 waits 250 of 300 and 2 waits 150 of 210. The second:
    rank 2 comes last, at 510, so 0 waits 10 of 20 and 1 waits 60 of 70."""
    ns = [(r.rank, r.calls, *(round(x * 1e9) for x in r[2:])) for r in results.mpi.ranks]
    assert ns == [
        (0, 8, 10 + 5 + 1 + 4 + 2 + 300 + 20 + 1, 260, 60),
        (1, 3, 3 + 50 + 70, 60, 60),
        (2, 2, 210 + 20, 150, 80),
    ]
    barrier = next(o for o in results.mpi.operations if o.name == "MPI_Barrier")
    assert (barrier.kind, barrier.calls, barrier.bytes) == ("collective", 6, 0)
    assert [round(x * 1e9) for x in barrier[4:]] == [670, 470, 200]
    # One that does not block waits elsewhere.
    assert next(o for o in results.mpi.operations if o.name == "MPI_Ibarrier").imbalance == 0
    assert results.mpi.operations[0].name == "MPI_Barrier"  # by time


def test_a_run_without_mpi():
    report = ProfilingResults({0: {"a": Region([0], [5])}}).mpi
    assert not report and report.links == [] and report.bytes.shape == (1, 1)


@pytest.mark.parametrize("bad", [
    {"to": -1, "bytes": 5}, {"to": 2**40, "bytes": 5}, {"to": "x"}, {"to": [], "bytes": []}, {"to": None},
    {"comm": -1, "seq": 0}, {"seq": 2**60, "comm": 1}, {"bytes": {"a": [1]}}, {}])  # fmt: skip
def test_strange_metadata_is_passed_over(bad):
    run = {0: {"MPI_Send": region("point-to-point", [(0, 1, bad), (2, 3, {"to": 1, "bytes": 9})])}}
    report = ProfilingResults(run).mpi
    assert np.sum(report.bytes) == 9 and report.messages[0, 1] == 1
    assert report.ranks[0].calls == 2


def test_inspect_shows_it(results, tmp_path):
    import subprocess
    import sys

    write_profile(results, tmp_path / "shown.h5")
    done = subprocess.run(
        [sys.executable, "-m", "scope_profiler", "inspect", "--mpi", "--regions-only", tmp_path / "shown.h5"],
        capture_output=True, text=True, check=True)  # fmt: skip
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["0", "-", "158", "B", "/", "3", "16", "B", "/", "1"] in lines
    assert ["MPI_Barrier", "6", "0.000001", "0.000000", "0.000000", "0"] in lines
    done = subprocess.run(
        [sys.executable, "-m", "scope_profiler", "inspect", "--regions-only", tmp_path / "shown.h5"],
        capture_output=True, text=True, check=True)  # fmt: skip
    assert "from \\ to" not in done.stdout
