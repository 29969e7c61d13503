"""`scope-profiler run`: what is started, how, and what comes back."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path

import h5py
import pytest

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


# ---- The command's side: an interpreter of our own that keeps what it was given --------------------


@pytest.fixture
def recorded_words(command, tmp_path):
    """Runs the command with an interpreter that only notes its words; returns those."""
    fake = tmp_path / "fake python"
    fake.write_text(f"#!{sys.executable}\nimport sys\n"
                    "open(sys.argv[0] + '.words', 'w').write('\\0'.join(sys.argv[1:]))\n")
    fake.chmod(0o755)

    def run(*words):
        result = command("run", *words, SCOPE_PROFILER_PYTHON=str(fake))
        assert (result.code, result.err) == (0, "")
        flag, bootstrap, version, *rest = Path(f"{fake}.words").read_text().split("\0")
        assert flag == "-c" and "_run.main" in bootstrap
        assert version == command("--version").out.split()[1]
        return rest

    return run


ODD_WORDS = ["", " ", "a b", "*", "$HOME", "'", '"', "\\", "--flag", "-x", "ü", "new\nline", "--"]


def test_arguments_reach_the_script_unchanged(recorded_words, tmp_path):
    (tmp_path / "s.py").touch()
    assert recorded_words("s.py", *ODD_WORDS) == ["--", "s.py", *ODD_WORDS]


def test_leading_dashes_are_dropped(recorded_words, tmp_path):
    (tmp_path / "s.py").touch()
    assert recorded_words("s.py", "--", "a", "--", "b") == ["--", "s.py", "a", "--", "b"]
    assert recorded_words("--", "s.py", "a") == ["--", "s.py", "a"]


def test_odd_script_names(recorded_words, tmp_path):
    for name in ("with blank.py", "ünï.py", "-o.py", "no extension"):
        (tmp_path / name).touch()
        assert recorded_words("--", name) == ["--", name]


def test_options_arrive_in_order_by_their_long_names(recorded_words, tmp_path):
    (tmp_path / "s.py").touch()
    words = recorded_words("-o", "out.h5", "-q", "--label=a = b", "--tag", "x", "--tag", "y",
                           "--rec", "--no-recursive", "--buffer-limit", "7", "s.py", "-q")
    assert words == ["--outfile=out.h5", "--quiet", "--label=a = b", "--tag=x", "--tag=y",
                     "--recursive", "--no-recursive", "--buffer-limit=7", "--", "s.py", "-q"]


def test_missing_script(command):
    result = command("run", "nowhere.py", SCOPE_PROFILER_PYTHON=sys.executable)
    assert (result.code, result.out) == (1, "")
    assert result.err == ("scope-profiler run: can't open file 'nowhere.py': "
                          "No such file or directory\n")


# ---- Which interpreter -----------------------------------------------------------------------------


def make_python(folder, name="python3"):
    """An interpreter that says where it lies."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\necho {folder.name}-{folder.parent.name}\n")
    path.chmod(0o755)
    return path


def test_order_of_interpreters(command, command_path, tmp_path):
    """Each place is looked at before the next; places without an interpreter are passed over."""
    (tmp_path / "s.py").touch()
    command.environment.pop("SCOPE_PROFILER_PYTHON", None)
    home = tmp_path / "home" / "bin"
    home.mkdir(parents=True)
    command.path = shutil.copy(command_path, home)
    path = make_python(tmp_path / "path" / "bin").parent
    make_python(tmp_path / "conda" / "bin", "python")
    make_python(tmp_path / "venv" / "bin")
    chosen = make_python(tmp_path / "chosen" / "bin", "interpreter")
    places = {"PATH": f"{tmp_path}/empty:{path}:/usr/bin:/bin"}
    assert command("run", "s.py", **places).out == "bin-path\n"
    places["CONDA_PREFIX"] = str(tmp_path / "conda")
    assert command("run", "s.py", **places).out == "bin-conda\n"
    places["VIRTUAL_ENV"] = str(tmp_path / "venv")
    assert command("run", "s.py", **places).out == "bin-venv\n"
    make_python(home)
    assert command("run", "s.py", **places).out == "bin-home\n"
    places["SCOPE_PROFILER_PYTHON"] = str(chosen)
    assert command("run", "s.py", **places).out == "bin-chosen\n"


