"""Setup, sessions, finalize, reset: the states of a manager."""

import os
import threading
import time
import warnings
from pathlib import Path

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager, ProfilingOptions
from scope_profiler.profile_config import ProfilingConfig
from scope_profiler.profile_manager import (
    ProfilingRun,
    RankPayload,
    RegionFactory,
    RegionHandle,
)

ROOT = "scope_profiler.session"


def enter(name, manager=ProfileManager):
    with manager.region(name):
        pass


# ---- states --------------------------------------------------------------------------------------


def test_states_of_a_manager(tmp_path):
    assert (sp.is_configured(), sp.is_active()) == (False, False)
    sp.setup(output=tmp_path / "run.h5")
    assert (sp.is_configured(), sp.is_active()) == (True, True)
    sp.finalize(verbose=False)
    assert (sp.is_configured(), sp.is_active()) == (True, True)
    sp.reset()
    assert (sp.is_configured(), sp.is_active()) == (False, False)


def test_second_setup_needs_replace_or_finalize(tmp_path):
    sp.setup(output=tmp_path / "a.h5")
    with pytest.raises(RuntimeError, match=r"already configured.*replace=True"):
        sp.setup(output=tmp_path / "b.h5")
    sp.setup(output=tmp_path / "b.h5", replace=True)
    sp.finalize(verbose=False)
    sp.setup(output=tmp_path / "c.h5")
    assert sorted(os.listdir(tmp_path)) == ["b.h5"]


def test_a_failed_setup_leaves_the_run_that_is(tmp_path, finish):
    sp.setup(output=None)
    enter("kept")
    with pytest.raises(TypeError):
        sp.setup(replace=True, nonsense=1)
    with pytest.raises(OSError):
        sp.setup(replace=True, output=tmp_path)
    assert sp.is_active()
    assert finish().names == {"kept"}


def test_finalize_without_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sp.finalize() is None
    results = sp.finalize(return_results=True)
    assert (len(results), results.is_root) == (0, True)
    assert sp.last_results() is None
    assert os.listdir(tmp_path) == []


def test_configuration_that_is_only_looked_at_does_not_activate():
    config = ProfileManager.get_config()
    assert isinstance(config, ProfilingConfig)
    assert ProfileManager.get_config() is config
    assert not sp.is_configured()
    enter("r")
    assert sp.recorded_regions() == ()


def test_set_config_starts_a_run():
    @sp.profile
    def f():
        pass

    handle = sp.define_region("defined")
    config = ProfilingConfig(deactivate_file_output=True, label="mine")
    ProfileManager.set_config(config)
    f()
    with handle:
        pass
    assert ProfileManager.get_config() is config
    assert set(sp.recorded_regions()) == {"f", "defined"}
    ProfileManager.set_config(config)
    assert sp.recorded_regions() == ()
    with pytest.raises(TypeError, match="needs a ProfilingConfig"):
        ProfileManager.set_config({})


def test_deactivated_profiling(tmp_path):
    @sp.profile(metadata=lambda: 1 / 0)
    def f():
        return 5

    path = tmp_path / "run.h5"
    with sp.session(file_path=str(path), deactivate_profiling=True, return_results=True) as run:
        assert f() == 5
        enter("r")
        assert (sp.is_configured(), sp.is_active()) == (True, False)
        sp.pause()
        sp.resume()
    assert len(run.results) == 0
    assert os.listdir(tmp_path) == []


# ---- finalize ------------------------------------------------------------------------------------


def test_a_summary_that_cannot_be_printed_leaves_the_file(tmp_path, read, monkeypatch):
    class Broken:
        encoding = "utf-8"

        def write(self, text):
            raise BrokenPipeError("nobody reads this")

        flush = isatty = lambda self: False

    path = tmp_path / "run.h5"
    with sp.session(file_path=str(path)):
        enter("kept")
        monkeypatch.setattr("sys.stdout", Broken())
        with pytest.raises(BrokenPipeError):
            sp.finalize()
    assert read(path).calls("kept") == 1


