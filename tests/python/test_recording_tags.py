"""Tags: stored, filtered by, opted into."""

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager


def counts():
    regions = ProfileManager.get_all_regions()
    return {name: region.num_calls for name, region in regions.items() if region.num_calls}


def enter(name, **more):
    with sp.region(name, **more):
        pass


def test_tags_are_kept_in_order_and_cannot_change(memory_run):
    assert sp.region("r", tags=iter(["b", "a"])).tags == ("b", "a")
    assert sp.region("r") is sp.region("r", tags=None) is sp.region("r", tags=["a", "b"])
    with pytest.raises(ValueError) as caught:
        sp.region("r", tags=["c"])
    for part in ("'r'", "already has tags", "cannot reuse it with"):
        assert part in str(caught.value)
    sp.region("plain")
    with pytest.raises(ValueError, match="already has tags"):
        sp.region("plain", tags=["a"])
    with pytest.raises(TypeError, match="tags must be strings"):
        sp.region("s", tags=[1])
    for make in (sp.region, ProfileManager.define_region, ProfileManager.region_factory):
        with pytest.raises(TypeError, match="iterable of strings, got 3"):
            make("s", tags=3)


def test_a_string_is_one_tag():
    sp.setup(output=None, region_tags="io")
    assert sp.region("r", tags="io").tags == ("io",)
    assert ProfileManager.define_region("d", tags="io").__enter__().tags == ("io",)
    enter("off", tags="solve")
    enter("on", tags=["io"])
    assert sp.recorded_regions() == ("d", "on")
    sp.register_opt_in_tag("lib")
    sp.setup(output=None, replace=True, enable_tags="lib")
    enter("deep", tags="lib")
    assert sp.recorded_regions() == ("deep",)


def test_tags_are_stored(tmp_path, read):
    path = tmp_path / "run.h5"
    with sp.session(output=path, verbose=False):
        enter("r", tags=["zwei", "eins", "q\"uote"])
        enter("plain")
    results = read(path).results
    assert results["r"][0].tags == ("zwei", "eins", "q\"uote")
    assert results["plain"][0].tags == ()


def test_region_tags_choose_what_is_recorded():
    @sp.profile(tags=["io"])
    def reads():
        pass

    @sp.profile
    def untagged():
        pass

    sp.setup(output=None, region_tags=["io", "net"])
    enter("socket", tags=["net", "deep"]), enter("math", tags=["cpu"]), enter("bare")
    reads(), untagged()
    assert counts() == {"reads": 1, "socket": 1}


def test_conflicting_tags_of_decorators_are_refused_at_setup():
    functions = [sp.profile("same", tags=[tag])(lambda: None) for tag in "ab"]
    with pytest.raises(ValueError, match="already has tags"):
        sp.setup(output=None)
    assert not sp.is_configured()
    assert [function() for function in functions] == [None, None]


# ---- opt-in --------------------------------------------------------------------------------------


@pytest.fixture
def library():
    """A decorated function and a region of a library whose tag is opt-in."""
    evaluated = []

    @sp.profile("kernel", tags=["lib"], metadata=lambda: evaluated.append(1) or {"a": 1})
    def kernel():
        return 3

    kernel.evaluated = evaluated
    return kernel


def use(library):
    assert library() == 3
    enter("library region", tags=["lib"])
    enter("own")


def test_opt_in_regions_are_off_by_default(library):
    sp.register_opt_in_tag("lib")
    sp.setup(output=None)
    use(library)
    assert counts() == {"own": 1}
    assert library.evaluated == []


@pytest.mark.parametrize(
    "settings",
    [{"enable_tags": ["lib"]}, {"enable_tags": ("*",)}, {"enable_tags": iter(["x", "lib"])}],
)
def test_enabled_by_setting(library, settings):
    sp.register_opt_in_tag("lib", "other")
    sp.setup(output=None, **settings)
    use(library)
    assert counts() == {"kernel": 1, "library region": 1, "own": 1}


def test_enabled_by_region_tags(library):
    sp.register_opt_in_tag("lib")
    sp.setup(output=None, region_tags=["lib"])
    use(library)
    assert counts() == {"kernel": 1, "library region": 1}


def test_enabled_by_environment_which_adds(library, monkeypatch):
    sp.register_opt_in_tag("lib", "more")
    monkeypatch.setenv("SCOPE_PROFILER_ENABLE_TAGS", "lib, x")
    sp.setup(output=None, enable_tags=["more"])
    use(library)
    enter("r", tags=["more"])
    assert set(counts()) == {"kernel", "library region", "own", "r"}


def test_enabled_by_toml(library, tmp_path):
    sp.register_opt_in_tag("lib")
    (tmp_path / "c.toml").write_text('[profiling]\nenable_tags = ["lib"]\n')
    sp.setup(output=None, config_path=tmp_path / "c.toml")
    use(library)
    assert set(counts()) == {"kernel", "library region", "own"}


def test_registering_reaches_what_exists(library):
    manager = ProfileManager()
    manager.setup(output=None)
    other = manager.region("r", tags=["lib"])
    sp.setup(output=None)
    use(library)
    assert set(counts()) == {"kernel", "library region", "own"}
    region = sp.region("library region")
    sp.register_opt_in_tag("lib")
    use(library)
    with other:
        pass
    assert counts() == {"kernel": 1, "library region": 1, "own": 2}
    assert other.num_calls == 0
    assert sp.region("library region") is region
    assert type(region).__name__ == "DisabledProfileRegion"


def test_region_switched_off_while_open(finish):
    sp.setup(output=None)
    with sp.region("outer", tags=["lib"]):
        sp.register_opt_in_tag("lib")
        enter("inner")
    enter("after")
    recorded = finish()
    assert recorded.tree() == [("outer", 0), ("inner", 1), ("after", 0)]


def test_tags_must_be_strings():
    for bad in (3, "", None, b"lib"):
        with pytest.raises(TypeError, match="opt-in tags must be non-empty strings, got"):
            sp.register_opt_in_tag("fine", bad)
    sp.setup(output=None)
    enter("r", tags=["fine"])
    assert counts() == {"r": 1}  # none of them was taken
    sp.reset()
    with pytest.raises(TypeError):
        sp.setup(output=None, region_tags=[3])


def test_instrumented_module_can_be_opt_in():
    import types

    module = types.ModuleType("m")
    module.f = lambda: 1
    ProfileManager.instrument(module, tags=["lib"])
    sp.register_opt_in_tag("lib")
    sp.setup(output=None)
    module.f()
    assert counts() == {}


def test_a_tag_that_no_region_carries_is_said_once_with_the_nearest(capsys):
    sp.setup(output=None, region_tags=["sovle", "io", "qqq"], replace=True)
    enter("a", tags=["solve"])
    enter("b", tags=["io", "solver"])
    sp.finalize(verbose=False)
    first = capsys.readouterr().err
    enter("b", tags=["io", "solver"])
    sp.finalize(verbose=False)
    assert first.splitlines() == [
        "scope_profiler: no region carries the tag 'qqq'",
        "scope_profiler: no region carries the tag 'sovle'; the nearest tags are 'solve', 'solver'"]
    assert capsys.readouterr().err == ""


def test_tags_that_all_fit_are_not_spoken_of(capsys):
    sp.setup(output=None, region_tags=["io"], replace=True)
    enter("b", tags=["io"])
    sp.finalize(verbose=False)
    assert capsys.readouterr().err == ""
