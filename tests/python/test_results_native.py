"""Traces of native programs."""

import struct
from pathlib import Path

import pytest
from scope_profiler.native_trace import (
    TraceFormatError,
    find_traces,
    load_traces,
    read_trace,
)
from scope_profiler.profile_io import load

DATA = Path(__file__).resolve().parents[1] / "format" / "data"


def trace_bytes(regions, rank=0, order="<", version=2):
    """A trace built from its description: magic, version, rank, regions."""
    data = b"SCOPEPRF" + struct.pack(f"{order}iiq", version, rank, len(regions))
    for name, calls in regions:
        raw = name.encode()
        data += struct.pack(f"{order}i", len(raw)) + raw
        if version == 2:
            data += struct.pack(f"{order}i", 3) + b"k.c" + struct.pack(f"{order}i", 12)
        data += struct.pack(f"{order}q", len(calls))
        data += struct.pack(f"{order}{len(calls)}q", *(start for start, _ in calls))
        data += struct.pack(f"{order}{len(calls)}q", *(end for _, end in calls))
    return data


@pytest.mark.parametrize("name", ["native-v1.spt", "native-v2.spt"])
def test_the_published_examples_read(name):
    rank, traces = read_trace(DATA / name)
    assert rank == 0 and list(traces) == ["solve"]
    starts, ends = traces["solve"]
    assert starts.tolist() == [10, 20, 40] and ends.tolist() == [15, 33, 55]
    source = ("solver.c", 7) if "v2" in name else (None, None)
    assert (traces["solve"].source_file, traces["solve"].source_lineno) == source


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [1, 2])
def test_both_byte_orders_and_versions(tmp_path, order, version):
    path = tmp_path / "t.spt"
    base = 2**53 + 1
    path.write_bytes(trace_bytes([("ü", [(base, base + 7)])], 3, order, version))
    rank, traces = read_trace(path)
    starts, ends = traces["ü"]
    assert rank == 3 and (starts.tolist(), ends.tolist()) == ([base], [base + 7])
    assert starts.dtype.isnative


def test_every_cut_and_every_extra_byte_is_noticed(tmp_path):
    whole = trace_bytes([("a", [(1, 2), (3, 4)]), ("b", [])])
    path = tmp_path / "t.spt"
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(TraceFormatError, match="too short|truncated trace file") as caught:
            read_trace(path)
        assert str(path) in str(caught.value)
    path.write_bytes(whole + b"xy")
    with pytest.raises(TraceFormatError, match=r"2 trailing byte\(s\)"):
        read_trace(path)


def test_foreign_and_newer_files(tmp_path):
    path = tmp_path / "t.spt"
    path.write_bytes(b"SCOPEPRX" + bytes(20))
    with pytest.raises(TraceFormatError, match="not a scope-profiler Fortran trace"):
        read_trace(path)
    path.write_bytes(trace_bytes([], version=9))
    with pytest.raises(TraceFormatError, match="unsupported trace format version 9"):
        read_trace(path)


@pytest.mark.parametrize("field", ["name", "calls"])
@pytest.mark.parametrize("length", [-1, 2**31 - 1])
def test_claims_are_checked_before_use(tmp_path, field, length):
    head = b"SCOPEPRF" + struct.pack("<iiq", 1, 0, 1)
    if field == "name":
        body = struct.pack("<i", length)
    else:
        body = struct.pack("<i", 1) + b"a" + struct.pack("<q", length * 2**31)
    path = tmp_path / "t.spt"
    path.write_bytes(head + body + bytes(8))
    with pytest.raises(TraceFormatError, match="truncated"):
        read_trace(path)


def test_finding_traces(tmp_path):
    for name in ("b.spt", "a_rank00001.h5", "run.h5", "deep/c.spt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    found = find_traces(tmp_path)
    assert [path.name for path in found] == ["a_rank00001.h5", "b.spt"]
    assert find_traces([tmp_path, tmp_path / "b.spt", tmp_path / "run.h5"]) == sorted(
        [*found, tmp_path / "run.h5"]
    )
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(
        FileNotFoundError, match=r"no \.spt traces and no per-rank \.h5 profiles in"
    ):
        find_traces(empty)
    with pytest.raises(FileNotFoundError, match="no such file or directory"):
        find_traces(tmp_path / "nothing")


def test_loading_several_ranks(tmp_path):
    (tmp_path / "p_rank00000.spt").write_bytes(trace_bytes([("a", [(10, 30)]), ("b", [(15, 20)])]))
    (tmp_path / "p_rank00001.spt").write_bytes(trace_bytes([("a", [(7, 9)])], rank=1))
    run = load_traces(tmp_path, label="c code")
    assert run.num_ranks == 2 and run["a"].ranks == [0, 1]
    assert run.metadata == {
        "source": "native", "trace_format_version": 2, "start_time_ns": 7, "label": "c code",
    }  # fmt: skip
    assert run["a"].source_file == "k.c" and run["a"].source_lineno == 12
    assert [(call["name"], call["depth"]) for call in run.call_stack()] == [("a", 0), ("b", 1)]
    assert run["a"][0].total_exclusive_duration == pytest.approx(15e-9)
    assert load(tmp_path / "p_rank00001.spt")["a"].num_calls == 1


def test_two_files_of_one_rank(tmp_path):
    for name in ("a.spt", "b.spt"):
        (tmp_path / name).write_bytes(trace_bytes([("a", [(1, 2)])], rank=4))
    with pytest.raises(TraceFormatError, match="both claim rank 4"):
        load_traces(tmp_path)
