"""Profiles that are written while a program records: readable, complete, and nothing is consumed."""

import os
import subprocess
import sys
import textwrap
import time

import h5py
import pytest

import scope_profiler as sp

#: Records in steps: a line on its standard input, a batch of calls, a line on its standard output.
PROGRAM = """
    import sys, threading
    from scope_profiler import ProfileManager

    ProfileManager.setup(file_path="run.h5", track_threads=True, **eval(sys.argv[1]))
    step, inner = ProfileManager.region("step"), ProfileManager.region("inner")

    def batch():
        for _ in range(20_000):
            with step:
                with inner:
                    pass

    with ProfileManager.region("outer"):
        for line in sys.stdin:
            thread = threading.Thread(target=batch)
            thread.start()
            batch()
            thread.join()
            print("done", flush=True)
    ProfileManager.finalize(verbose=False)
"""


class Program:
    def __init__(self, folder, settings):
        script = folder / "program.py"
        script.write_text(textwrap.dedent(PROGRAM))
        self.process = subprocess.Popen(
            [sys.executable, script, repr(settings)], cwd=folder, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.path = folder / "run.h5"

    def batch(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "done\n"

    def end(self):
        _, errors = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, errors
        return errors


def calls(path):
    """(region, id, parent) of every call, and the number of the checkpoint, by another reader."""
    with h5py.File(path) as file:
        names = [name.decode() for name in file["region_table/names"][()]]
        table = file["rank_region_index"]
        ids, parents = file["events/call_ids"][()], file["events/parent_ids"][()]
        rows = {}
        for region, at, count in zip(
            table["region_ids"][()], table["event_offsets"][()], table["event_counts"][()]
        ):
            rows[names[region]] = list(zip(ids[at : at + count], parents[at : at + count]))
        return rows, file["metadata"].attrs.get("checkpoint")


def wait_for_calls(path, count):
    """The first checkpoint that has so many steps, while the program waits for its next line."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if path.exists():
            rows, number = calls(path)
            if len(rows.get("step", ())) == count:
                return rows, number
        time.sleep(0.02)
    raise AssertionError(f"no checkpoint with {count} calls")


def check_nesting(rows):
    """Each inner call has a step of its own as parent, and steps have none: outer is still open."""
    steps = dict(rows["step"])
    assert sorted(parent for _, parent in rows["inner"]) == sorted(steps)


@pytest.mark.parametrize("journal", ["auto", "off"])
def test_a_checkpoint_is_a_profile_and_consumes_nothing(tmp_path, journal):
    program = Program(tmp_path, {"checkpoint_interval": 0.1, "journal": journal})
    program.batch()
    rows, first = wait_for_calls(program.path, 40_000)
    check_nesting(rows)
    assert "outer" not in rows
    assert {parent for _, parent in rows["step"]} == {-1}
    assert sp.read_h5(program.path)["inner"].num_calls == 40_000

    program.batch()
    rows, second = wait_for_calls(program.path, 80_000)
    assert second > first >= 1
    check_nesting(rows)
    assert program.end() == ""

    other = tmp_path / "other"
    other.mkdir()
    plain = Program(other, {"journal": journal})
    plain.batch()
    plain.batch()
    plain.end()
    final, number = calls(program.path)
    assert number is None
    expected = calls(plain.path)[0]
    assert list(final) == list(expected)
    # Rows are in order of start, in which threads differ from run to run; ids are not.
    assert {name: sorted(rows) for name, rows in final.items()} == {
        name: sorted(rows) for name, rows in expected.items()
    }
    assert [len(final[name]) for name in ("outer", "step", "inner")] == [1, 80_000, 80_000]
    assert sorted(os.listdir(tmp_path)) == ["other", "program.py", "run.h5"]


def test_a_finalized_profile_stays(tmp_path):
    """Checkpoints come again only with new calls, and hold those."""
    script = """
        import time
        from scope_profiler import ProfileManager, read_h5
        ProfileManager.setup(file_path="run.h5", checkpoint_interval=0.02, label="steps",
                             metadata_detail="full")
        region = ProfileManager.region("a")
        def record(times):
            for _ in range(times):
                with region:
                    pass
        record(3)
        ProfileManager.finalize(verbose=False)
        time.sleep(0.5)
        assert read_h5("run.h5")["a"].num_calls == 3
        record(2)
        deadline = time.monotonic() + 30
        while read_h5("run.h5")["a"].num_calls != 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        found = read_h5("run.h5").metadata
        assert found["checkpoint"] >= 1
        ProfileManager.finalize(verbose=False)
        last = read_h5("run.h5").metadata
        assert found["finalize_time_ns"] <= last["finalize_time_ns"]
        del found["checkpoint"], found["finalize_time_ns"], last["finalize_time_ns"]
        assert found == last and last["label"] == "steps" and "hostname" in last
        assert read_h5("run.h5")["a"].num_calls == 2
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=tmp_path, check=True)
    assert os.listdir(tmp_path) == ["run.h5"]


def test_no_temporary_file_is_ever_seen_under_the_name(tmp_path):
    """Whoever opens the file meets a whole profile, however often."""
    program = Program(tmp_path, {"checkpoint_interval": 0.01})
    seen = set()
    for _ in range(5):
        program.batch()
        for _ in range(10):
            if program.path.exists():
                rows, number = calls(program.path)
                assert len(rows.get("step", ())) >= len(rows.get("inner", ())) - 2
                seen.add(number)
            time.sleep(0.01)
    program.end()
    assert len(seen) > 2


def test_a_folder_that_takes_no_file_is_said_once(tmp_path):
    folder = tmp_path / "gone"
    folder.mkdir()
    script = f"""
        import os, shutil, time
        from scope_profiler import ProfileManager
        ProfileManager.setup(file_path={str(folder / "run.h5")!r}, journal="off",
                             checkpoint_interval=0.02)
        shutil.rmtree({str(folder)!r})
        open({str(folder)!r}, "w").close()
        with ProfileManager.region("a"):
            pass
        time.sleep(0.5)
        os.remove({str(folder)!r})
        ProfileManager.finalize(verbose=False)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True,
                          text=True, check=True)  # fmt: skip
    assert done.stderr.count("a checkpoint of") == 1
    assert sp.read_h5(folder / "run.h5")["a"].num_calls == 1


def test_a_fork_waits_for_a_checkpoint_and_has_none(tmp_path):
    script = """
        import os, time
        from scope_profiler import ProfileManager
        ProfileManager.setup(file_path="run.h5", checkpoint_interval=0.01)
        region = ProfileManager.region("a")
        for _ in range(50):
            for _ in range(2000):
                with region:
                    pass
            pid = os.fork()
            if pid == 0:
                assert len(os.listdir("/proc/self/task")) == 1
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        ProfileManager.finalize(verbose=False)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], cwd=tmp_path, check=True)
    assert sp.read_h5(tmp_path / "run.h5")["a"].num_calls == 100_000


@pytest.mark.parametrize("value", [-1, "soon", True, float("nan")])
def test_intervals_that_are_none(value):
    from scope_profiler.profile_config import ProfilingConfig

    with pytest.raises(ValueError, match="checkpoint_interval must be a number"):
        ProfilingConfig(checkpoint_interval=value)
