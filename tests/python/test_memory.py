"""Allocation totals of regions: what CPython's allocators gave, by thread and by call. Blocks large enough
to stand out from what the interpreter itself allocates."""

import json
import pickle
import threading

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager

MEBIBYTE = 1 << 20
SLACK = 64 << 10  # of the interpreter itself


@pytest.fixture
def run():
    return ProfileManager.setup(output=None, track_memory=True)


def finalize():
    return ProfileManager.finalize(verbose=False, return_results=True)


def totals(results, region):
    return results.get_memory(0)[0][region]


def is_near(value, expected):
    return expected <= value < expected + SLACK


def test_what_a_call_allocates_and_frees(run):
    with sp.region("keeps"):
        kept = bytearray(4 * MEBIBYTE)
    with sp.region("frees"):
        del kept
    with sp.region("both"):
        bytearray(2 * MEBIBYTE)
        bytearray(2 * MEBIBYTE)
    results = finalize()
    keeps, frees, both = (totals(results, name) for name in ("keeps", "frees", "both"))
    assert results.has_memory and keeps.calls == 1
    assert is_near(keeps.allocated_bytes, 4 * MEBIBYTE) and keeps.freed_bytes < SLACK
    assert is_near(frees.freed_bytes, 4 * MEBIBYTE) and frees.allocated_bytes < SLACK
    assert is_near(both.allocated_bytes, 4 * MEBIBYTE) and is_near(both.freed_bytes, 4 * MEBIBYTE)
    # One after the other: never more than one at once.
    assert is_near(both.peak_growth, 2 * MEBIBYTE)
    assert is_near(keeps.peak_growth, 4 * MEBIBYTE) and frees.peak_growth < SLACK


def test_counts_of_small_blocks(run):
    blocks = [None] * 1000
    places = range(250)  # small integers, which exist already
    with sp.region("small"):
        for place in places:
            blocks[place] = bytes(100)
    with sp.region("drop"):
        blocks.clear()
    results = finalize()
    small, drop = totals(results, "small"), totals(results, "drop")
    # Each a block of one kind: header of 33 bytes and 100.
    assert 250 <= small.allocations < 300
    assert 250 * 133 <= small.allocated_bytes < 250 * 133 + 4096
    assert 251 <= drop.frees < 300
    assert 250 * 133 + 8000 <= drop.freed_bytes < 250 * 133 + 8000 + 4096


def test_peaks_of_nested_calls(run):
    with sp.region("outer"):
        first = bytearray(MEBIBYTE)
        with sp.region("inner"):
            bytearray(3 * MEBIBYTE)
        del first
        with sp.region("later"):
            bytearray(2 * MEBIBYTE)
    results = finalize()
    assert is_near(totals(results, "inner").peak_growth, 3 * MEBIBYTE)
    assert is_near(totals(results, "later").peak_growth, 2 * MEBIBYTE)
    # The kilobytes around are not the point: 1 + 3, not 1 + 3 + 2.
    assert is_near(totals(results, "outer").peak_growth, 4 * MEBIBYTE)
    assert is_near(totals(results, "outer").allocated_bytes, 6 * MEBIBYTE)


def test_the_largest_peak_of_several_calls(run):
    for size in (1, 3, 2):
        with sp.region("calls"):
            bytearray(size * MEBIBYTE)
    held = totals(finalize(), "calls")
    assert held.calls == 3 and is_near(held.peak_growth, 3 * MEBIBYTE)
    assert is_near(held.allocated_bytes, 6 * MEBIBYTE)


def test_calls_that_cross(run):
    first, second = sp.region("first"), sp.region("second")
    first.__enter__()
    a = bytearray(MEBIBYTE)
    second.__enter__()
    b = bytearray(2 * MEBIBYTE)
    first.__exit__(None, None, None)
    del a, b
    c = bytearray(MEBIBYTE)
    second.__exit__(None, None, None)
    del c
    with pytest.warns(RuntimeWarning, match="ended while calls opened inside"):
        results = finalize()
    assert is_near(totals(results, "first").peak_growth, 3 * MEBIBYTE)
    assert is_near(totals(results, "second").peak_growth, 2 * MEBIBYTE)


