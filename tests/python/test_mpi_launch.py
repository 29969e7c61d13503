"""Whether a process belongs to an MPI job is found out without joining one unasked. None of these
processes has a usable MPI; tests/mpi has those that have."""

import os
import subprocess
import sys

import pytest

from scope_profiler import mpi_launch, read_profile

RANK_2_OF_4 = {"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4", "PMI_RANK": "2",
               "PMI_SIZE": "4", "PMIX_RANK": "2"}  # fmt: skip
PROGRAM = """
from scope_profiler import ProfileManager
with ProfileManager.session(file_path="run.h5", verbose=False):
    with ProfileManager.region("step"):
        pass
"""
#: Contents of a package mpi4py that somebody has.
UNUSABLE = "raise ImportError('no MPI here')"
BROKEN = "raise RuntimeError('cannot load MPI library')"
SPY = "import os; os._exit(77)"


def run(tmp_path, mpi4py, environment):
    package = tmp_path / "packages" / "mpi4py"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(mpi4py, encoding="utf-8")
    clean = {
        name: value
        for name, value in os.environ.items()
        if name not in mpi_launch.LAUNCHER_ENV_VARS and name != "SCOPE_PROFILER_MPI"
    }
    path = os.pathsep.join(filter(None, [str(package.parent), os.environ.get("PYTHONPATH")]))
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**clean, **environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("mpi4py", "environment"),
    [
        pytest.param(UNUSABLE, RANK_2_OF_4, id="launched, no mpi4py"),
        pytest.param(BROKEN, RANK_2_OF_4, id="launched, mpi4py without its library"),
        pytest.param(UNUSABLE, {**RANK_2_OF_4, "SCOPE_PROFILER_MPI": "1"}, id="forced, no mpi4py"),
        pytest.param(SPY, {}, id="not launched"),
        pytest.param(SPY, {"SLURM_JOB_ID": "1", "SLURM_PROCID": "3"}, id="a shell in an allocation"),
        pytest.param(SPY, {**RANK_2_OF_4, "SCOPE_PROFILER_MPI": "Off"}, id="forbidden"),
        pytest.param(SPY, {"SCOPE_PROFILER_MPI": "perhaps"}, id="a word that says nothing"),
    ],
)
def test_alone_and_quiet(tmp_path, mpi4py, environment):
    ended = run(tmp_path, mpi4py, environment)
    assert (ended.returncode, ended.stderr) == (0, "")
    results = read_profile(tmp_path / "run.h5")
    assert results.num_ranks == 1
    assert results["step"][0].num_calls == 1


@pytest.mark.parametrize("environment", [RANK_2_OF_4, {"SCOPE_PROFILER_MPI": "YES"}])
def test_mpi4py_is_imported_when_asked_for(tmp_path, environment):
    assert run(tmp_path, SPY, environment).returncode == 77


class FakeWorld:
    def Get_rank(self):
        return 3

    def Get_size(self):
        return 5


class FakeMPI:
    COMM_WORLD = FakeWorld()

    def __init__(self, initialized, finalized):
        self.Is_initialized = lambda: initialized
        self.Is_finalized = lambda: finalized


@pytest.mark.parametrize(
    ("initialized", "finalized", "joins"),
    [(True, False, True), (False, False, False), (True, True, False)],
)
def test_a_program_that_runs_mpi_is_in_its_job(monkeypatch, initialized, finalized, joins):
    for name in (*mpi_launch.LAUNCHER_ENV_VARS, "SCOPE_PROFILER_MPI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setitem(sys.modules, "mpi4py.MPI", FakeMPI(initialized, finalized))
    expected = FakeMPI.COMM_WORLD if joins else None
    assert mpi_launch.world_communicator() is expected
    from scope_profiler.profile_config import ProfilingConfig

    config = ProfilingConfig()
    assert config.comm is expected
    assert (config._rank, config._size) == ((3, 5) if joins else (0, 1))
    assert ProfilingConfig(deactivate_profiling=True).comm is None
