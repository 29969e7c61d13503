"""examples/heat in C and in Fortran: the numbers of heat.py, the same regions, the same calls."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import scope_profiler

HEAT = Path(__file__).resolve().parents[2] / "examples" / "heat"
CORE = Path(scope_profiler.__file__).resolve().parent / "_core"
OPTIONS = ["--n", "64", "--steps", "400"]
PATHS = {
    "solve": 2,
    "solve > setup": 2,
    "solve > step loop": 2,
    "solve > step loop > step": 500,
    "solve > step loop > step > apply stencil": 500,
    "solve > step loop > step > boundary": 500,
    "solve > step loop > output": 4,
    "solve > step loop > output > norm": 4,
    "solve > step loop > output > residual": 4,
    "solve > norm": 2,
}


def run(words, folder, **environment):
    done = subprocess.run([str(word) for word in words], cwd=folder, text=True, timeout=300,
                          capture_output=True, env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Folder with the drivers; that in Fortran where the module is compiled."""
    if not shutil.which("cmake"):
        pytest.skip("no cmake")
    folder = tmp_path_factory.mktemp("heat")
    has_fortran = (CORE / "lib" / "libscope_profiler_fortran.a").exists() and shutil.which("gfortran")
    run(["cmake", "-S", HEAT, "-B", folder, f"-DCMAKE_PREFIX_PATH={CORE}",
         f"-DHEAT_FORTRAN={'ON' if has_fortran else 'OFF'}"], folder)
    run(["cmake", "--build", folder], folder)
    return folder


@pytest.fixture(scope="module")
def expected(build):
    """What heat.py prints, without the checksum: its initial field comes from another sine."""
    text = run([sys.executable, HEAT / "heat.py", *OPTIONS], build, HEAT_BUILD=str(build))
    return re.sub(r"sha256 .*\n", "", text)


def paths_of(profile):
    """Number of calls of each call path."""
    calls = scope_profiler.read_h5(profile).call_stack(rank=0)
    found, above = {}, []
    for call in calls:
        above[call["depth"]:] = [call["name"]]
        path = " > ".join(above)
        found[path] = found.get(path, 0) + 1
    return found


@pytest.mark.parametrize("driver", ["heat", "heat_fortran"])
def test_numbers_and_regions_are_those_of_the_python_driver(driver, build, expected, tmp_path):
    if not (build / driver).exists():
        pytest.skip(f"{driver} was not built: no Fortran compiler")
    assert run([build / driver, *OPTIONS], tmp_path) == expected
    assert paths_of(tmp_path / "heat_rank00000.h5") == PATHS


def test_threads_share_the_rows(build, expected, tmp_path):
    text = run([build / "heat", *OPTIONS, "--threads", "2"], tmp_path)
    assert text == expected
    run_ = scope_profiler.read_h5(tmp_path / "heat_rank00000.h5")
    if "rows of a thread" in run_.region_names:  # with OpenMP
        assert run_["rows of a thread"].num_calls == 1000
