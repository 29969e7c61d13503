"""Decorated generators and coroutines: an interval for every time they run, none while they wait."""

import asyncio
import contextlib
import gc
import inspect
import sys
import time
import types
import weakref

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager


def intervals(name):
    return ProfileManager.get_region(name).num_calls


@pytest.fixture
def counting(memory_run):
    @sp.profile("count")
    def count(n):
        got = None
        for i in range(n):
            got = yield (i, got)
        return "done"

    return count


def test_it_is_still_a_generator_function(counting):
    assert inspect.isgeneratorfunction(counting)
    generator = counting(2)
    assert inspect.isgenerator(generator)
    assert isinstance(generator, types.GeneratorType)
    assert iter(generator) is generator
    assert generator.gi_frame is not None
    assert generator.__name__ == "count"
    next(generator)
    assert not generator.gi_running
    assert intervals("count") == 1


def test_iteration_records_one_interval_a_step(counting):
    assert [value for value, _ in counting(3)] == [0, 1, 2]
    assert intervals("count") == 4  # the fourth runs to the end


def test_values_pass_through_yield_from(counting):
    def outer():
        return (yield from counting(2))

    generator = outer()
    assert next(generator) == (0, None)
    assert generator.send("sent") == (1, "sent")
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "done"
    assert intervals("count") == 3


@pytest.mark.parametrize("value", [None, (1, 2), StopIteration("inner"), ValueError("x")])
def test_any_value_can_be_returned(memory_run, value):
    @sp.profile
    def generator():
        return value
        yield

    with pytest.raises(StopIteration) as stop:
        next(generator())
    assert stop.value.value is value


def test_throw_close_and_exhaustion(counting):
    generator = counting(3)
    next(generator)
    with pytest.raises(ValueError, match="thrown"):
        generator.throw(ValueError("thrown"))
    assert intervals("count") == 2
    closed = counting(3)
    next(closed)
    closed.close()
    closed.close()
    assert intervals("count") == 4
    with pytest.raises(StopIteration):
        next(closed)
    unstarted = counting(3)
    unstarted.close()
    assert intervals("count") == 4


def test_consumer_is_not_charged(memory_run, finish):
    @sp.profile("body")
    def body():
        for _ in range(3):
            time.sleep(0.01)
            yield

    for _ in body():
        with sp.region("consumer"):
            time.sleep(0.03)
    recorded = finish()
    assert 0.028 <= recorded.results["body"][0].total_duration <= 0.08
    assert recorded.parents()["consumer"] == {None}


def test_interleaved_generators_nest(counting, finish):
    first, second = counting(2), counting(2)
    next(first), next(second), next(first), first.close(), second.close()
    recorded = finish()
    assert recorded.calls("count") == 5
    assert recorded.parents()["count"] == {None}


def test_context_manager_of_a_decorated_generator(memory_run):
    @contextlib.contextmanager
    @sp.profile("managed")
    def managed():
        try:
            yield 5
        except KeyError:
            pass

    with managed() as value:
        assert value == 5
    with managed():
        raise KeyError
    assert intervals("managed") == 4


def test_outcome_and_metadata_sit_on_the_last_interval(memory_run, finish):
    @sp.profile("g", record_outcome=True, metadata=lambda n: {"n": n})
    def generator(n):
        for i in range(n):
            yield i
        raise OSError

    with pytest.raises(OSError):
        list(generator(2))
    assert finish().metadata("g") == [
        {}, {}, {"n": 2, "status": "error", "exception": "OSError"},
    ]  # fmt: skip


def test_generators_leave_no_cycles(counting):
    gc.collect()
    gc.disable()
    try:
        generator = counting(2)
        next(generator)
        dead = weakref.ref(generator)
        del generator
        assert dead() is None
    finally:
        gc.enable()


def test_disabled_generator_is_the_functions_own():
    @sp.profile
    def generator():
        yield 1

    assert type(generator()) is types.GeneratorType


# ---- coroutines ----------------------------------------------------------------------------------


def test_coroutine_function_stays_one(memory_run):
    @sp.profile
    async def work():
        return 1

    assert inspect.iscoroutinefunction(work)
    coroutine = work()
    assert inspect.iscoroutine(coroutine) and inspect.isawaitable(coroutine)
    assert asyncio.iscoroutine(coroutine)
    assert asyncio.run(coroutine) == 1
    assert intervals("work") == 1


