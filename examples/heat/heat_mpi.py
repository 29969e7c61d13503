"""heat.py on the ranks of an MPI job: each has a strip of rows and exchanges the rows at its edges.

    mpirun -n 4 scope-profiler run -o heat.h5 examples/heat/heat_mpi.py
    scope-profiler inspect heat.h5

The numbers are those of heat.py, bit by bit, on any number of ranks. One file holds all of them.
"""

from __future__ import annotations

import ctypes
import math

import numpy as np
from heat import RATIO, Solution, exact, load_kernels, read_arguments, report, setup
from mpi4py import MPI

import scope_profiler


def load_kernels_once(comm: MPI.Comm) -> ctypes.CDLL:
    """One rank builds, the others wait."""
    if comm.rank == 0:
        load_kernels()
    comm.Barrier()
    return load_kernels()


def strip_of(n: int, comm: MPI.Comm) -> tuple[int, int]:
    """First inner row of this rank's strip, and the one after its last."""
    inner = n - 2
    return 1 + comm.rank * inner // comm.size, 1 + (comm.rank + 1) * inner // comm.size


def exchange_edges(strip: np.ndarray, comm: MPI.Comm) -> None:
    """First and last row become copies of the neighbours' nearest; walls stay."""
    above = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
    below = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL
    comm.Sendrecv(strip[1], above, 0, strip[-1], below, 0)
    comm.Sendrecv(strip[-2], below, 1, strip[0], above, 1)


def gather(strip: np.ndarray, n: int, comm: MPI.Comm) -> np.ndarray:
    """The whole field on rank 0, where walls are zero."""
    whole = np.zeros((n, n)) if comm.rank == 0 else None
    counts = comm.gather(strip[1:-1].size, root=0)
    inner = None if whole is None else [whole[1:-1], counts]
    comm.Gatherv(np.ascontiguousarray(strip[1:-1]), inner, root=0)
    return whole if whole is not None else strip


def print_progress(step: int, strip: np.ndarray, before: np.ndarray, n: int, comm: MPI.Comm) -> None:
    squares = comm.allreduce(float(np.square(strip[1:-1]).sum()), MPI.SUM)
    change = comm.allreduce(float(np.abs(strip[1:-1] - before[1:-1]).max()), MPI.MAX)
    if comm.rank == 0:
        norm = math.sqrt(squares) / (n - 1)
        print(f"step {step:6d}  norm {norm:.9e}  largest change {change:.3e}")


@scope_profiler.profile("solve")
def solve(
    kernels: ctypes.CDLL, comm: MPI.Comm, intervals: int, steps: int, threads: int, every: int
) -> Solution:
    """As in heat.py; field, error and norm are those of rank 0."""
    n = intervals + 1
    first, end = strip_of(n, comm)
    strip = setup(n)[first - 1 : end + 1].copy()
    following = np.zeros_like(strip)
    with scope_profiler.region("step loop"):
        for step in range(1, steps + 1):
            with scope_profiler.region("step"):
                kernels.heat_step_rows(strip, following, len(strip), n, RATIO, threads)
            strip, following = following, strip
            with scope_profiler.region("exchange edges"):
                exchange_edges(strip, comm)
            if every and step % every == 0:
                with scope_profiler.region("output"):
                    print_progress(step, strip, following, n, comm)
    time = steps * RATIO / intervals**2
    with scope_profiler.region("gather"):
        field = gather(strip, n, comm)
    if comm.rank != 0:
        return Solution(field, time, math.nan, math.nan)
    error = float(np.abs(field - exact(n, time)).max())
    return Solution(field, time, error, kernels.heat_norm(field, n))


def main() -> None:
    comm = MPI.COMM_WORLD
    arguments = read_arguments()
    if arguments.n // 2 - 1 < comm.size:
        raise SystemExit(f"heat_mpi.py: {comm.size} ranks are more than the rows of the coarse grid")
    kernels = load_kernels_once(comm)
    kernels.heat_define_regions()
    n, steps = arguments.n, arguments.steps
    coarse = solve(kernels, comm, n // 2, steps // 4, arguments.threads, 0)
    fine = solve(kernels, comm, n, steps, arguments.threads, arguments.every)
    if comm.rank == 0:
        report(coarse, fine, arguments.save)


if __name__ == "__main__":
    main()
