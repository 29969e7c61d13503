"""Metadata of calls: from decorators, scopes and factories; in results and in files."""

import threading

import numpy
import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager


def enter(name):
    with sp.region(name):
        pass


def test_mapping_and_function_of_the_arguments(memory_run, finish):
    @sp.profile("fixed", metadata={"solver": "cg", "order": 2})
    def fixed():
        pass

    @sp.profile("made", metadata=lambda n, *, scale=1: {"n": n, "scaled": n * scale})
    def made(n, *, scale=1):
        pass

    fixed(), made(3), made(n=4, scale=2)
    recorded = finish()
    assert recorded.metadata("fixed") == [{"solver": "cg", "order": 2}]
    assert recorded.metadata("made") == [{"n": 3, "scaled": 3}, {"n": 4, "scaled": 8}]


def test_outcome(memory_run, finish):
    class Trouble(Exception):
        pass

    @sp.profile("f", record_outcome=True, metadata=lambda bad: {"bad": bad})
    def f(bad):
        if bad:
            raise Trouble("x")

    f(False)
    with pytest.raises(Trouble):
        f(True)
    assert finish().metadata("f") == [
        {"bad": False, "status": "ok"},
        {"bad": True, "status": "error", "exception": "Trouble"},
    ]


def test_metadata_function_is_not_asked_while_off():
    @sp.profile(metadata=lambda: 1 / 0)
    def f():
        return 1

    assert f() == 1
    sp.setup(output=None)
    with pytest.raises(ZeroDivisionError):
        f()
    assert ProfileManager.get_region("f").num_calls == 0


def test_exception_is_not_kept_alive(memory_run):
    import gc
    import weakref

    class Trouble(Exception):
        pass

    @sp.profile(record_outcome=True)
    def f():
        error = Trouble()
        dead.append(weakref.ref(error))
        raise error

    dead = []
    try:
        f()
    except Trouble:
        pass
    gc.collect()
    assert dead[0]() is None


VALUES = {
    "text": "äö\"\\\n", "int": 2**40, "big": 2**70, "float": 0.1, "none": None, "true": True,
    "list": [1, "a"], "nested": {"x": {"y": 1}},
}  # fmt: skip


def test_values_survive_a_file(tmp_path, read):
    path = tmp_path / "run.h5"
    odd = {
        "numpy": numpy.int64(3), "array": numpy.arange(2), "real": numpy.float64(0.5),
        "bytes": b"node01", "inf": float("inf"), "nan": float("nan"), "object": object,
    }  # fmt: skip

    @sp.profile("f", metadata=lambda values: values)
    def f(values):
        pass

    with sp.session(output=path, verbose=False):
        f(VALUES), f(odd), f({}), f(None)
    stored = read(path).metadata("f")
    assert stored[0] == VALUES
    assert stored[1] == {
        "numpy": 3, "array": [0, 1], "real": 0.5, "bytes": "node01", "inf": None, "nan": None,
        "object": str(object),
    }  # fmt: skip
    assert stored[2:] == [{}, {}]


def test_metadata_must_be_a_mapping(memory_run):
    with pytest.raises(TypeError, match="metadata must be a mapping"):
        sp.profile("f", metadata=3)(lambda: None)


# ---- scopes --------------------------------------------------------------------------------------


def test_scopes_nest_and_the_inner_one_wins(memory_run, finish):
    enter("r")
    with sp.metadata(run=1, step=0) as outer:
        assert outer == {"run": 1, "step": 0}
        enter("r")
        with sp.metadata(step=5, more="x") as inner:
            assert inner == {"run": 1, "step": 5, "more": "x"}
            enter("r")
        enter("r")
    enter("r")
    assert finish().metadata("r") == [
        {}, {"run": 1, "step": 0}, {"run": 1, "step": 5, "more": "x"}, {"run": 1, "step": 0}, {},
    ]  # fmt: skip


def test_only_calls_wholly_inside(memory_run, finish):
    with sp.region("around"):
        with sp.metadata(a=1):
            enter("inside")
    scope = sp.metadata(a=2)
    scope.__enter__()
    with sp.region("sticks out"):
        scope.__exit__(None, None, None)
    recorded = finish()
    assert recorded.metadata("inside") == [{"a": 1}]
    assert not any(recorded.results["around"][0].event_metadata or ())
    assert not any(recorded.results["sticks out"][0].event_metadata or ())


