"""examples/heat: the numbers are right, profiling does not change them, both languages meet in one tree."""

import hashlib
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import scope_profiler

np = pytest.importorskip("numpy")

HEAT = Path(__file__).resolve().parents[2] / "examples" / "heat" / "heat.py"
INTERVALS, STEPS, RATIO = 64, 400, 0.2
COMMAND = Path(os.environ.get("SCOPE_PROFILER_COMMAND", Path(sys.executable).parent / "scope-profiler"))


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return {**os.environ, "HEAT_BUILD": str(tmp_path_factory.mktemp("heat-build")),
            "SCOPE_PROFILER_PYTHON": sys.executable}


def options(*more):
    return [str(HEAT), "--n", str(INTERVALS), "--steps", str(STEPS), *more]


def run(words, folder, environment):
    done = subprocess.run([str(word) for word in words], cwd=folder, env=environment, text=True,
                          capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def plain(tmp_path_factory, environment):
    """Output and final field of a run that is not profiled."""
    folder = tmp_path_factory.mktemp("plain")
    done = run([sys.executable, *options("--save", "field.npy")], folder, environment)
    assert not list(folder.glob("*.h5"))
    return done.stdout, np.load(folder / "field.npy")


@pytest.fixture(scope="module")
def profiled(tmp_path_factory, environment):
    """The same under the command, with two threads in the kernel."""
    if not COMMAND.exists():
        pytest.skip("no scope-profiler command: set SCOPE_PROFILER_COMMAND")
    folder = tmp_path_factory.mktemp("profiled")
    done = run([COMMAND, "run", "-o", "heat.h5", "--label", "heat",
                *options("--save", "field.npy", "--threads", "2")], folder, environment)
    return done, folder


def printed(text, name):
    return float(re.search(rf"{name} ([-+.e\d]+)", text).group(1))


def test_error_is_the_truncation_error_of_the_scheme(plain):
    """Per unit of time a step multiplies sin sin by 1 - 8 r sin^2(pi h / 2), r = dt / h^2. Its logarithm
    over dt, expanded in h, is -2 pi^2 + pi^4 h^2 (1/6 - 2 r) + O(h^4), the exact rate is -2 pi^2; so the
    relative error at time t is pi^4 h^2 t |1/6 - 2 r|, the next term smaller by about h^2 pi^2 = 0.24 %.
    Five per cent covers that, and rounding (1e-13) is far below the error of 7e-5."""
    text, field = plain
    h = 1.0 / INTERVALS
    time = STEPS * RATIO * h * h
    wave = np.sin(np.pi * np.linspace(0.0, 1.0, INTERVALS + 1))
    exact = math.exp(-2.0 * math.pi**2 * time) * np.outer(wave, wave)
    error = np.abs(field - exact).max()
    predicted = math.exp(-2.0 * math.pi**2 * time) * math.pi**4 * h * h * time * abs(1 / 6 - 2 * RATIO)
    assert error == pytest.approx(predicted, rel=0.05)
    assert printed(text, "error") == pytest.approx(error, rel=1e-3)


def test_field_is_the_exact_solution_of_the_difference_equations(plain):
    """The discrete decay factor is known in closed form; what is left is rounding of 400 steps."""
    _, field = plain
    factor = 1.0 - 8.0 * RATIO * math.sin(math.pi / (2 * INTERVALS)) ** 2
    wave = np.sin(np.pi * np.linspace(0.0, 1.0, INTERVALS + 1))
    assert np.abs(field - factor**STEPS * np.outer(wave, wave)).max() < 1e-13


def test_order_of_accuracy(plain):
    """Half the grid has four times the error, up to the same next term: 2 +- 0.01."""
    assert printed(plain[0], "order of accuracy") == pytest.approx(2.0, abs=0.01)


def test_profiling_does_not_change_a_bit(plain, profiled):
    text, field = plain
    done, folder = profiled
    digest = hashlib.sha256(field.tobytes()).hexdigest()
    assert hashlib.sha256(np.load(folder / "field.npy").tobytes()).hexdigest() == digest
    assert f"sha256 {digest}\n" in text
    assert done.stdout == text, "with the profiler the program prints the same"


def test_both_languages_nest_in_one_tree(profiled):
    results = scope_profiler.read_h5(profiled[1] / "heat.h5")
    parents, counts = {}, {}
    calls = results.call_stack(rank=0)
    for call in calls:
        above = None if call["parent"] is None else calls[call["parent"]]["name"]
        parents.setdefault(call["name"], set()).add(above)
        counts[call["name"]] = counts.get(call["name"], 0) + 1
    steps = STEPS + STEPS // 4
    assert counts["step"] == counts["apply stencil"] == counts["boundary"] == steps
    assert counts["rows of a thread"] == 2 * steps
    assert parents["solve"] == {None}
    assert parents["setup"] == parents["step loop"] == {"solve"}
    assert parents["step"] == parents["output"] == {"step loop"}
    assert parents["apply stencil"] == parents["boundary"] == {"step"}
    assert parents["residual"] == {"output"}
    assert parents["norm"] == {"output", "solve"}
    # The calling thread works too, below the stencil; the other thread has nothing above its share.
    assert parents["rows of a thread"] == {"apply stencil", None}


def test_file_is_inspected_again(profiled, environment):
    done, folder = profiled
    shown = run([COMMAND, "inspect", "heat.h5"], folder, environment).stdout
    assert "heat - heat.h5" in shown
    table = [line for line in done.stderr.splitlines() if line.startswith("  │")]
    assert table and table == [line for line in shown.splitlines() if line.startswith("  │")]
