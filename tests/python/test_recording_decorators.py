"""Decorated callables: recorded, and otherwise what they were."""

import copy
import doctest
import gc
import importlib
import inspect
import os
import pickle
import pydoc
import sys
import types
import typing
import unittest.mock
import weakref

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager


@sp.profile
def documented(a: int, b: float = 2.0, *, tol: "float" = 1e-6) -> float:
    """Adds.

    >>> documented(1, tol=0.5)
    3.0
    """
    return a + b


def counts():
    return {
        name: region.num_calls
        for name, region in ProfileManager.get_all_regions().items()
        if region.num_calls
    }


@pytest.fixture
def callables(monkeypatch):
    """The module decorated_callables, imported afresh: the manager forgot what earlier tests made."""
    monkeypatch.syspath_prepend(os.path.dirname(__file__))
    monkeypatch.delitem(sys.modules, "decorated_callables", raising=False)
    return importlib.import_module("decorated_callables")


@pytest.mark.filterwarnings("ignore:functools.partial will be a method descriptor:FutureWarning")
def test_all_kinds_of_callables(callables):
    callables.use_everything()
    for _ in range(2):
        ProfileManager.setup(output=None, replace=True)
        callables.use_everything()
        assert counts() == callables.EXPECTED
    ProfileManager.reset()
    callables.use_everything()
    assert counts() == {}


def test_functions_follow_each_setup():
    @sp.profile
    def f():
        return 1

    assert f() == 1
    ProfileManager.setup(output=None)
    f()
    first = ProfileManager.get_region("f")
    ProfileManager.setup(output=None, replace=True)
    f()
    f()
    assert (first.num_calls, ProfileManager.get_region("f").num_calls) == (1, 2)


def test_all_ways_to_write_the_decorator(memory_run):
    @sp.profile
    def bare():
        pass

    @sp.profile()
    def called():
        pass

    @sp.profile("named")
    def third():
        pass

    @sp.profile(region_name="keyword")
    def fourth():
        pass

    for function in (bare, called, third, fourth):
        function()
    assert ProfileManager.recorded_regions() == ("bare", "called", "named", "keyword")


def test_stacked_decorators_nest(memory_run, finish):
    @sp.profile("outer")
    @sp.profile("inner")
    def f(x):
        return x

    assert f(3) == 3
    assert finish().tree() == [("outer", 0), ("inner", 1)]


def test_introspection_sees_the_original():
    def look():
        wanted = "(a: int, b: float = 2.0, *, tol: 'float' = 1e-06) -> float"
        assert str(inspect.signature(documented)) == wanted
        assert documented.__name__ == documented.__qualname__ == "documented"
        assert documented.__module__ == __name__
        assert typing.get_type_hints(documented) == {
            "a": int, "b": float, "tol": float, "return": float,
        }  # fmt: skip
        assert inspect.unwrap(documented) is documented.__wrapped__
        assert inspect.getsource(documented).startswith("@sp.profile\ndef documented")
        assert inspect.isfunction(documented) and inspect.isroutine(documented)
        assert documented.__defaults__ == (2.0,)
        tests = doctest.DocTestFinder().find(sys.modules[__name__])
        assert [test.name for test in tests if test.examples] == [f"{__name__}.documented"]
        assert "documented(a: int" in pydoc.plain(pydoc.render_doc(documented))

    look()
    ProfileManager.setup(output=None)
    look()


def test_attributes_can_be_set():
    def f():
        pass

    f.before = 1
    decorated = sp.profile(f)
    decorated.note = "kept"
    assert (decorated.note, decorated.before) == ("kept", 1)
    assert not hasattr(f, "note")
    del decorated.note
    with pytest.raises(AttributeError, match="note"):
        decorated.note
    decorated.__name__ = "other"
    assert decorated.__name__ == "other"
    assert f.__name__ == "f"


