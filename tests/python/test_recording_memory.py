"""A ceiling for memory: what is given up at it, and that counts stay exact."""

import os
import subprocess
import sys
import textwrap

import h5py
import pytest

CALLS = 300_000

PROGRAM = """
    import sys
    from scope_profiler import ProfileManager

    ProfileManager.setup(file_path="run.h5", journal="off", **eval(sys.argv[1]))
    region = ProfileManager.region("work")
    for _ in range(int(sys.argv[2])):
        with region:
            pass
    assert region.num_calls == int(sys.argv[2]), region.num_calls
    ProfileManager.finalize(verbose=True)
"""


def run(folder, settings, calls=CALLS, **environment):
    script = folder / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    return subprocess.run(
        [sys.executable, script, repr(settings), str(calls)],
        cwd=folder, capture_output=True, text=True, check=True, env={**os.environ, **environment},
    )  # fmt: skip


def rows_and_totals(path):
    """Calls with a row, and those without, by an independent reader."""
    with h5py.File(path) as file:
        extra = file["scope_profiler_extra"]
        names = [name.decode() for name in file["region_table/names"][()]]
        index = names.index("work")
        table = file["rank_region_index"]
        rows = dict(zip(table["region_ids"][()].tolist(), table["event_counts"][()].tolist()))
        if "totals_regions" not in extra:
            return rows[index], 0
        listed = [name.decode() for name in extra["totals_regions"][()]]
        at = listed.index("work")
        return rows[index], int(extra["totals_calls"][at] + extra["totals_untimed"][at])


@pytest.mark.parametrize("on_full", ["spill", "aggregate", "ring", "stop"])
def test_counts_are_exact(tmp_path, on_full):
    done = run(tmp_path, {"max_memory": "1MB", "on_full": on_full})
    rows, totals = rows_and_totals(tmp_path / "run.h5")
    assert rows + totals == CALLS
    assert rows > 10_000
    shown = " ".join(done.stdout.replace("│", " ").split())
    if on_full == "spill":
        assert totals == 0
        assert "no room" not in shown
    elif on_full == "stop":
        assert "without a time" in shown
    else:
        assert totals > 10_000
        assert f"count beside the table: work {totals} (" in shown
        assert f"memory full {totals}" in shown


def test_the_environment_decides_what_the_program_leaves_open(tmp_path):
    run(tmp_path, {}, SCOPE_PROFILER_MAX_MEMORY="1MB", SCOPE_PROFILER_ON_FULL="aggregate")
    assert rows_and_totals(tmp_path / "run.h5")[1] > 0
    run(tmp_path, {"on_full": "ring", "max_memory": "64MB"}, SCOPE_PROFILER_MAX_MEMORY="1MB")
    assert rows_and_totals(tmp_path / "run.h5") == (CALLS, 0)


def test_the_next_folder_takes_the_temporary_file(tmp_path):
    """TMPDIR leads nowhere: the file lies beside the output, and is gone afterwards."""
    done = run(tmp_path, {"max_memory": "1MB"}, TMPDIR="/nowhere")
    assert rows_and_totals(tmp_path / "run.h5") == (CALLS, 0)
    assert "TMPDIR" not in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["program.py", "run.h5"]


@pytest.mark.parametrize("value", ["lots", "-1", "1 furlong", "", "12MBx"])
def test_sizes_that_are_none(value):
    from scope_profiler.profile_config import ProfilingConfig

    with pytest.raises(ValueError, match="max_memory must be a number of bytes"):
        ProfilingConfig(max_memory=value)


@pytest.mark.parametrize(
    ("value", "number"),
    [(1 << 20, 1 << 20), ("1MB", 1 << 20), ("1.5 GiB", 3 << 29), ("2048k", 2 << 20), ("1t", 1 << 40)],
)  # fmt: skip
def test_sizes(value, number):
    from scope_profiler.profile_config import ProfilingConfig

    assert ProfilingConfig(max_memory=value).max_memory == number


def test_a_size_has_a_smallest():
    from scope_profiler.profile_config import ProfilingConfig

    with pytest.raises(ValueError, match="max_memory must be at least 1048576 bytes, got '4096'"):
        ProfilingConfig(max_memory=4096)