def test_calls_of_a_thread_that_ended_inside_them_are_not_blamed_on_memory(capfd):
    sp.setup(output=None)
    thread = threading.Thread(target=lambda: sp.region("left open").__enter__())
    thread.start()
    thread.join()
    while os.path.exists(f"/proc/self/task/{thread.native_id}"):  # Python's end comes before
        time.sleep(0.001)
    sp.finalize(verbose=False)
    said = capfd.readouterr().err
    assert "1 call(s) were lost" in said
    assert "threads that ended inside" in said


def test_second_file_holds_what_is_new(tmp_path, read):
    path = tmp_path / "run.h5"
    sp.setup(output=path)
    enter("once"), enter("twice")
    sp.finalize(verbose=False)
    first = read(path)
    assert first.names == {"once", "twice"}
    enter("twice")
    sp.finalize(verbose=False)
    second = read(path)
    assert second.names == {"twice"}
    assert second.calls("twice") == 1
    assert sp.region("twice").num_calls == 2
    ids = [list(run.results["twice"][0].call_ids) for run in (first, second)]
    assert max(ids[0]) < min(ids[1])


def test_second_result_in_memory_holds_everything(finish):
    sp.setup(output=None)
    enter("r")
    assert finish().calls("r") == 1
    enter("r")
    assert finish().calls("r") == 2


def test_region_held_open_appears_whole_in_the_next_file(tmp_path, read):
    @sp.profile
    def decorated():
        sp.finalize(verbose=False)
        return read(path)

    path = tmp_path / "run.h5"
    sp.setup(output=path)
    with sp.region("open"):
        with sp.region("done"):
            pass
        sp.finalize(verbose=False)
        assert read(path).names == {"done"}
        assert decorated().names == set()
    sp.finalize(verbose=False)
    last = read(path)
    assert last.names == {"open", "decorated"}
    assert last.tree() == [("open", 0), ("decorated", 1)]


def test_finalize_time_is_stored(finish):
    sp.setup(output=None)
    enter("r")
    results = finish().results
    start, end = results.metadata["start_time_ns"], results.metadata["finalize_time_ns"]
    assert results.total_time == pytest.approx((end - start) / 1e9)
    assert start <= results["r"][0].start_times_ns[0] <= end


def test_crossing_calls_warn_once(tmp_path):
    sp.setup(output=tmp_path / "run.h5")
    a, b = sp.region("a"), sp.region("b")
    a.__enter__(), b.__enter__(), a.__exit__(None, None, None), b.__exit__(None, None, None)
    with pytest.warns(RuntimeWarning, match="1 call.* ended while"):
        sp.finalize(verbose=False)
    enter("a")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sp.finalize(verbose=False)
    assert sp.last_results()["a"].num_calls == 1


def test_summary_is_printed_unless_quiet(tmp_path, capsys):
    with sp.session(output=tmp_path / "run.h5", verbose=False):
        enter("shown")
    assert capsys.readouterr() == ("", "")
    with sp.session(output=tmp_path / "run.h5"):
        enter("shown")
    printed = capsys.readouterr().out
    assert "shown" in printed and "run.h5" in printed
    with sp.session(output=None, label="case 7"):
        enter("shown")
    assert "case 7 (in memory, 1 rank(s))" in capsys.readouterr().out
    with sp.session(output=None):
        enter("shown")
    printed = capsys.readouterr().out
    assert "profiling_data (in memory, 1 rank(s))" in printed and "inspect" not in printed
    kept = sp.last_results()
    assert (kept.file_path, kept.display_label) == (Path("profiling_data.h5"), "profiling_data")


def test_a_silent_run_says_why(capsys):
    sp.setup(output=None)
    sp.finalize()
    assert "no region was entered" in capsys.readouterr().err
    sp.setup(output=None, region_tags=["wanted"])
    enter("r")
    sp.finalize(verbose=False)
    assert "no region carries a tag of region_tags=['wanted']" in capsys.readouterr().err
    sp.register_opt_in_tag("lib")
    sp.setup(output=None)
    with sp.region("deep", tags=["lib"]):
        pass
    sp.finalize(verbose=False)
    assert "'deep'" in capsys.readouterr().err


