"""Programs on several ranks, under each MPI that is installed. One job at a time, each with a time limit
and in a process group of its own that is gone afterwards."""

import ctypes.util
import os
import shutil
import signal
import subprocess
import sys
import textwrap

import pytest

_FLAGS = {"openmpi": ["--allow-run-as-root", "--oversubscribe"], "mpich": []}
#: So that a rank's death does not end the others, as far as the launcher can be told.
_KEEP_GOING = {"openmpi": ["--mca", "orte_abort_on_non_zero_status", "0", "--enable-recovery"],
               "mpich": ["-disable-auto-cleanup"]}  # fmt: skip


def _environment(name, folder):
    """That of a program under this MPI. The wheel of mpi4py looks for MPICH under its own name, which
    Debian's has not."""
    found = {**os.environ, "MPI4PY_MPIABI": name, "OMP_NUM_THREADS": "1"}
    library = ctypes.util.find_library("mpich")
    if name == "mpich" and library is not None:
        for place in ("/usr/lib", f"/usr/lib/{os.uname().machine}-linux-gnu"):
            if os.path.exists(f"{place}/{library}"):
                link = folder / "libmpi.so.12"
                link.exists() or link.symlink_to(f"{place}/{library}")
        found["LD_LIBRARY_PATH"] = f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    return found


class Ended:
    """What is left of a job."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def check(self):
        """The same, if all ranks ended well."""
        assert self.code == 0, self.err + self.out
        return self


class Launcher:
    def __init__(self, name, command, folder, environment):
        self.name, self.command, self.folder = name, command, folder
        self.environment = environment

    @property
    def words(self):
        """The launcher with the options it needs here."""
        return [self.command, *_FLAGS[self.name]]

    def run(self, num_ranks, program, *arguments, **options):
        """Runs a Python program, given as text, on so many ranks."""
        path = self.folder / "program.py"
        path.write_text(textwrap.dedent(program), encoding="utf-8")
        return self.launch(num_ranks, sys.executable, path, *arguments, **options)

    def launch(self, num_ranks, *command, timeout=60, keep_going=False, **environment):
        """Runs a command on so many ranks."""
        flags = _KEEP_GOING[self.name] if keep_going else []
        job = subprocess.Popen(
            [*self.words, *flags, "-n", str(num_ranks), *map(str, command)],
            cwd=self.folder,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = job.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            out, err = job.communicate()
            pytest.fail(f"the job did not end within {timeout} s\n{out}\n{err}")
        finally:
            try:
                os.killpg(job.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return Ended(job.returncode, out, err)


def _reason_against(name, environment):
    if shutil.which(f"mpirun.{name}") is None:
        return f"mpirun.{name} is not installed"
    code = "from mpi4py import MPI; print(MPI.Get_library_version())"
    probe = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    found = probe.stdout.lower().replace(" ", "")
    return None if name in found else f"no mpi4py for {name}: {(probe.stderr or found).strip()[-200:]}"


@pytest.fixture(scope="session", params=["openmpi", "mpich"])
def _usable(request, tmp_path_factory):
    environment = _environment(request.param, tmp_path_factory.mktemp("mpi"))
    reason = _reason_against(request.param, environment)
    if reason is not None:
        pytest.skip(reason)
    return request.param, environment


@pytest.fixture
def mpi(_usable, tmp_path):
    """A launcher that runs in the test's own folder."""
    name, environment = _usable
    return Launcher(name, shutil.which(f"mpirun.{name}"), tmp_path, environment)
