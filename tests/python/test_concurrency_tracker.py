"""Following threads without recording."""

import os
import sys
import threading

import pytest

from scope_profiler.concurrency import ConcurrencyTracker


@pytest.fixture
def tracker():
    tracker = ConcurrencyTracker()
    yield tracker
    tracker.uninstall()


def run(name, work=lambda: None, daemon=False):
    thread = threading.Thread(target=work, name=name, daemon=daemon)
    thread.start()
    thread.join(30)


def test_threads_become_known_before_their_first_line(tracker):
    tracker.install()
    seen = []
    run("solver0", lambda: seen.append([record.name for record in tracker.threads]))
    run("solver1", daemon=True)
    assert seen == [["solver0"]]
    first, second = tracker.threads
    assert (first.index, first.name, first.daemon) == (0, "solver0", False)
    assert (second.index, second.name, second.daemon) == (1, "solver1", True)
    for record in (first, second):
        assert not record.alive and record.start_ns < record.end_ns
        assert 0 <= record.cpu_ns < 10**9
    assert "solver0" in repr(first) and "finished" in repr(first)
    assert tracker.tasks == []


def test_calling_thread(tracker):
    own = tracker.current_thread()
    assert own is tracker.current_thread() and tracker.threads == [own]
    assert (own.name, own.ident) == (threading.current_thread().name, threading.get_ident())
    assert own.native_id == threading.get_native_id()
    assert own.alive and own.end_ns == -1 and own.cpu_ns > 0


def test_cpu_time_is_the_threads_own(tracker):
    tracker.install()

    def work():
        for _ in range(200_000):
            pass
        used.append(__import__("time").thread_time_ns())

    used = []
    run("busy", work)
    [record] = tracker.threads
    assert record.cpu_ns >= used[0] > 0


def test_hooks_of_others_are_called_on_and_put_back(tracker):
    events = []

    def other(frame, event, argument):
        events.append(event)

    before = threading.getprofile()
    threading.setprofile(other)
    try:
        tracker.install()
        tracker.install()
        run("one")
        assert events and len(tracker.threads) == 1
        count = len(events)
        run("two")
        assert len(events) > count and len(tracker.threads) == 2
        tracker.uninstall()
        tracker.uninstall()
        assert threading.getprofile() is other
        run("three")
        assert len(tracker.threads) == 2
    finally:
        threading.setprofile(before)


def test_threads_are_left_without_a_hook(tracker):
    tracker.install()
    seen = []
    run("t", lambda: seen.append(sys.getprofile()))
    assert seen == [None]
    tracker.uninstall()
    assert threading.getprofile() is None


def test_a_hook_set_meanwhile_stays(tracker):
    tracker.install()
    other = lambda *_: None
    threading.setprofile(other)
    tracker.uninstall()
    assert threading.getprofile() is other
    threading.setprofile(None)


def test_snapshot(tracker):
    tracker.current_thread()
    tracker.install()
    run("worker")
    columns = tracker.snapshot(origin_ns=100)
    threads, tasks = columns["threads"], columns["tasks"]
    assert list(threads["index"]) == [0, 1]
    assert threads["name"][1] == "worker"
    records = tracker.threads
    assert list(threads["start_ns"]) == [record.start_ns - 100 for record in records]
    assert list(threads["end_ns"]) == [-1, records[1].end_ns - 100]
    assert threads["daemon"].dtype == "int8" and threads["cpu_ns"][1] == records[1].cpu_ns
    assert set(tasks) == {
        "index", "kind", "name", "coro_name", "thread_index", "created_ns", "done_ns", "steps",
        "running_ns", "suspended_ns",
    }  # fmt: skip
    assert all(len(column) == 0 for column in tasks.values())


def test_child_of_a_fork_starts_over(tracker):
    tracker.current_thread()
    tracker.install()
    child = os.fork()
    if child == 0:
        fine = tracker.threads == [] and threading.getprofile() is None
        fine = fine and tracker.current_thread().index == 0
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(tracker.threads) == 1 and threading.getprofile() is not None


def test_tasks_have_to_wait():
    with pytest.raises(RuntimeError, match="track_async is not available"):
        ConcurrencyTracker(track_async=True)
    assert ConcurrencyTracker().instrument_loop(object()) is None
