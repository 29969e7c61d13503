"""What has gone wrong in tracers: each test runs in a process of its own."""

import os
import shutil
import subprocess
import sys
import sysconfig
import textwrap

import pytest

MONITORING = sys.version_info >= (3, 12)
HOOK = not MONITORING

PRELUDE = """
import os, sys, threading, time
import scope_profiler as sp
from scope_profiler import ProfileManager as PM, _recorder
from scope_profiler._trace import Tracing

def tracing(**arguments):
    return Tracing(PM._default, "root", **arguments)

def counts():
    return {name.rpartition(".")[2]: calls for name, calls in PM._default._profiler.call_counts()}

def results():
    return PM.finalize(verbose=False, return_results=True)

def calls(found, name):
    names = [n for n in found.region_names if n.rpartition(".")[2] == name]
    return sum(found[n][0].num_calls for n in names)
"""


@pytest.fixture
def run(tmp_path, run_python):
    """Runs code as a script, so that it is the user's; returns what it wrote."""

    def do(code, status=0, options=(), timeout=120):
        path = tmp_path / "trap.py"
        path.write_text(PRELUDE + textwrap.dedent(code))
        done = run_python(f"import runpy; runpy.run_path({str(path)!r}, run_name='__main__')",
                          options=options, timeout=timeout)
        assert done.returncode == status, done.stderr
        assert "Exception ignored" not in done.stderr, done.stderr
        return done

    return do


# ---- frames and threads at the borders of a traced stretch -----------------------------------


def test_frames_running_at_the_start_have_no_end(run):
    run("""
        def inner(): pass
        def generator():
            inner(); yield 1
            inner(); yield 2
        def f(t, it):
            t.__enter__()
            inner()
            next(it)
        PM.setup(output=None)
        it = generator(); next(it)
        def g():
            t = tracing()
            f(t, it)
            f2()
            return t
        def f2(): inner()
        t = g()
        inner()
        t.__exit__(None, None, None)
        report = PM._default._profiler.publish({}, [], want_image=True, keep_calls=True)
        assert report["unmatched_ends"] == 0 and report["calls_crossing"] == 0, report
        assert counts() == {"root": 1, "inner": 4, "generator": 1, "f2": 1}, counts()
    """)


def test_frames_running_at_the_end_are_closed(run):
    run("""
        def inner(): pass
        def f(t):
            inner()
            t.__exit__(None, None, None)
            inner()
        PM.setup(output=None)
        t = tracing(); t.__enter__()
        f(t)
        inner()
        with sp.region("after"): pass
        found = results()
        assert calls(found, "inner") == 1 and calls(found, "f") == 1
        assert found["after"][0].parent_ids[0] == -1
    """)


def test_threads_that_run_already(run):
    run("""
        def step(): pass
        def work(stop, ready):
            while not stop.is_set():
                step()
                ready.set()
        stop, ready = threading.Event(), threading.Event()
        PM.setup(output=None, track_threads=True)
        thread = threading.Thread(target=work, args=(stop, ready), name="worker")
        thread.start(); ready.wait()
        with tracing():
            before = counts().get("step", 0)
            ready.clear(); ready.wait(); ready.clear(); ready.wait()
        ready.clear(); ready.wait()
        first = counts()["step"]
        ready.clear(); ready.wait(); ready.clear(); ready.wait()
        assert counts()["step"] <= first + 1
        stop.set(); thread.join()
        found = results()
        assert calls(found, "step") >= 2
        assert calls(found, "work") == 0
    """)


def test_calls_of_other_threads_end_after_the_end(run):
    run("""
        def nested(go):
            go.wait()
        def work(go, inside):
            inside.set()
            nested(go)
            with sp.region("late"): pass
        go, inside = threading.Event(), threading.Event()
        PM.setup(output=None, track_threads=True)
        with tracing():
            thread = threading.Thread(target=work, args=(go, inside), name="worker")
            thread.start(); inside.wait(); time.sleep(0.05)
        with tracing():
            pass
        go.set(); thread.join()
        found = results()
        assert (calls(found, "work"), calls(found, "nested"), calls(found, "late")) == (1, 1, 1)
        work = found["__main__.work"][0]
        assert found["late"][0].parent_ids[0] == work.call_ids[0]
        assert work.durations[0] > 0.05
        if hasattr(sys, "monitoring"):
            assert [sys.monitoring.get_tool(k) for k in range(6)] == [None] * 6
    """)


