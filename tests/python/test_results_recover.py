"""recover(): profiles of killed programs, from Python."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import scope_profiler as sp

PROGRAM = """
import os, signal, sys
import scope_profiler as sp
sp.setup(file_path=sys.argv[1])
with sp.region("outer"):
    for _ in range(int(sys.argv[2])):
        with sp.region("inner"): pass
    os.kill(os.getpid(), signal.SIGKILL)
"""


def kill(path, count=10):
    done = subprocess.run([sys.executable, "-c", PROGRAM, path, str(count)], timeout=60)
    assert done.returncode == -signal.SIGKILL


def test_one_recording(tmp_path):
    kill(tmp_path / "run.h5")
    (run,) = sp.recover(tmp_path / "run.h5")
    assert isinstance(run, sp.RecoveredRun)
    assert run.path == tmp_path / "run.recovered.h5" and run.output == tmp_path / "run.h5"
    assert os.fspath(run) == str(run.path)
    assert (run.num_calls, run.num_open, run.missing_calls) == (10, 1, 0)
    assert run.is_complete and not run.is_running and run.rank == 0
    assert Path(run.journal).exists()
    results = run.results()
    assert results.get_region("inner").num_calls == 10
    assert sp.load(run).get_region("outer").num_calls == 1
    (again,) = sp.recover(tmp_path / "run.h5", remove=True)
    assert again.path == run.path and not Path(again.journal).exists()
    with pytest.raises(FileNotFoundError, match="no journal of"):
        sp.recover(tmp_path / "run.h5")


def test_output(tmp_path):
    kill(tmp_path / "run.h5", 3)
    (run,) = sp.recover(tmp_path / "run.h5", output=tmp_path / "kept.json", remove=True)
    assert run.path == tmp_path / "kept.json"
    assert (tmp_path / "kept.json").read_text().startswith("{")
    assert run.results().get_region("inner").num_calls == 3


def test_a_folder(tmp_path):
    kill(tmp_path / "one.h5")
    kill(tmp_path / "two.h5")
    with pytest.raises(ValueError, match="2 recordings are left"):
        sp.recover(tmp_path, output=tmp_path / "x.h5")
    assert not (tmp_path / "x.h5").exists()
    found = sp.recover(tmp_path, remove=True)
    assert {run.path.name for run in found} == {"one.recovered.h5", "two.recovered.h5"}


def test_two_of_one_output(tmp_path):
    kill(tmp_path / "run.h5", 1)
    kill(tmp_path / "run.h5", 2)
    found = sp.recover(tmp_path / "run.h5", remove=True)
    assert {run.path.name for run in found} == {"run.recovered.h5", "run.recovered-2.h5"}
    assert sorted(run.num_calls for run in found) == [1, 2]


def test_an_unwritable_output_keeps_the_journal(tmp_path):
    kill(tmp_path / "run.h5")
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        sp.recover(tmp_path / "run.h5", output=tmp_path / "file" / "x.h5", remove=True)
    (run,) = sp.recover(tmp_path / "run.h5", remove=True)
    assert run.num_calls == 10