# ---- handles of runs -----------------------------------------------------------------------------


def test_run_finalizes_itself(tmp_path):
    path = tmp_path / "run.h5"
    run = sp.setup(file_path=str(path))
    assert isinstance(run, ProfilingRun)
    assert (run.results, run.file_path, run.is_active) == (None, str(path), True)
    enter("r")
    results = run.finalize(verbose=False)
    assert results is run.results
    assert results["r"].num_calls == 1
    other = sp.setup(output=None)
    assert not run.is_active
    with pytest.raises(RuntimeError, match="has been replaced"):
        run.finalize()
    assert other.file_path == "profiling_data.h5"
    assert other.finalize(verbose=False, return_results=False) is None


def test_results_of_the_last_run(tmp_path):
    sp.setup(output=None)
    enter("r")
    sp.finalize(verbose=False)
    assert sp.last_results()["r"].num_calls == 1
    with pytest.raises(FileNotFoundError, match="no output file"):
        ProfileManager.read_results()
    sp.setup(output=tmp_path / "run.h5")
    with pytest.raises(FileNotFoundError, match="run.h5"):
        ProfileManager.read_results()
    enter("s")
    sp.finalize(verbose=False)
    assert sp.last_results()["s"].num_calls == ProfileManager.read_results()["s"].num_calls == 1


def test_payload_has_its_fields_in_order():
    assert RankPayload._fields == (
        "regions", "likwid", "likwid_environment", "perf_events", "sources", "tags",
        "event_metadata", "line_profile", "exclusive_totals", "aggregate_stats", "lanes",
    )  # fmt: skip
    assert RankPayload({}, {}, {})[3:] == (None,) * 8


# ---- sessions ------------------------------------------------------------------------------------


def test_session_has_a_root_that_covers_the_body(tmp_path, read):
    path = tmp_path / "run.h5"
    with sp.session(output=path, verbose=False) as run:
        assert run.is_active and run.file_path == path
        enter("r")
    recorded = read(path)
    assert recorded.calls(ROOT) == 1
    root, inner = recorded.results[ROOT][0], recorded.results["r"][0]
    assert root.start_times_ns[0] <= inner.start_times_ns[0]
    assert inner.end_times_ns[0] <= root.end_times_ns[0]
    assert recorded.results.get_regions()[0].name == ROOT


def test_root_is_recorded_whatever_the_tags(read, tmp_path):
    path = tmp_path / "run.h5"
    with sp.session(output=path, verbose=False, region_tags=["a"]):
        with sp.region("r", tags=["a"]):
            pass
    assert read(path).calls(ROOT) == 1


def test_session_does_not_swallow(tmp_path, read):
    path = tmp_path / "run.h5"
    error = KeyError("body")
    with pytest.raises(KeyError) as caught:
        with sp.session(output=path, verbose=False):
            with sp.region("r"):
                raise error
    assert caught.value is error and error.__context__ is None
    assert read(path).calls("r") == 1


def test_session_as_decorator_makes_a_run_a_call(tmp_path, read):
    path = tmp_path / "run.h5"

    @sp.session(output=path, verbose=False)
    def program(n):
        """Runs."""
        for _ in range(n):
            enter("step")
        return n

    assert program.__name__ == "program" and program.__doc__ == "Runs."
    for n in (2, 3):
        assert program(n) == n
        assert read(path).calls("step") == n


def test_session_decorates_coroutines(tmp_path, read):
    import asyncio

    path = tmp_path / "run.h5"

    @sp.session(output=path, verbose=False)
    async def program():
        await asyncio.sleep(0)
        enter("step")

    asyncio.run(program())
    assert read(path).calls("step") == 1


def test_session_keeps_results_when_asked():
    with sp.session(output=None, verbose=False, return_results=True) as run:
        enter("r")
        assert run.results is None
    assert run.results["r"].num_calls == 1
    assert sp.last_results() is run.results
    with sp.session(output=None, verbose=False, replace=True) as quiet:
        enter("r")
    assert quiet.results is None


