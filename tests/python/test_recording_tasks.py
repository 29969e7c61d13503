"""Runs with `track_async=True`: lanes, nesting and await times of tasks whose schedule is known."""

import asyncio
import functools
import inspect
import subprocess
import sys
import threading
import time
import warnings

import pytest

from scope_profiler import ProfileManager, read_h5

MS = 1_000_000


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "run.h5")


def record(path, main, **settings):
    """Runs a coroutine function in a session; returns the results."""
    with ProfileManager.session(file_path=path, track_async=True, verbose=False, **settings):
        asyncio.run(main())
    return read_h5(path)


def calls(results, name):
    """[(task, thread, start, duration, awaited)] in order of the starts, ns."""
    region = results.get_region(name)[0]
    return list(
        zip(
            region.task_ids.tolist(),
            region.thread_ids.tolist(),
            region.start_times_ns.tolist(),
            region.durations_ns.tolist(),
            region.await_times_ns.tolist(),
        )
    )


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def task_named(results, name):
    (task,) = [task for task in results.tasks[0] if task.name == name]
    return task


def test_interleaved_tasks_have_lanes_nesting_and_await_times(path):
    """One and two take turns by events, so that neither's calls nest in the other's."""
    order = []

    async def one(mine, other):
        with ProfileManager.region("outer"):
            order.append("one")
            other.set()
            await mine.wait()
            with ProfileManager.region("inner"):
                spin(0.01)
            other.set()

    async def two(mine, other):
        await mine.wait()
        mine.clear()
        with ProfileManager.region("outer"):
            order.append("two")
            other.set()
            await mine.wait()
            await asyncio.sleep(0.05)

    async def main():
        a, b = asyncio.Event(), asyncio.Event()
        await asyncio.gather(
            asyncio.create_task(one(a, b), name="first"),
            asyncio.create_task(two(b, a), name="second"),
        )

    results = record(path, main)
    assert order == ["one", "two"]
    first, second = task_named(results, "first"), task_named(results, "second")
    outer, inner = calls(results, "outer"), calls(results, "inner")
    assert [call[0] for call in outer] == [first.index, second.index]
    assert [call[0] for call in inner] == [first.index]
    # The first's outer call encloses its inner one; the second's crosses both and is nobody's child.
    region = results.get_region("outer")[0]
    assert results.get_region("inner")[0].parent_ids.tolist() == [region.call_ids.tolist()[0]]
    assert region.parent_ids.tolist() == [-1, -1]
    assert outer[0][2] < outer[1][2] < outer[0][2] + outer[0][3] < outer[1][2] + outer[1][3]
    assert inner[0][4] == 0 and inner[0][3] >= 10 * MS
    assert outer[0][3] - outer[0][4] >= 10 * MS
    assert 50 * MS <= outer[1][4] <= outer[1][3]
    assert first.coro_name.endswith("one") and first.kind == "task"
    # one: to its wait, to its end. two, whose first event is set already: to its wait, to its sleep,
    # to its end.
    assert (first.steps, second.steps) == (2, 3)
    for task in (first, second):
        assert task.done and task.thread_index == 0
        assert task.created_ns <= task.done_ns
        # Ticks are converted at the rate of a clock that has just been started.
        assert task.running_ns + task.suspended_ns <= 1.01 * (task.done_ns - task.created_ns)
    assert results.lane_label(first.index) == "first (one) on MainThread"


def test_a_coroutine_is_one_call_that_knows_how_long_it_waited(path):
    @ProfileManager.profile("child")
    async def child():
        spin(0.02)
        await asyncio.sleep(0.05)
        spin(0.02)

    @ProfileManager.profile("parent")
    async def parent():
        await child()

    async def main():
        await asyncio.gather(parent(), parent())

    results = record(path, main)
    for _, _, _, duration, awaited in calls(results, "child"):
        assert 50 * MS <= awaited <= duration - 40 * MS
    parents, children = results.get_region("parent")[0], results.get_region("child")[0]
    assert parents.num_calls == children.num_calls == 2
    assert sorted(children.parent_ids.tolist()) == sorted(parents.call_ids.tolist())


