"""Calls of C functions, traced on request; what they are like is compared with an oracle elsewhere."""

import ctypes
import sys
import threading
import time

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager, _recorder
from scope_profiler._trace import Rules, Tracing

HOOK = sys.version_info < (3, 12)


@pytest.fixture(autouse=True)
def own_code_is_the_users(monkeypatch):
    """Wherever this file lies."""
    from scope_profiler import _trace

    monkeypatch.setitem(_trace._files._known, __file__, True)


def tracing(**options):
    return Tracing(ProfileManager._default, "root", c_calls=True, **options)


@pytest.fixture
def names(memory_run, finish):
    """Last parts of the names of what was recorded inside the root, in order, with depth."""

    def stop():
        profiler = ProfileManager._default._profiler
        report = profiler.publish({}, [], want_image=True, keep_calls=True)
        assert report["calls_crossing"] == 0 and report["unmatched_ends"] == 0
        recorded = finish()
        return [(name.rpartition(".")[2], depth) for name, depth in recorded.tree()[1:]]

    return stop


def test_only_on_request(names):
    def f():
        return abs(-1)

    with Tracing(ProfileManager._default, "root"):
        f()
    assert names() == [("f", 1)]


def test_callers_are_traced_functions(names):
    def f():
        import json

        return json.dumps([abs(-1)])

    with tracing():
        f()
    assert names() == [("f", 1), ("abs", 2)]


def test_names(memory_run, finish):
    def f():
        [].append(1)
        abs(-1)
        dict.fromkeys(())
        time.sleep(0)

    with tracing():
        f()
    assert [name for name, depth in finish().tree() if depth == 2] == [
        "builtins.list.append", "builtins.abs", "builtins.dict.fromkeys", "time.sleep"
    ]


def test_include_chooses_callers_exclude_also_what_they_call(names):
    def f():
        return abs(-1), max(1, 2)

    def g():
        return abs(-1)

    with tracing(include=["*.f"], exclude=["builtins.m*"]):
        f()
        g()
    assert names() == [("f", 1), ("abs", 2)]


def test_the_package_itself_is_not_among_them(names):
    def f():
        with sp.region("r"):
            abs(-1)
        _recorder.now_ns()

    with tracing():
        f()
    assert names() == [("f", 1), ("r", 2), ("abs", 3)]


def test_depth_limit(names):
    def inner():
        return abs(-1)

    def f():
        return sorted([1, 2], key=lambda x: inner())

    with tracing(max_depth=2):
        f()
    assert names() == [("f", 1), ("sorted", 2)]


def test_short_ones_are_folded_and_counted(names):
    def f():
        abs(-1)
        max(1, 2)
        time.sleep(0.03)
        abs(-1)

    with tracing(min_duration_ns=20_000_000):
        f()
    folded = _recorder.folded_calls(ProfileManager._default._profiler)
    assert folded == {"builtins.abs": 2, "builtins.max": 1}
    assert names() == [("f", 1), ("sleep", 2)]


def test_time_of_a_c_call_is_not_its_callers_own(memory_run, finish):
    def f():
        time.sleep(0.03)

    with tracing():
        f()
    results = finish().results
    region = results["time.sleep"][0]
    assert 0.03 <= region.durations[0] < 3
    name = next(name for name in results.region_names if name.endswith(".f"))
    assert results[name][0].durations[0] >= region.durations[0]


def test_another_thread_inside_one_at_the_end(memory_run, finish):
    inside, go = threading.Event(), threading.Lock()
    go.acquire()

    def wait():
        inside.set()
        go.acquire()
        with sp.region("after"):
            go.release()

    sp.setup(output=None, track_threads=True, replace=True)
    with tracing():
        thread = threading.Thread(target=wait)
        thread.start()
        inside.wait()
        time.sleep(0.02)
    with Tracing(ProfileManager._default, "second"):
        pass
    inside.clear()
    other = threading.Thread(target=wait)
    other.start()
    inside.wait()
    time.sleep(0.02)
    go.release()
    thread.join()
    other.join()
    recorded = finish()
    assert recorded.calls("_thread.lock.acquire") == 1
    assert recorded.results["_thread.lock.acquire"][0].durations[0] >= 0.02
    waits = next(name for name in recorded.names if name.endswith("wait"))
    assert recorded.parents()["after"] == {waits, None}
    if not HOOK:
        assert [sys.monitoring.get_tool(k) for k in range(6)].count("scope_profiler") == 0


