"""Functions decorated with recursive=True: what is traced inside them, and when the tracer is there."""

import asyncio
import sys
import threading
import types

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager


def name_of(function):
    qualified = function.__qualname__ if sys.version_info >= (3, 11) else function.__name__
    return f"{function.__module__}.{qualified}"


def leaf():
    return 1


def branch():
    return leaf() + leaf()


def plain_calls():
    return branch()


@pytest.fixture
def tree(memory_run, finish):
    """Ends the run; its calls as (name, depth), the module's name left out."""
    return lambda: [
        (name.removeprefix(__name__ + "."), depth) for name, depth in finish().tree()
    ]


def test_calls_inside_get_regions(tree):
    entry = sp.profile("entry", recursive=True)(plain_calls)
    assert entry() == 2
    branch()
    assert tree() == [("entry", 0), ("branch", 1), ("leaf", 2), ("leaf", 2)]


def test_regions_know_their_functions(memory_run):
    sp.profile("entry", recursive=True)(plain_calls)()
    region = ProfileManager.get_region(name_of(leaf))
    assert region.source_lineno == leaf.__code__.co_firstlineno
    assert region.source_file.endswith("test_tracing_functions.py")
    assert name_of(leaf) in sp.recorded_regions()


def test_without_recursive_nothing_inside(tree):
    sp.profile("entry")(plain_calls)()
    assert tree() == [("entry", 0)]


@pytest.mark.parametrize(
    ("setting", "argument", "traces"),
    [(True, None, True), (True, False, False), (False, True, True), (False, None, False)],
)
def test_setting_and_argument(finish, setting, argument, traces):
    entry = sp.profile("entry", recursive=argument)(plain_calls)
    sp.setup(output=None, recursive_profile=setting)
    entry()
    assert (finish().calls(name_of(leaf)) == 2) is traces


def test_decorated_functions_are_not_traced_twice(tree):
    inner = sp.profile("inner")(branch)

    def outer():
        inner()
        leaf()

    sp.profile("entry", recursive=True)(outer)()
    assert tree() == [("entry", 0), ("inner", 1), ("leaf", 2), ("leaf", 2), ("leaf", 1)]


def test_function_decorated_after_it_was_traced(tree):
    module = types.ModuleType("numerics")
    module.branch = branch
    sp.profile("entry", recursive=True)(lambda: module.branch())()
    ProfileManager.instrument(module, prefix="n")
    sp.profile("again", recursive=True)(lambda: module.branch())()
    assert tree() == [
        ("entry", 0), ("branch", 1), ("leaf", 2), ("leaf", 2),
        ("again", 0), ("n.branch", 1), ("leaf", 2), ("leaf", 2),
    ]


def test_decorated_methods_and_generators(tree):
    class Solver:
        @sp.profile("step")
        def step(self):
            leaf()

        @sp.profile("values")
        def values(self):
            yield leaf()
            yield 2

    def outer():
        solver = Solver()
        solver.step()
        list(solver.values())

    sp.profile("entry", recursive=True)(outer)()
    assert tree() == [
        ("entry", 0), ("step", 1), ("leaf", 2), ("values", 1), ("leaf", 2), ("values", 1),
        ("values", 1),
    ]


def test_recursion_installs_one_tracer(tree):
    @sp.profile("down", recursive=True)
    def down(n):
        leaf()
        return n and down(n - 1)

    down(2)
    branch()
    assert tree() == [
        ("down", 0), ("leaf", 1), ("down", 1), ("leaf", 2), ("down", 2), ("leaf", 3)
    ]


def test_exceptions_end_the_tracing(tree):
    def fails():
        leaf()
        raise KeyError

    entry = sp.profile("entry", recursive=True, record_outcome=True, metadata={"a": 1})(fails)
    for _ in range(2):
        with pytest.raises(KeyError):
            entry()
        branch()
    assert tree() == [("entry", 0), ("leaf", 1)] * 2


def test_what_computes_metadata_is_not_inside(tree):
    def metadata():
        leaf()
        return {"a": 1}

    sp.profile("entry", recursive=True, metadata=metadata)(branch)()
    assert tree() == [("entry", 0), ("leaf", 1), ("leaf", 1)]


