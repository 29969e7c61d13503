"""Manual pages, exit codes and completion: all from the tables that also parse the command line."""

import re
import shutil
import subprocess

import pytest

COMMANDS = ["run", "inspect", "report", "line-profile", "diff", "check", "export", "plot", "convert",
            "merge", "import-native", "recover", "top", "config", "doctor", "completion", "help"]


def page(command, *words):
    done = command("help", "--man", *words)
    assert (done.code, done.err) == (0, "")
    return done.out


def long_options(command, name):
    done = command(name, "--help")
    assert done.code == 0
    return re.findall(r"^  (?:-\w, )?(--[\w-]+)", done.out, re.MULTILINE)


def test_the_list_of_commands_is_whole(command):
    out = command("help").out
    names = re.findall(r"^  ([a-z][a-z-]*) {2,}", out.split("options:")[0], re.MULTILINE)
    assert names == COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_names_every_option_of_the_help(command, name):
    text = page(command, name)
    assert text.startswith(f".TH SCOPE\\-PROFILER\\-{name.upper().replace('-', chr(92) + '-')} 1 ")
    for option in long_options(command, name):
        assert "\\fB" + option.replace("-", "\\-") + "\\fR" in text, option


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_the_formatter_has_no_complaint(command, name):
    groff = shutil.which("groff")
    if not groff:
        pytest.skip("groff is not installed")
    text = page(command, *([name] if name else []))
    done = subprocess.run([groff, "-man", "-ww", "-Tutf8", "-P-cbou"], input=text.encode(),
                          capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    plain = done.stdout.decode()
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "SEE ALSO"):
        assert heading in plain


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_pages_pass_the_other_formatter(command, name):
    mandoc = shutil.which("mandoc")
    if not mandoc:
        pytest.skip("mandoc is not installed")
    done = subprocess.run([mandoc, "-Tlint", "-Werror"], capture_output=True,
                          input=page(command, *([name] if name else [])).encode())
    assert (done.returncode, done.stdout) == (0, b"")


def test_pages_are_installed_beside_the_command(command):
    folder = command.path.resolve().parent.parent / "share" / "man" / "man1"
    if not folder.exists():
        pytest.skip("the command under test is not installed with its pages")
    found = {path.name: path.read_text() for path in folder.glob("scope-profiler*.1")}
    assert set(found) == {"scope-profiler.1", *(f"scope-profiler-{name}.1" for name in COMMANDS)}
    assert found["scope-profiler-check.1"] == page(command, "check")


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_help_tells_the_exit_codes(command, name):
    out = command("help", *([name] if name else [])).out
    codes = re.findall(r"^  (\d)  ", out.split("exit codes:")[1], re.MULTILINE)
    assert codes == ["0", "1", "2", "3"]


def test_what_is_particular_about_the_codes_of_check(command):
    text = " ".join(command("check", "--help").out.split())
    assert "0 within the budget 1 beyond the budget, or it could not be done" in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("name", COMMANDS)
def test_completion_knows_every_option(command, shell, name):
    done = command("completion", shell)
    assert done.code == 0
    for option in long_options(command, name):
        if option == "--help" and shell == "fish":
            continue
        wanted = f"-l {option[2:]}" if shell == "fish" else option
        lines = [line for line in done.out.splitlines() if wanted in line]
        assert lines, option


# ---- Progress --------------------------------------------------------------------------------


def test_quick_work_shows_no_bar(command, sample):
    assert command.on_terminal("inspect", sample, stream="stderr") == ""


def test_the_bar_is_drawn_and_taken_away(command, sample):
    text = command.on_terminal("inspect", sample, stream="stderr", SCOPE_PROFILER_PROGRESS="always")
    bars = re.findall(r"\r\[([=> ]{40})\] +(\d+) % of ([\d.e+-]+) M calls", text)
    assert bars and [int(percent) for _, percent, _ in bars][-1] == 100
    assert text.endswith("\r") and text.rsplit("\r", 2)[-2].strip() == ""


def test_the_bar_is_gone_before_an_error(command, tmp_path):
    from profile_file import write_profile

    crossing = write_profile(tmp_path / "x.h5", metadata={}, regions=["a", "b"],
                             calls={0: {"a": [(0, 2)], "b": [(1, 3)]}})
    text = command.on_terminal("export", "folded", crossing, stream="stderr",
                               SCOPE_PROFILER_PROGRESS="always")
    line = next(part for part in text.split("\r") if "scope-profiler export:" in part)
    assert "[" not in line.split("scope-profiler export:")[0]


def test_no_bar_without_a_terminal_or_when_unwanted(command, sample):
    assert command("inspect", sample).err == ""
    assert command.on_terminal("inspect", sample, stream="stderr",
                               SCOPE_PROFILER_PROGRESS="never") == ""