def test_an_interval_of_an_asynchronous_generator_goes_on_while_its_task_waits(path):
    """One interval up to each value and one up to the end; the consumer's time is in none."""

    @ProfileManager.profile("rows")
    async def rows():
        for _ in range(2):
            with ProfileManager.region("fetch"):
                await asyncio.sleep(0.02)
            yield
        with ProfileManager.region("release"):
            await asyncio.sleep(0.02)

    async def main():
        async for _ in rows():
            spin(0.05)
        left = rows()
        await left.__anext__()
        await left.aclose()

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing crosses
        results = record(path, main)
    seen = calls(results, "rows")
    # Values, values, end; then a value, and the close that ends at the yield without waiting.
    assert len(seen) == 5
    assert all(19 * MS <= awaited <= duration for *_, duration, awaited in seen[:4])
    assert all(duration - awaited < 50 * MS for *_, duration, awaited in seen)
    assert seen[4][4] == 0
    ids = results.get_region("rows")[0].call_ids.tolist()
    assert results.get_region("fetch")[0].parent_ids.tolist() == [ids[0], ids[1], ids[3]]
    assert results.get_region("release")[0].parent_ids.tolist() == [ids[2]]


def with_metadata(results, name):
    """[(number of the task or -1, metadata)] in order of the starts."""
    region = results.get_region(name)[0]
    return list(zip(region.task_ids.tolist(), region.event_metadata or [{}] * region.num_calls))


def test_metadata_scopes_cover_their_task_and_what_it_starts(path):
    """Two tasks hold scopes at once. Neither's values reach the other, a task made outside of both, or
    callbacks; a task and a thread that are started inside get them."""

    def enter(name):
        with ProfileManager.region(name):
            pass

    async def child():
        enter("child")

    async def work(number, barrier, go):
        with ProfileManager.metadata(number=number):
            await barrier(number)
            enter("own")
            if number == 1:
                await asyncio.create_task(child())
            await go.wait()
        enter("after")

    async def main():
        both, go = asyncio.Event(), asyncio.Event()
        arrived = []

        async def barrier(number):
            arrived.append(number)
            if len(arrived) == 2:
                both.set()
            await both.wait()

        tasks = [asyncio.create_task(work(number, barrier, go)) for number in (1, 2)]
        while len(arrived) < 2:
            await asyncio.sleep(0)
        await asyncio.sleep(0.01)
        await asyncio.create_task(child())
        asyncio.get_running_loop().call_soon(enter, "callback")
        await asyncio.sleep(0.01)
        go.set()
        await asyncio.gather(*tasks)

    results = record(path, main)
    assert sorted(values["number"] for _, values in with_metadata(results, "own")) == [1, 2]
    assert len({task for task, _ in with_metadata(results, "own")}) == 2
    assert [values for _, values in with_metadata(results, "child")] == [{"number": 1}, {}]
    assert with_metadata(results, "callback") == [(-1, {})]
    assert [values for _, values in with_metadata(results, "after")] == [{}, {}]


def test_metadata_scopes_of_a_task_hold_in_its_threads_and_eager_tasks(path):
    def block():
        with ProfileManager.region("block"):
            pass

    async def made():
        with ProfileManager.region("made"):
            await asyncio.sleep(0)

    async def main():
        if sys.version_info >= (3, 12):
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        with ProfileManager.metadata(step=1, part="a"):
            with ProfileManager.metadata(part="b"):
                await asyncio.to_thread(block)
                task = asyncio.create_task(made())
                await task

    results = record(path, main)
    assert [values for _, values in with_metadata(results, "block")] == [{"step": 1, "part": "b"}]
    assert [values for _, values in with_metadata(results, "made")] == [{"step": 1, "part": "b"}]


def test_region_inside_a_step_that_never_waits_has_no_await_time(path):
    async def main():
        with ProfileManager.region("busy"):
            spin(0.005)
        await asyncio.sleep(0)

    (call,) = calls(record(path, main), "busy")
    assert call[4] == 0


def test_cancelled_and_failed_tasks_are_done_and_their_calls_are_closed(path):
    async def wait():
        with ProfileManager.region("wait"):
            await asyncio.sleep(30)

    async def fail():
        with ProfileManager.region("fail"):
            await asyncio.sleep(0.01)
            raise KeyError("x")

    async def main():
        waiting = asyncio.create_task(wait(), name="cancelled")
        failing = asyncio.create_task(fail(), name="failed")
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(KeyError) as caught:
            await failing
        assert waiting.cancelled()
        assert "fail" in [entry.name for entry in caught.traceback]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(wait(), 0.05)

    results = record(path, main)
    assert len(calls(results, "wait")) == 2 and len(calls(results, "fail")) == 1
    assert all(40 * MS <= call[3] < 10_000 * MS for call in calls(results, "wait"))
    assert task_named(results, "cancelled").done and task_named(results, "failed").done
    assert all(task.done for task in results.tasks[0])


