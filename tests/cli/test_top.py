"""Looking into running programs: working, hanging, ending, without a journal."""

import glob
import json
import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

PROGRAM = """
import sys, threading
import scope_profiler as sp
sp.setup(file_path=sys.argv[1], **eval(sys.argv[2]))
def calls(region, count):
    for _ in range(count):
        with region: pass
def work():
    with sp.region("thread"):
        calls(sp.region("leaf"), 300)
        ready.wait()
        threading.Event().wait()
ready = threading.Barrier(2)
with sp.region("outer"):
    threading.Thread(target=work, name="worker", daemon=True).start()
    calls(sp.region("leaf"), 40000)
    with sp.region("caf\\u00e9\\n"):
        ready.wait()
        print("ready", flush=True)
        sys.stdin.readline()
        calls(sp.region("late"), 50)
        print("again", flush=True)
        sys.stdin.readline()
sp.finalize(verbose=False)
"""


@contextmanager
def running(command, python, output="run.h5", settings="{}", program=PROGRAM):
    """A program that waits for a line in a known state."""
    process = subprocess.Popen(
        [python, "-c", program, command.folder / output, settings], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, cwd=command.folder)
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def view(command, *words):
    done = command("top", *words, "--once", "--json")
    assert done.code == 0, done.err
    (line,) = done.out.splitlines()
    return json.loads(line)


def regions_of(seen):
    return {region["name"]: region for region in seen["regions"]}


def check_state(seen, process):
    (one,) = seen["processes"]
    assert (one["pid"], one["rank"], one["is_running"]) == (process.pid, 0, True)
    assert one["calls"] == 40300 and one["missing_calls"] == 0
    regions = regions_of(seen)
    assert {name: (r["calls"], r["open"]) for name, r in regions.items()} == {
        "leaf": (40300, 0), "outer": (0, 1), "café\n": (0, 1), "thread": (0, 1)}
    threads = {thread["name"]: thread for thread in seen["threads"]}
    assert [(c["region"], c["depth"]) for c in threads["MainThread"]["open"]] == [
        ("outer", 0), ("café\n", 1)]
    assert [(c["region"], c["depth"]) for c in threads["worker"]["open"]] == [("thread", 0)]
    outer, inner = threads["MainThread"]["open"]
    assert outer["elapsed_ns"] >= inner["elapsed_ns"] == inner["own_ns"] > 0
    # What is inside "outer" is either its leaves, or the other open call, or its own.
    worker_leaves = threads["worker"]["open"][0]["elapsed_ns"] - threads["worker"]["open"][0]["own_ns"]
    leaves = regions["leaf"]["own_ns"] - worker_leaves
    assert abs(outer["elapsed_ns"] - inner["elapsed_ns"] - outer["own_ns"] - leaves) < 1000
    assert abs(sum(r["share"] for r in regions.values()) - 1) < 1e-9
    assert [r["share"] for r in seen["regions"]] == sorted(
        (r["share"] for r in seen["regions"]), reverse=True)


def test_by_process_output_and_folder(command, python):
    with running(command, python) as process:
        for word in (process.pid, "run.h5", command.folder / "run.h5", "."):
            check_state(view(command, word), process)
        (journal,) = glob.glob(f"{command.folder}/run.h5*.journal")
        check_state(view(command, journal), process)


def test_a_program_that_hangs(command, python):
    with running(command, python) as process:
        os.kill(process.pid, signal.SIGSTOP)
        check_state(view(command, process.pid), process)
        assert Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        os.kill(process.pid, signal.SIGCONT)
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "again\n"
        assert regions_of(view(command, process.pid))["late"]["calls"] == 50


GOLDEN = """\
rank 0  process PID (python)  # s  40300 call(s)  FOLDER/run.h5
  thread 0 (#) MainThread: 40000 call(s), 2 open
    outer                                                  #  own              #
     caf\u00e9?                                                 #  own              #
  thread 1 (#) worker: 300 call(s), 1 open
    thread                                                 #  own              #

region                                     share         calls       calls/s         total           own
"""


def test_the_text(command, python):
    with running(command, python) as process:
        done = command("top", process.pid, "--once")
        assert (done.code, done.err) == (0, "")
    text = done.out.replace(str(command.folder), "FOLDER").replace(f"process {process.pid}", "process PID")
    text = re.sub(r"\(python[\d.]*\)", "(python)", text)
    text = re.sub(r"\(\d+\)", "(#)", re.sub(r"  \d+\.\d s  ", "  # s  ", text))
    head, table = text[: text.index("own\n", text.index("\nregion")) + 4], text[text.index("\nregion") :]
    head = re.sub(r" {2,}\d+\.\d{3} [mu]?s", lambda m: "#".rjust(len(m[0])), head)
    head = re.sub(r"own( +\d+\.\d{3} [mu]?s)", lambda m: "own" + "#".rjust(len(m[1])), head)
    assert head == GOLDEN
    rows = {line[:40].rstrip(): line[40:].split() for line in table.splitlines()[2:]}
    assert {name: row[1] for name, row in rows.items()} == {
        "leaf": "40300", "outer": "0", "caf\u00e9?": "0", "thread": "0"}
    assert abs(sum(float(row[0].rstrip("%")) for row in rows.values()) - 100) < 0.3


def test_regions_are_limited(command, python):
    with running(command, python) as process:
        out = command("top", process.pid, "--once", "--regions", "1").out
    assert out.endswith("... 3 more region(s)\n")


