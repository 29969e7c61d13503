"""Work on a rank of many calls takes memory for a part of them."""

import subprocess

import h5py
import numpy as np
import pytest

from profile_file import STATISTICS, TEXT

pytestmark = pytest.mark.long

STEPS = 600_000  # with ten calls each
MIB = 1 << 20


def write_steps(path):
    """main around all, `step` every 100 ns, in it nine leaves of 8 ns, with ids."""
    names = ["main", "step", *(f"leaf{i}" for i in range(9))]
    counts = [1] + [STEPS] * 10
    firsts = [0, 1] + [1 + 5 + 10 * i for i in range(9)]
    lengths = [100 * STEPS + 10, 95] + [8] * 9
    step = np.arange(STEPS, dtype="<i8")
    with h5py.File(path, "w") as file:
        file.attrs["scope_profiler_schema"] = np.int64(3)
        file.attrs["storage_layout"] = "columnar"
        file.create_group("metadata").attrs["mpi_size"] = np.int64(1)
        file.create_dataset("region_table/names", data=names, dtype=TEXT)
        index = file.create_group("rank_region_index")
        index["region_ids"] = np.arange(11, dtype="<u4")
        index["ranks"] = np.zeros(11, "<u4")
        index["event_offsets"] = np.array(np.cumsum([0, *counts])[:-1], "<u8")
        index["event_counts"] = np.array(counts, "<u8")
        index["source_lines"] = index["exclusive_totals"] = np.full(11, -1, "<i8")
        index["summary_statistics"] = np.array(
            [(n * d, d, d, d, d, s, s + 100 * (n - 1) + d, 0, 0, d, 0)
             for n, d, s in zip(counts, lengths, firsts)], STATISTICS)
        for name in ("source_files", "source_texts", "tags"):
            index.create_dataset(name, data=["[]" if name == "tags" else ""] * 11, dtype=TEXT)
        deltas = [np.array([0])] + [np.concatenate(([s], np.full(STEPS - 1, 100)))
                                    for s in firsts[1:]]
        columns = {
            "start_deltas": deltas,
            "durations": [np.full(n, d) for n, d in zip(counts, lengths)],
            "call_ids": [np.array([0])] + [1 + 10 * step + i for i in range(10)],
            "parent_ids": [np.array([-1]), np.zeros(STEPS)] + [1 + 10 * step] * 9,
        }
        for name, parts in columns.items():
            file[f"events/{name}"] = np.concatenate(parts).astype("<i8")
    return path


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return write_steps(tmp_path_factory.mktemp("many") / "many.h5")


def peak(command, *words):
    """Largest size in memory in bytes, and the output."""
    program = ("import resource, subprocess, sys\n"
               "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
               "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
               "sys.stdout.write(done.stdout); sys.stderr.write(done.stderr); sys.exit(done.returncode)")
    done = subprocess.run(["python3", "-c", program, command.path, *map(str, words)],
                          cwd=command.folder, env=command.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    size, _, out = done.stdout.partition("\n")
    return int(size) * 1024, out


@pytest.mark.parametrize("words", [
    ["inspect", "{}", "--regions-only"], ["export", "folded", "{}"], ["export", "csv", "{}"],
    ["export", "chrome-trace", "{}"], ["export", "plot-data", "{}", "-p", "histogram", "density"],
    ["report", "{}"], ["inspect", "{}", "--metadata-only", "--plot"],
    ["convert", "{}", "-o", "x.h5"], ["inspect", "{}", "--warmup", "leaf0", "--regions-only"]])
def test_memory_is_that_of_a_part(command, many, words):
    size, _ = peak(command, *(word.format(many) for word in words))
    # The four columns of the file take 192 MB.
    assert many.stat().st_size > 180 * MIB
    assert size < 96 * MIB


def test_what_is_shown_is_the_whole(command, many):
    _, out = peak(command, "inspect", many, "--regions-only", "--columns", "region", "total")
    assert "0.057000" in out and f"{STEPS * 8 / 1e9:.6f}" in out
