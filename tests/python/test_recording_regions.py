"""Regions as context managers: one call an entry, whatever happens inside."""

import contextlib
import gc
import threading
import unittest.mock
import weakref

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager
from scope_profiler.region_profiler import (
    AggregateProfileRegion,
    BaseProfileRegion,
    DisabledProfileRegion,
    ThreadedProfileRegion,
    TimeOnlyProfileRegion,
)


def test_region_entered_inside_itself_records_every_entry():
    ProfileManager.setup(output=None, buffer_limit=2)
    region = ProfileManager.region("again")

    def enter(levels):
        with region:
            if levels > 1:
                enter(levels - 1)

    enter(21)
    assert region.num_calls == 21
    durations = region.get_durations_numpy()
    assert len(durations) == 21
    assert (durations > 0).all()


@pytest.mark.parametrize("count", [1, 33, 500])
def test_buffer_grows_by_doubling(count):
    ProfileManager.setup(output=None, buffer_limit=4)
    region = ProfileManager.region("many")
    for _ in range(count):
        with region:
            pass
    assert region.num_calls == region.ptr == count
    assert region.capacity >= count
    assert region.capacity % 4 == 0
    assert len(region.start_times) == region.capacity
    starts = region.start_times[: region.ptr]
    assert (starts[1:] >= starts[:-1]).all()
    assert (region.end_times[: region.ptr] >= starts).all()


def test_append_stores_these_times(memory_run):
    region = ProfileManager.region("given")
    for i in range(10):
        region.append(i, i + 1)
    assert list(region.start_times[: region.ptr]) == list(range(10))
    assert list(region.end_times[: region.ptr]) == list(range(1, 11))
    assert list(region.get_durations_numpy()) == [1] * 10
    with pytest.raises(ValueError, match="before start"):
        region.append(5, 4)
    region.append(20.0, 21.9)
    assert (region.start_times[10], region.end_times[10]) == (20, 21)
    for bad in ("1", float("nan"), float("inf"), 1e30):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            region.append(bad, bad)


def test_relative_times_count_from_setup(memory_run):
    with ProfileManager.region("r") as region:
        pass
    start = ProfileManager.get_config().start_time_ns
    assert list(region.get_start_times_numpy()) == [region.start_times[0] - start]
    assert list(region.get_end_times_numpy()) == [region.end_times[0] - start]
    assert 0 <= region.get_start_times_numpy()[0] < 60e9


def test_open_and_closed_calls_are_told_apart(memory_run):
    region = ProfileManager.region("r")
    with region:
        pass
    with region:
        with region:
            pass
        assert region.num_calls == region.ptr == 3
        assert [end == 0 for end in region.end_times[:3]] == [False, True, False]
        assert list(region.closed_slots()) == [0, 2]
        assert list(region.open_slots()) == [1]
        starts, ends = region.start_times[:3], region.end_times
        assert ends[0] <= starts[1] <= starts[2] <= ends[2]
        # What has no end yet has no duration.
        assert list(region.get_durations_numpy()) == [ends[0] - starts[0], ends[2] - starts[2]]
        assert len(region.get_start_times_numpy()) == len(region.get_end_times_numpy()) == 2
        opened = starts[1]
    assert list(region.open_slots()) == []
    assert list(region.closed_slots()) == [0, 1, 2]
    assert region.start_times[1] == opened and region.end_times[1] >= region.end_times[2]


def test_open_calls_have_room_in_the_arrays():
    ProfileManager.setup(output=None, buffer_limit=2)
    region = ProfileManager.region("r")
    with region, region, region:
        assert (region.ptr, region.capacity, len(region.start_times)) == (3, 4, 4)
        assert list(region.end_times) == [0, 0, 0, 0]
        assert (region.start_times[:3] > 0).all()


def test_open_calls_of_other_threads_are_there(memory_run):
    region = ProfileManager.region("r")
    is_open, may_end = threading.Event(), threading.Event()

    def work():
        with region:
            is_open.set()
            may_end.wait(30)

    thread = threading.Thread(target=work)
    thread.start()
    assert is_open.wait(30)
    with region:
        assert (region.ptr, list(region.open_slots())) == (2, [0, 1])
    may_end.set()
    thread.join()
    assert list(region.open_slots()) == []