def test_many_threads(run):
    run("""
        def step(n): return n and step(n - 1)
        def work(n):
            for _ in range(n): step(3)
        PM.setup(output=None, track_threads=True)
        with tracing():
            threads = [threading.Thread(target=work, args=(500,)) for _ in range(8)]
            for t in threads: t.start()
            for t in threads: t.join()
        found = results()
        assert calls(found, "step") == 8 * 500 * 4 and calls(found, "work") == 8
    """)


def test_sessions_follow_each_other(run):
    run("""
        def f(): return g()
        def g(): pass
        PM.setup(output=None)
        for _ in range(200):
            with tracing(): f()
            f()
        assert counts() == {"root": 200, "f": 200, "g": 200}, counts()
    """)


def test_rules_of_a_later_session_hold(run):
    run("""
        def f(): return g()
        def g(): pass
        PM.setup(output=None)
        with tracing(exclude=["*.f"]): f()
        with tracing(exclude=["*.g"]): f()
        with tracing(): f()
        assert counts() == {"root": 3, "f": 2, "g": 2}, counts()
    """)


# ---- code objects ---------------------------------------------------------------------------


def test_addresses_of_dead_code_are_used_again(run):
    run("""
        PM.setup(output=None)
        names = ["n%d" % k for k in range(400)]
        seen = set()
        with tracing():
            for name in names:
                space = {"__name__": "made"}
                exec(compile(f"def {name}(): pass\\n{name}()", __file__, "exec"), space)
                seen.add(id(space[name].__code__))
        assert len(seen) < len(names)
        found = counts()
        assert all(found[name] == 1 for name in names)
        assert found["<module>"] == len(names)
    """)


def test_twenty_thousand_functions(run):
    run("""
        source = "".join(f"def f{k}(): pass\\n" for k in range(20000))
        source += "def all():\\n" + "".join(f" f{k}()\\n" for k in range(20000))
        space = {"__name__": "made"}
        exec(compile(source, __file__, "exec"), space)
        PM.setup(output=None)
        with tracing():
            space["all"](); space["all"]()
        found = counts()
        assert all(found[f"f{k}"] == 2 for k in range(20000))
    """)


def test_memory_does_not_grow_with_code_that_dies(run):
    run("""
        import resource
        def churn(n):
            for k in range(n): eval(compile(f"(lambda: {k})()", __file__, "eval"))
        PM.setup(output=None, aggregation_mode=True)
        with tracing(min_duration_ns=10**9):
            churn(3000)
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            churn(30000)
            after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert after - before < 4000, (before, after)
    """)


# ---- depth ----------------------------------------------------------------------------------


@pytest.mark.skipif(sys.version_info < (3, 11), reason="plain Python 3.10 crashes earlier")
def test_recursion_100_000_deep(run):
    run("""
        def down(n): return n and down(n - 1)
        sys.setrecursionlimit(10**6)
        PM.setup(output=None)
        with tracing():
            down(100_000)
            down(3)
        assert counts() == {"root": 1, "down": 100_005}, counts()
        down(1)
        report = PM._default._profiler.publish({}, [], want_image=True, keep_calls=True)
        assert report["unmatched_ends"] == 0 and report["calls_crossing"] == 0, report
        assert sys.getprofile() is None
    """)


