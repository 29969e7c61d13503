"""Programs in C and Fortran: their ranks write one file together, also with ranks in Python among them."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from building import CORE, PROGRAMS, compiled, module

from scope_profiler import read_profile

COMMAND = Path(sys.executable).parent / "scope-profiler"


@pytest.fixture
def steps(mpi):
    module(f"libscope_profiler_mpi_{mpi.name}.so")
    return compiled(mpi, "mpicc", PROGRAMS / "steps.c", "-std=gnu99")


def names(folder):
    """Every file of a run, journals included."""
    return sorted(path.name for path in folder.glob("run*"))


def check(path, size):
    results = read_profile(path)
    assert results.num_ranks == results.metadata["mpi_size"] == size
    assert results.metadata.get("num_nodes", 1) == 1
    for rank in range(size):
        assert results["all"][rank].num_calls == 1
        assert results["step"][rank].num_calls == rank + 1
        calls = results.call_stack(rank=rank)
        assert {call["depth"] for call in calls if call["name"] == "step"} == {1}
    return results


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("how", ["f", "ef", "e", "l", "-"])
def test_one_file(mpi, steps, how, size, tmp_path):
    ended = mpi.launch(size, steps, how).check()
    assert names(tmp_path) == ["run.h5"]
    check(tmp_path / "run.h5", size)
    assert f"file: {tmp_path}/run.h5" in ended.out


def test_fortran(mpi, tmp_path):
    module(f"libscope_profiler_mpi_{mpi.name}.so")
    modules = sorted(CORE.rglob("scope_profiler.mod"))
    library = sorted(CORE.rglob("libscope_profiler_fortran.a"))
    if not modules or not library:
        pytest.skip("no module of Fortran")
    program = compiled(mpi, "mpif90", PROGRAMS / "steps.f90", f"-I{modules[0].parent}",
                       archives=[str(library[0])])  # fmt: skip
    mpi.launch(2, program).check()
    assert names(tmp_path) == ["run.h5"]
    results = read_profile(tmp_path / "run.h5")
    assert [results["step"][rank].num_calls for rank in range(2)] == [1, 2]


@pytest.mark.parametrize("options", [[], ["--mpi-calls"]])
def test_the_command_writes_one_file_and_one_summary(mpi, steps, options, tmp_path):
    words = [COMMAND, "run", *options, "-o", "run.h5", "--", steps, "n"]
    ended = mpi.launch(3, *words).check()
    assert names(tmp_path) == ["run.h5"]
    results = check(tmp_path / "run.h5", 3)
    assert ("MPI_Barrier" in results.region_names) == bool(options)
    said = [line for line in (ended.out + ended.err).splitlines() if "step" in line]
    assert len(said) == 1, said


def test_in_memory_the_summary_is_of_all_ranks(mpi, steps, tmp_path):
    ended = mpi.launch(3, COMMAND, "run", "--no-output", "--", steps, "n").check()
    assert names(tmp_path) == []
    said = [line for line in (ended.out + ended.err).splitlines() if "step" in line]
    assert len(said) == 1 and "step (6x)" in said[0], said  # one, two and three calls


# ---- a file a rank ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "environment",
    [{"SCOPE_PROFILER_OUTPUT_MODE": "per-rank"}, {"SCOPE_PROFILER_MPI": "0"}],
    ids=["per-rank", "no MPI"],
)
def test_a_file_a_rank_on_request(mpi, steps, environment, tmp_path):
    ended = mpi.launch(2, steps, "f", **environment).check()
    assert names(tmp_path) == ["run_rank00000.h5", "run_rank00001.h5"]
    assert "merge" not in ended.err


def test_a_path_with_a_field_for_the_rank_is_a_file_a_rank(mpi, steps, tmp_path):
    mpi.launch(2, steps, "f", SCOPE_PROFILER_OUTPUT="run-{rank}.h5").check()
    assert names(tmp_path) == ["run-0.h5", "run-1.h5"]


def test_after_mpi_has_ended_the_command_that_merges_is_named(mpi, steps, tmp_path):
    # MPI's end is not the recording's here, and afterwards nobody can talk.
    ended = mpi.launch(2, steps, "l", SCOPE_PROFILER_AUTO_FINALIZE="0").check()
    assert names(tmp_path) == ["run_rank00000.h5", "run_rank00001.h5"]
    assert ended.err.count("scope-profiler merge FILES -o RUN") == 1


def test_a_mode_that_does_not_exist_is_named(mpi, steps, tmp_path):
    ended = mpi.launch(1, steps, "f", SCOPE_PROFILER_OUTPUT_MODE="sideways")
    assert "sideways" in ended.err and "per-rank" in ended.err
    assert names(tmp_path) == []


def test_the_parallel_mode_says_what_it_needs(mpi, steps, tmp_path):
    ended = mpi.launch(2, steps, "-", SCOPE_PROFILER_OUTPUT_MODE="parallel")
    assert ended.err.count("output_mode 'parallel' needs an HDF5 that is built with MPI") == 2
    assert names(tmp_path) == []


def test_a_program_that_nobody_launched_is_serial(mpi, steps, tmp_path):
    environment = {**mpi.environment, "SCOPE_PROFILER_OUTPUT_MODE": "direct"}
    done = subprocess.run([steps, "f"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert names(tmp_path) == ["run_rank00000.h5"]


# ---- ranks that fail -------------------------------------------------------------------------


def test_a_rank_that_leaves_is_missing(mpi, steps, tmp_path):
    mpi.launch(3, steps, "fx", SCOPE_PROFILER_FINALIZE_TIMEOUT="1", keep_going=True)
    results = read_profile(tmp_path / "run.h5")
    assert results.metadata["missing_ranks"] == ["1"]
    assert sorted(results["step"].regions) == [0, 2]


def test_a_common_file_that_cannot_be_written_leaves_one_a_rank(mpi, steps, tmp_path):
    (tmp_path / "run.h5").mkdir()
    ended = mpi.launch(2, steps, "-")
    assert names(tmp_path) == ["run.h5", "run_rank00000.h5", "run_rank00001.h5"]
    assert "the ranks wrote no common profile" in ended.err
    for rank in range(2):
        results = read_profile(tmp_path / f"run_rank{rank:05d}.h5")
        assert results["step"][rank].num_calls == rank + 1


# ---- Python and native ranks in one job ------------------------------------------------------

SCRIPT = """
    from mpi4py import MPI
    from scope_profiler import ProfileManager
    comm = MPI.COMM_WORLD
    ProfileManager.setup(file_path="run.h5")
    with ProfileManager.region("python"):
        pass
    comm.Barrier()
    ProfileManager.finalize(verbose=False)
"""


@pytest.mark.parametrize("python_first", [True, False])
@pytest.mark.parametrize("how", ["f", "-"])
def test_ranks_of_both_kinds_write_one_file(mpi, steps, how, python_first, tmp_path):
    if mpi.launch(1, "true", ":", "-n", 1, "true").code < 0:
        pytest.skip("this launcher crashes over two programs in one job")
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(SCRIPT), encoding="utf-8")
    python, native = [sys.executable, path], [steps, how]
    first, second = (python, native) if python_first else (native, python)
    mpi.launch(1, *first, ":", "-n", 2, *second).check()
    assert names(tmp_path) == ["run.h5"]
    results = read_profile(tmp_path / "run.h5")
    assert results.num_ranks == 3
    ranks = [0] if python_first else [1, 2]
    assert sorted(results["python"].regions) == ranks
    assert sorted(results["step"].regions) == [rank for rank in range(3) if rank not in ranks]