def test_metadata_of_the_call_wins_over_the_scope(memory_run, finish):
    @sp.profile("f", metadata={"a": "call"})
    def f():
        pass

    with sp.metadata(a="scope", b=1):
        f()
    assert finish().metadata("f") == [{"a": "call", "b": 1}]


def test_scope_that_is_open_at_finalize(tmp_path, read):
    path = tmp_path / "run.h5"
    sp.setup(output=path)
    with sp.metadata(a=1):
        enter("r")
        sp.finalize(verbose=False)
        assert read(path).metadata("r") == [{"a": 1}]
        enter("r")
    enter("r")
    sp.finalize(verbose=False)
    assert read(path).metadata("r") == [{"a": 1}, {}]


def test_a_thread_has_its_own_scopes_or_those_that_are_open(memory_run, finish):
    """The scope of the main thread holds in one thread that has none, not in another that has."""

    def without():
        enter("without")

    def with_own():
        with sp.metadata(own=1):
            enter("with own")
        enter("with own")

    with sp.metadata(outer=1):
        for work in (without, with_own):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join(30)
        enter("main")
    recorded = finish()
    assert recorded.metadata("without") == recorded.metadata("main") == [{"outer": 1}]
    assert recorded.metadata("with own") == [{"own": 1}, {}]


def test_factory(memory_run, finish):
    step = ProfileManager.region_factory("step", tags=["loop"])
    assert step.name == "step"
    for i in range(3):
        with step(i=i) as region:
            assert region is sp.region("step")
            enter("inner")
    recorded = finish()
    assert recorded.metadata("step") == recorded.metadata("inner") == [{"i": 0}, {"i": 1}, {"i": 2}]
    assert recorded.results["step"][0].tags == ("loop",)


def test_factory_defines_its_region():
    step = ProfileManager.region_factory("step", tags=["loop"])
    assert sp.registered_regions() == ("step",)
    sp.setup(output=None)
    region = ProfileManager.get_region("step")
    assert region.tags == ("loop",) and region.source_file.endswith("test_recording_metadata.py")
    assert sp.recorded_regions() == ()
    sp.setup(output=None, replace=True)
    assert sp.registered_regions() == ("step",)
    assert ProfileManager.region_factory("step", tags=("loop",)).name == "step"
    for other in (None, ["other"]):
        with pytest.raises(ValueError, match="'step' was already defined differently"):
            ProfileManager.region_factory("step", tags=other)
    with pytest.raises(ValueError, match="already defined differently"):
        sp.define_region("step")
    sp.region("plain", tags=["a"])
    with pytest.raises(ValueError, match="'plain' already has tags"):
        ProfileManager.region_factory("plain", tags=["b"])
    with pytest.raises(TypeError, match="region_name must be a string"):
        ProfileManager.region_factory(3)


def test_factory_of_an_independent_manager_is_its_own(finish):
    manager = ProfileManager()
    step = manager.region_factory("step")
    assert (manager.registered_regions(), sp.registered_regions()) == (("step",), ())
    manager.setup(output=None)
    with step(i=1):
        pass
    assert finish(manager).metadata("step") == [{"i": 1}]


def test_totals_have_no_scopes():
    sp.setup(output=None, aggregation_mode=True)
    with pytest.raises(RuntimeError, match="scoped metadata requires per-call data"):
        with sp.metadata(a=1):
            pass
    sp.reset()
    with sp.metadata(a=1) as values:
        assert values == {"a": 1}


def test_scopes_of_contexts_do_not_mix(memory_run):
    seen = []

    def work():
        with sp.metadata(thread=1) as values:
            seen.append(values)

    with sp.metadata(main=1):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [{"thread": 1}]


def test_many_scopes_and_calls_end_soon(memory_run, finish):
    """Resolving costs calls + scopes: a product of the two, 4e8, would take minutes."""
    region = sp.region("r")
    for i in range(20_000):
        with sp.metadata(i=i):
            with region:
                pass
    stored = finish().metadata("r")
    assert [values["i"] for values in stored] == list(range(20_000))
