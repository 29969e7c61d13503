"""Runs every bench and prints one table of ratios: ours over a floor, median and spread, and the bar.

    python bench.py BUILD_FOLDER [--only PREFIX] [--peer PYTHON] [--python PYTHON ...]
                    [--viztracer PYTHON ...]

Each bench program prints `<variant> <repeat> <ns>`. A ratio is formed within a repeat, so that a
drift of the machine's speed cancels; the table shows the median over the repeats with the smallest
and the largest. Exits 1 when the median of a row is above its bar.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent

# name, bar (None: no bar), numerator(s of one repeat) as a function of that repeat's samples.
C_ROWS = [
    ("C pair, recording in memory / two ticks", 1.2, lambda s: s["record"] / s["floor-ticks"]),
    ("C pair, five levels deep / two ticks", 1.2, lambda s: s["nest"] / s["floor-ticks"]),
    ("C pair, recording into a journal / two ticks", 1.35, lambda s: s["journal"] / s["journal-floor"]),
    ("bytes a call, journal / 8", 1.0, lambda s: s["journal-bytes"] / 8),
    ("C pair, off / empty call pair", 1.3, lambda s: s["off"] / s["off-floor-call"]),
    ("C pair, paused / empty call pair", 1.6, lambda s: s["paused"] / s["floor-call"]),
    ("C pair, two threads / one thread", 1.1, lambda s: s["threads-2"] / s["threads-1"]),
]
#: Native calls as their languages write them: variant, what the row says of it.
NATIVE_CALLS = [
    ("c-block", "C block (SP_SCOPE)"),
    ("cpp-scope", "C++ scope (sp::Scope)"),
    ("cpp-block", "C++ block (SP_PROFILE_SCOPE)"),
    ("fortran", "Fortran pair"),
]
STENCIL_ROWS = [
    ("2-D stencil with a region a row, off / without", 1.005, lambda s: s["off"] / s["plain"]),
]
RING_ROWS = [
    (
        "kernel that fills the L2 cache, ring of 256 KiB / the best of 16 KiB to 4 MiB",
        1.05,
        lambda s: s["ring-256"] / min(v for k, v in s.items() if k.startswith("ring-")),
    ),
]
FILE_ROWS = [
    (
        "publish 10 M calls, plain / (2 x raw write + scatter + id columns)",
        1.0,
        lambda s: s["publish-plain"] / (2 * s["raw-write"] + s["scatter"] + s["ids-deflate"]),
    ),
    (
        "publish 10 M calls, gzip 1 / (0.8 x gzip 1 + scatter + id columns)",
        1.0,
        lambda s: s["publish-compact"]
        / (0.8 * s["gzip-floor"] + s["scatter"] + s["ids-deflate"]),
    ),
    ("call tree of 10 M calls / one stack pass", 2.5, lambda s: s["call-tree"] / s["stack-pass"]),
    ("open 10 M calls from stored statistics / 50 ms", 1.0, lambda s: s["open-statistics"] / 50e6),
    ("bytes a call, plain file / 18", 1.0, lambda s: s["bytes-plain"] / 18),
    ("bytes a call, gzip 1 / 4.5", 1.0, lambda s: s["bytes-compact"] / 4.5),
]


def native_rows(repeats):
    """Rows of the languages that the bench was built with."""
    rows = []
    for variant, name in NATIVE_CALLS:
        if f"record-{variant}" in repeats[0]:
            record, off = f"record-{variant}", f"off-{variant}"
            rows += [
                (f"{name}, recording / two ticks", 1.2, lambda s, v=record: s[v] / s["floor-ticks"]),
                (f"{name}, off / empty call pair", 1.3, lambda s, v=off: s[v] / s["floor-call"]),
            ]
    nest = ("10 M calls five deep on two threads / two ticks", 1.2)
    return [*rows, (*nest, lambda s: s["nest"] / s["floor-ticks"])]


def python_rows(version):
    """Rows of one interpreter; 3.12 and later have another bar for decorated functions."""
    old = version < (3, 12)
    ticks = 1.2 if old else 1.6
    name = f"Python {version[0]}.{version[1]}"
    return [
        (f"{name} with region / empty manager", 0.75, lambda s: s["with-record"] / s["with-floor"]),
        (
            f"{name} with region of another manager / empty manager",
            0.75,
            lambda s: s["with-other"] / s["with-floor"],
        ),
        (
            f"{name} with region, with a journal / without",
            1.1,
            lambda s: s["with-journal"] / s["with-other"],
        ),
        (f"{name} with sp.region('x')", 1.15, lambda s: s["named-module"] / s["with-floor"]),
        (
            f"{name} with ProfileManager.region('x')",
            1.15,
            lambda s: s["named-manager"] / s["with-floor"],
        ),
        (
            f"{name} named, string built on the spot",
            1.15,
            lambda s: s["named-fresh"] / (s["with-floor"] + s["fresh-floor"]),
        ),
        (
            f"{name} decorated / (bare + {ticks} x two ticks)",
            1.0,
            lambda s: s["decorated"] / (s["bare-call"] + ticks * s["ticks"]),
        ),
        (
            f"{name} decorated, off / (bare + 0.8 x two ticks)",
            1.0,
            lambda s: s["off-decorated"] / (s["off-bare"] + 0.8 * s["ticks"]),
        ),
        (
            f"{name} decorated, off / empty C wrapper",
            None,
            lambda s: s["off-decorated"] / s["off-wrapper"],
        ),
        (f"{name} with region, off / empty manager", 1.0, lambda s: s["off-with"] / s["off-floor"]),
    ]


#: Work that is traced, what its row says of it, and whether it has bars.
TRACED = [
    ("fib", "fib(24)", True),
    ("methods", "small methods", True),
    ("generator", "generator steps", False),
    ("await", "await", False),
    ("style", "pycodestyle on a package", True),
]


def tracing_rows(python, viztracer, failures):
    """Rows of one interpreter: what tracing adds, over what other tracers add to the same work."""
    version = python_version(python)
    name = f"Python {version[0]}.{version[1]}"
    bars = {"cProfile": 0.25, "VizTracer": 0.3}
    if version >= (3, 12):
        bars = {"cProfile": 0.35, "VizTracer": 0.45}
    script = HERE / "trace_rows.py"
    ours = samples([python, script, "ours"])
    others = {"cProfile": samples([python, script, "cprofile"])}
    if viztracer is None and can_import(python, "viztracer"):
        viztracer = python
    if viztracer is not None:
        others["VizTracer"] = samples([viztracer, script, "viztracer"])
    else:
        print(f"{name}: no rows beside VizTracer, which is not installed", file=sys.stderr)
    for variant, work, has_bar in TRACED:
        for tracer, theirs in others.items():
            pairs = [{"a": a, "b": b} for a, b in zip(ours, theirs) if variant in a and variant in b]
            if pairs:
                row = f"{name} traced call, {work} / {tracer}"
                bar = bars[tracer] if has_bar else None
                show([(row, bar, lambda s: s["a"][variant] / s["b"][variant])], pairs, failures)
    rows = [
        (f"{name} traced, no calls / untraced", 1.03, lambda s: s["loop"] / s["loop-base"]),
        (f"{name} bytes a traced call / 8", 1.0, lambda s: s["bytes"] / 8),
        (f"{name} bytes a generator step / 8", 1.0, lambda s: s["bytes-step"] / 8),
    ]
    show(rows, ours, failures)


def samples(command, **options):
    """{repeat: {variant: ns}} of a bench program. Variants of one repeat count are repeated."""
    out = subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout
    repeats = {}
    for line in out.splitlines():
        variant, repeat, value = line.split()
        repeats.setdefault(int(repeat), {})[variant] = float(value)
    once = {k: v for k, v in repeats[0].items() if k not in repeats.get(1, {})}
    return [{**once, **values} for _, values in sorted(repeats.items())]


def show(rows, repeats, failures):
    for name, bar, ratio in rows:
        values = [ratio(repeat) for repeat in repeats]
        middle = statistics.median(values)
        verdict = "" if bar is None else ("ok" if middle <= bar else "ABOVE")
        if verdict == "ABOVE":
            failures.append(name)
        limit = "-" if bar is None else f"{bar:.2f}"
        spread = f"[{min(values):.2f} .. {max(values):.2f}]"
        print(f"{name:<70} {middle:7.2f} {spread:>18} {limit:>6} {verdict}", flush=True)


def build_floor(python, folder):
    """Compiles the floor extension for one interpreter; returns its folder."""
    query = (
        "import sysconfig; print(sysconfig.get_paths()['include']);"
        "print(sysconfig.get_config_var('EXT_SUFFIX'))"
    )
    include, suffix = subprocess.run(
        [python, "-c", query], check=True, capture_output=True, text=True
    ).stdout.split()
    target = folder / ("floor" + suffix)
    compiler = os.environ.get("CC", "cc")
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", f"-I{include}", HERE / "floor.c", "-o", target],
        check=True,
    )
    return folder


def python_version(python):
    code = "import sys; print(*sys.version_info[:2])"
    out = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout
    return tuple(map(int, out.split()))


def can_import(python, module):
    done = subprocess.run([python, "-c", f"import {module}"], capture_output=True)
    return done.returncode == 0


def process_times(command, repeats):
    """Wall ns of whole processes, one a repeat."""
    out = []
    for _ in range(repeats):
        start = time.perf_counter_ns()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        out.append(time.perf_counter_ns() - start)
    return out


def bench_start(command, python, failures):
    rows = [
        ("scope-profiler --version / 10 ms", [command, "--version"], None, 10e6),
        (
            "import scope_profiler / (empty interpreter + 3 ms)",
            [python, "-c", "import scope_profiler"],
            [python, "-c", "pass"],
            3e6,
        ),
    ]
    for name, measured, floor, extra in rows:
        ours = process_times(measured, 11)
        base = process_times(floor, 11) if floor else [0] * 11
        pairs = [{"a": a, "b": b + extra} for a, b in zip(ours, base)]
        show([(name, 1.0, lambda s: s["a"] / s["b"])], pairs, failures)


def bench_open(command, folder, failures):
    """Opening 10 million calls and printing the summary, as the command does it."""
    took = process_times([command, "inspect", "--regions-only", folder / "plain.h5"], 7)
    pairs = [{"a": value} for value in took]
    show([("inspect 10 M calls / 1 s", 1.0, lambda s: s["a"] / 1e9)], pairs, failures)


EXPORT_ROWS = [
    ("chrome-trace of 10 M calls / 200 MB/s", 1.0,
     lambda s: s["chrome-trace"] / s["chrome-trace-bar"]),
    ("reconstruct 10 M calls / one stack pass", 4.0, lambda s: s["reconstruct"] / s["stack-pass"]),
]  # fmt: skip


def record_calls(build, path, calls):
    subprocess.run([build / "bin" / "bench_exports", "record", path, str(calls)], check=True)
    return path


def bench_exports(build, folder, failures):
    """What is made of a file of 10 million calls."""
    path = record_calls(build, folder / "exports.h5", 10_000_000)
    show(EXPORT_ROWS, samples([build / "bin" / "bench_exports", "measure", path]), failures)
    path.unlink()


def bench_large(build, folder, failures):
    """Opening 100 million calls and printing the summary: time, and memory at its peak."""
    path = record_calls(build, folder / "large.h5", 100_000_000)
    pairs = []
    for _ in range(3):
        start = time.perf_counter_ns()
        process = subprocess.Popen(
            [build / "bin" / "scope-profiler", "inspect", "--regions-only", path],
            stdout=subprocess.DEVNULL)  # fmt: skip
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"inspect of {path} exited with {process.returncode}")
        took = time.perf_counter_ns() - start
        pairs.append({"time": took, "peak": usage.ru_maxrss * 1024})
    path.unlink()
    show([("inspect 100 M calls / 10 s", 1.0, lambda s: s["time"] / 10e9),
          ("inspect 100 M calls, peak of memory / 2 GB", 1.0, lambda s: s["peak"] / 2e9)],
         pairs, failures)  # fmt: skip


def peer_files(build, peer, folder):
    """The command beside that of the published package on one file of a million calls."""
    path = record_calls(build, folder / "peer.h5", 1_000_000)
    command = build / "bin" / "scope-profiler"
    other = Path(peer).parent / "scope-profiler"
    for words in (["inspect", "--regions-only"], ["export", "chrome-trace"], ["export", "speedscope"],
                  ["export", "json"]):  # fmt: skip
        output = [] if words[0] == "inspect" else ["-o", folder / "peer-out"]
        ours = process_times([command, *words, path, *output], 5)
        theirs = process_times([other, *words, path, *output], 2)
        values = [b / statistics.median(ours) for b in theirs]
        name = f"published package / ours, {' '.join(words)}, 1 M calls"
        print(f"{name:<70} {min(values):7.1f} [{min(values):.1f} .. {max(values):.1f}]", flush=True)
    path.unlink()


def peer_rows(python, peer, folder):
    """Ours beside the published package, each in its own interpreter, in turn."""
    ours = samples([python, HERE / "python_rows.py", build_floor(python, folder)])
    theirs = samples([peer, HERE / "python_rows.py", build_floor(peer, folder), "--peer"])
    for variant in ("with-record", "decorated", "named-class"):
        values = [b[variant] / a[variant] for a, b in zip(ours, theirs)]
        print(
            f"published package / ours, {variant:<42} {statistics.median(values):7.1f}"
            f" [{min(values):.1f} .. {max(values):.1f}]"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="", help="c, files, exports, python, tracing or start")
    parser.add_argument("--peer", help="an interpreter that has the published package")
    parser.add_argument("--large", action="store_true",
                        help="with exports: also a file of 100 million calls (2 GB of disk)")
    parser.add_argument("--viztracer", action="append", default=[],
                        help="an interpreter that has VizTracer, for those of its version that lack it")
    parser.add_argument("--python", action="append", default=[])
    options = parser.parse_args()
    failures = []
    command = options.build / "bin" / "scope-profiler"
    pythons = options.python or [sys.executable]
    print(f"{'row':<70} {'median':>7} {'spread':>18} {'bar':>6}")

    def wanted(part):
        return options.only in ("", part)

    with tempfile.TemporaryDirectory(prefix="sp-bench-") as scratch:
        folder = Path(scratch)
        if wanted("c"):
            show(C_ROWS, samples([options.build / "bin" / "bench_c_pair"]), failures)
            native = options.build / "bin" / "bench_native_pair"
            if native.exists():  # where there is a C++ compiler
                repeats = samples([native, folder / "native"])
                show(native_rows(repeats), repeats, failures)
            show(STENCIL_ROWS, samples([options.build / "bin" / "bench_stencil"]), failures)
            show(RING_ROWS, samples([options.build / "bin" / "bench_ring"]), failures)
        if wanted("files"):
            show(FILE_ROWS, samples([options.build / "bin" / "bench_files", folder]), failures)
            bench_open(command, folder, failures)
        if wanted("exports"):
            bench_exports(options.build, folder, failures)
            if options.large:
                bench_large(options.build, folder, failures)
        if wanted("python"):
            for python in pythons:
                where = build_floor(python, folder)
                repeats = samples([python, HERE / "python_rows.py", where])
                show(python_rows(python_version(python)), repeats, failures)
        if wanted("tracing"):
            with_viztracer = {python_version(python): python for python in options.viztracer}
            for python in pythons:
                tracing_rows(python, with_viztracer.get(python_version(python)), failures)
        if wanted("start"):
            bench_start(command, pythons[0], failures)
        if options.peer:
            if wanted("python"):
                peer_rows(pythons[0], options.peer, folder)
            if wanted("exports"):
                peer_files(options.build, options.peer, folder)
    if failures:
        print(f"\n{len(failures)} row(s) above the bar: " + "; ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