def test_open_calls_are_counted_over_a_finalize(tmp_path):
    ProfileManager.setup(output=tmp_path / "run.h5")
    region = ProfileManager.region("r")
    with region:
        pass
    with region:
        ProfileManager.finalize(verbose=False)
        assert (region.num_calls, region.ptr, list(region.open_slots())) == (2, 1, [0])
    assert (region.ptr, list(region.closed_slots())) == (1, [0])


def test_totals_alone_have_no_arrays():
    ProfileManager.setup(output=None, aggregation_mode=True)
    region = ProfileManager.region("r")
    with region:
        with region:
            pass
        assert (region.num_calls, region.ptr, region.start_times.any()) == (2, 0, False)
        assert list(region.open_slots()) == list(region.closed_slots()) == []
        assert region.get_aggregate()["count"] == 1


def test_exception_passes_and_the_call_counts(memory_run, finish):
    with pytest.raises(KeyError, match="k"):
        with sp.region("raises"):
            raise KeyError("k")
    assert finish().calls("raises") == 1


def test_same_name_is_the_same_object(memory_run):
    assert sp.region("a") is ProfileManager.region("a") is ProfileManager.profile_region("a")
    assert ProfileManager.region("".join(["a"])) is sp.region("a")
    assert sp.region is ProfileManager.region is ProfileManager.profile_region
    assert sp.region("a").region_name == "a"
    assert sp.region("a").config is ProfileManager.get_config()


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({}, TimeOnlyProfileRegion),
        ({"aggregation_mode": True}, AggregateProfileRegion),
        ({"track_threads": True}, ThreadedProfileRegion),
        ({"deactivate_profiling": True}, DisabledProfileRegion),
    ],
)
def test_class_of_a_region_follows_the_configuration(settings, kind):
    ProfileManager.setup(output=None, **settings)
    region = sp.region("r")
    assert type(region) is kind
    assert isinstance(region, BaseProfileRegion)


def test_disabled_region_does_nothing():
    region = sp.region("early")
    assert type(region) is DisabledProfileRegion
    assert sp.region("early") is region
    with region as entered:
        assert entered is region
    assert region.num_calls == 0
    assert len(region.get_durations_numpy()) == 0

    def function():
        pass

    assert region.wrap(function) is function


def test_wrapped_function_is_recorded_in_its_region(memory_run):
    doubled = sp.region("r").wrap(lambda x: 2 * x)
    assert doubled(4) == 8
    assert sp.region("r").num_calls == 1


def test_wrapped_generators_and_coroutines_are_recorded_by_step(memory_run, finish):
    @sp.region("steps").wrap
    def count():
        yield 1
        yield 2

    @sp.region("waits").wrap
    async def wait(x):
        return x

    bound = sp.region("method").wrap(type("K", (), {"m": lambda self: (yield 3)})().m)
    assert list(count()) == [1, 2] and list(bound()) == [3]
    with pytest.raises(StopIteration) as end:
        wait(5).send(None)
    assert end.value.value == 5
    recorded = finish()
    assert (recorded.calls("steps"), recorded.calls("waits"), recorded.calls("method")) == (3, 1, 2)


def test_what_cannot_be_called_cannot_be_wrapped(memory_run):
    for state in ("recording", "off"):
        with pytest.raises(TypeError, match="needs a callable, got 3"):
            sp.region(state).wrap(3)
        sp.reset()


def test_region_of_an_ended_configuration_keeps_its_count():
    ProfileManager.setup(output=None)
    first = sp.region("r")
    with first:
        pass
    ProfileManager.setup(output=None, replace=True)
    with first:
        pass
    with sp.region("r") as second:
        pass
    assert first is not second
    assert (first.num_calls, second.num_calls) == (1, 1)