def test_finalize_inside_an_open_session(tmp_path, read, capsys):
    path = tmp_path / "run.h5"

    def program():
        with sp.session(output=path):
            enter("r")
            return sp.finalize(return_results=True, verbose=False)

    results = program()
    assert capsys.readouterr() == ("", "")
    assert results["r"].num_calls == results[ROOT].num_calls == 1
    assert read(path).calls("r") == 1
    with sp.session(output=path, verbose=False):
        enter("before")
        sp.finalize(verbose=False)
        enter("after")
    assert read(path).names == {"after"}


def test_second_session_on_an_active_manager_is_refused(tmp_path, read):
    first, second = tmp_path / "a.h5", tmp_path / "b.h5"
    with sp.session(output=first, verbose=False):
        enter("before")
        with pytest.raises(RuntimeError, match="already configured"):
            with sp.session(output=second, verbose=False):
                enter("lost")
        enter("after")
    assert read(first).names == {"before", "after"}
    assert not second.exists()


def test_notebook_cell_that_is_run_again(tmp_path, read):
    path = tmp_path / "run.h5"
    for i in range(3):
        sp.setup(output=path, replace=True)
        handle = sp.define_region("cell", tags=["nb"])

        @sp.profile("work")
        def work():
            pass

        for _ in range(i + 1):
            with handle:
                work()
        sp.finalize(verbose=False)
        recorded = read(path)
        assert (recorded.calls("cell"), recorded.calls("work")) == (i + 1, i + 1)


def test_managers_are_independent(tmp_path, read):
    cpu, io = ProfileManager(), ProfileManager()
    paths = tmp_path / "cpu.h5", tmp_path / "io.h5"
    with cpu.session(output=paths[0], verbose=False):
        with io.session(output=paths[1], verbose=False):
            with cpu.region("x"), io.region("y"), sp.region("default"):
                pass
        enter("x", cpu), enter("y", io)
    assert (read(paths[0]).names, read(paths[0]).calls("x")) == ({"x"}, 2)
    assert (read(paths[1]).names, read(paths[1]).calls("y")) == ({"y"}, 1)
    assert not sp.is_configured()
    assert cpu.region is not io.region
    assert cpu.get_region("y") is None


# ---- definitions and names -----------------------------------------------------------------------


def test_defined_regions_survive_setups():
    handle = sp.define_region("phase", tags=["t"])
    assert isinstance(handle, RegionHandle) and handle.name == "phase"
    with handle:
        pass
    for _ in range(2):
        sp.setup(output=None, replace=True)
        assert ProfileManager.get_region("phase").tags == ("t",)
        with handle as outer:
            with handle as inner:
                assert outer is inner is ProfileManager.get_region("phase")
        assert sp.region("phase").num_calls == 2
    again = sp.define_region("phase", tags=["t"])
    assert again.name == "phase"
    with pytest.raises(ValueError, match="'phase' was already defined differently"):
        sp.define_region("phase", tags=["other"])


def test_handle_held_over_a_configuration():
    handle = sp.define_region("held")
    sp.setup(output=None)
    with handle:
        sp.setup(output=None, replace=True)
    with handle:
        pass
    assert sp.region("held").num_calls == 1


def test_handles_of_one_name_are_told_apart():
    first, second = sp.define_region("same"), sp.define_region("same")
    other = sp.define_region("other")
    sp.setup(output=None)
    with first, other, second:
        pass
    for handle in (first, second):
        handle.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    first.__exit__(None, None, None)  # not entered: nothing to leave
    assert sp.region("same").num_calls == 4


def test_subclass_may_have_its_own_region():
    class Manager(ProfileManager):
        def region(self, name):
            return self.profile_region("mine: " + name)

    manager = Manager()
    manager.setup(output=None)
    enter("r", manager)
    assert manager.recorded_regions() == ("mine: r",)