def test_no_interpreter(command, command_path, tmp_path):
    (tmp_path / "s.py").touch()
    (tmp_path / "bin").mkdir()
    command.environment.pop("SCOPE_PROFILER_PYTHON", None)
    command.path = shutil.copy(command_path, tmp_path / "bin")
    result = command("run", "s.py", PATH=str(tmp_path))
    assert result.code == 1 and "no Python interpreter found" in result.err
    assert "SCOPE_PROFILER_PYTHON" in result.err
    result = command("run", "s.py", SCOPE_PROFILER_PYTHON="/no/python")
    assert result.code == 1
    assert result.err == ("scope-profiler run: SCOPE_PROFILER_PYTHON names '/no/python', which is "
                          "no executable file\n")


def test_interpreter_without_the_package_is_named(command, tmp_path):
    (tmp_path / "s.py").touch()
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    result = command("run", "s.py", SCOPE_PROFILER_PYTHON=str(bare))
    assert result.code == 1
    assert "cannot import scope_profiler" in result.err and "SCOPE_PROFILER_PYTHON" in result.err


# ---- Python scripts --------------------------------------------------------------------------------


def write(folder, name, text):
    (folder / name).write_text(text)
    return name


HELLO = """
import scope_profiler
for _ in range(3):
    with scope_profiler.region("greeting"):
        pass
"""


def calls_in(path):
    with h5py.File(path) as file:
        names = file["region_table/names"].asstr()[:]
        index = file["rank_region_index"]
        return {names[i]: int(n) for i, n in zip(index["region_ids"], index["event_counts"])}


def test_script_is_recorded_and_inspected(command, python, tmp_path):
    write(tmp_path, "s.py", HELLO)
    result = command("run", "-o", "out.h5", "--label", "first", "s.py")
    assert (result.code, result.out) == (0, ""), result.err
    assert "greeting (3x)" in result.err, "the summary belongs to stderr, stdout is no terminal"
    assert calls_in(tmp_path / "out.h5") == {"greeting": 3}
    shown = command("inspect", "out.h5")
    assert "first - out.h5" in shown.out and "greeting (3x)" in shown.out


def test_summary_goes_to_a_terminal(command, python, tmp_path):
    write(tmp_path, "s.py", HELLO)
    assert "greeting (3x)" in command.on_terminal("run", "s.py")


def test_default_output_and_quiet(command, python, tmp_path):
    write(tmp_path, "s.py", HELLO)
    assert command("run", "-q", "s.py").err == ""
    assert calls_in(tmp_path / "profiling_data.h5") == {"greeting": 3}


def test_no_output(command, python, tmp_path):
    write(tmp_path, "s.py", HELLO)
    result = command("run", "--no-output", "s.py")
    assert result.code == 0 and "greeting (3x)" in result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.py"]


def test_script_sees_what_plain_python_shows(command, python, tmp_path):
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub", "helper.py", "VALUE = 5\n")
    write(tmp_path / "sub", "s.py", """
import os, pickle, sys
import helper
class Thing: pass
assert type(pickle.loads(pickle.dumps(Thing()))) is Thing
print(__name__, __file__, __spec__, helper.VALUE, sys.argv, sys.path[0])
print(sys.modules["__main__"].__dict__ is globals())
""")
    words = [str(Path("sub", "s.py")), *ODD_WORDS[:-1]]
    plain = subprocess.run([python, *words], cwd=tmp_path, capture_output=True, text=True)
    result = command("run", "-q", *words)
    assert plain.returncode == 0 and (result.code, result.out) == (0, plain.stdout)


@pytest.mark.parametrize("ending, code", [
    ("", 0), ("raise SystemExit", 0), ("raise SystemExit(7)", 7), ("raise SystemExit('text')", 1),
    ("raise ValueError('x')", 1), ("import os; os.kill(os.getpid(), 15)", -signal.SIGTERM),
    ("raise KeyboardInterrupt", -signal.SIGINT),
])
def test_exit_status_is_the_scripts(command, python, tmp_path, ending, code):
    write(tmp_path, "s.py", HELLO + ending)
    assert command("run", "-q", "s.py").code == code
    if code != -signal.SIGTERM:
        assert calls_in(tmp_path / "profiling_data.h5") == {"greeting": 3}


@pytest.mark.parametrize("text", ["def f():\n    raise ValueError('x')\nf()\n", "x = = 1\n",
                                  "import sys\nsys.exit('stop')\n"])