def test_configuration_replaced_inside_a_region():
    ProfileManager.setup(output=None)
    with sp.region("outer"):
        ProfileManager.setup(output=None, replace=True)
        with sp.region("inner"):
            pass
    assert ProfileManager.recorded_regions() == ("inner",)


def test_aggregate_totals():
    ProfileManager.setup(output=None, aggregation_mode=True)
    for _ in range(3):
        with sp.region("r"):
            pass
    totals = sp.region("r").get_aggregate()
    assert totals["count"] == 3
    assert 0 < totals["minimum"] <= totals["maximum"] <= totals["total"]
    assert totals["total"] >= 3 * totals["minimum"]


def test_table_of_regions_may_be_spoilt(memory_run):
    regions = ProfileManager.get_all_regions()
    regions["odd"] = 3
    with pytest.raises(TypeError, match="holds 3 as 'odd'"):
        sp.region("odd", tags=["a"])
    sp.register_opt_in_tag("t")
    ProfileManager.setup(output=None, replace=True)
    regions.clear()
    with sp.region("odd"):
        pass
    assert sp.region("odd").num_calls == 1


# ---- names ---------------------------------------------------------------------------------------

NAMES = [
    "a/b", "/abs", "a//b/", "a", "..", ".", "äö-Σ-日本-\U0001f680", "e\u0301", "é", "q\"uo'te",
    "two\nlines\ttab\r", "pipe|bar", " lead", "trail ", "trail", "x" * 10_000, "x" * 9_999 + "y",
    "a;b,c", "<b>&amp;", "%s%n%d", "a\\b", "NULL", "nan", "0", "-", "\u202eabc",
]  # fmt: skip


def test_any_text_is_a_name(tmp_path, read):
    path = tmp_path / "run.h5"
    with sp.session(output=path, verbose=False, return_results=True) as run:
        for i, name in enumerate(NAMES):
            for _ in range(i + 1):
                with sp.region(name):
                    pass
    for recorded in (read(path), read(path).__class__(run.results)):
        assert recorded.names == set(NAMES)
        assert [recorded.calls(name) for name in NAMES] == list(range(1, len(NAMES) + 1))


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800"])
def test_names_that_cannot_be_stored_are_refused(memory_run, name):
    with pytest.raises(ValueError):
        sp.region(name)
    with pytest.raises(ValueError):
        ProfileManager.profile(name)(lambda: None)


def test_name_must_be_text(memory_run):
    with pytest.raises(TypeError, match="region_name must be a string"):
        sp.region(3)
    with pytest.raises(TypeError, match="missing"):
        sp.region()
    with pytest.raises(TypeError, match="unexpected keyword argument 'nmae'"):
        sp.region(nmae="x")
    assert sp.region(region_name="x", functions=None, tags=None) is sp.region("x")


def test_subclass_of_str_is_the_same_region(memory_run):
    class Name(str):
        pass

    assert sp.region(Name("x")) is sp.region("x")
    assert type(sp.region("x").region_name) is str


# ---- the protocol is an ordinary one -------------------------------------------------------------


def test_region_works_in_an_exit_stack(memory_run):
    region = sp.region("r")
    with contextlib.ExitStack() as stack:
        assert stack.enter_context(region) is region
        stack.enter_context(sp.region("s"))
    assert ProfileManager.recorded_regions() == ("r", "s")


def test_methods_can_be_called_by_hand_and_through_the_class(memory_run):
    region = sp.region("r")
    assert region.__enter__() is region
    assert region.__exit__(None, None, None) is None
    kind = type(region)
    kind.__enter__(region)
    kind.__exit__(region, None, None, None)
    assert region.num_calls == 2
    with pytest.raises(TypeError, match="requires a profile region"):
        kind.__enter__(object())
    with pytest.raises(TypeError, match="requires a profile region"):
        BaseProfileRegion.__exit__("no", None, None, None)


def test_methods_can_be_replaced_for_a_test(memory_run):
    region = sp.region("r")
    with unittest.mock.patch.object(TimeOnlyProfileRegion, "__enter__", create=True) as enter:
        with region:
            pass
    assert enter.called
    with region:
        pass
    assert region.num_calls == 1