def test_names_of_regions():
    @sp.profile("decorated")
    def f():
        pass

    sp.define_region("defined")
    sp.setup(output=None)
    enter("entered")
    sp.region("made")
    assert set(sp.registered_regions()) == {"decorated", "defined", "entered", "made"}
    assert sp.recorded_regions() == ("entered",)
    assert ProfileManager.get_region("none") is None
    regions = ProfileManager.get_all_regions()
    enter("later")
    assert "later" in regions


# ---- running programs ----------------------------------------------------------------------------


def test_run_calls_a_function_in_a_session(tmp_path, read, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def program(a, b):
        enter("r")
        return a + b

    assert sp.run(program, 1, 2, deactivate_file_output=True) == 3
    assert sp.last_results()["r"].num_calls == 1
    assert os.listdir(tmp_path) == []
    assert sp.run(program, 1, 2) == 3
    assert os.listdir(tmp_path) == ["profiling_data.h5"]
    assert sp.run(program, 1, 2, output=tmp_path / "run.h5", label="x") == 3
    assert read(tmp_path / "run.h5").results.label == "x"


SCRIPT = """
import sys
import scope_profiler as sp

class Local:
    pass

assert __name__ == "__main__" and sys.modules["__main__"].Local is Local
with sp.region("in script"):
    print("arguments", sys.argv[1:], sys.path[0])
"""


def test_run_script(tmp_path, capsys):
    import sys

    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    before = sys.argv, list(sys.path), sys.modules["__main__"]
    sp.setup(output=None)
    ProfileManager.run_script(script, ["a", "--b"], recursive=False)
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before
    assert sp.recorded_regions() == ("in script",)
    assert capsys.readouterr().out == f"arguments ['a', '--b'] {tmp_path}\n"


def test_profile_script(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    output = tmp_path / "run.h5"
    results = ProfileManager.profile_script(script, script_args=["x"], output=output, label="s")
    assert results["in script"].num_calls == 1
    assert results.label == "s" and output.exists()


def test_profile_command_checks_its_command():
    for command in ([], ["python3"], ["/usr/bin/python3.11"]):
        with pytest.raises(ValueError, match="requires a Python script path"):
            ProfileManager.profile_command(command)


def test_options_object_of_a_client():
    class Options(ProfilingOptions):
        pass

    with sp.session(options=Options(), deactivate_profiling=False, output=None, verbose=False):
        enter("r")
    assert sp.last_results()["r"].num_calls == 1


def test_handles_made_with_the_class_use_the_default_manager(memory_run, finish):
    with RegionHandle(ProfileManager, "handle", tags=["t"]) as region:
        assert region.tags == ("t",)
    with RegionFactory(ProfileManager, "factory")(i=1):
        pass
    run = ProfilingRun(ProfileManager, ProfileManager.get_config())
    assert run.is_active and sp.recorded_regions() == ("handle", "factory")
    assert run.finalize(verbose=False)["factory"][0].event_metadata == ({"i": 1},)


@pytest.mark.parametrize("output", [None, "run.h5", "run.json"])
@pytest.mark.parametrize("totals", [False, True])
def test_regions_come_in_the_order_of_their_creation(tmp_path, monkeypatch, output, totals):
    monkeypatch.chdir(tmp_path)

    @sp.profile("decorated")
    def decorated():
        pass

    sp.define_region("defined")
    sp.setup(output=output, aggregation_mode=totals)
    third, unused, fourth = sp.region("third"), sp.region("unused"), sp.region("fourth")
    with fourth, third:
        sp.define_region("defined").__enter__().__exit__()
        decorated()
    results = ProfileManager.finalize(verbose=False, return_results=True)
    assert list(ProfileManager.get_all_regions()) == [
        "decorated", "defined", "third", "unused", "fourth"
    ]  # fmt: skip
    assert unused.num_calls == 0
    assert results.region_names == ["decorated", "defined", "third", "fourth"]
    if not totals:
        started = [region.name for region in results.get_regions()]
        assert started == ["fourth", "third", "defined", "decorated"]