def test_pickling_is_by_reference(callables):
    function = callables.module_level
    for active in (False, True):
        if active:
            ProfileManager.setup(output=None)
        assert pickle.loads(pickle.dumps(function)) is function
        assert copy.deepcopy(function) is copy.copy(function) is function
        assert pickle.loads(pickle.dumps(callables.Shape().method))(1) == 2
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(sp.profile(lambda: None))


def test_mock_takes_it_for_a_function():
    stand_in = unittest.mock.create_autospec(documented)
    with pytest.raises(TypeError):
        stand_in(1, nonsense=2)
    stand_in(1, tol=2)
    stand_in.assert_called_once_with(1, tol=2)


def test_closures_are_freed():
    class Big:
        pass

    def make():
        big = Big()

        @sp.profile("closure")
        def f():
            return big, f

        return f, weakref.ref(big)

    ProfileManager.setup(output=None)
    function, big = make()
    function()
    dead = weakref.ref(function)
    del function
    gc.collect()
    assert dead() is None
    assert big() is None
    ProfileManager.setup(output=None, replace=True)


def test_arguments_pass_unchanged(memory_run):
    @sp.profile
    def f(*args, **kwargs):
        return args, kwargs

    assert f() == ((), {})
    assert f(1, *range(2), a=1, **{"b": 2}) == ((1, 0, 1), {"a": 1, "b": 2})
    marker = object()
    before = sys.getrefcount(marker)
    f(marker, key=marker)
    assert sys.getrefcount(marker) == before


def test_exceptions_pass_unchanged(memory_run):
    error = ValueError("mine")

    @sp.profile
    def f():
        raise error

    with pytest.raises(ValueError) as caught:
        f()
    assert caught.value is error
    assert error.__context__ is None and error.__cause__ is None
    functions = []
    traceback = error.__traceback__
    while traceback is not None:
        functions.append(traceback.tb_frame.f_code.co_name)
        traceback = traceback.tb_next
    assert functions[-2:] == ["test_exceptions_pass_unchanged", "f"]
    assert ProfileManager.get_region("f").num_calls == 1


def test_live_exception_stays(memory_run):
    @sp.profile(record_outcome=True, metadata=lambda: {"a": 1})
    def f():
        return sys.exc_info()[1]

    try:
        raise KeyError("outer")
    except KeyError as error:
        with sp.region("r"):
            assert f() is error
        assert sys.exc_info()[1] is error


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="needs a callable"):
        sp.profile("name")(3)
    with pytest.raises(TypeError, match="recursive must be"):
        sp.profile("name", recursive="yes")
    assert sp.profile("name", recursive=False)(lambda: 3)() == 3


def test_instrument_replaces_the_functions_of_a_module(memory_run):
    module = types.ModuleType("numerics")
    module.solve = lambda: 1
    module.assemble = lambda: 2
    module._private = lambda: 3
    module.Klass = type("Klass", (), {})
    module.number = 4
    wrapped = ProfileManager.instrument(module, exclude=("_*",), tags=["lib"])
    assert set(wrapped) == {"solve", "assemble"}
    assert module.solve is wrapped["solve"]
    assert (module.solve(), module._private()) == (1, 3)
    assert ProfileManager.recorded_regions() == ("numerics.solve",)
    assert sp.region("numerics.solve").tags == ("lib",)
    assert ProfileManager.instrument(module, include=("s*",)) == {}
    again = ProfileManager.instrument(module, include="_priv*", prefix="p")
    assert set(again) == {"_private"}
    module._private()
    assert "p._private" in ProfileManager.recorded_regions()
    module.late = lambda: 5
    ProfileManager.instrument(module, prefix="")
    module.late()
    assert "numerics.late" in ProfileManager.recorded_regions()


def test_decorator_of_an_independent_manager():
    manager = sp.ProfileManager()

    @manager.profile
    def f():
        return 1

    manager.setup(output=None)
    f()
    assert manager.recorded_regions() == ("f",)
    assert ProfileManager.registered_regions() == ()