def test_waiting_is_not_charged(memory_run, finish):
    @sp.profile("waits")
    async def waits(value):
        await asyncio.sleep(0.03)
        return value

    async def main():
        return await asyncio.gather(waits(1), waits(2), asyncio.create_task(waits(3)))

    assert asyncio.run(main()) == [1, 2, 3]
    recorded = finish()
    assert recorded.calls("waits") == 6
    assert recorded.results["waits"][0].total_duration < 0.03
    assert recorded.parents()["waits"] == {None}


def test_cancellation_passes(memory_run, finish):
    @sp.profile("slow", record_outcome=True)
    async def slow():
        await asyncio.sleep(10)

    async def main():
        task = asyncio.create_task(slow())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(slow(), 0.01)

    asyncio.run(main())
    assert finish().metadata("slow")[1::2] == [
        {"status": "error", "exception": "CancelledError"}
    ] * 2  # fmt: skip


def test_coroutine_that_is_never_awaited_warns(memory_run):
    @sp.profile
    async def work():
        pass

    with pytest.warns(RuntimeWarning, match="was never awaited"):
        work()
        gc.collect()
    assert intervals("work") == 0


def test_coroutine_cannot_be_awaited_twice(memory_run):
    @sp.profile
    async def work():
        pass

    async def main():
        coroutine = work()
        await coroutine
        with pytest.raises(RuntimeError, match="already awaited"):
            await coroutine

    asyncio.run(main())
    assert intervals("work") == 1


def test_asynchronous_generator(memory_run):
    finalized = []

    @sp.profile("agen")
    async def numbers(n):
        try:
            for i in range(n):
                await asyncio.sleep(0)
                got = yield i
                if got:
                    finalized.append(got)
        finally:
            finalized.append("end")

    assert inspect.isasyncgenfunction(numbers)

    async def main():
        assert inspect.isasyncgen(numbers(1))
        assert [i async for i in numbers(3)] == [0, 1, 2]
        generator = numbers(3)
        assert await generator.__anext__() == 0
        assert await generator.asend("sent") == 1
        await generator.aclose()
        thrown = numbers(3)
        await thrown.__anext__()
        with pytest.raises(KeyError):
            await thrown.athrow(KeyError("k"))

    asyncio.run(main())
    assert finalized == ["end", "sent", "end", "end"]
    # Two steps to each of 3 values and one to the end; twice two and the close; two and the throw.
    assert intervals("agen") == 7 + 5 + 3


def test_generator_based_coroutine(memory_run):
    @sp.profile
    @types.coroutine
    def old():
        yield from asyncio.sleep(0).__await__()
        return 4

    async def main():
        return await old()

    assert asyncio.run(main()) == 4
    assert intervals("old") == 2


def test_decorated_twice(memory_run):
    @sp.profile("outer")
    @sp.profile("inner")
    def generator():
        yield 1

    assert list(generator()) == [1]
    assert (intervals("outer"), intervals("inner")) == (2, 2)


def test_generator_survives_a_new_configuration(counting):
    generator = counting(3)
    next(generator)
    ProfileManager.setup(output=None, replace=True)
    next(generator)
    ProfileManager.reset()
    next(generator)
    with pytest.raises(StopIteration):
        next(generator)


def test_deep_recursion_of_generators_ends_as_it_would_undecorated(run_python):
    code = (
        "import scope_profiler as sp, sys\n"
        "if sys.argv[1] == 'decorated': sp.setup(output=None)\n"
        "wrap = sp.profile if sys.argv[1] == 'decorated' else lambda f: f\n"
        "@wrap\n"
        "def down(n):\n"
        "    yield n\n"
        "    if n: yield from down(n - 1)\n"
        "print(sum(1 for _ in down(300)))\n"
        "try:\n"
        "    for _ in down(100000): pass\n"
        "except RecursionError: print('RecursionError')\n"
    )
    for kind in ("plain", "decorated"):
        done = run_python(code, kind)
        assert (done.returncode, done.stdout.split()) == (0, ["301", "RecursionError"]), done.stderr


@pytest.mark.skipif(sys.version_info < (3, 11), reason="TaskGroup is new in 3.11")
def test_failing_sibling_in_a_task_group(memory_run):
    @sp.profile
    async def slow():
        await asyncio.sleep(10)

    @sp.profile
    async def fails():
        raise ValueError("one")

    async def main():
        async with asyncio.TaskGroup() as group:
            group.create_task(slow())
            group.create_task(fails())

    with pytest.raises(BaseException) as caught:
        asyncio.run(main())
    assert [type(error) for error in caught.value.exceptions] == [ValueError]