def test_steps_of_generators_and_coroutines(tree):
    @sp.profile("generator", recursive=True)
    def generator():
        yield leaf()
        branch()

    @sp.profile("coroutine", recursive=True)
    async def coroutine():
        branch()
        await asyncio.sleep(0)
        return leaf()

    async def main():
        branch()
        return await coroutine()

    for _ in generator():
        branch()
    assert asyncio.run(main()) == 1
    assert tree() == [
        ("generator", 0), ("leaf", 1), ("generator", 0), ("branch", 1), ("leaf", 2), ("leaf", 2),
        ("coroutine", 0), ("branch", 1), ("leaf", 2), ("leaf", 2), ("coroutine", 0), ("leaf", 1),
    ]


def test_region_that_is_off_traces_nothing(finish):
    entry = sp.profile("entry", recursive=True, tags=("lib",))(plain_calls)
    ProfileManager.register_opt_in_tag("lib")
    sp.setup(output=None)
    entry()
    assert finish().names == set()
    sp.setup(output=None, enable_tags=["lib"])
    entry()
    assert finish().calls(name_of(leaf)) == 2


def test_profiling_that_is_off_traces_nothing():
    entry = sp.profile("entry", recursive=True)(plain_calls)
    assert entry() == 2
    sp.setup(output=None, deactivate_profiling=True)
    assert entry() == 2
    assert sp.recorded_regions() == ()


def test_aggregation():
    sp.setup(output=None, aggregation_mode=True)
    sp.profile("entry", recursive=True)(plain_calls)()
    counts = [sp.region(name_of(f)).get_aggregate()["count"] for f in (leaf, branch)]
    assert counts == [2, 1]


def test_paused_calls_are_not_recorded(memory_run, finish):
    entry = sp.profile("entry", recursive=True)(plain_calls)
    sp.pause()
    entry()
    sp.resume()
    entry()
    assert finish().calls(name_of(leaf)) == 2


def test_threads_inside_are_traced(finish):
    sp.setup(output=None, track_threads=True)

    def work():
        branch()

    def outer():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    sp.profile("entry", recursive=True)(outer)()
    recorded = finish()
    assert recorded.calls(name_of(leaf)) == 2
    assert recorded.parents()[name_of(work)] == {None}


def test_managers_trace_one_at_a_time(memory_run, finish):
    other = ProfileManager()
    other.setup(output=None)
    inner = other.profile("inner", recursive=True)(branch)
    sp.profile("entry", recursive=True)(lambda: inner())()
    recorded, others = finish(), finish(other)
    assert recorded.calls(name_of(leaf)) == 2
    assert others.names == {"inner"}
    inner_alone = other.profile("inner", recursive=True)(branch)
    other.setup(output=None)
    inner_alone()
    assert finish(other).calls(name_of(leaf)) == 2


def test_new_configuration_inside_a_traced_call(memory_run, finish):
    def outer():
        leaf()
        sp.setup(output=None, replace=True)
        branch()

    sp.profile("entry", recursive=True)(outer)()
    assert finish().tree() == [
        (name_of(branch), 0), (name_of(leaf), 1), (name_of(leaf), 1)
    ]


def test_reset_inside_a_traced_call(memory_run):
    def outer():
        leaf()
        ProfileManager.reset()
        return branch()

    assert sp.profile("entry", recursive=True)(outer)() == 2
    sp.setup(output=None)
    assert sp.recorded_regions() == ()


def test_finalize_inside_a_traced_call(memory_run, finish):
    found = []

    def outer():
        branch()
        found.append(finish())
        leaf()

    sp.profile("entry", recursive=True)(outer)()
    (first,) = found
    assert (first.calls(name_of(leaf)), first.calls("entry")) == (2, 0)


def test_manager_that_is_dropped(memory_run, finish):
    import gc

    for _ in range(3):
        other = ProfileManager()
        other.setup(output=None)
        other.profile("entry", recursive=True)(plain_calls)()
        del other
        gc.collect()
    sp.profile("entry", recursive=True)(plain_calls)()
    assert finish().calls(name_of(leaf)) == 2