def test_a_task_is_what_it_was(path):
    """What programs look at: the coroutine of a task, its frame, its names."""

    async def work():
        await asyncio.sleep(0)
        return 3

    async def main():
        coroutine = work()
        task = asyncio.create_task(coroutine, name="named")
        got = task.get_coro()
        assert got == coroutine and hash(got) == hash(coroutine)
        assert inspect.iscoroutine(got) and asyncio.iscoroutine(got)
        assert inspect.getcoroutinestate(got) == inspect.CORO_CREATED
        assert got.__qualname__ == coroutine.__qualname__ and repr(got) == repr(coroutine)
        assert got.cr_code is work.__code__
        await asyncio.sleep(0)
        assert task.get_stack()[0].f_code is work.__code__
        assert "work" in repr(task) and task.get_name() == "named"
        assert await task == 3
        task.set_name("renamed")

    record(path, main)


@pytest.mark.parametrize("fails", [False, True])
def test_trace_functions_of_others_stay(path, fails):
    def profile(frame, event, argument):
        pass

    def trace(frame, event, argument):
        return None

    sys.setprofile(profile)
    threading.setprofile(profile)
    sys.settrace(trace)
    try:
        with ProfileManager.session(file_path=path, track_async=True, verbose=False):
            with ProfileManager.region("work"):
                if fails:
                    raise KeyError
    except KeyError:
        pass
    finally:
        now = (sys.getprofile(), threading._profile_hook, sys.gettrace())
        sys.setprofile(None)
        threading.setprofile(None)
        sys.settrace(None)
    assert now == (profile, profile, trace)


def test_hooks_are_gone_after_the_session(path):
    stock = asyncio.BaseEventLoop.create_task

    async def main():
        assert asyncio.BaseEventLoop.create_task is not stock

    record(path, main)
    assert asyncio.BaseEventLoop.create_task is stock
    assert "__init_subclass__" not in vars(asyncio.AbstractEventLoop)


def test_a_task_factory_of_the_program_is_used(path):
    made = []

    def factory(loop, coroutine, **options):
        made.append(coroutine.__qualname__.rsplit(".", 1)[-1])
        return asyncio.Task(coroutine, loop=loop, **options)

    async def work():
        with ProfileManager.region("work"):
            await asyncio.sleep(0.01)

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_task_factory(factory)
        await asyncio.create_task(work())
        assert loop.get_task_factory() is factory

    results = record(path, main)
    assert made[0] == "work"
    assert calls(results, "work")[0][4] >= 10 * MS


@pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks are of Python 3.12")
def test_eager_tasks_run_in_their_own_lane(path):
    async def eager():
        with ProfileManager.region("eager"):
            spin(0.01)

    async def main():
        asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        with ProfileManager.region("maker"):
            task = asyncio.create_task(eager(), name="quick")
            assert task.done()
        await task

    results = record(path, main)
    # Python 3.12 names a task after it was made; this one is done by then.
    (quick,) = [task for task in results.tasks[0] if task.coro_name.endswith("eager")]
    assert calls(results, "eager")[0][0] == quick.index and quick.steps == 1 and quick.done
    assert results.get_region("eager")[0].parent_ids.tolist() == [-1]
    maker = calls(results, "maker")[0]
    assert maker[4] == 0 and maker[3] >= 10 * MS


