"""LIKWID's markers from Python and C, with a stand-in for its library that writes down what is called."""

import io
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import scope_profiler
from scope_profiler.likwid_data import LikwidRegionResult, likwid_environment, parse_marker_file

CORE = Path(scope_profiler.__file__).resolve().parent / "_core"
SOURCE = Path(__file__).parents[1] / "native" / "likwid_stub.c"

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")

PYTHON = """
import scope_profiler as sp

def work(depth):
    with sp.region("a/b"):
        if depth > 0:
            work(depth - 1)

with sp.session(output="run.h5", verbose=False, use_likwid=True):
    work(2)
    work(0)
"""


@pytest.fixture(scope="module")
def stub(tmp_path_factory):
    library = tmp_path_factory.mktemp("likwid") / "likwid_stub.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, SOURCE, "-lpthread",
                    "-Wl,-soname,liblikwid.so.5"], check=True)
    return library


def run(command, stub, folder, **more):
    environment = {
        **os.environ, "LIKWID_LIB": str(stub), "LIKWID_STUB_LOG": str(folder / "log"), "LIKWID_MODE": "1",
        "LIKWID_FILEPATH": str(folder / "marker"), "LIKWID_EVENTS": "CLOCK", "LIKWID_THREADS": "0", **more,
    }  # fmt: skip
    environment = {name: value for name, value in environment.items() if value is not None}
    return subprocess.run(command, cwd=folder, env=environment, check=False, timeout=60, text=True,
                          capture_output=True)


def check(result, source, events, metrics):
    assert (result.tag, result.group_id, result.group_name, result.source) == ("a/b", 0, "CLOCK", source)
    assert list(result.cpus) == [0] and result.times.tolist() == [1.0] and result.call_counts.tolist() == [2]
    assert result.events.tolist() == [[200.0], [80.0]] and result.event_names == events
    assert (result.metric_names, result.metrics.tolist()) == metrics


NO_METRICS = ([], [])


@needs_compiler
@pytest.mark.parametrize(
    ("refuses", "path", "source", "events", "metrics"),
    [
        ("", "marker", "full_api", ["INSTR", "CYC"], (["Calls/s", "CPI"], [[2.0], [0.4]])),
        ("read", "marker", "marker_file", ["event 0", "event 1"], NO_METRICS),
        ("read", "missing/marker", "marker_api", ["event 0", "event 1"], NO_METRICS),
    ],
)
def test_the_richest_source_that_answers(stub, tmp_path, refuses, path, source, events, metrics):
    done = run([sys.executable, "-c", PYTHON], stub, tmp_path, LIKWID_STUB_REFUSES=refuses,
               LIKWID_FILEPATH=str(tmp_path / path))
    assert (done.returncode, done.stderr) == (0, "")
    # Recursion is one start and one stop; the call of the session is around it all; one close.
    assert (tmp_path / "log").read_text().split("\n") == [
        "init 1", "thread 1", "start 1 scope_profiler.session", "start 1 a/b", "stop 1 a/b", "start 1 a/b",
        "stop 1 a/b", "stop 1 scope_profiler.session", "close 1", ""]  # fmt: skip
    results = scope_profiler.load(tmp_path / "run.h5")
    assert set(results.get_likwid_regions(0)) == {"a/b", "scope_profiler.session"}
    check(results.get_likwid_region("a/b"), source, events, metrics)
    environment = results._likwid_environment[0]
    assert environment["LIKWID_EVENTS"] == "CLOCK" and environment["LIKWID_THREADS"] == "0"
    out = io.StringIO()
    results.print_likwid_summary(out)
    assert "region 'a/b'  group CLOCK" in out.getvalue() and "2 call(s), 1.000000 s" in out.getvalue()


@needs_compiler
def test_markers_of_the_program_are_left_to_it(stub, tmp_path):
    before = "import ctypes, os\nL = ctypes.CDLL(os.environ['LIKWID_LIB'])\nL.likwid_markerInit()\n"
    after = "\nprint(open(os.environ['LIKWID_STUB_LOG']).read().count('close'))\nL.likwid_markerClose()\n"
    done = run([sys.executable, "-c", before + PYTHON + after], stub, tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "0\n")
    log = (tmp_path / "log").read_text().splitlines()
    assert log.count("init 1") == 1 and log[-1] == "close 1" and log.count("close 1") == 1
    results = scope_profiler.load(tmp_path / "run.h5")
    check(results.get_likwid_region("a/b"), "marker_api", ["event 0", "event 1"], NO_METRICS)


@needs_compiler
def test_markers_end_with_a_program_that_does_not_finalize(stub, tmp_path):
    done = run([sys.executable, "-c", "import scope_profiler as sp; sp.setup(output=None, use_likwid=True)"],
               stub, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "log").read_text().count("close") == 1


@needs_compiler
def test_a_forked_child_leaves_the_markers_to_its_parent(stub, tmp_path):
    code = (
        "import os, sys\nimport scope_profiler as sp\nsp.setup(output=None, use_likwid=True)\n"
        "child = os.fork()\nif child == 0:\n    sys.exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\nprint(open('log').read().count('close'))"
    )
    done = run([sys.executable, "-W", "ignore", "-c", code], stub, tmp_path)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "0\n")
    assert (tmp_path / "log").read_text().count("close") == 1


def has_likwid():
    import ctypes

    try:
        return bool(ctypes.CDLL("liblikwid.so.5"))
    except OSError:
        return False


