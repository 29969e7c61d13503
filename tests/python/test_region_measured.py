"""What regions tell while the program runs of what instruments measured: device times, events, threads."""

import threading

import pytest
import scope_profiler as sp
from scope_profiler import region_profiler
from scope_profiler.perf_events import PerfEventError


class Device:
    """Events at multiples of 1000 ns; every `gap`-th is not to be had."""

    def __init__(self, gap=0):
        self.now_ns, self.asked, self.gap = 0, 0, gap

    def record_event(self):
        self.asked += 1
        self.now_ns += 1000
        return None if self.gap and self.asked % self.gap == 0 else self.now_ns

    def elapsed_time_ns(self, start, end):
        return end - start


@pytest.fixture
def manager():
    manager = sp.ProfileManager()
    yield manager
    manager.reset()


def device_run(manager, output=None, gap=0, **settings):
    manager.setup(output=output, use_gpu_timing=True, gpu_timing_backend=Device(gap), **settings)
    return manager.region("kernel")


CLASSES = [
    ({"use_gpu_timing": True}, "CUDATimingProfileRegion"),
    ({"use_gpu_timing": True, "use_nvtx": True}, "CUDATimingNVTXProfileRegion"),
    ({"use_nvtx": True}, "NVTXProfileRegion"),
    ({"perf_events": "task-clock"}, "PerfEventProfileRegion"),
    ({"perf_events": "task-clock", "use_gpu_timing": True}, "PerfEventProfileRegion"),
    ({"perf_events": "task-clock", "track_threads": True}, "PerfEventProfileRegion"),
    ({"perf_events": "task-clock", "aggregation_mode": True}, "AggregateProfileRegion"),
]


@pytest.mark.parametrize(("settings", "name"), CLASSES)
def test_class_follows_the_instruments(manager, settings, name):
    if "use_gpu_timing" in settings:
        settings = {**settings, "gpu_timing_backend": Device()}
    try:
        manager.setup(output=None, **settings)
    except PerfEventError as error:
        pytest.skip(str(error))
    assert type(manager.region("r")) is getattr(region_profiler, name)


def test_every_class_is_there_and_a_region():
    for name in region_profiler.__all__:
        assert issubclass(getattr(region_profiler, name), region_profiler.BaseProfileRegion)
        assert getattr(region_profiler, name).__name__ == name


def test_device_times_of_finished_calls(manager):
    region = device_run(manager, buffer_limit=4)
    for _ in range(2):
        with region:
            pass
    with region:
        assert region.get_gpu_durations_numpy().tolist() == [1000, 1000]
        assert region.gpu_durations.tolist() == [1000, 1000, -1, -1]
        assert region.ptr == 3
    assert region.get_gpu_durations_numpy().dtype == "int64"
    assert region.get_gpu_durations_numpy().tolist() == [1000, 1000, 1000]
    assert len(region.get_durations_numpy()) == 3


def test_asking_takes_nothing_from_the_results(manager):
    region = device_run(manager)
    with region:
        pass
    assert region.get_gpu_durations_numpy().tolist() == [1000]
    with region:
        pass
    assert region.get_gpu_durations_numpy().tolist() == [1000, 1000]
    results = manager.finalize(verbose=False, return_results=True)
    assert results["kernel"][0].gpu_durations_ns.tolist() == [1000, 1000]


def test_a_call_without_events_has_minus_one(manager):
    # Without an event at its begin a call asks for none at its end.
    region = device_run(manager, gap=3)
    for _ in range(3):
        with region:
            pass
    # events 1, 2 | 3 missing | 4, 5
    assert region.get_gpu_durations_numpy().tolist() == [1000, -1, 1000]


def test_no_call_no_device_time(manager):
    assert device_run(manager).get_gpu_durations_numpy().tolist() == []


def test_asking_writes_no_file_and_finalize_starts_anew(manager, tmp_path):
    output = tmp_path / "run.h5"
    region = device_run(manager, output=output)
    with region:
        pass
    assert region.get_gpu_durations_numpy().tolist() == [1000]
    assert not output.exists()
    manager.finalize(verbose=False)
    assert sp.read_h5(output)["kernel"][0].gpu_durations_ns.tolist() == [1000]
    assert region.get_gpu_durations_numpy().tolist() == []


def test_a_region_of_a_former_configuration_has_none(manager):
    region = device_run(manager)
    with region:
        pass
    manager.setup(output=None, replace=True)
    assert region.get_gpu_durations_numpy().tolist() == []


def test_event_totals(manager):
    try:
        manager.setup(output=None, perf_events=["task-clock"])
    except PerfEventError as error:
        pytest.skip(str(error))
    region = manager.region("work")
    assert region.perf_event_totals() == sp.PerfEventTotals(0, {})
    for _ in range(3):
        with region:
            sum(range(1000))
    totals = region.perf_event_totals()
    assert totals.calls == 3
    assert list(totals.values) == ["task-clock"]
    results = manager.finalize(verbose=False, return_results=True)
    assert results.get_perf_events()[0]["work"] == totals
    assert totals.values["task-clock"] > 0


def test_threads_of_a_region(manager):
    manager.setup(output=None, track_threads=True)

    def work(name):
        with manager.region(name):
            pass

    for name, thread in (("both", "first"), ("both", "second"), ("one", "third")):
        started = threading.Thread(target=work, args=(name,), name=thread)
        started.start()
        started.join()
    assert [info.name for info in manager.region("both").threads] == ["first", "second"]
    assert [info.name for info in manager.region("one").threads] == ["third"]
    assert manager.region("none").threads == []


def test_device_times_of_several_threads(manager):
    """Each thread has its own pairs of events, and its calls their own lane."""

    class Own(threading.local):
        now_ns = 0

    own = Own()

    class PerThread:
        def record_event(self):
            return (threading.get_ident(), own.now_ns)

        def elapsed_time_ns(self, start, end):
            assert start[0] == end[0], "events of two threads in one call"
            return end[1] - start[1]

    manager.setup(output=None, use_gpu_timing=True, gpu_timing_backend=PerThread(), track_threads=True)
    ready = threading.Barrier(2)

    def work(step):
        for _ in range(3):
            ready.wait()
            with manager.region("kernel"):
                ready.wait()
                own.now_ns += step

    threads = [threading.Thread(target=work, args=(step,), name=str(step)) for step in (10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results = manager.finalize(verbose=False, return_results=True)
    region = results["kernel"][0]
    names = {info.index: info.name for info in results.threads[0]}
    assert len(region.threads) == 2
    for thread in region.threads:
        assert region.for_thread(thread).gpu_durations_ns.tolist() == [int(names[thread])] * 3