@pytest.mark.skipif(not HOOK, reason="of the hook")
def test_recursion_beyond_the_guard_of_the_stack(run):
    run("""
        def down(n, at_end=None):
            return down(n - 1, at_end) if n else at_end and at_end()
        def gen(n):
            yield n
            if n: yield from gen(n - 1)
        def leaf(): return sum(gen(10))
        sys.setrecursionlimit(10**6)
        seen = []
        sys.setprofile(mine := lambda frame, event, arg: seen.append(event))
        PM.setup(output=None)
        with tracing():
            down(9_000, leaf)
            down(9_000, leaf)
            leaf()
        assert sys.getprofile() is mine
        sys.setprofile(None)
        found = counts()
        assert found["down"] == 2 * 9001 and found["leaf"] == 3, found
        # 11 generators, each resumed until it is done.
        alone = dict(found)
        PM.setup(output=None, replace=True)
        with tracing(): leaf()
        assert alone["gen"] == 3 * counts()["gen"]
        assert seen.count("call") > 18_000
    """)


@pytest.mark.skipif(not HOOK, reason="of the hook")
def test_other_threads_while_one_is_deep(run):
    run("""
        def down(n, wait):
            if n: down(n - 1, wait)
            else: wait()
        def step(): pass
        def rest(): step(); step()
        def other(deep, done):
            deep.wait()
            rest()
            done.set()
            rest()
        sys.setrecursionlimit(10**6)
        deep, done = threading.Event(), threading.Event()
        PM.setup(output=None, track_threads=True)
        with tracing():
            thread = threading.Thread(target=other, args=(deep, done), name="other")
            thread.start(); time.sleep(0.05)
            down(9_000, lambda: (deep.set(), done.wait()))
            thread.join()
            step()
        found = results()
        assert (calls(found, "down"), calls(found, "rest"), calls(found, "step")) == (9001, 2, 5)
        assert calls(found, "other") == 1
    """)


def test_deep_recursion_in_a_thread_with_a_small_stack(run):
    run("""
        def down(n): return n and down(n - 1)
        threading.stack_size(256 * 1024)
        PM.setup(output=None)
        with tracing():
            thread = threading.Thread(target=down, args=(300,))
            thread.start(); thread.join()
        assert counts()["down"] == 301
    """)


def test_recursion_error_comes_at_the_same_depth(run):
    run("""
        def endless(seen):
            seen[0] += 1
            endless(seen)
        def how_deep():
            seen = [0]
            try: endless(seen)
            except RecursionError: pass
            return seen[0]
        plain = how_deep()
        PM.setup(output=None)
        with tracing(): traced = how_deep()
        assert traced == plain > 900, (traced, plain)
        assert counts()["endless"] - traced in (0, 1), counts()
        with sp.region("after"): pass
        assert results()["after"][0].parent_ids[0] == -1
    """)


# ---- other users of the same hooks -----------------------------------------------------------


@pytest.mark.parametrize("c_calls", [False, True])
def test_hooks_of_others_stay(run, c_calls):
    run("""
        seen = []
        def prof(frame, event, arg): seen.append(event)
        def trace(frame, event, arg): return None
        def helper(): return 1
        def f(): return helper()
        PM.setup(output=None)
        sys.setprofile(prof); threading.setprofile(prof); sys.settrace(trace)
        for fails in (False, True):
            try:
                with tracing(c_calls=C_CALLS):
                    f()
                    if fails: raise KeyError
            except KeyError:
                pass
        now = sys.getprofile(), threading._profile_hook, sys.gettrace()
        sys.setprofile(None); threading.setprofile(None); sys.settrace(None)
        assert now == (prof, prof, trace)
        assert counts() == {"root": 2, "f": 2, "helper": 2}, counts()
        assert seen.count("call") >= 4
    """.replace("C_CALLS", str(c_calls)))


def test_cprofile_at_the_same_time(run):
    run("""
        import cProfile
        def helper(): return 1
        def f(): return helper()
        PM.setup(output=None)
        with tracing():
            profile = cProfile.Profile()
            profile.enable(); f(); profile.disable()
            f()
        assert counts()["f"] == 2 and counts()["helper"] == 2, counts()
        profile.create_stats()
        assert any(key[2] == "helper" for key in profile.stats)
    """)


