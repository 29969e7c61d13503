"""`scope-profiler import-native`: files of native programs become one profile."""

import struct

import h5py
import pytest

from profile_file import write_profile


def trace_bytes(regions, rank=0, order="<"):
    data = b"SCOPEPRF" + struct.pack(f"{order}iiq", 1, rank, len(regions))
    for name, calls in regions.items():
        raw = name.encode()
        data += struct.pack(f"{order}i", len(raw)) + raw + struct.pack(f"{order}q", len(calls))
        data += struct.pack(f"{order}{len(calls)}q", *(start for start, _ in calls))
        data += struct.pack(f"{order}{len(calls)}q", *(end for _, end in calls))
    return data


@pytest.fixture
def traces(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "p_rank00000.spt").write_bytes(trace_bytes({"solve": [(10, 50)], "ü": [(20, 30)]}))
    (folder / "p_rank00001.spt").write_bytes(trace_bytes({"solve": [(7, 9)]}, 1, ">"))
    return folder


def regions_of(path):
    """Rank and name of each row: absolute (start, end) of its calls, as h5py reads them."""
    found = {}
    with h5py.File(path) as file:
        names = [name.decode() for name in file["region_table/names"][()]]
        index, events = file["rank_region_index"], file["events"]
        for row, region in enumerate(index["region_ids"][()]):
            first, count = index["event_offsets"][row], index["event_counts"][row]
            deltas = events["start_deltas"][first : first + count]
            starts = deltas.cumsum().tolist()
            lengths = events["durations"][first : first + count].tolist()
            found[int(index["ranks"][row]), names[region]] = [
                (start, start + length) for start, length in zip(starts, lengths)
            ]
        return found, dict(file["metadata"].attrs), set(events)


def test_a_folder_of_traces(command, traces, tmp_path):
    result = command("import-native", traces, "-o", "merged.h5")
    assert (result.code, result.err) == (0, "")
    assert result.out == "merged.h5: 2 rank(s), 2 region(s), 3 call(s)\n"
    found, metadata, events = regions_of(tmp_path / "merged.h5")
    assert found == {(0, "solve"): [(10, 50)], (0, "ü"): [(20, 30)], (1, "solve"): [(7, 9)]}
    assert events == {"start_deltas", "durations"}, "no ids: readers find the nesting"
    assert metadata["label"] == "merged" and metadata["source"] == "native"
    assert metadata["start_time_ns"] == 7 and metadata["trace_format_version"] == 2
    table = command("inspect", "merged.h5", "--regions-only").out
    assert "└─ ü" in table


def test_files_patterns_and_a_label(command, traces, tmp_path):
    words = (traces / "p_rank00001.spt", f"{traces}/p_rank0000[01].spt")
    result = command("import-native", *words, "-o", tmp_path / "new" / "m.h5", "--label", "L", "-q")
    assert (result.code, result.out, result.err) == (0, "", "")
    found, metadata, _ = regions_of(tmp_path / "new" / "m.h5")
    assert len(found) == 3 and metadata["label"] == "L"


def test_profiles_of_ranks_join_and_merged_ones_do_not(command, traces, tmp_path):
    for name, rank in (("q_rank00002.h5", 2), ("whole.h5", 0)):
        write_profile(traces / name, {"cores": 3, "start_time_ns": 100}, ["k"],
                      {rank: {"k": [(1e-6, 2e-6)]}})
    assert command("import-native", traces, "-o", "m.h5").code == 0
    found, metadata, _ = regions_of(tmp_path / "m.h5")
    assert found[2, "k"] == [(1000, 2000)] and len(found) == 4
    assert metadata["cores"] == 3 and metadata["start_time_ns"] == 7
    result = command("import-native", traces, traces / "whole.h5", "-o", "n.h5")
    assert result.code == 1 and "both claim rank 0" in result.err
    assert not (tmp_path / "n.h5").exists()


def test_folding_into_a_profile(command, traces, tmp_path):
    profile = write_profile(
        tmp_path / "python.h5", {"label": "run", "start_time_ns": 0}, ["session"],
        {0: {"session": [(0, 1e-6)]}})
    assert command("import-native", traces, "--merge", profile, "-o", "both.h5").code == 0
    found, metadata, _ = regions_of(tmp_path / "both.h5")
    assert set(found) == {(0, "session"), (0, "solve"), (0, "ü"), (1, "solve")}
    assert metadata["label"] == "run" and "source" not in metadata
    assert "session" in command("inspect", "both.h5", "--regions-only").out
    before = profile.read_bytes()
    assert command("import-native", traces, "--merge", profile).code == 0
    assert profile.read_bytes() != before
    again = command("import-native", traces, "--merge", profile, "-o", "twice.h5")
    assert again.code == 1
    assert "both runs have a region 'solve' on rank 0" in again.err
    assert not (tmp_path / "twice.h5").exists()


@pytest.mark.parametrize("content, words, code", [
    (b"", "too short", 3),
    (b"SCOPEPRX" + bytes(20), "not a scope-profiler Fortran trace", 3),
    (b"SCOPEPRF" + struct.pack("<iiq", 9, 0, 0), "unsupported trace format version 9", 3),
    (trace_bytes({"a": [(1, 2)]})[:-1], "truncated trace file", 3),
    (trace_bytes({"a": [(1, 2)]}) + b"x", "1 trailing byte(s)", 3),
])
def test_bad_traces(command, tmp_path, content, words, code):
    (tmp_path / "bad.spt").write_bytes(content)
    result = command("import-native", "bad.spt", "-o", "m.h5")
    assert result.code == code and words in result.err and "bad.spt" in result.err
    assert len(result.err.splitlines()) == 1 and not (tmp_path / "m.h5").exists()


def test_inputs_that_are_not_there(command, tmp_path):
    (tmp_path / "empty").mkdir()
    result = command("import-native", "empty", "-o", "m.h5")
    assert result.code == 1
    assert "no .spt traces and no per-rank .h5 profiles in 'empty'" in result.err
    result = command("import-native", "nothing", "-o", "m.h5")
    assert result.code == 1 and "no such file or directory: 'nothing'" in result.err
    result = command("import-native", "*.spt", "-o", "m.h5")
    assert result.code == 1 and "No files matched pattern '*.spt'" in result.err
    assert command("import-native", "empty").code == 2
    assert command("import-native", "-o", "m.h5").code == 2