def test_regions_cannot_be_made_by_hand():
    with pytest.raises(TypeError):
        TimeOnlyProfileRegion()
    with pytest.raises(TypeError):
        BaseProfileRegion("r")


def test_regions_are_collected_with_their_manager():
    manager = sp.ProfileManager()
    manager.setup(output=None)
    region = weakref.ref(manager.region("r"))
    with manager.region("r"):
        pass
    del manager
    gc.collect()
    assert region() is None


def test_region_shared_by_threads(memory_run, finish):
    region = sp.region("shared")
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        for _ in range(1000):
            with region:
                with sp.region("inner"):
                    pass

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert region.num_calls == 4000
    recorded = finish()
    assert recorded.calls("shared") == recorded.calls("inner") == 4000
    assert recorded.parents()["inner"] == {"shared"}


# ---- where a region is defined -------------------------------------------------------------------


def test_first_site_is_kept(memory_run, tmp_path, monkeypatch):
    code = "import scope_profiler\n\nwith scope_profiler.region('here'):\n    pass\n"
    script = tmp_path / "site.py"
    script.write_text(code)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(script), "exec"), {})
    region = sp.region("here")
    assert (region.source_file, region.source_lineno, region.has_source) == ("site.py", 3, True)
    assert region.source_text is None
    region.set_source("other.py", 9)
    assert region.source_file == "site.py"


def test_full_detail_stores_the_whole_path_and_text_is_stored_when_wanted(tmp_path):
    code = (
        "import scope_profiler\n"
        "def f():\n"
        "    with scope_profiler.region('block'):\n"
        "        x = 1\n"
        "        y = 2\n"
        "@scope_profiler.profile\n"
        "def decorated():\n"
        "    return 1\n"
        "f()\n"
    )
    script = tmp_path / "site.py"
    script.write_text(code)
    ProfileManager.setup(output=None, metadata_detail="full", capture_region_source=True)
    exec(compile(code, str(script), "exec"), {"__name__": "site"})
    block, function = sp.region("block"), sp.region("decorated")
    assert block.source_file == str(script)
    assert block.source_text == "with scope_profiler.region('block'):\n    x = 1\n    y = 2"
    assert (function.source_file, function.source_lineno) == (str(script), 6)
    assert function.source_text == (
        "@scope_profiler.profile\ndef decorated():\n    return 1"
    )


def test_minimal_path_is_relative_to_the_module_path_else_a_name(tmp_path, monkeypatch):
    from scope_profiler._source import minimal_path

    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    monkeypatch.syspath_prepend(str(tmp_path / "lib" / "deep"))
    assert minimal_path(str(tmp_path / "work" / "a" / "b.py")) == "a/b.py"
    assert minimal_path(str(tmp_path / "lib" / "deep" / "p" / "m.py")) == "p/m.py"
    assert minimal_path("/somewhere/else/m.py") == "m.py"
    assert minimal_path("<stdin>") == "<stdin>"
    (tmp_path / "work").rename(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert minimal_path(str(tmp_path / "lib" / "m.py")) == "m.py"


@pytest.mark.parametrize("through", ["current folder", "module path"])
def test_minimal_path_tells_neither_root_nor_home(tmp_path, monkeypatch, through):
    from scope_profiler._source import minimal_path

    home = tmp_path / "home" / "alice"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("sys.path", [])

    def look_from(folder):
        if through == "current folder":
            monkeypatch.chdir(folder)
        else:
            monkeypatch.chdir("/")
            monkeypatch.setattr("sys.path", [str(folder)])

    look_from("/")
    assert minimal_path(str(home / "run.py")) == minimal_path("/scratch/alice/run.py") == "run.py"
    look_from(home.parent)
    assert minimal_path(str(home / "project" / "run.py")) == "run.py"
    assert minimal_path(str(home.parent / "common" / "run.py")) == "common/run.py"
    look_from(home)
    assert minimal_path(str(home / "project" / "run.py")) == "project/run.py"