def test_realloc_frees_the_old_block(run):
    with sp.region("grows"):
        block = bytearray(MEBIBYTE)
        block.extend(bytes(MEBIBYTE))
    held = totals(finalize(), "grows")
    growth = held.allocated_bytes - held.freed_bytes
    assert 2 * MEBIBYTE <= growth < 2.5 * MEBIBYTE
    assert len(block) == 2 * MEBIBYTE


def test_threads_count_for_themselves(run):
    allocates, waits = threading.Event(), threading.Event()

    def work():
        with sp.region("other"):
            waits.wait()
            held = bytearray(8 * MEBIBYTE)
            allocates.set()
        del held

    thread = threading.Thread(target=work)
    thread.start()
    with sp.region("main"):
        waits.set()
        allocates.wait()
    thread.join()
    results = finalize()
    assert is_near(totals(results, "other").allocated_bytes, 8 * MEBIBYTE)
    assert totals(results, "main").allocated_bytes < SLACK
    assert totals(results, "main").peak_growth < SLACK


def test_what_was_there_before_is_freed_with_unknown_size():
    before = bytearray(4 * MEBIBYTE)
    ProfileManager.setup(output=None, track_memory=True)
    with sp.region("frees"):
        del before
    held = totals(finalize(), "frees")
    assert held.frees >= 2 and held.freed_bytes < SLACK


def test_hooks_of_others_go_on(run):
    import tracemalloc

    tracemalloc.start()
    try:
        with sp.region("traced"):
            block = bytearray(MEBIBYTE)
        traced = tracemalloc.get_traced_memory()[0]
        results = finalize()
        ProfileManager.reset()  # cannot unhook: tracemalloc stands over us
        block = bytearray(2 * MEBIBYTE)
        assert tracemalloc.get_traced_memory()[0] > traced
    finally:
        tracemalloc.stop()
    assert is_near(totals(results, "traced").allocated_bytes, MEBIBYTE)
    ProfileManager.setup(output=None, track_memory=True)
    with sp.region("again"):
        block = bytearray(MEBIBYTE)
    assert is_near(totals(finalize(), "again").allocated_bytes, MEBIBYTE)
    del block


def test_files_carry_them_and_inspect_shows_them(tmp_path, capsys):
    path = tmp_path / "run.h5"
    ProfileManager.setup(file_path=path, track_memory=True)
    with sp.region("é \"1\""):
        bytearray(MEBIBYTE)
    ProfileManager.finalize(verbose=False)
    results = sp.read_h5(path)
    held = totals(results, "é \"1\"")
    assert is_near(held.allocated_bytes, MEBIBYTE) and is_near(held.peak_growth, MEBIBYTE)
    results.print_summary()
    sp.inspect_file(path)
    row = next(line for line in capsys.readouterr().out.splitlines() if "é" in line and
               str(held.allocated_bytes) in line)  # fmt: skip
    assert str(held.peak_growth) in row and str(held.frees) in row
    sp.write_json(results, tmp_path / "run.json")
    text = json.loads((tmp_path / "run.json").read_text())
    assert text["memory"]["0"]["é \"1\""]["values"]["allocated_bytes"] == held.allocated_bytes
    assert totals(sp.read_json(tmp_path / "run.json"), "é \"1\"") == held


def test_merged_and_pickled_results_keep_them(run):
    with sp.region("kept"):
        bytearray(MEBIBYTE)
    results = finalize()
    held = totals(results, "kept")
    assert totals(pickle.loads(pickle.dumps(results)), "kept") == held
    assert totals(sp.merge_results(results), "kept") == held


def test_a_second_file_has_only_what_came_later(tmp_path):
    path = tmp_path / "run.h5"
    ProfileManager.setup(file_path=path, track_memory=True)
    for size in (3, 1):
        with sp.region("part"):
            bytearray(size * MEBIBYTE)
        results = finalize()
        held = totals(results, "part")
        assert is_near(held.allocated_bytes, size * MEBIBYTE)
        # A peak is that of the whole run so far.
        assert is_near(held.peak_growth, 3 * MEBIBYTE)


def test_without_the_setting_there_is_nothing():
    ProfileManager.setup(output=None)
    with sp.region("plain"):
        bytearray(MEBIBYTE)
    assert not finalize().has_memory
