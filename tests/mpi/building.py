"""What the tests of programs in C and Fortran share: where the core lies, and how a program is made."""

import shutil
import subprocess
from pathlib import Path

import pytest
import scope_profiler

PROGRAMS = Path(__file__).parent / "programs"
CORE = Path(scope_profiler.__file__).parent / "_core"


def module(name):
    """Path of an optional part, without which the test is skipped."""
    path = CORE / "lib/scope-profiler" / name
    if not path.exists():
        pytest.skip(f"built without {path.name}")
    return str(path)


def compiled(mpi, compiler, source, *options, archives=()):
    """Path of a program made of that source, linked to the recorder."""
    wrapper = shutil.which(f"{compiler}.{mpi.name}")
    if wrapper is None:
        pytest.skip(f"{compiler}.{mpi.name} is not installed")
    program = mpi.folder / Path(source).name.split(".")[0]
    made = subprocess.run(
        [wrapper, *options, str(source), *archives, "-o", str(program), f"-I{CORE}/include",
         f"-L{CORE}/lib", "-lscope_profiler", f"-Wl,-rpath,{CORE}/lib"],
        capture_output=True, text=True, timeout=60)  # fmt: skip
    if made.returncode != 0 and ".mod" in made.stderr:
        pytest.skip(f"no module for this compiler: {made.stderr.strip()[-200:]}")
    assert made.returncode == 0, made.stderr
    return program