def test_tracebacks_are_those_of_plain_python(command, python, tmp_path, text):
    write(tmp_path, "s.py", text)
    plain = subprocess.run([python, "s.py"], cwd=tmp_path, capture_output=True, text=True)
    result = command("run", "-q", "s.py")
    assert (result.code, result.out, result.err) == (plain.returncode, "", plain.stderr)


def test_threads_that_outlive_the_script_are_recorded(command, python, tmp_path):
    write(tmp_path, "s.py", """
import threading, time, scope_profiler
def work():
    time.sleep(0.2)
    with scope_profiler.region("late"):
        pass
threading.Thread(target=work).start()
""")
    assert command("run", "-q", "s.py").code == 0
    assert calls_in(tmp_path / "profiling_data.h5") == {"late": 1}


def test_forked_child_that_falls_off_the_end_writes_nothing(command, python, tmp_path):
    write(tmp_path, "s.py", "import os\nchild = os.fork()\n" + HELLO
          + "if child:\n    os.waitpid(child, 0)\n")
    result = command("run", "s.py")
    assert result.code == 0 and result.err.count("greeting (3x)") == 1
    assert calls_in(tmp_path / "profiling_data.h5") == {"greeting": 3}


def test_what_the_script_finalized_is_not_overwritten(command, python, tmp_path):
    write(tmp_path, "s.py", HELLO + "scope_profiler.finalize(verbose=False)\n")
    assert command("run", "-q", "s.py").code == 0
    assert calls_in(tmp_path / "profiling_data.h5") == {"greeting": 3}


def test_output_that_can_never_be_written_stops_before_the_script(command, python, tmp_path):
    (tmp_path / "folder").mkdir()
    write(tmp_path, "s.py", "print('ran')\n")
    result = command("run", "-q", "-o", "folder", "s.py")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("scope-profiler run: ") and "folder" in result.err


def test_output_that_cannot_be_written_at_the_end_keeps_the_status(command, python, tmp_path):
    write(tmp_path, "s.py", HELLO + "import os\nos.mkdir('out.h5')\nraise SystemExit(5)\n")
    result = command("run", "-q", "-o", "out.h5", "s.py")
    assert result.code == 5
    assert result.err.startswith("scope-profiler run: ") and "out.h5" in result.err
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".tmp"] == []


@pytest.mark.parametrize("words, message", [
    (["--config", "nowhere.toml"], "nowhere.toml"),
    (["--buffer-limit", "many"], "--buffer-limit 'many' is no number"),
    (["--include", "x*"], "--include chooses what --recursive traces; give --recursive too"),
])
def test_settings_that_cannot_be(command, python, tmp_path, words, message):
    write(tmp_path, "s.py", HELLO)
    result = command("run", *words, "s.py")
    assert result.code == 1 and message in result.err
    assert result.err.startswith("scope-profiler run: ")


# ---- Native programs -------------------------------------------------------------------------------

