"""Pausing and sampling."""

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager


def enter(name):
    with sp.region(name):
        pass


def test_calls_while_paused_are_not_recorded(memory_run, finish):
    @sp.profile
    def f():
        return 1

    enter("r"), f()
    sp.pause()
    assert ProfileManager.get_config().paused
    enter("r"), f()
    sp.resume()
    assert not ProfileManager.get_config().paused
    enter("r"), f()
    assert sp.region("r").num_calls == sp.region("f").num_calls == 2
    recorded = finish()
    assert (recorded.calls("r"), recorded.calls("f")) == (2, 2)


def test_both_are_harmless_twice(memory_run):
    sp.resume()
    sp.pause(), sp.pause(), sp.resume(), sp.resume()
    enter("r")
    assert sp.region("r").num_calls == 1


def test_pause_inside_regions_is_refused(memory_run):
    with sp.region("a"), sp.region("b"), sp.region("c"), sp.region("d"):
        with pytest.raises(RuntimeError) as caught:
            sp.pause()
    text = str(caught.value)
    assert "scopes are active" in text and text.endswith("...")
    assert sum(repr(name) in text for name in "abcd") == 3
    enter("a")
    assert sp.region("a").num_calls == 2


def test_pause_inside_a_session():
    with sp.session(output=None, verbose=False, return_results=True) as run:
        enter("before")
        sp.pause()
        enter("between")
        sp.resume()
        enter("after")
    assert [name for name in run.results.region_names if "session" not in name] == [
        "before", "after",
    ]  # fmt: skip


def test_both_need_a_setup():
    for function in (sp.pause, sp.resume):
        with pytest.raises(RuntimeError, match="setup"):
            function()


def test_calls_begun_while_paused_stay_balanced(memory_run, finish):
    region = sp.region("r")
    sp.pause()
    region.__enter__()
    sp.resume()
    with sp.region("outer"):
        with region:
            pass
    region.__exit__(None, None, None)
    enter("last")
    assert finish().tree() == [("outer", 0), ("r", 1), ("last", 0)]


def test_sampling(memory_run):
    selected = []
    with ProfileManager.sample_every(10) as step:
        for i in range(25):
            with step(i) as is_selected:
                selected.append(is_selected)
                enter("work")
    assert [i for i, value in enumerate(selected) if value] == [0, 10, 20]
    assert all(type(value) is bool for value in selected)
    assert sp.region("work").num_calls == 3
    with ProfileManager.sample_every(4, start=3) as step:
        for i in range(12):
            with step(i):
                enter("late")
    assert sp.region("late").num_calls == 3  # 3, 7, 11


def test_a_step_decides_until_the_next_one(memory_run):
    config = ProfileManager.get_config()
    with ProfileManager.sample_every(5) as step:
        enter("before")
        for i in range(11):
            with step(i):
                enter("work")
            enter("between")
        assert not config.paused  # after step 10
    enter("after")
    calls = {name: sp.region(name).num_calls for name in ("before", "work", "between", "after")}
    assert calls == {"before": 1, "work": 3, "between": 3, "after": 1}


def test_sampling_puts_back_what_was_before(memory_run):
    config = ProfileManager.get_config()
    with ProfileManager.sample_every(2) as step:
        with step(1):
            assert config.paused
        assert config.paused
    assert not config.paused
    sp.pause()
    with ProfileManager.sample_every(2) as step:
        assert config.paused
        with step(2):
            assert not config.paused
    assert config.paused
    with ProfileManager.sample_every(2) as outer, outer(1):
        with ProfileManager.sample_every(3) as inner:
            with inner(0):
                assert not config.paused
        assert config.paused
    sp.resume()
    with pytest.raises(KeyError):
        with ProfileManager.sample_every(2) as step, step(0), sp.region("r"):
            raise KeyError
    assert not config.paused


def test_steps_that_are_left_out_surround_whole_regions(memory_run):
    with sp.region("open"), ProfileManager.sample_every(2) as step:
        with step(0):
            enter("inner")
        with pytest.raises(RuntimeError, match="scopes are active"):
            with step(1):
                pass
    assert sp.recorded_regions() == ("open", "inner")


def test_sampling_without_a_run():
    with ProfileManager.sample_every(2) as step, step(1) as is_selected:
        assert is_selected is False


@pytest.mark.parametrize("every", [0, -1, True, 1.5, "2"])
@pytest.mark.parametrize("is_configured", [False, True])
def test_bad_intervals(every, is_configured):
    if is_configured:
        sp.setup(output=None)
    with pytest.raises(ValueError, match="every"):
        with ProfileManager.sample_every(every):
            pass


def test_bad_starts_and_steps():
    with pytest.raises(ValueError, match="start"):
        ProfileManager.sample_every(1, start=0.5)
    with ProfileManager.sample_every(1) as step:
        with pytest.raises(TypeError, match="timestep must be an integer"):
            step("3")
        with step(0) as is_selected:
            assert is_selected
