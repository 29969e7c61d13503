"""Device times from Python: back ends of modules that stand in for torch and cupy, and objects of one's own."""

import os
import shutil
import subprocess
import sys
import textwrap
import threading
import types
from ctypes.util import find_library
from pathlib import Path

import pytest
import scope_profiler as sp
from scope_profiler import gpu_timing


class Queue:
    """A device: events get the time at which it comes to them, and it is `lag` events behind."""

    def __init__(self):
        self.now_ns, self.queued, self.lag, self.made = 0, 0, 0, 0
        self.is_capturing = self.refuses = False
        self.log = []


class Event:
    def __init__(self, queue):
        self.queue, self.turn, self.ns = queue, 0, None
        queue.made += 1

    def record(self):
        self.queue.queued += 1
        self.turn, self.ns = self.queue.queued, self.queue.now_ns
        self.queue.log.append("record")

    @property
    def done(self):
        return self.turn + self.queue.lag <= self.queue.queued


class Own:
    """The least that a back end has."""

    def __init__(self):
        self.queue = Queue()

    def record_event(self):
        if self.queue.refuses:
            return None
        event = Event(self.queue)
        event.record()
        return event

    def elapsed_time_ns(self, start, end):
        return end.ns - start.ns


class Waiting(Own):
    name = "waiting"

    def synchronize(self):
        self.queue.log.append("synchronize")


def make_torch(queue):
    class TorchEvent(Event):
        def __init__(self, enable_timing):
            assert enable_timing is True
            super().__init__(queue)

        def query(self):
            return self.done

        def elapsed_time(self, end):
            return (end.ns - self.ns) / 1e6

    cuda = types.SimpleNamespace(
        Event=TorchEvent, is_available=lambda: True,
        is_current_stream_capturing=lambda: queue.is_capturing,
        synchronize=lambda: queue.log.append("synchronize"),
    )
    return types.SimpleNamespace(cuda=cuda)


def make_cupy(queue, devices=1):
    cuda = types.SimpleNamespace(
        Event=lambda: Event(queue), get_elapsed_time=lambda start, end: (end.ns - start.ns) / 1e6,
        get_current_stream=lambda: types.SimpleNamespace(is_capturing=lambda: queue.is_capturing),
        Device=lambda: types.SimpleNamespace(synchronize=lambda: queue.log.append("synchronize")),
        runtime=types.SimpleNamespace(getDeviceCount=lambda: devices),
    )
    return types.SimpleNamespace(cuda=cuda)


@pytest.fixture
def manager():
    manager = sp.ProfileManager()
    yield manager
    manager.reset()


def record(manager, backend, queue, durations, **settings):
    """One call of `kernel` for each duration of the device; returns its region in the results."""
    manager.setup(output=None, use_gpu_timing=True, gpu_timing_backend=backend, **settings)
    for ns in durations:
        with manager.region("kernel"):
            queue.now_ns += ns
    results = manager.finalize(verbose=False, return_results=True)
    return results["kernel"][0]


@pytest.mark.parametrize("name, make", [("torch", make_torch), ("PyTorch", make_torch), ("cupy", make_cupy)])
def test_modules(manager, monkeypatch, name, make):
    queue = Queue()
    monkeypatch.setitem(sys.modules, "torch", make(queue) if make is make_torch else None)
    monkeypatch.setitem(sys.modules, "cupy", make(queue) if make is make_cupy else None)
    region = record(manager, name, queue, [1_500_000, 250_000, 7])
    assert region.gpu_durations_ns.tolist() == [1_500_000, 250_000, 7]
    assert region.has_gpu_timing
    assert region.gpu_total_duration == pytest.approx(1.750007e-3)
    assert queue.made <= 4  # used again


def test_auto_takes_the_first_that_works(monkeypatch):
    queue = Queue()
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "cupy", make_cupy(queue))
    assert gpu_timing.resolve_gpu_timing_backend("auto").name == "cupy"
    monkeypatch.setitem(sys.modules, "torch", make_torch(queue))
    assert gpu_timing.resolve_gpu_timing_backend(None).name == "torch"


