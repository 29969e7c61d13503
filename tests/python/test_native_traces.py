"""Files that other recorders leave, merged into a run: `native_traces=`."""

import os
import struct
import time

import pytest

import scope_profiler as sp
from scope_profiler.native_trace import TraceFormatError

MARGIN_NS = 1_000


def write_trace(path, regions, rank=0):
    data = b"SCOPEPRF" + struct.pack("<iiq", 1, rank, len(regions))
    for name, (start, end) in regions.items():
        data += struct.pack("<i", len(name)) + name.encode() + struct.pack("<qqq", 1, start, end)
    path.write_bytes(data)


def run(folder, regions, *, output="run.h5", rank=0, **more):
    """A run with a region "outer", in the middle of which another recorder saw `regions`."""
    sp.setup(output=None if output is None else folder / output, replace=True)
    with sp.region("outer"):
        start = time.perf_counter_ns()
        while time.perf_counter_ns() - start < 10 * MARGIN_NS:
            pass
        end = time.perf_counter_ns()
        write_trace(folder / "k_rank00000.spt",
                    {name: (start + MARGIN_NS, end - MARGIN_NS) for name in regions}, rank)
    return sp.finalize(verbose=False, return_results=True, native_traces=folder, **more)


def tree(results):
    return [(call["name"], call["depth"]) for call in results.call_stack(rank=0)]


@pytest.mark.parametrize("output", [None, "run.h5", "run.json"])
def test_traces_join_the_tree(tmp_path, output):
    results = run(tmp_path, ["kernel"], output=output)
    assert tree(results) == [("outer", 0), ("kernel", 1)]
    assert sp.last_results() is results
    if output is not None:
        assert tree(sp.load(tmp_path / output)) == tree(results)
    assert "source" not in results.metadata, "the run's own metadata stay"


def test_a_rank_takes_its_own_file_only(tmp_path):
    assert tree(run(tmp_path, ["kernel"], rank=3)) == [("outer", 0)]


def test_a_region_that_both_have(tmp_path):
    with pytest.raises(ValueError, match="'outer' of rank 0 was recorded by both the Python API and "
                                         "the native profile"):
        run(tmp_path, ["outer"])
    assert tree(sp.load(tmp_path / "run.h5")) == [("outer", 0)], "what was recorded is there"


def test_files_from_before_the_run(tmp_path, capsys):
    old = tmp_path / "old_rank00000.spt"
    write_trace(old, {"old": (1, 2)})
    os.utime(old, (1_000_000_000, 1_000_000_000))
    assert tree(run(tmp_path, ["kernel"])) == [("outer", 0), ("kernel", 1)]
    assert f"{old} is older than this run and is left out" in capsys.readouterr().err
    sp.setup(output=None, replace=True)
    named = sp.finalize(verbose=False, return_results=True, native_traces=old)
    assert named.region_names == ["old"], "named by itself it is wanted"


def test_a_session_takes_them_too(tmp_path):
    with sp.session(output=None, verbose=False, return_results=True,
                    native_traces=[tmp_path]) as session:
        write_trace(tmp_path / "k.spt", {"kernel": (5, 9)})
    assert session.results["kernel"].num_calls == 1


def test_nothing_to_merge(tmp_path):
    for inputs, words in ((tmp_path, "no .spt traces and no per-rank .h5 profiles in"),
                          (tmp_path / "gone", "no such file or directory")):
        sp.setup(output=tmp_path / "run.h5", replace=True)
        with sp.region("r"):
            pass
        with pytest.raises(FileNotFoundError, match=words):
            sp.finalize(verbose=False, native_traces=inputs)
        assert sp.load(tmp_path / "run.h5")["r"].num_calls == 1


def test_damaged_traces(tmp_path):
    sp.setup(output=None)
    (tmp_path / "cut.spt").write_bytes(b"SCOPEPRF" + bytes(3))
    with pytest.raises(TraceFormatError, match="cut.spt: too short"):
        sp.finalize(verbose=False, native_traces=tmp_path)
