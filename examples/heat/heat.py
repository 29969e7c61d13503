"""Solves the heat equation u_t = u_xx + u_yy on the unit square with cold walls.

The scheme is explicit: central differences in space, one Euler step in time. The driver is Python,
the kernels are C (heat_kernels.c); both mark regions, and a profile shows them in one tree:

    scope-profiler run -o heat.h5 examples/heat/heat.py --threads 2
    scope-profiler inspect heat.h5

Run with plain Python nothing is recorded and the numbers are the same.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import math
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import scope_profiler

HERE = Path(__file__).resolve().parent
RATIO = 0.2  # dt / h^2; the scheme is stable up to 0.25


# ---- Kernels ---------------------------------------------------------------------------------------


def build_library(folder: Path) -> None:
    """Builds the kernels against the package that this Python has."""
    core = Path(scope_profiler.__file__).resolve().parent / "_core"
    for command in (
        ["cmake", "-S", HERE, "-B", folder, f"-DCMAKE_PREFIX_PATH={core}"],
        ["cmake", "--build", folder],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"heat.py: building the kernels failed:\n{done.stdout}{done.stderr}")


def load_kernels() -> ctypes.CDLL:
    """The C kernels, built at first use; HEAT_BUILD names another build folder."""
    folder = Path(os.environ.get("HEAT_BUILD", HERE / "build"))
    library = folder / "libheat_kernels.so"
    sources = [HERE / "heat_kernels.c", HERE / "heat_kernels.h", HERE / "CMakeLists.txt"]
    newest = max(source.stat().st_mtime for source in sources)
    if not library.exists() or library.stat().st_mtime < newest:
        build_library(folder)
    kernels = ctypes.CDLL(str(library))
    field = np.ctypeslib.ndpointer(dtype=np.float64, ndim=2, flags="C_CONTIGUOUS")
    kernels.heat_define_regions.argtypes = []
    kernels.heat_define_regions.restype = None
    kernels.heat_step.argtypes = [field, field, ctypes.c_int, ctypes.c_double, ctypes.c_int]
    kernels.heat_step.restype = None
    kernels.heat_step_rows.argtypes = [
        field, field, ctypes.c_int, ctypes.c_int, ctypes.c_double, ctypes.c_int,
    ]  # fmt: skip
    kernels.heat_step_rows.restype = None
    kernels.heat_norm.argtypes = [field, ctypes.c_int]
    kernels.heat_norm.restype = ctypes.c_double
    kernels.heat_residual.argtypes = [field, field, ctypes.c_int]
    kernels.heat_residual.restype = ctypes.c_double
    return kernels


# ---- Solver ----------------------------------------------------------------------------------------


@dataclass
class Solution:
    field: np.ndarray
    time: float
    error: float  # largest difference from the exact solution
    norm: float


def exact(n: int, time: float) -> np.ndarray:
    """sin(pi x) sin(pi y), decaying, on the grid points."""
    wave = np.sin(math.pi * np.linspace(0.0, 1.0, n))
    return math.exp(-2.0 * math.pi**2 * time) * np.outer(wave, wave)


@scope_profiler.profile("setup")
def setup(n: int) -> np.ndarray:
    field = exact(n, 0.0)
    field[0, :] = field[-1, :] = field[:, 0] = field[:, -1] = 0.0
    return field


@scope_profiler.profile("solve")
def solve(kernels: ctypes.CDLL, intervals: int, steps: int, threads: int, every: int) -> Solution:
    """`steps` steps on a grid of `intervals` intervals a side; norms each `every` steps, 0: never."""
    n = intervals + 1
    field = setup(n)
    following = np.empty_like(field)
    with scope_profiler.region("step loop"):
        for step in range(1, steps + 1):
            with scope_profiler.region("step"):
                kernels.heat_step(field, following, n, RATIO, threads)
            field, following = following, field
            if every and step % every == 0:
                with scope_profiler.region("output"):
                    norm = kernels.heat_norm(field, n)
                    change = kernels.heat_residual(field, following, n)
                    print(f"step {step:6d}  norm {norm:.9e}  largest change {change:.3e}")
    time = steps * RATIO / intervals**2
    error = float(np.abs(field - exact(n, time)).max())
    return Solution(field, time, error, kernels.heat_norm(field, n))


# ---- Command line ----------------------------------------------------------------------------------


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="2-D heat equation, explicit scheme")
    parser.add_argument("--n", type=int, default=256, help="intervals a side, even (default 256)")
    parser.add_argument("--steps", type=int, default=400, help="a multiple of 4 (default 400)")
    parser.add_argument("--threads", type=int, default=1, help="threads in the kernel (default 1)")
    parser.add_argument("--every", type=int, default=100, help="steps between norms, 0: never")
    parser.add_argument("--save", metavar="PATH", help="save the final field as .npy")
    arguments = parser.parse_args()
    if arguments.n < 4 or arguments.n % 2:
        parser.error("--n must be even and at least 4: the order needs a grid of half the size")
    if arguments.steps < 4 or arguments.steps % 4:
        parser.error("--steps must be a multiple of 4: the coarse grid takes a quarter of them")
    if arguments.threads < 1 or arguments.every < 0:
        parser.error("--threads must be at least 1 and --every at least 0")
    return arguments


def report(coarse: Solution, fine: Solution, path: str | None) -> None:
    print(f"time {fine.time:.6e}  norm {fine.norm:.9e}")
    print(f"error {fine.error:.3e}  (half the grid: {coarse.error:.3e})")
    print(f"order of accuracy {math.log2(coarse.error / fine.error):.3f}")
    print(f"sha256 {hashlib.sha256(fine.field.tobytes()).hexdigest()}")
    if path:
        np.save(path, fine.field)


def main() -> None:
    arguments = read_arguments()
    kernels = load_kernels()
    kernels.heat_define_regions()
    n, steps = arguments.n, arguments.steps
    # Half the intervals, steps four times as long: the same ratio, the same final time.
    coarse = solve(kernels, n // 2, steps // 4, arguments.threads, 0)
    fine = solve(kernels, n, steps, arguments.threads, arguments.every)
    report(coarse, fine, arguments.save)


if __name__ == "__main__":
    main()
