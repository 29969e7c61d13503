"""What a profiler must leave alone: hooks, limits, filters, memory, depth of recursion."""

import sys
import textwrap
import time

import pytest

import scope_profiler as sp


def test_hooks_limits_and_filters_stay(tmp_path):
    import threading
    import warnings

    def hook(*args):
        pass

    def state():
        return (
            sys.getprofile(), sys.gettrace(), sys.getrecursionlimit(), sys.excepthook,
            sys.unraisablehook, list(warnings.filters), threading.excepthook,
            sys.getswitchinterval(), sys.stdout, sys.stderr,
        )  # fmt: skip

    sys.setprofile(hook)
    try:
        before = state()

        @sp.profile(record_outcome=True)
        def f():
            return state()

        with sp.session(output=tmp_path / "run.h5", verbose=False):
            with sp.region("r"):
                assert state() == before
                assert f() == before
        assert state() == before
    finally:
        sys.setprofile(None)


def test_trace_function_sees_the_program_and_no_frames_of_ours(memory_run):
    seen = []

    def trace(frame, event, argument):
        seen.append(frame.f_code.co_name)
        return None

    @sp.profile
    def traced():
        with sp.region("r"):
            return 1

    sys.settrace(trace)
    try:
        traced()
    finally:
        sys.settrace(None)
    assert seen == ["traced"]


def test_frozen_time_does_not_freeze_durations(memory_run, finish, monkeypatch):
    sleep = time.sleep
    for name in ("time", "monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: 42.0)
        monkeypatch.setattr(time, f"{name}_ns", lambda: 42)
    with sp.region("frozen"):
        sleep(0.05)
    monkeypatch.undo()
    with sp.region("thawed"):
        sleep(0.02)
    results = finish().results
    assert 0.045 <= results["frozen"][0].total_duration < 1
    assert 0.018 <= results["thawed"][0].total_duration < 1
    assert results["frozen"][0].end_times_ns[0] <= results["thawed"][0].start_times_ns[0]


# ---- recursion -----------------------------------------------------------------------------------

DEPTH = """
import sys
import textwrap
import scope_profiler as sp

def depth(wrap):
    reached = 0
    def down(n):
        nonlocal reached
        reached = n
        function(n + 1)
    function = wrap(down)
    try:
        function(0)
    except RecursionError as error:
        assert "maximum recursion depth exceeded" in str(error)
    return reached

plain = depth(lambda function: function)
if sys.argv[1] == "on":
    sp.setup(output=None)
decorated = depth(sp.profile)
method = depth(lambda function: sp.profile(record_outcome=True)(function))
sys.setrecursionlimit(10**6)
deep = depth(sp.profile)
print(plain, decorated, method, deep)
"""


@pytest.mark.parametrize("state", ["on", "off"])
def test_recursion_is_as_deep_as_undecorated(state, run_python):
    done = run_python(DEPTH, state)
    assert done.returncode == 0, done.stderr
    plain, decorated, detailed, deep = map(int, done.stdout.split())
    assert decorated == plain
    assert detailed == plain
    # Three quarters of an 8 MB stack, at no more than 700 bytes a level.
    assert deep > 8000


#: Ways for a recursion to pass through a decorated callable, as the body of a program that defines
#: `start`, each level calling `reach()`.
WAYS = {
    "keywords": """
        @sp.profile
        def start(*, n=0): reach(); start(n=n + 1)
    """,
    "method": """
        class K:
            @sp.profile(metadata={"k": 1}, record_outcome=True)
            def start(self): reach(); self.start()
        start = K().start
    """,
    "callable object": """
        class C:
            def __call__(self): reach(); start()
        start = sp.profile("c")(C())
    """,
    "function of the metadata": """
        def metadata(): reach(); start(); return {}
        @sp.profile(metadata=metadata)
        def start(): pass
    """,
    "metadata of a generator": """
        def metadata(): reach(); start(); return {}
        @sp.profile(metadata=metadata)
        def start(): yield
    """,
    "generator": """
        @sp.profile
        def steps():
            reach()
            yield from steps()
        def start(): list(steps())
    """,
    "property": """
        class K:
            @property
            @sp.profile
            def p(self): reach(); return self.p
        def start(): K().p
    """,
    "through C code": """
        @sp.profile
        def start(): reach(); sorted([1], key=lambda x: start())
    """,
    "cleaning up": """
        @sp.profile
        def start():
            reach()
            try: start()
            finally:
                with sp.region("after"): pass
    """,
}

ENDLESS = """
import sys
import textwrap
import scope_profiler as sp
sp.setup(output=None)
sys.setrecursionlimit(10**6)
levels = 0
def reach():
    global levels
    levels += 1
BODY
try: start()
except RecursionError: pass
assert levels > 400, levels
levels = 0
try: start()
except RecursionError: pass
assert levels > 400, levels
sp.finalize(verbose=False, return_results=True)
"""


@pytest.mark.parametrize("way", WAYS)
def test_endless_recursion_is_an_error_and_no_crash(way, run_python):
    """Under a limit that the stack cannot hold, and a second time. Undecorated, the way through C code
    ends after 500 levels on 3.12, which counts those."""
    body = textwrap.dedent(WAYS[way]).strip("\n")
    done = run_python(ENDLESS.replace("BODY", body))
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])


