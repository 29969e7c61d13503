"""Cost of tracing every Python call, in ns a call, beside the same work untraced.

    python trace_rows.py {ours,cprofile,viztracer}

Prints `<variant> <repeat> <ns>` lines like the other benches: for each kind of work `<work>-base`, what
it takes untraced, and `<work>`, what tracing adds; both in the thread's own processor time, which a busy
machine disturbs least. Of `loop`, a loop without calls, the two are whole times.
"""

import sys
import time

REPEATS = 11


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


class Value:
    """Small methods, called by a loop."""

    def __init__(self):
        self.held = 1

    def get(self):
        return self.held

    def put(self, value):
        self.held = value


def methods(count):
    value = Value()
    for k in range(count // 2):
        value.get()
        value.put(k)


def numbers(count):
    yield from range(count)


def generator(count):
    for _ in numbers(count):
        pass


async def nothing():
    pass


async def awaiting(count):
    for _ in range(count):
        await nothing()


def awaits(count):
    try:
        awaiting(count).send(None)
    except StopIteration:
        pass


def loop():
    total = 0
    for k in range(400_000):
        total += k * k % 7
    return total


def style():
    """Checks the style of a part of the standard library with pycodestyle, a real program."""
    import json
    import os

    import pycodestyle

    guide = pycodestyle.StyleGuide(quiet=3)
    guide.input_dir(os.path.dirname(json.__file__))


def works():
    """(name, function, calls that it makes)."""
    found = [
        ("fib", lambda: fib(24), 150_049),
        ("methods", lambda: methods(100_000), 100_000),
        ("generator", lambda: generator(100_000), 100_000),
        ("await", lambda: awaits(60_000), 60_000),
        ("loop", loop, 1),
    ]
    try:
        import pycodestyle  # noqa: F401
    except ImportError:
        print("no row of a real program: this interpreter lacks pycodestyle", file=sys.stderr)
        return found
    return [*found, ("style", style, 1)]


# ---- tracers: functions that run another one traced ------------------------------------------


def ours():
    from scope_profiler import ProfileManager, _trace

    def run(function):
        ProfileManager.setup(output=None, replace=True)
        with _trace.Tracing(ProfileManager._default, "root", only_user_code=False):
            return timed(function)

    return run


def cprofile():
    import cProfile

    def run(function):
        profile = cProfile.Profile()
        profile.enable()
        try:
            return timed(function)
        finally:
            profile.disable()

    return run


def viztracer():
    import viztracer as module

    def run(function):
        tracer = module.VizTracer(tracer_entries=3_000_000, verbose=0)
        tracer.start()
        try:
            return timed(function)
        finally:
            tracer.stop()
            tracer.clear()

    return run


def timed(function):
    start = time.thread_time_ns()
    function()
    return time.thread_time_ns() - start


def most_memory():
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def memory():
    """Bytes that a traced call takes while it is kept in memory, and a step of a generator."""
    from scope_profiler import ProfileManager, _trace

    ProfileManager.setup(output=None, replace=True)
    with _trace.Tracing(ProfileManager._default, "root", only_user_code=False):
        fib(24)
        before = most_memory()
        fib(27)
        between = most_memory()
        generator(1_000_000)
        after = most_memory()
    return (between - before) / 635_621, (after - between) / 1_000_000


def main():
    tracer = sys.argv[1]
    if tracer == "ours":
        call, step = memory()
        print("bytes", 0, f"{call:.3f}")
        print("bytes-step", 0, f"{step:.3f}")
    run = {"ours": ours, "cprofile": cprofile, "viztracer": viztracer}[tracer]()
    for name, function, calls in works():
        timed(function)
        run(function)
        for repeat in range(REPEATS):
            base = timed(function)
            traced = run(function)
            print(f"{name}-base", repeat, f"{base / calls:.3f}")
            added = traced if name == "loop" else max(traced - base, 1)
            print(name, repeat, f"{added / calls:.3f}", flush=True)


main()
