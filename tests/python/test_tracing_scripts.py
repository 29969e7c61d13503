"""Scripts run under the tracer: which functions are chosen, and what their regions are called."""

import sys

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager
from scope_profiler._trace import Rules, Tracing

SCRIPT = """
import json, sys
class Solver:
    def step(self): return inner()
def inner(): return json.dumps({"a": [1]}, indent=1)
def main(): return Solver().step()
main()
"""
QUALIFIED = sys.version_info >= (3, 11)
STEP = "__main__.Solver.step" if QUALIFIED else "__main__.step"
CLASS = "__main__.Solver"


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "app.py"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def tree(memory_run, finish, script):
    """Runs the script with these arguments; its calls as (name, depth)."""

    def run(**arguments):
        ProfileManager.run_script(script, **arguments)
        return finish().tree()

    return run


def test_everything_of_the_script_in_a_root_region(tree):
    assert tree() == [
        ("app.py", 0), ("__main__.<module>", 1), (CLASS, 2), ("__main__.main", 2), (STEP, 3),
        ("__main__.inner", 4),
    ]


def test_root_region_name(tree):
    assert tree(region_name="all")[:2] == [("all", 0), ("__main__.<module>", 1)]


def test_not_recursive_adds_nothing(tree):
    assert tree(recursive=False) == []


def test_library_code_on_request(tree):
    names = {name for name, _ in tree(only_user_code=False)}
    assert {"json.dumps", "__main__.inner"} <= names
    assert not any(name.startswith("scope_profiler") for name in names)


def test_patterns(tree):
    assert tree(include_patterns=["*.main", "*inner"], exclude_patterns=["__main__.in*"]) == [
        ("app.py", 0), ("__main__.main", 1)
    ]


def test_one_pattern_may_stand_alone(tree):
    assert tree(include_patterns="*.main")[1:] == [("__main__.main", 1)]


def test_entrypoint_has_its_plain_name(tree):
    assert ("main", 2) in tree(entrypoint="main")


def test_entrypoint_is_taken_whatever_the_patterns(tree):
    assert tree(entrypoint="main", include_patterns=["nothing"]) == [("app.py", 0), ("main", 1)]


@pytest.mark.parametrize("patterns", [[3], [None]])
def test_patterns_are_strings(memory_run, script, patterns):
    with pytest.raises(TypeError, match="patterns must be strings"):
        ProfileManager.run_script(script, include_patterns=patterns)


def test_script_that_raises(memory_run, finish, tmp_path):
    path = tmp_path / "bad.py"
    path.write_text("def f(): raise KeyError('x')\nf()\n")
    with pytest.raises(KeyError):
        ProfileManager.run_script(path)
    assert finish().tree() == [("bad.py", 0), ("__main__.<module>", 1), ("__main__.f", 2)]


def test_without_a_run_the_script_just_runs(script, capsys):
    script.write_text("print(3)\n")
    ProfileManager.run_script(script)
    assert capsys.readouterr().out == "3\n"


def test_profile_script_follows_the_setting(script):
    results = ProfileManager.profile_script(
        script, recursive_profile=True, deactivate_file_output=True
    )
    assert "__main__.inner" in results.region_names
    results = ProfileManager.profile_script(script, deactivate_file_output=True)
    assert list(results.region_names) == []


def test_another_manager_traces_already(memory_run, script):
    other = ProfileManager()
    other.setup(output=None)

    @sp.profile("entry", recursive=True)
    def entry():
        with pytest.raises(RuntimeError, match="traced by another manager"):
            other.run_script(script)

    entry()


def test_explicit_regions_and_traced_calls_nest(memory_run, finish, tmp_path):
    path = tmp_path / "mixed.py"
    path.write_text(
        "import scope_profiler as sp\n"
        "def f():\n    with sp.region('inside'): return g()\n"
        "def g(): pass\n"
        "with sp.region('outside'): f()\n"
    )
    ProfileManager.run_script(path)
    assert finish().tree()[1:] == [
        ("__main__.<module>", 1), ("outside", 2), ("__main__.f", 3), ("inside", 4),
        ("__main__.g", 5),
    ]


# ---- limits ---------------------------------------------------------------------------------

DEEP = """
def down(n):
    if n: down(n - 1)
def gen():
    yield down(1)
    yield 2
down(5)
list(gen())
down(0)
"""