REPORT_PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    /* Names in parts: a whole one in the file is what tells a program with the recorder in it. */
    const char *ends[] = {"OUTPUT", "SUMMARY", "LABEL"};
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "SCOPE_PROFILER_RUN_%s", ends[i]);
        printf("%s\n", getenv(name) ? getenv(name) : "unset");
    }
    for (int i = 1; i < argc; i++)
        printf("[%s]", argv[i]);
    fflush(stdout);
    if (argc > 1 && strcmp(argv[1], "kill") == 0)
        raise(SIGTERM);
    return argc > 1 ? atoi(argv[1]) : 0;
}
"""


@pytest.fixture
def report(tmp_path):
    """A native program that shows what it was given. It does not use the library."""
    (tmp_path / "report.c").write_text(REPORT_PROGRAM)
    subprocess.run(["cc", "report.c", "-o", "report"], cwd=tmp_path, check=True)
    return tmp_path / "report"


@needs_compiler
def test_environment_of_a_native_program(command, report, tmp_path):
    result = command("run", "--", "./report", SCOPE_PROFILER_RUN_LABEL="old")
    assert result.out == f"{tmp_path}/profiling_data.h5\n1\nunset\n"
    result = command("run", "-q", "-o", "sub/x.h5", "--label", "a b", "--", "./report")
    assert result.out == f"{tmp_path}/sub/x.h5\n0\na b\n"
    result = command("run", "-o", "/tmp/x.h5", "--", "./report")
    assert result.out.startswith("/tmp/x.h5\n")
    assert command("run", "--no-output", "--", "./report").out == "\n1\nunset\n"


@needs_compiler
def test_words_of_a_native_program(command, report):
    result = command("run", "-q", "--", "./report", "0", *ODD_WORDS)
    assert result.out.endswith("".join(f"[{word}]" for word in ["0", *ODD_WORDS]))
    without = command("run", "-q", "./report", "--", "0", "-q")
    assert without.out.endswith("[0][-q]"), "a binary is a program without `--` too"


@needs_compiler
def test_status_of_a_native_program(command, report):
    assert command("run", "--", "./report", "42").code == 42
    assert command("run", "--", "./report", "kill").code == -signal.SIGTERM


@needs_compiler
def test_program_is_found_along_the_path(command, report, tmp_path):
    (tmp_path / "tools").mkdir()
    report.rename(tmp_path / "tools" / "report")
    path = f"{tmp_path}/tools:{command.environment['PATH']}"
    assert command("run", "--", "report", "3", PATH=path).code == 3


@needs_compiler
def test_program_that_cannot_record_is_said(command, report, tmp_path):
    warning = ("scope-profiler run: warning: '{}' does not use libscope_profiler; unless it "
               "starts or loads a program that does, nothing will be recorded\n")
    assert command("run", "--", "./report").err == warning.format("./report")
    subprocess.run(["cc", "-static", "report.c", "-o", "static"], cwd=tmp_path, check=True)
    assert command("run", "--", "./static").err == warning.format("./static")
    with_recorder = 'const char *volatile marker = "SCOPE_PROFILER_RUN_OUTPUT";'
    (tmp_path / "report.c").write_text(with_recorder + REPORT_PROGRAM)
    subprocess.run(["cc", "-static", "report.c", "-o", "inside"], cwd=tmp_path, check=True)
    assert command("run", "--", "./inside").err == ""
    (tmp_path / "script.sh").write_text("#!/bin/sh\nexit 4\n")
    (tmp_path / "script.sh").chmod(0o755)
    result = command("run", "--", "./script.sh")
    assert (result.code, result.err) == (4, "")


@needs_compiler
def test_native_usage_errors(command, report):
    result = command("run", "--recursive", "--", "./report")
    assert result.code == 2 and result.err.endswith(
        "error: argument --recursive: only for Python scripts, and './report' is a native program\n")
    result = command("run", "-o", "x.json", "--", "./report")
    assert result.code == 2 and "give 'x.json' a name that ends in .h5" in result.err


def installed_core():
    """Prefix of the installed libraries: $SCOPE_PROFILER_PREFIX, else the package's."""
    chosen = os.environ.get("SCOPE_PROFILER_PREFIX")
    package = Path(sysconfig.get_paths()["platlib"], "scope_profiler", "_core")
    core = Path(chosen) if chosen else package
    if not (core / "lib" / "libscope_profiler.so.1").exists():
        pytest.skip("the library is not installed: set SCOPE_PROFILER_PREFIX")
    return core


@pytest.fixture
def hello(tmp_path):
    core = installed_core()
    source = Path(__file__).resolve().parents[2] / "examples" / "hello" / "hello.c"
    subprocess.run(["cc", source, f"-I{core}/include", f"-L{core}/lib", "-lscope_profiler",
                    f"-Wl,-rpath,{core}/lib", "-o", "hello"], cwd=tmp_path, check=True)
    return tmp_path / "hello"


@needs_compiler
def test_native_program_is_recorded(command, hello, tmp_path):
    result = command("run", "-o", "native.h5", "--label", "c", "--", "./hello")
    assert result.code == 0 and result.out == "hello\n" * 3
    assert "greeting (3x)" in result.err and "warning" not in result.err
    assert calls_in(tmp_path / "native.h5") == {"greeting": 3}
    assert re.search(r"^c - native\.h5$", command("inspect", "native.h5").out, re.M)


@needs_compiler
def test_native_summary_goes_to_a_terminal(command, hello):
    assert "greeting (3x)" in command.on_terminal("run", "--", "./hello")


@needs_compiler
def test_native_program_without_a_file(command, hello, tmp_path):
    result = command("run", "--no-output", "--", "./hello")
    assert result.code == 0 and "greeting (3x)" in result.err
    assert not list(tmp_path.glob("*.h5"))
    quiet = command("run", "-q", "--", "./hello")
    assert (quiet.code, quiet.err) == (0, "")
