"""Options of tracing that hold for a process: set by the program or by its environment."""

import sys

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager, tracing

PROGRAM = """
import time
def tiny(): return abs(-1)
def long():
    tiny()
    time.sleep(0.03)
def main():
    tiny()
    long()
main()
"""


@pytest.fixture(autouse=True)
def as_before():
    with tracing.configure():
        yield


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "app.py"
    path.write_text(PROGRAM)
    return path


def names(found):
    return [name.rpartition(".")[2] for name, _ in found.tree()]


def test_nothing_is_left_out_at_first():
    options = tracing.options()
    assert (options.max_depth, options.min_duration_ns, options.c_calls) == (None, 0, False)
    assert repr(options) == "TracingOptions(max_depth=None, min_duration='0ns', c_calls=False)"


def test_scripts(memory_run, finish, script):
    tracing.configure(max_depth=2)
    ProfileManager.run_script(script)
    assert names(finish()) == ["py", "<module>", "main"]


def test_profile_script(script):
    tracing.configure(min_duration="20ms", c_calls=True)
    results = ProfileManager.profile_script(
        script, recursive_profile=True, deactivate_file_output=True
    )
    assert sorted(results.region_names) == [
        "__main__.<module>", "__main__.long", "__main__.main", "app.py", "time.sleep"
    ]
    assert results.metadata["folded_calls"] == 2 + 2  # tiny and abs, twice


def test_decorated_functions(run_python, tmp_path, script):
    (tmp_path / "module.py").write_text(PROGRAM.replace("\nmain()\n", "\n"))
    done = run_python(f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import module
import scope_profiler as sp
from scope_profiler import tracing
def calls():
    found = sp.finalize(verbose=False, return_results=True)
    return {{name.rpartition(".")[2]: found[name][0].num_calls for name in found.region_names}}

entry = sp.profile("entry", recursive=True)(module.main)
sp.setup(output=None)
entry()
assert calls() == {{"entry": 1, "tiny": 2, "long": 1}}
sp.setup(output=None)
with tracing.configure(max_depth=1, c_calls=True) as options:
    assert options.max_depth == 1
    entry()
assert calls() == {{"entry": 1, "tiny": 1, "long": 1}}
sp.setup(output=None)
with tracing.configure(c_calls=True): entry()
assert calls() == {{"entry": 1, "tiny": 2, "long": 1, "abs": 2, "sleep": 1}}
sp.setup(output=None, recursive_profile=True)
sp.instrument(module, include=("main",))
with tracing.configure(min_duration=0.02): module.main()
assert calls() == {{"main": 1, "long": 1}}
""")
    assert done.returncode == 0, done.stderr


def test_the_environment(run_python, script):
    done = run_python(
        f"""
import scope_profiler as sp
from scope_profiler import ProfileManager, tracing
sp.setup(output=None)
ProfileManager.run_script({str(script)!r})
found = sp.finalize(verbose=False, return_results=True)
assert "time.sleep" in found.region_names and "__main__.tiny" not in found.region_names
assert tracing.options().max_depth == 9
tracing.configure()
assert tracing.options().max_depth is None
""",
        env={"SCOPE_PROFILER_TRACE_MAX_DEPTH": "9", "SCOPE_PROFILER_TRACE_MIN_DURATION": "20ms",
             "SCOPE_PROFILER_TRACE_C_CALLS": "yes"},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "value"), [("MAX_DEPTH", "0"), ("MAX_DEPTH", "two"), ("MIN_DURATION", "soon")]
)
def test_an_environment_that_makes_no_sense(run_python, name, value):
    variable = f"SCOPE_PROFILER_TRACE_{name}"
    done = run_python(
        "import scope_profiler as sp\n"
        "sp.setup(output=None)\n"
        "entry = sp.profile('entry', recursive=True)(lambda: 3)\n"
        "assert entry() + entry() == 6 and sp.region('entry').num_calls == 2\n",
        env={variable: value},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(f"ValueError: {variable}") == 1
    assert repr(value) in done.stderr


@pytest.mark.parametrize("depth", [0, -1, "3", True, 2.5])
def test_depths_are_checked(depth):
    with pytest.raises(ValueError, match="max_depth must be a positive integer or None"):
        tracing.configure(max_depth=depth)
    assert tracing.options().max_depth is None


@pytest.mark.parametrize("value", [1, None, "yes"])
def test_c_calls_are_checked(value):
    with pytest.raises(ValueError, match="c_calls must be True or False"):
        tracing.configure(c_calls=value)


@pytest.mark.parametrize(
    ("text", "ns"),
    [("20us", 20_000), ("1.5ms", 1_500_000), ("2s", 2_000_000_000), ("7ns", 7), ("0", 0),
     (0, 0), (1, 1_000_000_000), (0.00002, 20_000), (1e-7, 100), ("0.5 us", 500), (".5us", 500)],
)
def test_durations(text, ns):
    assert tracing.parse_duration(text) == ns
    assert tracing.TracingOptions(min_duration=text).min_duration_ns == ns


@pytest.mark.parametrize("value", ["", "soon", "-1s", "1 h", "us", True, -1, [], float("nan"), b"1s"])
def test_what_is_no_duration(value):
    with pytest.raises(ValueError, match="is no time; write 20us, 1.5ms or 2s"):
        tracing.parse_duration(value)


def test_endless_durations():
    with pytest.raises(ValueError, match="longer than 292 years"):
        tracing.parse_duration("1e10")


def test_options_do_not_change():
    with pytest.raises(AttributeError, match="max_depth"):
        tracing.options().max_depth = 3
    assert sys.modules["scope_profiler.tracing"] is tracing
    assert sp.tracing is tracing