@pytest.mark.parametrize("text", ["64MB", 64 << 20])
def test_sizes_in_files(tmp_path, text):
    from scope_profiler.profile_config import load_profiling_config

    (tmp_path / "p.toml").write_text(f"[profiling]\nmax_memory = {text!r}\non_full = 'ring'\n")
    loaded = load_profiling_config(tmp_path / "p.toml")
    from scope_profiler.profile_config import ProfilingConfig

    config = ProfilingConfig(**loaded)
    assert (config.max_memory, config.on_full) == (64 << 20, "ring")


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 3 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder], capture_output=True, text=True
    ) if os.geteuid() == 0 else None  # fmt: skip
    if mounted is None or mounted.returncode != 0:
        pytest.skip("a file system of its own can be mounted by root only")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("on_full", ["spill", "aggregate", "stop"])
def test_a_full_disk_costs_detail_and_no_count(small_disk, on_full):
    """First the journal fails, then what takes its place, then the profile. With room on the disk the
    same run is written, and every call is in a row or in the totals."""
    script = f"""
        import os, subprocess
        from scope_profiler import ProfileManager
        ProfileManager.setup(file_path="run.h5", max_memory="1MB", on_full={on_full!r})
        region = ProfileManager.region("work")
        for _ in range(1_500_000):
            with region:
                pass
        assert region.num_calls == 1_500_000, region.num_calls
        try:
            ProfileManager.finalize(verbose=False)
        except OSError as error:
            assert "run.h5" in str(error) and error.errno == 28, error
        else:
            raise AssertionError("there was room")
        assert not [name for name in os.listdir() if name.endswith(".h5")], os.listdir()
        subprocess.run(["mount", "-o", "remount,size=64m", os.getcwd()], check=True)
        ProfileManager.finalize(verbose=False)
    """
    environment = {key: value for key, value in os.environ.items() if key != "TMPDIR"}
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=small_disk, text=True,
                          capture_output=True, env=environment)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("cannot be written: No space left on device; recording goes on") == 1
    assert done.stderr.count("the temporary file cannot be written") == (on_full == "spill")
    rows, totals = rows_and_totals(small_disk / "run.h5")
    assert rows + totals == 1_500_000
    assert rows > 100_000 and totals > 100_000
    assert os.listdir(small_disk) == ["run.h5"]


@pytest.mark.parametrize("on_full", ["aggregate", "ring", "stop"])
def test_calls_in_totals_are_not_called_lost(tmp_path, on_full):
    import scope_profiler as sp

    done = run(tmp_path, {"max_memory": "1MB", "on_full": on_full})
    _, totals = rows_and_totals(tmp_path / "run.h5")
    assert "lost" not in done.stderr
    assert f"{totals} call(s) are counted but not kept one by one" in done.stderr
    results = sp.read_h5(tmp_path / "run.h5")
    assert list(results.unkept_calls) == [0]
    assert list(results.unkept_calls[0]) == ["work"]
    unkept = results.unkept_calls[0]["work"]
    assert unkept.calls + unkept.untimed == totals
    assert results["work"].num_calls + totals == CALLS
    with h5py.File(tmp_path / "run.h5") as file:
        extra = file["scope_profiler_extra"]
        assert unkept.total_duration == pytest.approx(int(extra["totals_ns"][0]) / 1e9)
        assert unkept.max_duration == pytest.approx(int(extra["totals_maximum_ns"][0]) / 1e9)
        kinds = [name.decode() for name in extra["loss_kinds"][()]]
        counts = dict(zip(kinds, extra["loss_counts"][()].tolist()))
    assert results.losses == {0: {kind: count for kind, count in counts.items() if count}}
    assert (unkept.untimed > 0) == (on_full == "stop")
    assert 0 < unkept.min_duration <= unkept.max_duration <= unkept.total_duration or unkept.calls == 0


def test_nothing_missing_is_said_by_nothing(tmp_path):
    import scope_profiler as sp

    done = run(tmp_path, {"max_memory": "1MB", "on_full": "spill"})
    results = sp.read_h5(tmp_path / "run.h5")
    assert done.stderr == ""
    assert (results.losses, results.unkept_calls) == ({}, {})
