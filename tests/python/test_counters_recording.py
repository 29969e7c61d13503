"""Perf events and CPU time of a run: software events, which every machine has, and what is said where
others cannot be counted."""

import os
import pickle
import subprocess
import sys
import threading
import time

import h5py
import pytest

import scope_profiler as sp
from scope_profiler import PerfEventError, ProfileManager, _recorder

PAGES = 4096
PAGE = 4096


def touch_pages():
    import mmap

    with mmap.mmap(-1, PAGES * PAGE) as memory:
        for page in range(PAGES):
            memory[page * PAGE] = 1


def busy(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def record(path, **settings):
    with ProfileManager.session(file_path=path, **settings) as session:
        with ProfileManager.region("outer"):
            with ProfileManager.region("pages"):
                touch_pages()
            with ProfileManager.region("nothing"):
                pass
            with ProfileManager.region("sleep"):
                time.sleep(0.05)
    return session


EVENTS = ["task-clock", "page-faults", "context-switches"]


def test_software_events_of_regions(tmp_path):
    record(tmp_path / "run.h5", perf_events=EVENTS)
    run = sp.read_h5(tmp_path / "run.h5")
    assert run.has_perf_events and not run.has_cpu
    totals = run.get_perf_events()[0]
    assert {name: t.calls for name, t in totals.items()} == dict.fromkeys(
        ("scope_profiler.session", "outer", "pages", "nothing", "sleep"), 1)  # fmt: skip
    assert list(totals["pages"].values) == EVENTS
    # One a page of 4 KiB, or one for 512 of them where the system has larger ones.
    assert totals["pages"].values["page-faults"] >= PAGES // 512  # also before the first switch
    assert totals["nothing"].values["page-faults"] < PAGES // 512
    assert totals["sleep"].values["context-switches"] >= 1
    assert totals["sleep"].values["task-clock"] < 40_000_000
    for event in EVENTS:
        inner = sum(totals[name].values[event] for name in ("pages", "nothing", "sleep"))
        assert totals["outer"].values[event] >= inner


def test_what_other_readers_see(tmp_path):
    record(tmp_path / "run.h5", perf_events="page-faults")
    totals = sp.read_h5(tmp_path / "run.h5").get_perf_events()[0]
    with h5py.File(tmp_path / "run.h5") as file:
        group = file["rank0/perf_events/pages"]
        assert group.attrs["calls"] == 1
        assert [str(name) for name in group.attrs["event_names"]] == ["page-faults"]
        assert list(group["values"]) == [totals["pages"].values["page-faults"]]


def test_cpu_time_tells_working_from_waiting(tmp_path):
    with ProfileManager.session(file_path=tmp_path / "run.h5", track_cpu=True):
        with ProfileManager.region("work"):
            busy(0.05)
        with ProfileManager.region("wait"):
            time.sleep(0.05)
    run = sp.read_h5(tmp_path / "run.h5")
    cpu = run.get_cpu(0)[0]
    assert cpu["work"].values["cpu_ns"] >= 50_000_000
    assert cpu["wait"].values["cpu_ns"] < 40_000_000 and cpu["wait"].values["waits"] >= 1
    assert run["wait"][0].total_duration > 0.05
    again = pickle.loads(pickle.dumps(run))
    assert again.get_cpu() == run.get_cpu() and again.has_cpu
    assert sp.merge_results(run).get_cpu() == run.get_cpu()


def test_threads_have_parts(tmp_path):
    with ProfileManager.session(file_path=tmp_path / "run.h5", track_cpu=True, track_threads=True):
        def work():
            with ProfileManager.region("work"):
                busy(0.01)

        work()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    total = sp.read_h5(tmp_path / "run.h5").get_cpu()[0]["work"]
    assert total.calls == 2 and [lane.calls for lane in total.lanes] == [1, 1]
    assert sorted(lane.thread for lane in total.lanes) == [0, 1]
    assert all(lane.values["cpu_ns"] >= 10_000_000 for lane in total.lanes)
    assert sum(lane.values["cpu_ns"] for lane in total.lanes) == total.values["cpu_ns"]


def test_totals_alone(tmp_path):
    with ProfileManager.session(
        file_path=tmp_path / "run.h5", aggregation_mode=True, perf_events="page-faults"
    ):
        for _ in range(1000):
            with ProfileManager.region("r"):
                pass
        with ProfileManager.region("pages"):
            touch_pages()
    totals = sp.read_h5(tmp_path / "run.h5").get_perf_events()[0]
    assert totals["r"].calls == 1000
    assert totals["pages"].values["page-faults"] >= PAGES // 512


def test_values_of_every_call(tmp_path):
    with ProfileManager.session(
        file_path=tmp_path / "run.h5", perf_events="page-faults", counters_per_call=True
    ):
        for work in (touch_pages, int, touch_pages):
            with ProfileManager.region("r"):
                work()
    with h5py.File(tmp_path / "run.h5") as file:
        extra = file["scope_profiler_extra"]
        arrays = {name: extra[name][()] for name in extra if name.startswith("perf_events_call")}
    assert list(arrays["perf_events_call_ids"]) == [1, 2, 3, 0]  # 0: the session, which ends last
    first, second, third, _ = arrays["perf_events_call_values"]
    assert second < PAGES // 512 <= min(first, third)


def test_regions_at_run_time_do_not_disturb(tmp_path):
    """A generator and calls that cross each other keep their counters."""
    with ProfileManager.session(file_path=tmp_path / "run.h5", track_cpu=True):
        @ProfileManager.profile("steps")
        def steps():
            yield 1
            yield 2

        list(steps())
        first, second = ProfileManager.region("first"), ProfileManager.region("second")
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        second.__exit__(None, None, None)
        with pytest.warns(RuntimeWarning, match="still open"):
            ProfileManager.finalize(verbose=False)
    cpu = sp.read_h5(tmp_path / "run.h5").get_cpu()[0]
    assert cpu["steps"].calls == 3 and cpu["first"].calls == cpu["second"].calls == 1


def has_hardware():
    try:
        _recorder.open_instrument("perf", ["instructions"])
    except RuntimeError:
        return False
    return True


@pytest.mark.skipif(has_hardware(), reason="this machine has counters")
def test_without_counters_it_says_what_to_do():
    with pytest.raises(PerfEventError, match="perf event 'instructions': .*(counters|paranoid)"):
        ProfileManager.setup(output=None, perf_events=["instructions"])
    assert not ProfileManager.is_configured()
    ProfileManager.setup(output=None, perf_events=["instructions"], deactivate_profiling=True)
    ProfileManager.finalize(verbose=False)


REFUSED = """
import os, sys
from scope_profiler import PerfEventError, ProfileManager
# Whatever is imported on the way must be by then: the other user may not be able to read it.
with ProfileManager.session(file_path=sys.argv[1] + ".first", track_cpu=True, perf_events="task-clock",
                            verbose=False):
    pass
os.setgid(65534)
os.setuid(65534)
try:
    with ProfileManager.session(file_path=sys.argv[1], perf_events=sys.argv[2].split(","), verbose=False):
        with ProfileManager.region("r"):
            pass
except PerfEventError as error:
    print(error)
    sys.exit(6)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
@pytest.mark.parametrize("events", ["instructions", "task-clock,context-switches"])
def test_an_ordinary_user(tmp_path, events):
    """Counters refused: one clean exception that says why, or the run with what can be counted."""
    folder = tmp_path / "open"
    folder.mkdir(mode=0o777)
    os.chmod(folder, 0o777)
    for parent in [tmp_path, *tmp_path.parents][:3]:
        os.chmod(parent, 0o755)
    done = subprocess.run([sys.executable, "-c", REFUSED, str(folder / "run.h5"), events],
                          capture_output=True, text=True, cwd="/")  # fmt: skip
    assert done.returncode in (0, 6), done.stderr
    if done.returncode == 6:
        assert events == "instructions"
        assert any(word in done.stdout for word in ("perf", "permission", "paranoid"))
    else:
        assert sp.read_h5(folder / "run.h5").get_perf_events()[0]["r"].calls == 1


def test_instruments_are_used_once():
    cpu = _recorder.open_instrument("cpu")
    profiler = _recorder.Profiler()
    profiler.configure(None, instruments=(cpu,))
    profiler.deconfigure()
    with pytest.raises(ValueError, match="'cpu' was used before"):
        profiler.configure(None, instruments=(cpu,))
    with pytest.raises(ValueError, match="no instrument is called '../x'"):
        _recorder.open_instrument("../x")
    with pytest.raises(OSError, match="scope_profiler_nowhere.so was not found"):
        _recorder.open_instrument("nowhere")
    with pytest.raises(ValueError):
        profiler.configure(None, instruments=("cpu",))
