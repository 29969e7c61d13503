"""Runs that the pages of the tests show. Each maker writes files named after `stem`, returns them."""

import json

import numpy as np

from profile_file import write_profile

SESSION = "scope_profiler.session"
HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", 'quote " and \' and & and \\',
           "\u202eright to left \u05d0\u05d1", "x" * 10_000, "🔥 emoji 👩‍🔬", "line\nbreak\u2028and more", "{{constructor}}${1}"]


def sample(stem):
    """Two ranks, 10 s: work 1-9 s, on rank 0 leaf in it 2-3 and 5-7 s, on rank 1 2-3 and 5-6 s."""
    metadata = {"label": "tuned", "mpi_size": 2, "platform": "Linux", "start_time_ns": 1_000_000_000,
                "finalize_time_ns": 11_500_000_000}
    ranks = {rank: {SESSION: [(1.0, 11.0)], "work": [(2.0, 10.0)], "leaf": [(3.0, 4.0), (6.0, 8.0 - rank)]} for rank in (0, 1)}
    sources = {"work": ("solver.py", 12, "def work():\n    leaf()\n")}
    return [write_profile(stem.with_suffix(".h5"), metadata, [SESSION, "work", "leaf"], ranks, sources)]


def steps(path, ranks, steps, label, seed=1):
    """A time loop on each rank: step, in it kernel and exchange, in kernel an inner loop."""
    random = np.random.default_rng(seed)
    names = [SESSION, "step", "kernel", "exchange", "inner loop"]
    calls = {}
    for rank in range(ranks):
        length = random.lognormal(-11, 0.8, steps) * (1 + 0.3 * rank / ranks)
        ends = 1 + np.cumsum(length + 1e-6)
        starts = ends - length

        def part(a, b):
            return list(zip((starts + a * length).tolist(), (starts + b * length).tolist()))

        calls[rank] = {SESSION: [(0.999, float(ends[-1]) + 0.001)], "step": part(0, 1), "kernel": part(0.1, 0.6),
                       "exchange": part(0.65, 0.95), "inner loop": part(0.2, 0.3)}
    return write_profile(path, {"label": label, "mpi_size": ranks, "omp_num_threads": 1}, names, calls)


def million(stem):
    return [steps(stem.with_suffix(".h5"), 1, 250_000, "million")]


def ranks64(stem):
    return [steps(stem.with_suffix(".h5"), 64, 300, "wide")]


def empty(stem):
    return [write_profile(stem.with_suffix(".h5"), {"label": "nothing"}, [], {})]


def hostile(stem):
    calls = {0: {name: [(1.0 + i, 1.9 + i)] for i, name in enumerate(HOSTILE)}}
    return [write_profile(stem.with_suffix(".h5"), {"label": HOSTILE[0], "user": HOSTILE[1]}, HOSTILE, calls)]


def aggregated(stem):
    """Totals only: a JSON profile without calls."""
    totals = {"work": (1000, 8_000_000_000), "leaf": (50_000, 3_000_000_000)}
    rows = [{"name": name, "rank": 0, "aggregate": {"count": n, "total": total, "minimum": 10, "maximum": total // 10, "exclusive": total // 2}}
            for name, (n, total) in totals.items()]
    path = stem.with_suffix(".json")
    path.write_text(json.dumps({"format": "scope-profiler-profile", "format_version": 1, "time_unit": "nanoseconds", "num_ranks": 1,
                                "event_data_available": False, "metadata": {"label": "totals"}, "regions": rows}))
    return [path]


def scaling(stem):
    """1, 2, 4 ranks: work takes 8, 5, 3 s, a constant part of 1 s comes on top."""
    files = []
    for ranks, seconds in ((1, 8.0), (2, 5.0), (4, 3.0)):
        calls = {rank: {SESSION: [(1.0, 2.0 + seconds)], "work": [(1.5, 1.5 + seconds)]} for rank in range(ranks)}
        files.append(write_profile(stem.parent / f"{stem.name}-{ranks}.h5", {"label": f"{ranks} ranks", "mpi_size": ranks, "num_nodes": 1, "omp_num_threads": 1},
                                   [SESSION, "work"], calls))
    return files


def repeated(stem):
    """Four runs each of two labels; the second takes 10 % longer."""
    files = []
    for label, base in (("main", 8.0), ("branch", 8.8)):
        for n in range(4):
            seconds = base + n / 50
            calls = {0: {SESSION: [(1.0, 2.0 + seconds)], "work": [(1.5, 1.5 + seconds)], "fixed": [(1.1, 1.2)]}}
            files.append(write_profile(stem.parent / f"{stem.name}-{label}{n}.h5", {"label": label}, [SESSION, "work", "fixed"], calls))
    return files


def counted(stem):
    """Calls with what LIKWID and perf counted beside them."""
    path = stem.with_suffix(".json")
    row = {"name": "work", "rank": 0, "start_times_ns": [10, 50], "end_times_ns": [30, 90]}
    path.write_text(json.dumps({"format": "scope-profiler-profile", "format_version": 1, "time_unit": "nanoseconds", "num_ranks": 1, "metadata": {},
                                "regions": [row], "likwid": {"0": {"work": {"FLOPS_DP": {"DP MFLOP/s": [1250.5, 1249.5]}}}},
                                "line_profile": {"0": [{"file": "a.py", "line": 7, "hits": 3}]}}))
    return [path]


def communicating(stem):
    """Four ranks in a ring: each sends 1 KiB times its number plus one to the next."""
    rows = [{"name": "MPI_Send", "rank": rank, "tags": ["mpi", "mpi.kind:point-to-point"], "start_times_ns": [100 * rank], "end_times_ns": [100 * rank + 50],
             "event_metadata": [{"bytes": 1024 * (rank + 1), "to": (rank + 1) % 4}]} for rank in range(4)]
    path = stem.with_suffix(".json")
    path.write_text(json.dumps({"format": "scope-profiler-profile", "format_version": 1, "time_unit": "nanoseconds", "num_ranks": 4, "metadata": {}, "regions": rows}))
    return [path]
