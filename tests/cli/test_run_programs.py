"""`scope-profiler run` beside plain `python`: scripts, modules, commands and archives see, say and
leave the same."""

import signal
import subprocess
import sys
import zipfile

import h5py
import pytest


def write(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return name


def calls_in(path):
    with h5py.File(path) as file:
        names = file["region_table/names"].asstr()[:]
        index = file["rank_region_index"]
        return {names[i]: int(n) for i, n in zip(index["region_ids"], index["event_counts"])}


@pytest.fixture
def both(command, python, tmp_path):
    """Runs the words with plain Python and under the command; both as (status, output, errors)."""

    def run(*words, options=("-q",), stdin=None, **environment):
        found = []
        for start in ([python], [command.path, "run", *options]):
            done = subprocess.run(
                [*start, *words], cwd=tmp_path, input=stdin, capture_output=True, text=True,
                env={**command.environment, **environment}, timeout=60,
            )
            found.append((done.returncode, done.stdout, done.stderr))
        return found

    return run


SHOW = """
import sys
print(__name__, sorted(k for k in globals() if k.startswith("__")))
print(__doc__, __package__, globals().get("__file__"), type(__loader__).__name__, __spec__ and __spec__.name)
print(sys.argv, sys.path[0], sys.orig_argv[1:], sys.modules["__main__"].__dict__ is globals())
print(sys.stdin.read())
"""


def forms(folder):
    """The same code as script, module, package, command, folder and archive: words to run it with."""
    write(folder, "script.py", SHOW)
    write(folder, "pkg/__init__.py", "")
    write(folder, "pkg/__main__.py", SHOW)
    write(folder, "pkg/module.py", SHOW)
    write(folder, "folder/__main__.py", SHOW)
    with zipfile.ZipFile(folder / "archive.pyz", "w") as archive:
        archive.writestr("__main__.py", SHOW)
    return {
        "script": ["script.py"], "module": ["-m", "pkg.module"], "package": ["-m", "pkg"],
        "command": ["-c", SHOW], "folder": ["folder"], "archive": ["archive.pyz"],
        "attached": ["-mpkg.module"], "attached command": ["-cimport sys; print(sys.argv)"],
        "dots": ["./pkg/../script.py"], "absolute": [str(folder / "script.py")],
        "folder with slash": ["./folder/"],
    }


RECURSIVE = {"marked": (), "traced": ("--recursive",),
             "everything": ("--recursive", "--all", "--c-calls")}


@pytest.mark.parametrize("form", ["script", "module", "package", "command", "folder", "archive",
                                  "attached", "attached command", "dots", "absolute",
                                  "folder with slash"])
@pytest.mark.parametrize("recursive", RECURSIVE)
def test_what_a_program_sees(both, tmp_path, form, recursive):
    words = forms(tmp_path)[form]
    options = ("-q", *RECURSIVE[recursive])
    plain, ours = both(*words, "a", "-x", "--flag", "-q", stdin="input\n", options=options)
    if form.startswith("attached"):
        plain, ours = (tuple(part.replace("-mpkg", "-m', 'pkg") for part in map(str, found))
                       for found in (plain, ours))
    assert ours == plain


def test_dashes_of_modules_and_commands(both, tmp_path):
    for words in (["-c", "import sys; print(sys.argv)", "--", "a"],
                  ["-c", "import sys; print(sys.argv)"], ["-c", "-1", "--", "--"]):
        plain, ours = both(*words)
        assert ours == plain and plain[0] == 0


ENDINGS = {
    "falls off the end": "pass",
    "exit status": "raise SystemExit(7)",
    "exit text": "import sys; sys.exit('text')",
    "exit none": "import sys; sys.exit()",
    "exception": "def f():\n    raise ValueError('x')\nf()",
    "chained": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('y') from e",
    "interrupt": "raise KeyboardInterrupt",
    "signal": "import os; os.kill(os.getpid(), 15)",
    "own signal": "import os, signal; signal.raise_signal(signal.SIGINT)",
    "hard exit": "import os; os._exit(5)",
    "syntax": "x = = 1",
    "warning": "import warnings; warnings.warn('w')",
    "thread": "import threading\ndef f():\n    raise ValueError('in thread')\n"
              "t = threading.Thread(target=f, name='T'); t.start(); t.join()",
    "excepthook": "import sys\nsys.excepthook = lambda *a: print('hook', a[0])\nraise KeyError",
    "atexit": "import atexit; atexit.register(print, 'bye'); print('hi')",
    "closed streams": "import sys; sys.stdout.close(); sys.stderr.close()",
}


@pytest.mark.parametrize("form, recursive", [
    ("script", "marked"), ("script", "traced"), ("script", "everything"), ("module", "traced"),
    ("command", "marked"), ("command", "traced")])
@pytest.mark.parametrize("ending", ENDINGS)
def test_endings(both, tmp_path, form, ending, recursive):
    write(tmp_path, "prog.py", ENDINGS[ending] + "\n")
    words = {"script": ["prog.py"], "module": ["-m", "prog"], "command": ["-c", ENDINGS[ending]]}
    options = ("-q", *RECURSIVE[recursive])
    plain, ours = both(*words[form], options=options, PYTHONWARNINGS="always")
    if ending == "thread":  # the number of the thread's address stands in nothing else
        assert ours[:2] == plain[:2] and "ValueError: in thread" in ours[2]
        return
    assert ours == plain


@pytest.mark.parametrize("words", [["-m", "no_such_module"], ["-m", "pkg_without_main"],
                                   ["-m", "pkg.no_such"], ["-m", "json"]])
def test_modules_that_cannot_be_run(both, tmp_path, words):
    write(tmp_path, "pkg_without_main/__init__.py", "")
    write(tmp_path, "pkg/__init__.py", "")
    plain, ours = both(*words)
    assert ours == plain and plain[0] == 1


def test_little_is_imported_besides(both, tmp_path):
    write(tmp_path, "prog.py", "import sys; print(*sys.modules)")
    (_, plain, _), (status, ours, _) = both("prog.py")
    assert status == 0
    others = {name for name in set(ours.split()) - set(plain.split())
              if name.partition(".")[0] not in ("scope_profiler", "_scope_profiler")}
    assert not others & {"threading", "zipfile", "runpy", "contextlib", "inspect", "dataclasses"}
    assert len(others) <= 12, others


def test_nothing_to_run(command):
    result = command("run")
    assert result.code == 2 and "SCRIPT|-m MODULE|-c CODE|-- PROGRAM [ARGS]" in result.err
    result = command("run", "-m")
    assert result.code == 2 and "argument --module: expected one value" in result.err


def test_interrupt_from_outside(command, python, tmp_path):
    write(tmp_path, "wait.py", "import time, scope_profiler\n"
          "with scope_profiler.region('r'):\n    print('ready', flush=True)\n"
          # A signal just before a sleep is not noticed until it ends, by plain Python either.
          "    for _ in range(600): time.sleep(0.1)\n")
    process = subprocess.Popen(
        [command.path, "run", "-q", "--recursive", "wait.py"], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=command.environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT and errors.endswith("KeyboardInterrupt\n")
    assert calls_in(tmp_path / "profiling_data.h5")["r"] == 1


# ---- tracing -------------------------------------------------------------------------------

APP = """
import json
def tiny(n): return abs(n)
def work(n): return [tiny(k) for k in range(n)] and json.dumps(n)
def main():
    for k in range(3): work(k)
if __name__ == "__main__": main()
"""


def names_of(path):
    return {name.removeprefix("__main__."): calls for name, calls in calls_in(path).items()}


@pytest.fixture
def traced(command, python, tmp_path):
    """Runs app.py under the tracer; the calls by name, or the whole answer."""
    write(tmp_path, "app.py", APP)

    def run(*options, words=("app.py",), fails=False):
        result = command("run", *options, *words)
        if fails:
            return result
        assert result.code == 0, result.err
        return names_of(tmp_path / "profiling_data.h5")

    return run



def without_comprehensions(calls):
    return {name: n for name, n in calls.items() if "<listcomp>" not in name}


def test_recursive(traced):
    assert without_comprehensions(traced("--recursive")) == {
        "app.py": 1, "<module>": 1, "main": 1, "work": 3, "tiny": 3}


def test_not_recursive(traced, command):
    assert traced() == {}
    assert traced("--recursive", "--no-recursive") == {}


def test_all(traced):
    found = traced("--recursive", "--all")
    assert found["json.dumps"] == 2 and found["work"] == 3


def test_patterns_and_entrypoint(traced):
    found = traced("--recursive", "--include", "*.work", "--include", "*.tiny", "--exclude",
                   "*tiny", "--entrypoint", "main")
    assert found == {"app.py": 1, "work": 3, "main": 1}


def test_limits(traced):
    assert without_comprehensions(traced("--recursive", "--max-depth", "2")) == {
        "app.py": 1, "<module>": 1, "main": 1}
    found = traced("--recursive", "--min-duration", "10s")
    assert found == {"app.py": 1}
    found = traced("--recursive", "--min-duration", "0.0001us")
    assert found["work"] == 3


def test_c_calls(traced):
    found = traced("--recursive", "--c-calls", "--include", "*.tiny")
    python = traced("--recursive", "--include", "*.tiny")
    assert found == {**python, "builtins.abs": 3}


def test_limits_of_the_environment(traced, command):
    command.environment["SCOPE_PROFILER_TRACE_MAX_DEPTH"] = "1"
    assert without_comprehensions(traced("--recursive")) == {"app.py": 1, "<module>": 1}
    assert traced("--recursive", "--max-depth", "2")["main"] == 1


@pytest.mark.parametrize("words, message", [
    (["--max-depth", "0"], "--max-depth 0: the depth is at least 1"),
    (["--max-depth", "x"], "--max-depth 'x' is no number"),
    (["--min-duration", "soon"], "--min-duration 'soon' is no time; write 20us, 1.5ms or 2s"),
    (["--min-duration", "-3us"], "--min-duration '-3us' is no time"),
])
def test_limits_that_are_none(traced, words, message):
    result = traced("--recursive", *words, fails=True)
    assert result.code == 1 and message in result.err


@pytest.mark.parametrize("words", [["--all"], ["--exclude", "x"], ["--entrypoint", "main"],
                                   ["--max-depth", "2"], ["--min-duration", "1us"],
                                   ["--c-calls"]])
def test_rules_need_recursive(traced, words):
    result = traced(*words, fails=True)
    assert result.code == 1
    assert f"{words[0]} chooses what --recursive traces; give --recursive too" in result.err


def test_setting_in_a_file(traced, tmp_path):
    write(tmp_path, "settings.toml", "recursive_profile = true\n")
    assert traced("--config", "settings.toml")["main"] == 1
    assert traced("--config", "settings.toml", "--no-recursive") == {}


def test_modules_and_commands_are_traced(traced):
    found = without_comprehensions(traced("--recursive", words=("-m", "app")))
    assert found == {"app": 1, "<module>": 1, "main": 1, "work": 3, "tiny": 3}
    found = traced("--recursive", words=("-c", "def f(): pass\nf()\nimport app\napp.main()"))
    assert (found["-c"], found["<module>"], found["f"]) == (1, 1, 1)
    assert found["app.<module>"] == 1 and found["app.tiny"] == 3


def test_summary_tells_of_folded_calls(traced, command):
    traced("--recursive", "--min-duration", "10s")
    shown = command("inspect", "--metadata-only", "--full", "profiling_data.h5").out
    assert "folded_calls" in shown and "__main__.work: 3" in shown


MANY = """
import time
def large(): time.sleep(0.05)
def tiny_0(): pass
""" + "".join(f"def tiny_{k}(): tiny_{k - 1}()\n" for k in range(1, 40)) + "large(); tiny_39()\n"


def test_rows_that_take_little_are_left_out_and_counted(command, python, tmp_path):
    write(tmp_path, "app.py", MANY)
    shown = command("run", "--recursive", "app.py")
    assert "__main__.large" in shown.err and "tiny_3" not in shown.err
    assert "40 more rows take less than 1 % of the largest each." in shown.err
    everything = command("run", "--recursive", "--min-percent", "0", "app.py")
    assert "__main__.tiny_0" in everything.err and "more row" not in everything.err
    inspected = command("inspect", "profiling_data.h5").out
    assert "__main__.tiny_0" in inspected
    inspected = command("inspect", "--min-percent", "20.5", "profiling_data.h5").out
    assert "40 more rows take less than 20.5 % of the largest each." in inspected
    assert "__main__.large" in inspected and "tiny" not in inspected


@pytest.mark.parametrize("percent", ["-1", "101", "x", "", "nan"])
def test_shares_that_are_none(command, python, tmp_path, percent):
    write(tmp_path, "app.py", "pass\n")
    result = command("run", f"--min-percent={percent}", "app.py")
    assert result.code == 1 and "is not a number from 0 to 100" in result.err
    result = command("inspect", f"--min-percent={percent}", "x.h5")
    assert result.code == 2 and "is not a number from 0 to 100" in result.err


def test_program_that_forks(command, python, tmp_path):
    write(tmp_path, "forks.py", """
import os
def f(): pass
child = os.fork()
f()
if child: os.waitpid(child, 0)
""")
    result = command("run", "--recursive", "--min-percent", "0", "forks.py")
    assert result.code == 0 and result.err.count("__main__.f") == 1
    assert names_of(tmp_path / "profiling_data.h5")["f"] == 1


def test_subprocess_is_plain_python(command, python, tmp_path):
    write(tmp_path, "starts.py", "import subprocess, sys\n"
          "subprocess.run([sys.executable, '-c', 'print(3)'], check=True)\n")
    assert command("run", "-q", "--recursive", "starts.py").out == "3\n"


def test_script_with_a_session_of_its_own(command, python, tmp_path):
    write(tmp_path, "own.py", """
import scope_profiler as sp
def f(): pass
f()
with sp.session(output=None, replace=True, verbose=False, return_results=True) as run:
    f(); f()
print(run.results["__main__.f"][0].num_calls)
""")
    result = command("run", "-q", "--recursive", "own.py")
    assert (result.code, result.out) == (0, "2\n"), result.err


def test_without_a_tool_id(command, python, tmp_path):
    if sys.version_info < (3, 12):
        pytest.skip("of monitoring")
    write(tmp_path, "sitecustomize.py",
          "import sys\nfor k in (2, 3, 4): sys.monitoring.use_tool_id(k, f'tool {k}')\n")
    write(tmp_path, "s.py", "print('ran')\n")
    result = command("run", "--recursive", "s.py", PYTHONPATH=str(tmp_path))
    assert (result.code, result.out) == (1, "")
    assert "scope-profiler run: Python calls cannot be traced" in result.err
