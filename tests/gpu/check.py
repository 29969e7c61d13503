"""Times matrix products on the device with one back end, and checks them against the wall clock.

Usage: check.py torch|cupy
"""

import importlib
import sys
import time

import scope_profiler as sp

SIZE, CALLS = 4096, 50


def make_work(name):
    """A function that gives the device one product, and one that waits for it."""
    module = importlib.import_module(name)
    if name == "torch":
        a = module.rand(SIZE, SIZE, device="cuda")
        return lambda: a @ a, module.cuda.synchronize
    a = module.random.rand(SIZE, SIZE, dtype=module.float32)
    return lambda: a @ a, module.cuda.Device().synchronize


def run(backend, work, wait, sync_on_exit):
    """Device times in seconds of the calls, and what the clock says of all of them."""
    with sp.session(
        output=None, verbose=False, return_results=True, use_gpu_timing=True, gpu_timing_backend=backend,
        gpu_sync_on_exit=sync_on_exit,
    ) as session:
        start = time.perf_counter()
        for _ in range(CALLS):
            with sp.region("product"):
                work()
        wait()
        elapsed = time.perf_counter() - start
    return session.results["product"][0], elapsed


def check(backend, name):
    work, wait = make_work(name)
    for _ in range(3):
        work()
    wait()
    for sync_on_exit in (False, True):
        region, elapsed = run(backend, work, wait, sync_on_exit)
        times = region.gpu_durations
        print(f"{backend}, waiting={sync_on_exit}: {times.sum():.4f} s of {elapsed:.4f} s on the device")
        assert len(times) == CALLS and (times > 0).all()
        assert 0.3 * elapsed < times.sum() < 1.05 * elapsed
        if sync_on_exit:
            assert (region.durations > 0.5 * times).all()


name = sys.argv[1]
check(name, name)
check("cuda", name)
print(f"{name}: fine")