@pytest.mark.skipif(not has_likwid(), reason="LIKWID is not installed")
def test_the_library_of_the_system_has_all_functions(tmp_path):
    done = run([sys.executable, "-c", PYTHON], "", tmp_path, LIKWID_LIB=None, LIKWID_MODE=None)
    assert done.returncode == 0
    assert "LIKWID_MODE is not set" in done.stderr and "ERROR" not in done.stderr


@needs_compiler
def test_markers_are_had_once(stub, tmp_path):
    done = run([sys.executable, "-c", PYTHON + PYTHON], stub, tmp_path)
    assert done.returncode == 0 and "an earlier run of this process has closed" in done.stderr
    assert (tmp_path / "log").read_text().count("init") == 1


@needs_compiler
def test_a_program_on_its_own_is_told_and_runs(stub, tmp_path):
    done = run([sys.executable, "-c", PYTHON], stub, tmp_path, LIKWID_MODE=None)
    assert done.returncode == 0
    assert "LIKWID_MODE is not set, so nothing is counted" in done.stderr
    assert not (tmp_path / "log").exists()
    results = scope_profiler.load(tmp_path / "run.h5")
    assert not results.has_likwid


C = """
#include <scope_profiler.h>
int main(void)
{
    sp_init("run", 0);
    int a = sp_region("a/b");
    for (int i = 0; i < 2; i++) {
        sp_begin(a);
        sp_end(a);
    }
    return sp_finalize();
}
"""


@needs_compiler
def test_native(stub, tmp_path):
    (tmp_path / "settings.toml").write_text("[profiling]\nuse_likwid = true\nfile_path = 'run.h5'\n")
    (tmp_path / "a.c").write_text(textwrap.dedent(C))
    subprocess.run(["cc", f"-I{CORE / 'include'}", "a.c", f"-L{CORE / 'lib'}", f"-Wl,-rpath,{CORE / 'lib'}",
                    "-l:libscope_profiler.so.1", "-o", "program"], cwd=tmp_path, check=True)
    done = run(["./program"], stub, tmp_path, SCOPE_PROFILER_CONFIG="settings.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "log").read_text().split("\n") == [
        "init 1", "thread 1", "start 1 a/b", "stop 1 a/b", "start 1 a/b", "stop 1 a/b", "close 1", ""]
    assert (tmp_path / "marker").read_text().splitlines()[0] == "1 1 1"
    (file,) = tmp_path.glob("run*.h5")
    results = scope_profiler.load(file)
    check(results.get_likwid_region("a/b"), "marker_api", ["INSTR", "CYC"], NO_METRICS)
    assert results._likwid_environment[0]["LIKWID_EVENTS"] == "CLOCK"


MARKER = """2 2 2
0:solve-step-0
1:io-1
0 0 0 3 1.500000e+00 2 1.000000e+01 3.050000e+01
0 0 4 4 2.500000e+00 2 2.000000e+01 4.000000e+01
1 1 4 1 2.500000e-01 1 7.000000e+00
"""


def test_marker_files(tmp_path, monkeypatch):
    path = tmp_path / "marker"
    path.write_text(MARKER)
    monkeypatch.setenv("LIKWID_EVENTS", "FLOPS_DP|MEM")
    assert likwid_environment()["LIKWID_EVENTS"] == "FLOPS_DP|MEM"
    assert parse_marker_file(path) == {
        "solve-step": LikwidRegionResult(
            "solve-step", 0, "FLOPS_DP", [0, 4], [1.5, 2.5], [3, 4], ["event 0", "event 1"], [],
            [[10.0, 20.0], [30.5, 40.0]], source="marker_file"),
        "io": LikwidRegionResult("io", 1, "MEM", [4], [0.25], [1], ["event 0"], [], [[7.0]],
                                 source="marker_file"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("2 2 2\n", "", "line 1"),
        ("2 2 2", "2 5 2", "line 4"),
        ("1:io-1", "1 io", "line 3"),
        ("2 1.000000e+01 3.050000e+01", "2 1.000000e+01", "line 4"),
        ("1 1 4 1", "8 1 4 1", "line 6"),
        ("1 1 4 1", "1 0 4 1", "line 6"),
    ],
)
def test_damaged_marker_files_are_named(tmp_path, old, new, words):
    path = tmp_path / "marker"
    path.write_text(MARKER.replace(old, new))
    with pytest.raises(ValueError, match="is no marker file of LIKWID") as caught:
        parse_marker_file(path)
    assert str(path) in str(caught.value) and words in str(caught.value)


def test_an_empty_marker_file_is_named(tmp_path):
    (tmp_path / "marker").write_text("")
    with pytest.raises(ValueError, match="line 1"):
        parse_marker_file(tmp_path / "marker")


def test_written_by_h5py_and_read(tmp_path):
    import h5py
    from scope_profiler.likwid_data import write_likwid_results

    path = tmp_path / "file.h5"
    shutil.copy(Path(__file__).parents[1] / "format" / "data" / "hdf5-records.h5", path)
    one = LikwidRegionResult("x/y", 0, "MEM", [2], [0.5], [1], ["A", "A"], ["P0", "P1"], [[1.0], [2.0]])
    with h5py.File(path, "a") as file:
        del file["rank0/likwid"]
        write_likwid_results(file.create_group("rank0/likwid"), {"x/y": one}, {"LIKWID_EVENTS": "MEM"})
    results = scope_profiler.load(path)
    read = results.get_likwid_region("x/y")
    assert read.as_dict() == {**one.as_dict(), "metrics": []}
    assert read.event_labels == ["A:P0", "A:P1"]
    assert results._likwid_environment[0] == {"LIKWID_EVENTS": "MEM", "num_regions": 1}