def test_auto_says_why_none_works(manager, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "cupy", make_cupy(Queue(), devices=0))
    with pytest.raises(RuntimeError, match="no supported GPU backend: torch is not installed; cupy finds no"):
        manager.setup(output=None, use_gpu_timing=True)
    assert not manager.is_active()


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_missing_module(manager, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=f"{name} is not installed") as caught:
        manager.setup(output=None, use_gpu_timing=True, gpu_timing_backend=name)
    assert caught.value.name == name


def test_wrong_back_ends(manager):
    with pytest.raises(ValueError, match="Unknown gpu_timing_backend 'sycl'"):
        manager.setup(output=None, use_gpu_timing=True, gpu_timing_backend="sycl")
    with pytest.raises(TypeError, match=r"has no elapsed_time_ns\(\)"):
        manager.setup(output=None, use_gpu_timing=True,
                      gpu_timing_backend=types.SimpleNamespace(record_event=print))
    with pytest.raises(TypeError, match="gpu_sync_on_exit"):
        manager.setup(output=None, use_gpu_timing=True, gpu_timing_backend=Own(), gpu_sync_on_exit=True)


def test_an_object_of_ones_own(manager):
    backend = Own()
    region = record(manager, backend, backend.queue, [5, 6])
    assert region.gpu_durations_ns.tolist() == [5, 6]
    assert backend.queue.made == 4


def test_no_event_is_no_time(manager):
    backend = Own()
    manager.setup(output=None, use_gpu_timing=True, gpu_timing_backend=backend)
    for refuses in (False, True, False):
        backend.queue.refuses = refuses
        with manager.region("kernel"):
            backend.queue.now_ns += 3
    region = manager.finalize(verbose=False, return_results=True)["kernel"][0]
    assert region.gpu_durations_ns.tolist() == [3, -1, 3]
    assert region.gpu_average_duration == pytest.approx(3e-9)


def test_captures_are_left_alone(manager, monkeypatch):
    queue = Queue()
    monkeypatch.setitem(sys.modules, "torch", make_torch(queue))
    manager.setup(output=None, use_gpu_timing=True, gpu_timing_backend="torch")
    for captures in (False, True, False):
        queue.is_capturing = captures
        with manager.region("kernel"):
            queue.now_ns += 3
    region = manager.finalize(verbose=False, return_results=True)["kernel"][0]
    assert region.gpu_durations_ns.tolist() == [3, -1, 3]
    assert len(queue.log) == 4


def test_waiting_at_the_end(manager):
    backend = Waiting()
    region = record(manager, backend, backend.queue, [5, 6], gpu_sync_on_exit=True)
    assert backend.queue.log == ["record", "record", "synchronize"] * 2
    assert region.gpu_durations_ns.tolist() == [5, 6]


def test_an_error_of_the_back_end_is_said_once(manager, monkeypatch):
    said = []
    monkeypatch.setattr(sys, "unraisablehook", said.append)
    backend = Own()
    backend.elapsed_time_ns = lambda start, end: 1 / 0
    region = record(manager, backend, backend.queue, [5, 6])
    assert region.gpu_durations_ns.tolist() == [-1, -1]
    assert not region.has_gpu_timing
    assert [type(one.exc_value) for one in said] == [ZeroDivisionError]


def test_exceptions_of_the_program_pass(manager):
    backend = Own()
    manager.setup(output=None, use_gpu_timing=True, gpu_timing_backend=backend)
    with pytest.raises(KeyError), manager.region("kernel"):
        backend.queue.now_ns += 4
        raise KeyError("x")
    region = manager.finalize(verbose=False, return_results=True)["kernel"][0]
    assert region.gpu_durations_ns.tolist() == [4]


def test_threads_and_nesting(manager):
    backend = Own()
    manager.setup(output=None, use_gpu_timing=True, gpu_timing_backend=backend)

    def work():
        with manager.region("inner"):
            backend.queue.now_ns += 10

    with manager.region("outer"):
        work()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    results = manager.finalize(verbose=False, return_results=True)
    assert results["inner"][0].gpu_durations_ns.tolist() == [10, 10]
    assert results["outer"][0].gpu_durations_ns.tolist() == [20]


