"""examples/heat on ranks: the numbers of heat.py on any number of them, and one profile of them all."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from scope_profiler import read_profile

HEAT = Path(__file__).resolve().parents[2] / "examples" / "heat"
OPTIONS = ["--n", "32", "--steps", "80", "--every", "40"]


def figures(text):
    """Checksum of the field, and everything printed, in the digits printed."""
    return re.search(r"sha256 (\w+)", text)[1], re.findall(r"-?\d\.\d+e[-+]\d+", text)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    return {"HEAT_BUILD": str(tmp_path_factory.mktemp("heat-build"))}


@pytest.fixture(scope="module")
def serial(build):
    done = subprocess.run([sys.executable, HEAT / "heat.py", *OPTIONS], env={**os.environ, **build},
                          capture_output=True, text=True, timeout=120)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return figures(done.stdout)


def profiled(mpi, ranks, build):
    command = str(Path(sys.executable).parent / "scope-profiler")
    return mpi.launch(ranks, command, "run", "-q", "-o", "heat.h5", HEAT / "heat_mpi.py", *OPTIONS,
                      timeout=120, **build).check()


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_the_same_numbers_on_any_number_of_ranks(mpi, ranks, build, serial, tmp_path):
    ended = profiled(mpi, ranks, build)
    assert figures(ended.out) == serial
    results = read_profile(tmp_path / "heat.h5")
    assert results.num_ranks == ranks
    for rank in range(ranks):
        # 80 steps on the fine grid, 20 on the coarse one; each is a call of the C kernel.
        assert results["step"][rank].num_calls == 100
        assert results["apply stencil"][rank].num_calls == 100
        assert results["exchange edges"][rank].num_calls == 100
    depths = {call["name"]: call["depth"] for call in results.call_stack(rank=ranks - 1)}
    assert (depths["solve"], depths["step"], depths["apply stencil"]) == (0, 2, 3)


def test_scaling_script(mpi, build, tmp_path):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [HEAT / "scaling.sh", "weak", "1", "4"],
        cwd=tmp_path,
        env={**mpi.environment, **build, "MPIRUN": " ".join(mpi.words), "PATH": path, "N": "32",
             "STEPS": "8"},
        capture_output=True,
        text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert read_profile(tmp_path / "weak_4.h5").num_ranks == 4
    assert read_profile(tmp_path / "weak_1.h5").metadata["label"] == "1 ranks"
    assert "order" in done.stdout