@pytest.mark.parametrize(
    ("most", "names"),
    [
        (1, ["<module>"]),
        (2, ["<module>", "down", "gen", "gen", "gen", "down"]),
        (3, ["<module>", "down", "down", "gen", "down", "gen", "gen", "down"]),
    ],
)
def test_depth_limit(memory_run, finish, tmp_path, most, names):
    path = tmp_path / "deep.py"
    path.write_text(DEEP)
    with Tracing(ProfileManager._default, "root", max_depth=most):
        ProfileManager.run_script(path, recursive=False)
    calls = finish().tree()
    assert [name for name, _ in calls] == ["root"] + ["__main__." + name for name in names]
    assert max(depth for _, depth in calls) == most


SHORT = """
import time
def tiny(): pass
def long():
    tiny()
    time.sleep(0.03)
def caller():
    for _ in range(5): tiny()
    long()
def gen():
    for _ in range(3): yield tiny()
caller(); list(gen()); tiny()
"""


def test_short_calls_are_folded_and_counted(memory_run, finish, tmp_path):
    from scope_profiler import _recorder

    path = tmp_path / "short.py"
    path.write_text(SHORT)
    with Tracing(ProfileManager._default, "root", min_duration_ns=20_000_000):
        ProfileManager.run_script(path, recursive=False)
    folded = _recorder.folded_calls(ProfileManager._default._profiler)
    assert folded == {"__main__.tiny": 5 + 1 + 3 + 1, "__main__.gen": 4}
    recorded = finish()
    assert recorded.tree() == [
        ("root", 0), ("__main__.<module>", 1), ("__main__.caller", 2), ("__main__.long", 3)
    ]
    assert sp.region("__main__.tiny").num_calls == 0
    sp.setup(output=None)
    assert _recorder.folded_calls(ProfileManager._default._profiler) == {}


def test_folded_calls_stand_in_the_metadata(memory_run, finish, tmp_path):
    path = tmp_path / "short.py"
    path.write_text(SHORT)
    with Tracing(ProfileManager._default, "root", min_duration_ns=20_000_000):
        ProfileManager.run_script(path, recursive=False)
    metadata = finish().results.metadata
    assert metadata["folded_calls"] == 14
    assert metadata["folded_regions"] == ["__main__.gen: 4", "__main__.tiny: 10"]


def test_both_limits(memory_run, finish, tmp_path):
    path = tmp_path / "short.py"
    path.write_text(SHORT)
    with Tracing(ProfileManager._default, "root", max_depth=2, min_duration_ns=20_000_000):
        ProfileManager.run_script(path, recursive=False)
    assert finish().tree() == [("root", 0), ("__main__.<module>", 1), ("__main__.caller", 2)]


@pytest.mark.parametrize(
    "limits", [{"max_depth": 0}, {"max_depth": "3"}, {"max_depth": True}, {"min_duration_ns": -1}]
)
def test_limits_are_checked(limits):
    with pytest.raises(ValueError, match=next(iter(limits))):
        Tracing(ProfileManager._default, "root", **limits)


# ---- the rules themselves --------------------------------------------------------------------


def code(filename, name="f"):
    space = {}
    exec(compile(f"def {name}(): pass", filename, "exec"), space)
    return space[name].__code__


def test_user_code(tmp_path):
    import sysconfig

    rules = Rules()
    assert rules(code(str(tmp_path / "a.py")), "a") == "a.f"
    assert rules(code("relative.py"), "a") == "a.f"
    for file in ("", "<string>", "<frozen x>", sysconfig.get_path("stdlib") + "/json/__init__.py",
                 sysconfig.get_path("purelib") + "/numpy/x.py", sp.__file__):
        assert rules(code(file), "a") is None
    assert Rules(only_user_code=False)(code("<string>"), "a") == "a.f"
    assert Rules(only_user_code=False)(code(sp.__file__), "a") is None


def test_links_are_followed(tmp_path):
    import sysconfig

    (tmp_path / "lib").symlink_to(sysconfig.get_path("stdlib"))
    (tmp_path / "stdlib").mkdir()
    assert Rules()(code(str(tmp_path / "lib" / "x.py")), "a") is None
    assert Rules()(code(str(tmp_path / "stdlib" / "x.py")), "a") == "a.f"


def test_code_without_a_module():
    assert Rules()(code("a.py"), None) == "<unknown>.f"


def test_main_file():
    rules = Rules(main_file="<string>")
    assert rules(code("<string>"), "__main__") == "__main__.f"
    assert rules(code("<string>"), "collections") is None
    assert rules(code("<stdin>"), "__main__") is None