@pytest.mark.skipif(not HOOK, reason="of the profile function")
def test_profile_function_taken_away_between_begin_and_end(names):
    def f():
        sys.setprofile(None)
        abs(-1)

    def g():
        return abs(-1)

    with tracing():
        f()
        g()
    assert sys.getprofile() is None
    # What C calls the thread makes is not heard of any more; its Python calls are.
    assert names() == [("f", 1), ("setprofile", 2), ("g", 1)]


@pytest.mark.skipif(not HOOK, reason="of the profile function")
def test_a_profile_function_found_in_place_is_called_and_put_back(names):
    seen = []

    def mine(frame, event, argument):
        seen.append(event)

    def f():
        return abs(-1)

    sys.setprofile(mine)
    try:
        with tracing():
            f()
        assert sys.getprofile() is mine
    finally:
        sys.setprofile(None)
    assert names() == [("f", 1), ("abs", 2)]
    assert {"call", "c_call", "c_return", "return"} <= set(seen)


@pytest.mark.skipif(not HOOK, reason="of the profile function")
def test_a_program_that_puts_the_profile_function_back(names):
    seen = []

    def f():
        before = sys.getprofile()
        sys.setprofile(lambda frame, event, argument: seen.append(event))
        max(1, 2)
        sys.setprofile(before)
        abs(-1)
        return before

    with tracing():
        kept = f()
    sys.setprofile(kept)  # of a session that is over
    max(1, 2)
    assert sys.getprofile() is None and "c_call" in seen
    assert [name for name, _ in names()] == ["f", "getprofile", "setprofile", "abs"]


def test_cprofile_at_the_same_time(names):
    import cProfile

    def f():
        return abs(-1)

    profile = cProfile.Profile()
    with tracing():
        profile.enable()
        f()
        profile.disable()
        f()
    called = [(name, depth) for name, depth in names() if name == "f"]
    assert called == [("f", 1), ("f", 1)]
    profile.create_stats()
    assert any(key[2] == "f" for key in profile.stats)


# ---- definitions that come and go ------------------------------------------------------------


class Definition(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p), ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int), ("doc", ctypes.c_char_p),
    ]


def returns_none(module, argument):
    return None


C_FUNCTION = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p)
FUNCTION = C_FUNCTION(returns_none)
METH_NOARGS = 4


def make(definition, name):
    """A C function with that definition, called so from now on."""
    definition.name = name
    definition.function = ctypes.cast(FUNCTION, ctypes.c_void_p).value
    definition.flags = METH_NOARGS
    new = ctypes.pythonapi.PyCFunction_NewEx
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    return new(ctypes.addressof(definition), None, None)


def test_a_definition_used_again_is_another_function(memory_run, finish):
    definition = Definition()

    def call(function):
        function()

    with tracing(exclude=["*.returns_none", "*.make"]):
        for name in (b"first", b"second"):
            call(make(definition, name))
    called = [name for name, depth in finish().tree() if depth == 2]
    assert [name.rpartition(".")[2] for name in called] == ["first", "second"]


def test_functions_are_not_kept_alive():
    import weakref

    definition = Definition()
    function = make(definition, b"f")
    reference = weakref.ref(function)
    sp.setup(output=None)

    def call(f):
        f()

    with tracing():
        call(function)
    assert sp.region("<unknown>.f").num_calls == 1
    del function
    assert reference() is None
    sp.finalize(verbose=False)


# ---- the rules ------------------------------------------------------------------------------