def test_recursion_in_a_thread_ends_in_an_error_too(run_python):
    code = (
        "import sys, threading\n"
        "import scope_profiler as sp\n"
        "sp.setup(output=None)\n"
        "sys.setrecursionlimit(10**6)\n"
        "@sp.profile\n"
        "def down(n): down(n + 1)\n"
        "def work():\n"
        "    try: down(0)\n"
        "    except RecursionError: print('caught')\n"
        "for size in (256 * 1024, 16 * 2**20):\n"
        "    threading.stack_size(size)\n"
        "    thread = threading.Thread(target=work); thread.start(); thread.join()\n"
    )
    done = run_python(code)
    assert (done.returncode, done.stdout.split()) == (0, ["caught", "caught"]), done.stderr


def test_regions_open_in_deep_recursion(run_python):
    code = (
        "import sys\n"
        "import scope_profiler as sp\n"
        "sp.setup(output=None)\n"
        "@sp.profile\n"
        "def down(n):\n"
        "    with sp.region('r'):\n"
        "        return 0 if n == 0 else 1 + down(n - 1)\n"
        "assert down(900) == 900\n"
        "results = sp.finalize(verbose=False, return_results=True)\n"
        "depths = [call['depth'] for call in results.call_stack(rank=0)]\n"
        "assert depths == list(range(1802)), depths[-3:]\n"
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr


# ---- leaks ---------------------------------------------------------------------------------------

LEAK = """
import gc, os, sys
import scope_profiler as sp

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

sp.setup(output=None, aggregation_mode=True)

@sp.profile
def f(x, *, key=None):
    return x

@sp.profile(record_outcome=True)
def raises(x):
    raise ValueError(x)

@sp.profile
def generator(x):
    yield x

@sp.profile(metadata=lambda x, **more: {"kind": str(type(x)), "more": len(more)})
def described(x, **more):
    return x

@sp.profile(metadata=lambda x: 1 / 0)
def undescribed(x):
    return x

@sp.profile
async def coroutine(x):
    return x

@sp.profile(tags=["off"])
def off(x):
    return x

class K:
    @sp.profile
    def method(self):
        pass

    @property
    @sp.profile
    def value(self):
        return self

argument, k, region = object(), K(), sp.region("r")
wrapped = region.wrap(lambda x: x)
sp.register_opt_in_tag("off")

handle, step = sp.define_region("handle"), sp.ProfileManager.region_factory("step")

def once(i):
    with handle:
        pass
    with region:
        pass
    with sp.region("r"):
        pass
    with sp.region("name %d" % (i % 100)):
        f(argument, key=argument)
    k.method()
    for _ in generator(argument):
        pass
    try:
        raises(argument)
    except ValueError:
        pass
    assert described(argument, key=argument) is argument
    try:
        undescribed(argument)
    except ZeroDivisionError:
        pass
    try:
        coroutine(argument).send(None)
    except StopIteration as end:
        assert end.value is argument
    assert k.value is k and off(argument) is wrapped(argument) is argument
    region.get_aggregate(), region.num_calls

def loop(count):
    for i in range(count):
        once(i)
    gc.collect()
    counted = (argument, region, f, described, coroutine, off, wrapped, k)
    counts = [sys.getrefcount(thing) for thing in counted]
    return resident(), len(gc.get_objects()) // 100, counts

loop(20_000)
first = loop(1_000)
last = loop(int(sys.argv[1]))
assert first[1:] == last[1:], (first, last)
print(last[0] - first[0])
"""


def test_nothing_leaks(run_python):
    """A byte leaked a round would show as a megabyte."""
    done = run_python(LEAK, 80_000, timeout=240)  # 13 calls a round: a million calls
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 1_000_000


def test_regions_of_configurations_are_freed(run_python):
    code = (
        "import gc, os\n"
        "import scope_profiler as sp\n"
        "def resident():\n"
        "    with open('/proc/self/statm') as file:\n"
        "        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')\n"
        "def round():\n"
        "    sp.setup(output=None, replace=True)\n"
        "    for i in range(200):\n"
        "        with sp.region(f'r{i}', tags=['a']): pass\n"
        "    gc.collect()\n"
        "for _ in range(20): round()\n"
        "before = resident()\n"
        "for _ in range(200): round()\n"
        "print(resident() - before)\n"
    )
    done = run_python(code, timeout=240)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 4_000_000


def test_clean_under_the_development_mode(run_python, tmp_path):
    code = (
        "import scope_profiler as sp, sys\n"
        "@sp.profile(record_outcome=True, metadata=lambda x: {'x': x})\n"
        "def f(x): return x\n"
        "with sp.session(output=sys.argv[1]):\n"
        "    with sp.metadata(a=1), sp.region('r'): f(1)\n"
        "manager = sp.ProfileManager(); manager.setup(output=None); manager.region('x'); del manager\n"
    )
    done = run_python(code, tmp_path / "run.h5", options=("-X", "dev", "-W", "error"))
    assert (done.returncode, done.stderr) == (0, "")


def test_module_is_freed_with_its_interpreter(run_python):
    """Importing twice in one process, as test runners that clear sys.modules do."""
    code = (
        "import sys\n"
        "for _ in range(3):\n"
        "    import scope_profiler as sp\n"
        "    sp.setup(output=None, replace=True)\n"
        "    with sp.region('r'): pass\n"
        "    assert sp.recorded_regions() == ('r',)\n"
        "    for name in [n for n in sys.modules if n.startswith('scope_profiler')]:\n"
        "        del sys.modules[name]\n"
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr


