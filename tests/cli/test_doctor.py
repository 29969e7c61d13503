"""`scope-profiler doctor`: says what is there, what is missing and what to do."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def section(text, title):
    start = text.index(f"\n{title}\n") + len(title) + 2
    return text[start:].split("\n\n")[0]


def test_sections_and_status(command):
    result = command("doctor")
    assert (result.code, result.err) == (0, "")
    titles = [line for line in result.out.splitlines()[1:] if line and line[0] != " "]
    assert titles[:-1] == ["Versions", "Clock", "HDF5", "Python", "MPI", "Memory-backed folders",
                           "Recordings that did not end well",
                           "Hardware counters"]
    found = sum(line.startswith("  ! ") for line in result.out.splitlines())
    assert titles[-1] == {0: "no trouble found", 1: "1 trouble found"}.get(
        found, f"{found} troubles found")
    assert sum(line.startswith("    -> ") for line in result.out.splitlines()) == found


def test_clock_is_what_the_kernel_uses(command):
    path = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    if not path.exists():
        pytest.skip("this kernel does not tell its clocksource")
    assert f"kernel uses     {path.read_text().strip()}\n" in command("doctor").out


def test_versions_and_place(command):
    versions = section(command("doctor").out, "Versions")
    assert command("--version").out.split()[1] in versions
    assert str(Path(command.path).resolve()) in versions


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_hdf5_that_cannot_be_loaded(command, tmp_path):
    """The loader is made to refuse every module."""
    (tmp_path / "refuse.c").write_text(
        "void *dlopen(const char *path, int flags) { (void)path; (void)flags; return 0; }\n"
        "char *dlerror(void) { static char text[] = \"refused for a test\"; return text; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "refuse.c", "-o", "refuse.so"], cwd=tmp_path, check=True)
    result = command("doctor", LD_PRELOAD=str(tmp_path / "refuse.so"))
    if result.code != 0:
        pytest.skip("a sanitizer wants to be loaded first")
    hdf5 = section(result.out, "HDF5")
    assert "  module          none\n  ! " in hdf5 and "\n    -> " in hdf5


def test_python_without_the_package(command, tmp_path):
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    python = section(command("doctor", SCOPE_PROFILER_PYTHON=str(bare)).out, "Python")
    assert f"interpreter     {bare} (SCOPE_PROFILER_PYTHON)\n" in python
    assert "%d.%d.%d" % sys.version_info[:3] in python
    assert "  ! No module named 'scope_profiler'\n    -> install scope-profiler " in python


def test_python_with_the_package(command, python):
    version = command("--version").out.split()[1]
    assert f"package         scope_profiler {version}" in section(command("doctor").out, "Python")


def test_no_python(command):
    python = section(command("doctor", SCOPE_PROFILER_PYTHON="/no/python").out, "Python")
    assert "interpreter     none\n  ! SCOPE_PROFILER_PYTHON names '/no/python'" in python


def test_mpi_variables(command):
    assert "launcher        none seen" in command("doctor").out
    out = command("doctor", PMI_RANK="3", SCOPE_PROFILER_MPI="off").out
    assert "launcher        PMI_RANK=3\n" in out and "SCOPE_PROFILER_MPI=off\n" in out


def test_folders(command, tmp_path):
    folders = section(command("doctor", XDG_RUNTIME_DIR=str(tmp_path)).out, "Memory-backed folders")
    space = os.statvfs(tmp_path)
    assert f"runtime         {tmp_path}: {space.f_blocks * space.f_frsize / 2**20:.0f} MiB" in folders
    missing = section(command("doctor", XDG_RUNTIME_DIR="/no/such").out, "Memory-backed folders")
    assert "runtime         /no/such: missing" in missing