def test_views_follow_each_other_until_the_end(command, python):
    with running(command, python) as process:
        top = subprocess.Popen([command.path, "top", "run.h5", "--json", "--interval", "0.1"],
                               cwd=command.folder, env=command.environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = json.loads(top.stdout.readline())
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "again\n"
        for _ in range(2):  # the one under way may have been before
            second = json.loads(top.stdout.readline())
        process.communicate("\n", timeout=30)
        rest, said = top.communicate(timeout=30)
    assert "late" not in regions_of(first)
    assert regions_of(second)["late"]["calls"] == 50
    assert regions_of(second)["leaf"]["calls_per_second"] == 0  # they were all before
    last = json.loads(rest.splitlines()[-1])
    assert last["processes"][0]["is_running"] is False
    assert f"process {process.pid} has finished" in said and "inspect" in said
    assert top.returncode == 0


def test_on_a_terminal_views_replace_each_other(command, python):
    with running(command, python) as process:
        killer = subprocess.Popen(["sh", "-c", f"sleep 1; kill -9 {process.pid}"])
        seen = command.on_terminal("top", str(process.pid), "--interval", "0.2")
        killer.wait()
    assert seen.count("\033[H\033[J") >= 2 and "outer" in seen


def test_a_killed_program(command, python):
    with running(command, python) as process:
        process.kill()
        process.wait()
        for word in (process.pid, "run.h5"):
            done = command("top", word)
            assert (done.code, done.out) == (1, "")
            assert f"process {process.pid} has ended without finishing its recording" in done.err
            assert f"'scope-profiler recover {command.folder}/run.h5'" in done.err


def test_a_program_without_journal(command, python):
    with running(command, python, settings="{'journal': 'off'}") as process:
        for word in (process.pid, "run.h5"):
            done = command("top", word)
            assert done.code == 1 and 'journal="off" (SCOPE_PROFILER_JOURNAL)' in done.err


def test_what_is_not_there(command, python):
    assert "there is no process 99999999" in command("top", "99999999").err
    assert "no program on this machine records into 'x.h5'" in command("top", "x.h5").err
    assert "records into the folder '.'" in command("top", ".").err
    (command.folder / "old.h5").write_text("")
    assert "scope-profiler inspect old.h5" in command("top", "old.h5").err
    done = command("top", "a", "b")
    assert done.code == 2 and "at a time" in done.err
    done = command("top", "1", "--interval", "0")
    assert done.code == 2 and "argument --interval: '0' is no number" in done.err


def test_without_an_argument(command, python):
    with running(command, python) as process:
        out = command("top").out
    (line,) = [line for line in out.splitlines() if str(command.folder) in line]
    assert line.split()[:2] == [str(process.pid), "0"] and line.endswith("/run.h5")


def test_links_are_not_followed(command, python):
    """Where everybody may make files, a name proves nothing."""
    with running(command, python) as process:
        (rings,) = [path for path in glob.glob(f"/dev/shm/scope-profiler-{os.geteuid()}-*.rings")
                    if str(command.folder).encode() in Path(path).read_bytes()[:65536]]
        hidden = command.folder / "moved"
        os.link(rings, hidden) if os.stat(rings).st_dev == os.stat(command.folder).st_dev else \
            hidden.write_bytes(Path(rings).read_bytes())
        name = f"/dev/shm/scope-profiler-{os.geteuid()}-{process.pid}-00000000-{'0' * 16}.rings"
        os.symlink(hidden, name)
        try:
            out = command("top").out
        finally:
            os.unlink(name)
    assert out.count(str(command.folder)) == 1


def test_two_programs_of_a_folder(command, python):
    with running(command, python, "one.h5") as one, running(command, python, "two.h5") as two:
        seen = view(command, ".")
    assert {p["pid"] for p in seen["processes"]} == {one.pid, two.pid}
    assert regions_of(seen)["leaf"]["calls"] == 80600
    assert len(seen["threads"]) == 4


BUSY = """
import sys, threading
import scope_profiler as sp
sp.setup(file_path=sys.argv[1])
region, done = sp.region("busy"), threading.Event()
def work():
    while not done.is_set():
        for _ in range(1000):
            with region: pass
threads = [threading.Thread(target=work) for _ in range(2)]
for t in threads: t.start()
print("ready", flush=True)
sys.stdin.readline()
done.set()
for t in threads: t.join()
print(region.num_calls, flush=True)
sys.stdin.readline()
"""


def test_a_busy_program_is_counted_exactly(command, python):
    """Rings are drained again and again while they are read; nothing counts twice or is left out."""
    with running(command, python, program=BUSY) as process:
        top = subprocess.Popen([command.path, "top", "run.h5", "--json", "--interval", "0.05"],
                               cwd=command.folder, env=command.environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        counts = [json.loads(top.stdout.readline())["processes"][0] for _ in range(12)]
        process.stdin.write("\n")
        process.stdin.flush()
        total = int(process.stdout.readline())
        for _ in range(2):
            last = json.loads(top.stdout.readline())["processes"][0]
        top.kill()
        top.communicate()
    assert all(a["calls"] <= b["calls"] for a, b in zip(counts, counts[1:]))
    assert counts[-1]["calls"] > counts[0]["calls"]
    assert (last["calls"], last["missing_calls"]) == (total, 0)