def test_exceptions_are_left_alone(run):
    done = run("""
        def f():
            try:
                1 / 0
            finally:
                g()
        def g(): assert isinstance(sys.exc_info()[1], ZeroDivisionError)
        def handled():
            try: f()
            except ZeroDivisionError: return g()
        PM.setup(output=None)
        with tracing():
            handled()
            try: f()
            except ZeroDivisionError: pass
            assert sys.exc_info()[1] is None
            f()
    """, status=1)
    assert done.stderr.rstrip().endswith("ZeroDivisionError: division by zero")
    assert "scope_profiler" not in done.stderr.replace("scope_profiler/_trace", "")


@pytest.mark.skipif(not MONITORING, reason="of monitoring")
def test_tool_ids_that_are_taken(run):
    run("""
        def f(): pass
        m = sys.monitoring
        PM.setup(output=None)
        m.use_tool_id(4, "first")
        with tracing(): f(); assert m.get_tool(3) == "scope_profiler"
        assert m.get_tool(3) is None and m.get_tool(4) == "first"
        m.use_tool_id(3, "second"); m.use_tool_id(2, "third")
        try:
            with tracing(): f()
        except RuntimeError as error:
            text = str(error)
        for part in ("sys.monitoring", "4: first", "3: second", "2: third"):
            assert part in text, text
        assert counts() == {"root": 1, "f": 1}
    """)


@pytest.mark.skipif(not MONITORING, reason="of monitoring")
def test_decorated_functions_without_a_tool_id(run_python):
    done = run_python("""
import sys
import scope_profiler as sp
for k in (2, 3, 4): sys.monitoring.use_tool_id(k, f"tool {k}")
sp.setup(output=None)
entry = sp.profile("entry", recursive=True)(lambda: 3)
assert entry() + entry() == 6
assert sp.region("entry").num_calls == 2
""")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("tool ids 2 to 4") == 1


@pytest.mark.skipif(not MONITORING, reason="of monitoring")
def test_events_of_other_tools_stay(run):
    run("""
        m = sys.monitoring
        seen = []
        m.use_tool_id(1, "coverage")
        m.register_callback(1, m.events.PY_START, lambda code, offset: seen.append(code.co_name))
        m.set_events(1, m.events.PY_START)
        def f(): pass
        PM.setup(output=None)
        f()
        with tracing(): f()
        f()
        m.set_events(1, 0)
        assert seen.count("f") == 3 and counts()["f"] == 1
    """)


@pytest.fixture
def foreign_hook(tmp_path):
    """A library with a frame evaluation hook that counts, and calls through what was in place."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    include = sysconfig.get_path("include")
    if compiler is None or not os.path.exists(os.path.join(include, "Python.h")):
        pytest.skip("no C compiler, or no headers")
    source = tmp_path / "hook.c"
    source.write_text("""