def test_in_files_and_tables(manager, tmp_path, capsys):
    backend = Own()
    path = tmp_path / "run.h5"
    manager.setup(output=path, use_gpu_timing=True, gpu_timing_backend=backend)
    with manager.region("kernel"):
        backend.queue.now_ns += 2_000_000
    manager.finalize()
    printed = capsys.readouterr().out
    assert "gpu total [s]" in printed and "asynchronous GPU work" in printed
    h5py = pytest.importorskip("h5py")
    with h5py.File(path) as file:
        assert file["events/gpu_durations"][:].tolist() == [2_000_000]
    assert sp.read_h5(path)["kernel"][0].gpu_durations_ns.tolist() == [2_000_000]
    text = subprocess.run([sys.executable, "-m", "scope_profiler", "inspect", path],
                          capture_output=True, text=True, check=True).stdout
    assert "gpu total [s]" in text and "asynchronous GPU work" in text


def test_off_opens_nothing(tmp_path):
    """Neither torch nor the module of devices, nor that of ranges without a tool."""
    program = textwrap.dedent("""
        import sys
        import scope_profiler as sp
        with sp.session(output=None, verbose=False, use_nvtx=True):
            with sp.region("a"):
                pass
        assert "torch" not in sys.modules and "scope_profiler.gpu_timing" not in sys.modules
        maps = open("/proc/self/maps").read()
        assert "scope_profiler_cuda" not in maps and "scope_profiler_nvtx" not in maps
    """)
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path,
                   env={"PATH": "/usr/bin:/bin"})


FAKE = Path(__file__).parents[1] / "native" / "fake_device.c"
CORE = Path(sp.__file__).resolve().parent / "_core"

DRIVER = """
import ctypes
import scope_profiler as sp
cuda = ctypes.CDLL("libcuda.so.1")
cuda.fake_work.argtypes = [ctypes.c_double]
cuda.fake_context.argtypes = [ctypes.c_void_p]
with sp.session(output="run.h5", verbose=False, use_gpu_timing=True, gpu_timing_backend="CUDA"):
    with sp.region("before"):
        pass
    cuda.fake_context(1)
    with sp.region("kernel"):
        cuda.fake_work(2.5)
    cuda.fake_context(None)
assert cuda.fake_count(b"mistakes") == 0
assert cuda.fake_count(b"alive") == 2  # the root began before there was a context
"""

NATIVE = """
#include <scope_profiler.h>
void fake_work(double ms);
void fake_context(void *context);
int main(void)
{
    sp_init("run", 0);
    int before = sp_region("before"), kernel = sp_region("kernel");
    sp_begin(before);
    sp_end(before);
    fake_context(&before);
    sp_begin(kernel);
    fake_work(2.5);
    sp_end(kernel);
    return sp_finalize();
}
"""


@pytest.fixture(scope="module")
def fake_driver(tmp_path_factory):
    """Folder of a libcuda.so.1 that does what it is told."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("driver")
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-Wl,-soname,libcuda.so.1", "-o",
                    folder / "libcuda.so.1", FAKE, "-lpthread"], check=True)
    return folder


@pytest.mark.parametrize("language", ["python", "c"])
def test_the_driver_of_cuda(fake_driver, tmp_path, language):
    environment = {**os.environ, "LD_LIBRARY_PATH": str(fake_driver), "SCOPE_PROFILER_CONFIG": "settings.toml"}
    (tmp_path / "settings.toml").write_text('[profiling.gpu]\ntiming = true\nbackend = "cuda"\n')
    if language == "python":
        command = [sys.executable, "-c", DRIVER]
    else:
        (tmp_path / "a.c").write_text(NATIVE)
        subprocess.run(["cc", f"-I{CORE / 'include'}", "a.c", f"-L{CORE / 'lib'}", f"-Wl,-rpath,{CORE / 'lib'}",
                        "-l:libscope_profiler.so.1", fake_driver / "libcuda.so.1", "-o", "program"],
                       cwd=tmp_path, check=True)
        command = ["./program"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    results = sp.read_h5(next(tmp_path.glob("run*.h5")))
    assert results["kernel"][0].gpu_durations_ns.tolist() == [2_500_000]
    assert results["before"][0].gpu_total_duration is None


def test_a_missing_driver_is_named(manager):
    if find_library("amdhip64") is not None:
        pytest.skip("this machine has AMD's library")
    with pytest.raises(RuntimeError, match="GPU timing by 'hip' needs AMD's ROCm: cannot load 'libamdhip64"):
        manager.setup(output=None, use_gpu_timing=True, gpu_timing_backend="hip")
