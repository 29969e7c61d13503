"""`inspect --plot`: the picture of a run that was worked out by hand."""

import fcntl
import os
import pty
import struct
import subprocess
import termios

# own time: work (8 - 3) s on each of two ranks, leaf 3 s; 40 columns of 0.25 s, 21 of bars.
# leaf is active 2-3 s and 5-7 s of 10 s, work 1-9 s.
EXPECTED = f"""
Own time by region
  work                       {'█' * 21}   10.0 s  62.5 %
  leaf                       {'█' * 12}▋           6.00 s  37.5 %

Timeline: how much of the time regions are active, over all ranks
  work                       {' ' * 4}{'█' * 32}{' ' * 4}
  leaf                       {' ' * 8}{'█' * 4}{' ' * 8}{'█' * 8}{' ' * 12}

Time inside of regions, by rank
  rank 0                     {' ' * 4}{'█' * 32}{' ' * 4}
  rank 1                     {' ' * 4}{'█' * 32}{' ' * 4}
                             0{' ' * 30}   10.0 s
"""


def plot_of(text):
    return text[text.index("\nOwn time"):]


def test_picture(command, sample):
    result = command("inspect", "--metadata-only", "--plot", sample, COLUMNS="69")
    assert (result.code, result.err) == (0, "")
    assert plot_of(result.out) == EXPECTED


def test_selection(command, sample):
    result = command("inspect", "--regions-only", "--plot", sample, "--ranks", "0", "--exclude", "work", "--top", "1", COLUMNS="69")
    text = plot_of(result.out)
    assert "work" not in text and "by rank" not in text
    assert f"  leaf                       {'█' * 21}   3.00 s 100.0 %\n" in text


def test_nothing_selected(command, sample):
    result = command("inspect", "--regions-only", "--plot", sample, "--include", "nothing")
    assert "Nothing to plot: no region that is selected has calls." in result.out


def test_other_widths(command, sample):
    for given, columns in (("200", 200), ("10", 52), ("x", 80), ("100000", 400)):
        text = plot_of(command("inspect", "--metadata-only", "--plot", sample, COLUMNS=given).out)
        assert max(len(line) for line in text.splitlines() if "█" in line) == columns, given


def on_terminal(command, path, columns, **environment):
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    subprocess.run([command.path, "inspect", "--metadata-only", "--plot", path], stdout=slave, stdin=subprocess.DEVNULL,
                   env={**command.environment, "TERM": "xterm", **environment}, timeout=60, check=True)
    os.close(slave)
    text = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(master)
    return text.decode().replace("\r\n", "\n")


def test_terminal_width_and_colour(command, sample):
    colourful = plot_of(on_terminal(command, sample, 69))
    assert "\x1b[36m" in colourful
    plain = colourful.replace("\x1b[36m", "").replace("\x1b[0m", "")
    assert plain == EXPECTED
    assert plot_of(on_terminal(command, sample, 69, NO_COLOR="1")) == EXPECTED


def test_steers_no_terminal(command, tmp_path):
    from profile_file import write_profile

    path = write_profile(tmp_path / "n.h5", {}, ["\x1b[31mred", "名" * 40], {0: {"\x1b[31mred": [(1, 2)], "名" * 40: [(2, 4)]}})
    result = command("inspect", "--metadata-only", "--plot", path, COLUMNS="60")
    assert "\x1b" not in result.out
    assert "  \\x1b[31mred                " in result.out
    assert "名" * 12 + "…" in result.out


def test_crossing_and_totals(command, tmp_path):
    from profile_file import write_profile

    path = write_profile(tmp_path / "c.h5", {}, ["a", "b"], {0: {"a": [(0.0, 2.0)], "b": [(1.0, 3.0)]}})
    result = command("inspect", "--metadata-only", "--plot", path, COLUMNS="59")
    assert f"  rank" not in result.out and f"a                          {'█' * 20}" in result.out
