"""Fixtures of the command's tests: the program, a clean place to run it in, sample profiles."""

import os
import pty
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from profile_file import write_profile

ROOT = Path(__file__).resolve().parents[2]


def find_command() -> Path:
    """$SCOPE_PROFILER_COMMAND, else the one beside this interpreter, else the one on PATH."""
    chosen = os.environ.get("SCOPE_PROFILER_COMMAND")
    beside = Path(sys.executable).parent / "scope-profiler"
    if chosen:
        return Path(chosen).resolve()
    if beside.exists():
        return beside
    found = shutil.which("scope-profiler")
    if not found:
        pytest.skip("no scope-profiler command: set SCOPE_PROFILER_COMMAND", allow_module_level=True)
    return Path(found)


@dataclass
class Result:
    code: int
    out: str
    err: str


class Command:
    """Runs `scope-profiler` in a folder of its own, with a small, known environment."""

    def __init__(self, path: Path, folder: Path):
        self.path = path
        self.folder = folder
        kept = ("PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SCOPE_PROFILER_MODULE_PATH",
                "ASAN_OPTIONS", "SCOPE_PROFILER_PYTHON")
        self.environment = {name: os.environ[name] for name in kept if name in os.environ}
        self.environment.update(LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")

    def __call__(self, *words, **environment) -> Result:
        done = subprocess.run(
            [self.path, *map(str, words)], cwd=self.folder, capture_output=True, timeout=60,
            stdin=subprocess.DEVNULL, env={**self.environment, **environment})
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def on_terminal(self, *words, stream="stdout", **environment) -> str:
        """What one stream gets when that is a terminal; the other goes nowhere."""
        master, slave = pty.openpty()
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: slave}
        process = subprocess.Popen(
            [self.path, *words], cwd=self.folder, stdin=subprocess.DEVNULL, **streams,
            env={**self.environment, "TERM": "xterm", **environment})
        os.close(slave)
        pieces = []
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the last writer has gone
                break
            if not piece:
                break
            pieces.append(piece)
        os.close(master)
        process.wait(timeout=60)
        return b"".join(pieces).decode()


@pytest.fixture(scope="session")
def command_path() -> Path:
    return find_command()


@pytest.fixture
def command(command_path, tmp_path) -> Command:
    return Command(command_path, tmp_path)


@pytest.fixture
def python(command) -> str:
    """An interpreter with the package, which `run` will use; the test is skipped without one."""
    chosen = command.environment.get("SCOPE_PROFILER_PYTHON", sys.executable)
    probe = "import scope_profiler._run"
    if subprocess.run([chosen, "-c", probe], capture_output=True).returncode != 0:
        pytest.skip(f"the package scope_profiler is not installed for {chosen}")
    command.environment["SCOPE_PROFILER_PYTHON"] = chosen
    return chosen


@pytest.fixture
def sample(tmp_path) -> Path:
    """Two ranks; on each: session 0-10 s, work 1-9 s in it, leaf 2-3 s and 5-7 s in that."""
    return write_profile(
        tmp_path / "sample.h5",
        metadata={
            "label": "tuned",
            "start_time_ns": 1_000_000_000,
            "finalize_time_ns": 11_500_000_000,
            "mpi_size": 2,
            "omp_num_threads": 4,
            "total_cores": 8,
            "platform": "Linux",
            "SLURM_JOB_ID": "77",
            "PATH": "/bin:" * 40,
            "modules": ["gcc/12", "hdf5/1.10"],
            "flavour": "sweet",
            "ratio": 0.25,
        },
        regions=["scope_profiler.session", "work", "leaf"],
        calls={
            0: {"scope_profiler.session": [(1.0, 11.0)], "work": [(2.0, 10.0)],
                "leaf": [(3.0, 4.0), (6.0, 8.0)]},
            1: {"scope_profiler.session": [(1.0, 11.0)], "work": [(2.0, 10.0)],
                "leaf": [(3.0, 4.0), (6.0, 8.0)]},
        },
        sources={"work": ("solver.py", 12, "def work():\n\tleaf()\n"), "leaf": ("solver.py", 3, "")},
    )
