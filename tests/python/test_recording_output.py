"""Where a run goes: files by their ending, in memory, and what happens when they cannot be written."""

import errno
import getpass
import gzip
import json
import os
import resource
import socket

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager

h5py = pytest.importorskip("h5py")


def enter(name, times=1):
    region = sp.region(name)
    for _ in range(times):
        with region:
            pass


def test_relative_output_is_fixed_at_setup(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    run = sp.setup(output="run.h5")
    monkeypatch.chdir(tmp_path / "b")
    enter("r")
    assert run.finalize(verbose=False)["r"].num_calls == 1
    assert (tmp_path / "a" / "run.h5").exists()
    assert os.listdir(tmp_path / "b") == []


def test_default_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sp.setup()
    assert os.listdir(tmp_path) == []
    enter("r")
    sp.finalize(verbose=False)
    assert os.listdir(tmp_path) == ["profiling_data.h5"]


def test_missing_folders_are_made(tmp_path, read):
    path = tmp_path / "no" / "such" / "run.h5"
    with sp.session(output=path, verbose=False):
        enter("r")
    assert read(path).calls("r") == 1


def test_names_are_filled_in(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "77")
    monkeypatch.delenv("SLURM_ARRAY_TASK_ID", raising=False)
    monkeypatch.delenv("PBS_ARRAY_INDEX", raising=False)
    with sp.session(output=f"{tmp_path}/{{job}}-{{array}}-{{rank}}-{{pid}}-{{x}}.h5", verbose=False):
        enter("r")
    assert os.listdir(tmp_path) == [f"77-0-0-{os.getpid()}-{{x}}.h5"]


@pytest.mark.parametrize("name", ["x.json", "x.JSON.gz"])
def test_json_leaves_only_the_json(tmp_path, name, capsys):
    path = tmp_path / name
    with sp.session(output=path):
        enter("r", 3)
    assert os.listdir(tmp_path) == [name]
    data = path.read_bytes()
    content = json.loads(gzip.decompress(data) if name.endswith("gz") else data)
    assert content["format"] == "scope-profiler-profile"
    rows = {row["name"]: row for row in content["regions"]}
    assert len(rows["r"]["start_times_ns"]) == 3
    printed = capsys.readouterr().out
    assert name in printed and ".h5" not in printed.replace(name, "")
    assert ProfileManager.read_results()["r"].num_calls == 3


def test_second_json_holds_what_is_new(tmp_path):
    path = tmp_path / "x.json"
    sp.setup(output=path)
    for _ in range(2):
        enter("r")
        sp.finalize(verbose=False)
        rows = json.loads(path.read_text())["regions"]
        assert [len(row["start_times_ns"]) for row in rows] == [1]


def test_in_memory_run_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for settings in ({"output": None}, {"deactivate_file_output": True}):
        with sp.session(verbose=False, **settings):
            enter("r")
        assert sp.last_results()["r"].num_calls == 1
    assert os.listdir(tmp_path) == []


def test_aggregate_file(tmp_path):
    sizes = []
    for calls in (1, 1000):
        path = tmp_path / f"{calls}.h5"
        with sp.session(output=path, verbose=False, aggregation_mode=True):
            for _ in range(3):
                with sp.region("outer"):
                    enter("inner", calls)
        with h5py.File(path) as file:
            assert file.attrs["storage_layout"] == "aggregate"
            assert file["events/durations"].shape == (0,)
            names = [name.decode() for name in file["region_table/names"][:]]
            index = file["rank_region_index"]
            counted = {
                names[region]: count
                for region, count in zip(index["region_ids"], index["aggregate_counts"])
            }
        assert (counted["outer"], counted["inner"]) == (3, 3 * calls)
        results = sp.read_h5(path)
        assert results["outer"][0].events() == []
        outer, inner = results["outer"][0], results["inner"][0]
        assert outer.total_exclusive_duration < outer.total_duration
        assert inner.total_exclusive_duration == pytest.approx(inner.total_duration)
        sizes.append(path.stat().st_size)
    assert sizes[0] == sizes[1]


def test_track_threads_names_the_lanes(tmp_path):
    import threading

    path = tmp_path / "run.h5"
    with sp.session(output=path, verbose=False, track_threads=True):
        enter("main")
        threads = [
            threading.Thread(target=enter, args=("solve",), name=f"solver{i}", daemon=i == 1)
            for i in range(2)
        ]
        for thread in threads:
            thread.start()
            thread.join()
    results = sp.read_h5(path)
    table = results.threads[0]
    assert [thread.name for thread in table] == ["MainThread", "solver0", "solver1"]
    assert [bool(thread.daemon) for thread in table] == [False, False, True]
    assert table[0].ident == threading.main_thread().ident
    assert sorted(results["solve"][0].thread_ids) == [1, 2]


def test_threads_that_were_joined_have_ended():
    import threading

    def enter():
        with sp.region("solve"):
            pass

    for _ in range(20):
        sp.setup(output=None, track_threads=True)
        threads = [threading.Thread(target=enter) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        main, *others = sp.finalize(verbose=False, return_results=True).threads[0]
        # the main thread is in the table although it recorded nothing
        assert (main.name, main.alive, main.wall_time) == ("MainThread", True, None)
        assert main.cpu_time > 0
        assert [thread.alive for thread in others] == [False] * 4
        assert all(0 < thread.cpu_time and 0 < thread.wall_time for thread in others)


def test_a_thread_that_goes_on_is_alive():
    import threading

    entered, leave = threading.Event(), threading.Event()

    def enter():
        with sp.region("solve"):
            pass
        entered.set()
        leave.wait()

    sp.setup(output=None, track_threads=True)
    thread = threading.Thread(target=enter, name="solver")
    thread.start()
    entered.wait()
    _, other = sp.finalize(verbose=False, return_results=True).threads[0]
    leave.set()
    thread.join()
    assert (other.name, other.alive) == ("solver", True) and other.cpu_time > 0


def test_one_thread_has_no_lanes(tmp_path):
    path = tmp_path / "run.h5"
    with sp.session(output=path, verbose=False):
        enter("r")
    with h5py.File(path) as file:
        assert "thread_table" not in file and "thread_ids" not in file["events"]
    assert sp.read_h5(path).threads == {}


# ---- metadata ------------------------------------------------------------------------------------


def test_minimal_detail_tells_nobody(tmp_path, monkeypatch):
    monkeypatch.setenv("LOGNAME", "secretuser")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "run.h5"

    @sp.profile
    def f():
        pass

    with sp.session(output=path, verbose=False, capture_region_source=True):
        f(), enter("r")
    data = path.read_bytes()
    for secret in ("secretuser", socket.gethostname(), str(tmp_path), os.path.dirname(__file__)):
        assert secret.encode() not in data, secret
    metadata = sp.read_h5(path).metadata
    assert set(metadata) == {
        "timestamp", "platform", "chip_information", "python_version", "scope_profiler_version",
        "omp_num_threads", "mpi_size", "num_nodes", "total_cores", "start_time_ns",
        "finalize_time_ns",
    }  # fmt: skip
    for key in ("omp_num_threads", "mpi_size", "num_nodes", "total_cores"):
        assert type(metadata[key]) is int
    from datetime import datetime, timedelta

    assert datetime.fromisoformat(metadata["timestamp"]).utcoffset() == timedelta(0)


def test_full_detail(tmp_path, monkeypatch):
    monkeypatch.setenv("LOGNAME", "somebody")
    monkeypatch.setenv("LOADEDMODULES", "gcc/12:mpi/4")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n[1-4]")
    monkeypatch.setenv("SLURM_JOB_COMMENT", "ä" * 100_000)
    path = tmp_path / "run.h5"
    with sp.session(output=path, verbose=False, metadata_detail="full", label="L" * 70_000):
        enter("r")
    results = sp.read_h5(path)
    metadata = results.metadata
    assert metadata["user"] == "somebody" and metadata["hostname"] == socket.gethostname()
    assert metadata["modules"] == ["gcc/12", "mpi/4"]
    assert metadata["SLURM_JOB_NODELIST"] == "n[1-4]"
    assert metadata["working_directory"] == os.getcwd()
    comment = metadata["SLURM_JOB_COMMENT"]
    assert comment.startswith("ä" * 1000) and comment.endswith("...[truncated]")
    assert len(comment.encode()) <= 60_000
    assert results.label.startswith("L" * 1000)
    monkeypatch.delenv("LOADEDMODULES")
    with sp.session(output=path, verbose=False, metadata_detail="full"):
        enter("r")
    assert sp.read_h5(path).metadata["modules"] == []


def test_more_metadata_than_an_attribute_holds(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", ":".join(f"/opt/module/{i:05d}/bin" for i in range(9000)))
    monkeypatch.setenv("LOADEDMODULES", ":".join(f"mod/{i}" for i in range(20_000)))
    path = tmp_path / "run.h5"
    with sp.session(output=path, verbose=False, metadata_detail="full"):
        with sp.region("r", tags=[f"tag{i}" for i in range(5000)]):
            pass
    results = sp.read_h5(path)
    assert results["r"].num_calls == 1
    assert results["r"][0].tags[4999] == "tag4999"
    assert results.metadata["PATH"].startswith("/opt/module/00000/bin:/opt/module/00001")


def test_threads_of_openmp_are_asked_or_read():
    from scope_profiler.metadata import collect_metadata

    assert collect_metadata(3, "minimal")["mpi_size"] == 3
    assert getpass.getuser() in collect_metadata()["user"]


# ---- what cannot be written ----------------------------------------------------------------------


def test_a_folder_as_output(tmp_path):
    with pytest.raises(IsADirectoryError) as caught:
        sp.setup(output=tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert not sp.is_configured()


def test_a_file_as_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match="file"):
        sp.setup(output=tmp_path / "file" / "run.h5")


@pytest.fixture
def small_files():
    """Files of at most 8 kB, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, hard))
    yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_full_disk(tmp_path, small_files, read):
    path = tmp_path / "run.h5"
    with pytest.raises(OSError) as caught:
        with sp.session(output=path, verbose=False):
            enter("r", 5000)
    assert str(path) in str(caught.value)
    assert caught.value.errno in (errno.EFBIG, errno.ENOSPC, None)
    assert os.listdir(tmp_path) == []
    small_files()
    sp.finalize(verbose=False)
    assert read(path).calls("r") == 5000


def test_exception_of_the_block_wins(tmp_path, small_files, capsys):
    with pytest.raises(RuntimeError, match="mine"):
        with sp.session(output=tmp_path / "run.h5", verbose=False):
            enter("r", 5000)
            raise RuntimeError("mine")
    assert "could not be written" in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


def test_old_file_stays_when_writing_fails(tmp_path, small_files, read):
    path = tmp_path / "run.h5"
    small_files()
    with sp.session(output=path, verbose=False):
        enter("old")
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    with pytest.raises(OSError):
        with sp.session(output=path, verbose=False):
            enter("new", 5000)
    small_files()
    assert read(path).names == {"old"}


# ---- paths that are no text ----------------------------------------------------------------------


def test_a_path_may_hold_bytes_that_are_no_text(tmp_path, capsys):
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    path = os.fsdecode(folder + b"/run\xff.h5")
    run = sp.setup(output=path)
    with sp.region("r"):
        pass
    results = run.finalize()
    assert os.listdir(folder) == [b"run\xff.h5"]
    assert results["r"].num_calls == sp.read_h5(path)["r"].num_calls == 1
    assert r"run\xff.h5" in capsys.readouterr().out
    assert results.display_label == r"run\xff"
    sp.inspect_file(path)
    assert r"caf\xe9/run\xff.h5" in capsys.readouterr().out
    sp.export_chrome_trace(results, os.fsdecode(folder + b"/trace\xff.json"))
    assert b"trace\xff.json" in os.listdir(folder)


def test_errors_about_such_paths_are_the_documented_ones(tmp_path):
    path = tmp_path / os.fsdecode(b"bad\xff.h5")
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(sp.CorruptProfileError, match=r"bad\\xff.h5"):
        sp.read_h5(path)


# ---- size ----------------------------------------------------------------------------------------

MANY = """
import os, sys
import scope_profiler as sp

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

count, path = int(sys.argv[1]), sys.argv[2]
sp.setup(output=path)
region = sp.region("r")
with region:
    pass
before = resident()
for _ in range(count - 1):
    with region:
        pass
grown = resident() - before
sp.finalize(verbose=False)
# Not ru_maxrss: that begins with what the process had from which this one was forked.
[high] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")]
peak = int(high) * 1024 - before
print(region.num_calls, grown, peak)
"""


def test_many_calls_take_no_more_than_their_times(tmp_path, run_python):
    """Two numbers of 8 bytes a call in the file, half of that while running, and a publication that
    holds them a few times over at most."""
    count, path = 1_000_000, tmp_path / "run.h5"
    done = run_python(MANY, count, path, timeout=240)
    assert done.returncode == 0, done.stderr
    calls, grown, peak = map(int, done.stdout.split())
    assert calls == count
    assert grown < 10 * count + 4e6
    assert peak < 5 * 16 * count + 30e6
    assert path.stat().st_size < 18 * count + 65536