def test_owners():
    rules = Rules(include=["nothing"], exclude=["builtins.list.*"])
    assert rules.c_function([].pop, list) is None
    assert rules.c_function(abs, None) == "builtins.abs"
    assert rules.c_function({}.get, dict) == "builtins.dict.get"
    assert rules.c_function(_recorder.now_ns, None) is None


def test_methods_are_named_after_the_class_that_defines_them(memory_run, finish):
    from collections import OrderedDict

    class L(list):
        def append(self, item):
            super().append(item)

    class Meta(type):
        def __new__(kind, *arguments):
            return type.__new__(kind, *arguments)

    def f():
        L().append(1)
        L([1]).pop()
        OrderedDict(a=1).popitem()
        super(OrderedDict, OrderedDict(a=1)).popitem()
        Meta("C", (), {})
        object.__new__(object)
        L.mro()
        str.maketrans("a", "b")
        OrderedDict.fromkeys("a")

    with tracing():
        f()
    called = [name for name, depth in finish().tree() if name.startswith(("builtins.", "coll"))]
    assert called == [
        "builtins.list.append", "builtins.list.pop", "collections.OrderedDict.popitem",
        "builtins.dict.popitem", "builtins.type.__new__", "builtins.object.__new__",
        "builtins.type.mro", "builtins.str.maketrans", "collections.OrderedDict.fromkeys",
    ]


# ---- threads, depth, forks -------------------------------------------------------------------


def test_threads_that_threading_does_not_know(memory_run, finish):
    import _thread

    done = threading.Event()

    def work():
        max(1, 2)
        done.set()

    sp.setup(output=None, track_threads=True, replace=True)
    with tracing():
        _thread.start_new_thread(work, ())
        done.wait()
    assert finish().calls("builtins.max") == 1


def test_threads_that_run_already(memory_run, finish):
    ready, stop = threading.Event(), threading.Event()

    def step():
        max(1, 2)

    def work():
        while not stop.is_set():
            step()
            ready.set()

    sp.setup(output=None, track_threads=True, replace=True)
    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    with tracing():
        ready.clear()
        ready.wait()
        ready.clear()
        ready.wait()
    stop.set()
    thread.join()
    recorded = finish()
    steps = next(name for name in recorded.names if name.endswith("step"))
    assert recorded.calls("builtins.max") >= 1
    assert recorded.parents()["builtins.max"] <= {steps, None}


SCRIPT = """
import os, sys
from scope_profiler import ProfileManager as PM
from scope_profiler._trace import Tracing, _files

def counts():
    found = PM._default._profiler.call_counts()
    return {name.rpartition(".")[2]: calls for name, calls in found if calls}

_files._known["<string>"] = True
PM.setup(output=None)
"""


def test_beyond_the_guard_of_the_stack(run_python):
    done = run_python(SCRIPT + """
def down(n):
    if n: return max(n - 1, down(n - 1))
    return abs(leaf())
def leaf(): return len([1])
sys.setrecursionlimit(10**6)
with Tracing(PM._default, "root", c_calls=True):
    down(9000)
    leaf()
found = counts()
assert found == {"root": 1, "down": 9001, "leaf": 2, "len": 2, "abs": 1, "max": 9000}, found
report = PM._default._profiler.publish({}, [], want_image=True, keep_calls=True)
assert report["unmatched_ends"] == 0 and report["calls_crossing"] == 0, report
assert sys.getprofile() is None
""")
    assert done.returncode == 0, done.stderr


def test_the_child_of_a_fork_traces_nothing(run_python):
    done = run_python(SCRIPT + """
def f():
    child = os.fork()
    if child == 0:
        abs(-1)
        assert sys.getprofile() is None
        PM.setup(output=None, replace=True)
        with Tracing(PM._default, "root", c_calls=True): g()
        assert counts() == {"root": 1, "g": 1, "max": 1}, counts()
        os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
def g(): max(1, 2)
with Tracing(PM._default, "root", c_calls=True):
    assert f() == 7
assert counts()["fork"] == 1 and "max" not in counts(), counts()
""")
    assert done.returncode == 0, done.stderr