def test_loops_of_threads_are_attributed_to_them(path):
    barrier = threading.Barrier(2)

    async def work():
        barrier.wait()
        with ProfileManager.region("work"):
            await asyncio.sleep(0.03)

    with ProfileManager.session(file_path=path, track_async=True, verbose=False):
        threads = [
            threading.Thread(target=lambda: asyncio.run(work()), name=f"loop{i}") for i in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    results = read_h5(path)
    names = {thread.index: thread.name for thread in results.threads[0]}
    tasks = {task.index: names[task.thread_index] for task in results.tasks[0]}
    seen = calls(results, "work")
    assert sorted(names[thread] for _, thread, *_ in seen) == ["loop0", "loop1"]
    assert all(tasks[task] == names[thread] for task, thread, *_ in seen)


def test_a_task_that_is_alive_at_finalize(path):
    async def wait(event):
        with ProfileManager.region("ended"):
            pass
        with ProfileManager.region("open"):
            await event.wait()

    async def main():
        event = asyncio.Event()
        task = asyncio.create_task(wait(event), name="alive")
        await asyncio.sleep(0.02)
        ProfileManager.finalize(verbose=False)
        first = read_h5(path)
        alive = task_named(first, "alive")
        assert not alive.done and alive.wall_time is None and alive.steps == 1
        assert first.get_region("ended")[0].num_calls == 1
        assert "open" not in [region.name for region in first.get_regions()]
        event.set()
        await task
        ProfileManager.finalize(verbose=False)
        second = read_h5(path)
        assert task_named(second, "alive").index == alive.index
        assert calls(second, "open")[0][0] == alive.index
        assert calls(second, "open")[0][4] >= 20 * MS

    ProfileManager.setup(file_path=path, track_async=True)
    try:
        asyncio.run(main())
    finally:
        ProfileManager.reset()


def test_a_task_lives_through_two_configurations(path, tmp_path):
    other = str(tmp_path / "other.h5")

    async def work(event):
        for i in range(2):
            await event.wait()
            event.clear()
            with ProfileManager.region(f"part{i}"):
                await asyncio.sleep(0.01)

    async def main():
        event = asyncio.Event()
        with ProfileManager.session(file_path=path, track_async=True, verbose=False):
            task = asyncio.create_task(work(event), name="long")
            event.set()
            await asyncio.sleep(0.05)
        with ProfileManager.session(file_path=other, track_async=True, verbose=False):
            event.set()
            await task

    asyncio.run(main())
    for file, name in ((path, "part0"), (other, "part1")):
        results = read_h5(file)
        (call,) = calls(results, name)
        assert call[0] == task_named(results, "long").index and call[4] >= 10 * MS


def test_ten_thousand_live_tasks(path):
    async def wait(event):
        with ProfileManager.region("wait"):
            await event.wait()

    async def main():
        event = asyncio.Event()
        tasks = [asyncio.create_task(wait(event)) for _ in range(10_000)]
        await asyncio.sleep(0)
        event.set()
        await asyncio.gather(*tasks)

    results = record(path, main)
    region = results.get_region("wait")[0]
    assert region.num_calls == 10_000
    assert len(set(region.task_ids.tolist())) == 10_000
    assert set(region.parent_ids.tolist()) == {-1}


def test_without_track_async_crossing_calls_are_told_with_the_remedy(path):
    """Both regions are open at once, and the first to begin is the first to end."""

    async def work(name, seconds):
        with ProfileManager.region(name):
            await asyncio.sleep(seconds)

    async def main():
        await asyncio.gather(work("short", 0.02), work("long", 0.06))

    with pytest.warns(RuntimeWarning, match="track_async=True") as warned:
        with ProfileManager.session(file_path=path, verbose=False):
            asyncio.run(main())
    (warning,) = [w for w in warned if issubclass(w.category, RuntimeWarning)]
    assert str(warning.message).startswith("1 call(s) ended while")
    results = read_h5(path)
    short, long = results.get_region("short")[0], results.get_region("long")[0]
    assert 19 * MS <= short.durations_ns[0] < 55 * MS and long.durations_ns[0] >= 59 * MS


def test_greenlets_that_overlap_without_nesting(path):
    greenlet = pytest.importorskip("greenlet")
    seen = []
    greenlet.settrace(lambda event, pair: seen.append(event))
    before = greenlet.gettrace()

    def work(main):
        with ProfileManager.region("work"):
            main.switch()

    try:
        with ProfileManager.session(file_path=path, track_async=True, verbose=False):
            main = greenlet.getcurrent()
            a, b = (greenlet.greenlet(functools.partial(work, main)) for _ in range(2))
            a.switch()
            b.switch()
            a.switch()
            b.switch()
        assert greenlet.gettrace() is before and seen.count("switch") >= 4
    finally:
        greenlet.settrace(None)
    results = read_h5(path)
    assert [task.kind for task in results.tasks[0]] == ["greenlet", "greenlet"]
    assert sorted(call[0] for call in calls(results, "work")) == [0, 1]
    assert results.get_region("work")[0].parent_ids.tolist() == [-1, -1]
    assert all(task.done and task.steps == 2 for task in results.tasks[0])


def test_metadata_scopes_of_greenlets_are_their_own(path):
    """The greenlet switches back inside its scope, and what the thread does then is not in it."""
    greenlet = pytest.importorskip("greenlet")

    def work(main):
        with ProfileManager.metadata(of="greenlet"):
            with ProfileManager.region("inside"):
                pass
            main.switch()

    with ProfileManager.session(file_path=path, track_async=True, verbose=False):
        other = greenlet.greenlet(functools.partial(work, greenlet.getcurrent()))
        other.switch()
        with ProfileManager.region("between"):
            pass
        other.switch()
    results = read_h5(path)
    assert with_metadata(results, "inside") == [(0, {"of": "greenlet"})]
    assert with_metadata(results, "between") == [(-1, {})]


def test_loops_of_uvloop_are_followed_without_help(path):
    uvloop = pytest.importorskip("uvloop")

    async def work():
        with ProfileManager.region("work"):
            await asyncio.sleep(0.02)

    async def main():
        await asyncio.gather(work(), work())

    with ProfileManager.session(file_path=path, track_async=True, verbose=False):
        loop = uvloop.new_event_loop()
        loop.run_until_complete(main())
        loop.close()
    seen = calls(read_h5(path), "work")
    assert len({call[0] for call in seen}) == 2 and all(call[4] >= 19 * MS for call in seen)


def test_anyio_task_groups_are_followed(path):
    anyio = pytest.importorskip("anyio")

    async def work():
        with ProfileManager.region("work"):
            await anyio.sleep(0.02)

    async def main():
        async with anyio.create_task_group() as group:
            group.start_soon(work)
            group.start_soon(work)

    with ProfileManager.session(file_path=path, track_async=True, verbose=False):
        anyio.run(main)
    seen = calls(read_h5(path), "work")
    assert len({call[0] for call in seen}) == 2 and all(call[4] >= 19 * MS for call in seen)


KILLED = """
import asyncio, os, signal, sys
from scope_profiler import ProfileManager

async def work(name, event):
    with ProfileManager.region("outer"):
        with ProfileManager.region("ended"):
            await asyncio.sleep(0.01)
        with ProfileManager.region("inner"):
            await event.wait()

async def main():
    event = asyncio.Event()
    with ProfileManager.region("main"):
        tasks = [asyncio.create_task(work(i, event), name=f"t{i}") for i in range(COUNT)]
        while any(t.get_coro().cr_await is None for t in tasks):
            await asyncio.sleep(0)
        await asyncio.sleep(0.1)
        os.kill(os.getpid(), signal.SIGKILL)

ProfileManager.setup(file_path=sys.argv[1], track_async=True)
asyncio.run(main())
"""


@pytest.mark.parametrize("count", [1, 3, 300])
def test_tasks_of_a_killed_process_are_recovered(path, count):
    """Every task had one call ended and two open, one in the other; so had the main one, with one open."""
    code = KILLED.replace("COUNT", str(count))
    process = subprocess.run([sys.executable, "-c", code, path], capture_output=True, timeout=60)
    assert process.returncode == -9, process.stderr
    done = subprocess.run(
        [sys.executable, "-m", "scope_profiler", "recover", path], capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    results = read_h5(path.replace(".h5", ".recovered.h5"))
    tasks = {task.index: task for task in results.tasks[0]}
    names = sorted(task.name for task in tasks.values() if task.coro_name == "work")
    assert names == sorted(f"t{i}" for i in range(count))
    assert not any(task.done for task in tasks.values())
    outer = results.get_region("outer")[0]
    lanes = dict(zip(outer.call_ids.tolist(), outer.task_ids.tolist()))
    assert len(set(lanes.values())) == count
    for name in ("ended", "inner"):
        region = results.get_region(name)[0]
        assert region.num_calls == count
        assert [lanes[parent] for parent in region.parent_ids.tolist()] == region.task_ids.tolist()
    (main,) = calls(results, "main")
    assert main[0] not in lanes.values() and tasks[main[0]].coro_name == "main"