#include <Python.h>
#if PY_VERSION_HEX >= 0x030b0000
typedef struct _PyInterpreterFrame frame;
#else
typedef PyFrameObject frame;
#endif
long hook_calls;
static _PyFrameEvalFunction before;
static PyObject *evaluate(PyThreadState *thread, frame *f, int flag)
{
    hook_calls++;
    return before(thread, f, flag);
}
void hook_install(int calls_through)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    before = calls_through ? _PyInterpreterState_GetEvalFrameFunc(interpreter)
                           : _PyEval_EvalFrameDefault;
    _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
}
int hook_is_installed(void)
{
    return _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get()) == evaluate;
}
""")
    library = tmp_path / "hook.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-I" + include, source, "-o", library], check=True)
    return f"import ctypes\nhook = ctypes.PyDLL({str(library)!r})\n"


@pytest.mark.skipif(not HOOK, reason="of the hook")
def test_hook_in_place_is_called_through(run, foreign_hook):
    run(foreign_hook + textwrap.dedent("""
        def f(): pass
        PM.setup(output=None)
        hook.hook_install(1)
        count = ctypes.c_long.in_dll(hook, "hook_calls")
        with tracing():
            before = count.value
            f(); f()
            assert count.value >= before + 2
        assert hook.hook_is_installed()
        assert counts()["f"] == 2
    """))


@pytest.mark.skipif(not HOOK, reason="of the hook")
def test_hook_set_over_ours_that_calls_through(run, foreign_hook):
    done = run(foreign_hook + textwrap.dedent("""
        def f(): pass
        PM.setup(output=None)
        with tracing():
            hook.hook_install(1)
            f()
            results()
            f()
        assert hook.hook_is_installed()
        f()
        with tracing(): f()
        assert hook.hook_is_installed()
        assert counts()["f"] == 3, counts()
    """))
    assert done.stderr == ""


@pytest.mark.skipif(not HOOK, reason="of the hook")
def test_hook_that_displaces_ours(run, foreign_hook):
    done = run(foreign_hook + textwrap.dedent("""
        def f(): pass
        def g(): f()
        PM.setup(output=None)
        with tracing():
            f()
            hook.hook_install(0)
            f()
            results()
            g()
            thread = threading.Thread(target=g)
            thread.start(); thread.join()
        f()
        assert hook.hook_is_installed()
        assert sys.getprofile() is None and threading._profile_hook is None
        assert counts() == {"root": 1, "f": 3, "g": 2}, counts()
    """))
    assert done.stderr.count("another frame evaluation hook") == 1
    assert len(done.stderr.splitlines()) == 1


# ---- processes and interpreters --------------------------------------------------------------


def test_fork_leaves_the_tracing_to_the_parent(run):
    run("""
        def f(): pass
        PM.setup(output=None)
        with tracing():
            f()
            child = os.fork()
            if child == 0:
                f()
                PM.setup(output=None)
                f()
                ok = "f" not in counts()
                with tracing(): f()
                ok = ok and counts()["f"] == 1
                os._exit(0 if ok else 1)
            assert os.waitpid(child, 0)[1] == 0
            f()
        assert counts()["f"] == 2
    """)


def test_multiprocessing(run):
    run("""
        import multiprocessing
        def f(n): return n + 1
        if __name__ == "__main__":
            PM.setup(output=None)
            with tracing():
                with multiprocessing.get_context("fork").Pool(2) as pool:
                    assert pool.map(f, range(4)) == [1, 2, 3, 4]
                f(1)
            assert counts()["f"] == 1
    """)


def test_exit_while_tracing(run):
    done = run("""
        def f(): pass
        def work():
            while True: f()
        PM.setup(output=None)
        threading.Thread(target=work, daemon=True).start()
        tracing().__enter__()
        f()
        print("done")
    """)
    assert done.stdout == "done\n"


def test_exit_in_the_middle_of_everything(run):
    done = run("""
        import atexit, weakref
        class A:
            def __del__(self): print("deleted")
        def late(): print("late")
        atexit.register(late)
        PM.setup(output=None)
        kept = A(); kept.me = kept
        tracing(only_user_code=False).__enter__()
        sys.exit(3)
    """, status=3)
    assert done.stdout.startswith("late\n")


def test_debug_build_checks(run):
    run("""
        import asyncio
        async def f():
            await asyncio.sleep(0)
        def gen():
            yield from range(3)
        PM.setup(output=None)
        with tracing(only_user_code=False):
            asyncio.run(f()); list(gen())
    """, options=("-X", "dev"))


def test_signal_handlers_are_traced(run):
    run("""
        import signal
        def handler(number, frame): inside()
        def inside(): pass
        signal.signal(signal.SIGUSR1, handler)
        def f(): os.kill(os.getpid(), signal.SIGUSR1); g()
        def g(): pass
        PM.setup(output=None)
        with tracing(): f()
        assert counts() == {"root": 1, "f": 1, "g": 1, "handler": 1, "inside": 1}, counts()
    """)


def test_memory_of_a_traced_call(run):
    run("""
        def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
        import tempfile
        path = os.path.join(tempfile.mkdtemp(), "p.h5")
        import resource
        PM.setup(output=path)
        with tracing(): fib(24)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with tracing(): fib(27)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        made = counts()["fib"] - 150_049
        assert (after - before) * 1024 / made < 8, ((after - before) * 1024 / made)
    """)
