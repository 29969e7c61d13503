"""Recordings that did not end well: killed at any moment, torn, damaged, half gone."""

import glob
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "format"))
import journal_reader

HERE = Path(__file__).parent
NO_PARENT = journal_reader.NO_PARENT


@pytest.fixture(scope="session")
def core():
    package = pytest.importorskip("scope_profiler")
    return Path(package.__file__).resolve().parent / "_core"


@pytest.fixture(scope="session")
def storm(core, tmp_path_factory):
    """The program storm.c, linked to the installed library."""
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    program = tmp_path_factory.mktemp("storm") / "storm"
    subprocess.run(
        [compiler, "-O2", "-std=gnu11", "-pthread", HERE / "storm.c", "-o", program,
         f"-I{core}/include", core / "lib/libscope_profiler.so.1", f"-Wl,-rpath,{core}/lib"],
        check=True)
    return program


def rings_of(output):
    """Files of rings that belong to an output, told by their own words."""
    found = []
    for path in glob.glob(f"/dev/shm/scope-profiler-{os.geteuid()}-*.rings"):
        try:
            data = Path(path).read_bytes()
            at, _, count = struct.unpack_from("=3Q", data, 32)
        except (OSError, struct.error):
            continue  # of another test, being made or removed
        owners = [payload for kind, payload in journal_reader.frames(data[at : at + count]) if kind == 1]
        if owners and json.loads(owners[-1][24:])["output"] == str(output):
            found.append(path)
    return found


@pytest.fixture
def leave_nothing(tmp_path):
    yield
    for path in glob.glob(f"/dev/shm/scope-profiler-{os.geteuid()}-*.rings"):
        try:
            if str(tmp_path).encode() in Path(path).read_bytes()[:65536]:
                os.unlink(path)
        except FileNotFoundError:
            pass


pytestmark = pytest.mark.usefixtures("leave_nothing")


def recovered(command, path, *words):
    """(what the command says, the profile) of a recording."""
    done = command("recover", path, "-o", "recovered.json", *words)
    assert done.code == 0, done.err
    return done.out, json.loads((command.folder / "recovered.json").read_text())


def profile_calls(profile):
    """{(thread name or lane, number of the call in its lane): ...} as far as a file has it."""
    calls = []
    flags = dict(zip(*(profile.get("extras", {}).get(k, []) for k in ("call_flag_ids", "call_flags"))))
    for row in profile["regions"]:
        for i, start in enumerate(row["start_times_ns"]):
            calls.append({"name": row["name"], "start": start, "end": row["end_times_ns"][i],
                          "id": row["call_ids"][i], "parent": row["parent_ids"][i],
                          "flags": flags.get(row["call_ids"][i], 0)})
    return sorted(calls, key=lambda call: call["id"])


def expected_calls(journal):
    """The calls of the naive reader in the order of the ids of a file: by lane, then by number."""
    everything = sorted(journal.calls + journal.open, key=lambda c: (c["lane"], c["number"]))
    ids = {(call["lane"], call["number"]): i for i, call in enumerate(everything)}
    assert len(ids) == len(everything), "a call is there twice"
    return [(journal.name(call), ids.get((call["lane"], call["parent"]), -1)) for call in everything]


def check_against_truth(journal, truth, threads):
    """What a thread had ended is in the journal, and nothing that it had not begun."""
    ended, opened = defaultdict(int), defaultdict(int)
    for call in journal.calls:
        ended[int(journal.name(call).split()[1])] += 1
    for call in journal.open:
        opened[int(journal.name(call).split()[1])] += 1
    for thread in range(threads):
        begins_tried, begun, ends_tried, done = struct.unpack_from("=4Q", truth, thread * 64)
        assert done <= ended[thread] <= ends_tried
        assert begun <= ended[thread] + opened[thread] <= begins_tried


def kill_and_check(command, storm, threads, seed, delay):
    folder = command.folder / f"kill{seed}"
    folder.mkdir()
    with subprocess.Popen([storm, folder / "run", folder / "truth", str(threads), str(seed)],
                          stdout=subprocess.PIPE, cwd=folder) as process:
        process.stdout.readline()
        time.sleep(delay)
        process.kill()
    output = folder / "run_rank00000.h5"
    files = [*glob.glob(f"{output}*.journal"), *rings_of(output)]
    if not files:  # no thread had come so far as to record
        assert not any(struct.unpack("=16Q", (folder / "truth").read_bytes()[:128])[3::8])
        return
    journal = journal_reader.Journal(*files)
    assert journal.missing == 0
    check_against_truth(journal, (folder / "truth").read_bytes(), threads)
    said, profile = recovered(command, output, "--remove")
    assert f"{len(journal.calls)} call(s) that had ended, {len(journal.open)} open" in said
    assert "complete: every call that had ended is in it" in said
    assert f"process {process.pid} (storm)" in said
    calls = profile_calls(profile)
    assert [(call["name"], call["parent"]) for call in calls] == expected_calls(journal)
    # One that was just made and is still empty says nothing of its owner, and stays.
    assert not any(map(os.path.getsize, glob.glob(f"{output}*.journal"))) and not rings_of(output)


@pytest.mark.parametrize("seed, delay", [(1, 0.0), (2, 0.002), (3, 0.008), (4, 0.03)])
def test_killed_storm(command, storm, seed, delay):
    kill_and_check(command, storm, 3, seed, delay)


@pytest.mark.long
def test_killed_storm_200_times(command, storm):
    chosen = random.Random(20)
    for seed in range(100, 300):
        delay = chosen.choice([0.002, 0.01, 0.04]) * chosen.random()
        kill_and_check(command, storm, chosen.randint(1, 6), seed, delay)
        shutil.rmtree(command.folder / f"kill{seed}")


# ---- Ways to die, from Python ---------------------------------------------------------------------

PYTHON_PROGRAM = """
import ctypes, os, resource, signal, sys, threading
import scope_profiler as sp
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
sp.setup(file_path=sys.argv[1])
outer, inner = sp.region("outer"), sp.region("inner", tags=["a", "b"])
ready = threading.Barrier(3)
def work():
    with sp.region("thread"):
        for _ in range(2000):
            with inner: pass
        ready.wait()
        threading.Event().wait()
for i in range(2):
    threading.Thread(target=work, name=f"worker {i}", daemon=True).start()
with outer:
    for _ in range(20000):
        with inner: pass
    ready.wait()
    print("go", flush=True)
    {death}
"""

DEATHS = {
    "kill": ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    "term": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "abort": ("os.abort()", -signal.SIGABRT),
    "segv": ("ctypes.string_at(0)", -signal.SIGSEGV),
    "exit": ("os._exit(7)", 7),
}


def run_python(command, python, text, *words, **options):
    return subprocess.run([python, "-c", text, *map(str, words)], cwd=command.folder, timeout=60,
                          capture_output=True, text=True, env={**os.environ, **options})


def rows_of(profile):
    return {row["name"]: len(row["start_times_ns"]) for row in profile["regions"]}


@pytest.mark.parametrize("death", DEATHS)
def test_python_dies(command, python, death):
    statement, code = DEATHS[death]
    output = command.folder / "run.h5"
    done = run_python(command, python, PYTHON_PROGRAM.replace("{death}", statement), output)
    assert (done.returncode, done.stdout) == (code, "go\n"), done.stderr
    said, profile = recovered(command, output)
    assert rows_of(profile) == {"inner": 24000, "outer": 1, "thread": 2}
    assert "24000 call(s) that had ended, 3 open" in said
    calls = profile_calls(profile)
    of = {call["id"]: call for call in calls}
    parents = defaultdict(int)
    for call in calls:
        if call["name"] == "inner":
            parents[of[call["parent"]]["name"]] += 1
    assert parents == {"outer": 20000, "thread": 4000}
    assert {thread["name"] for thread in profile["threads"]["0"]} == {
        "MainThread", "worker 0", "worker 1"}
    inner = next(row for row in profile["regions"] if row["name"] == "inner")
    assert inner["tags"] == ["a", "b"]


def test_open_calls_are_marked(command, python):
    output = command.folder / "run.h5"
    run_python(command, python, PYTHON_PROGRAM.replace("{death}", DEATHS["kill"][0]), output)
    assert command("recover", output).code == 0
    h5py = pytest.importorskip("h5py")
    with h5py.File(command.folder / "run.recovered.h5") as file:
        extra = file["scope_profiler_extra"]
        assert list(extra["call_flags"]) == [journal_reader.OPEN] * 3
    assert "outer" in command("inspect", "run.recovered.h5").out


def test_doctor_shows_what_is_left(command, python):
    output = command.folder / "run.h5"
    run_python(command, python, PYTHON_PROGRAM.replace("{death}", DEATHS["kill"][0]), output)
    (rings,) = rings_of(output)
    told = command("doctor").out
    line = next((line for line in told.splitlines() if rings in line), None)
    count = told.count("left behind")
    assert line or count == 10  # others fill the list
    if line:
        assert f"{output} by process" in line and f"{os.path.getsize(rings) // 1024} KiB" in line
    assert "of killed programs" in told and "recover --remove OUTPUT" in told
    assert command("recover", output, "--remove").code == 0
    assert rings not in command("doctor").out


LOSING_PROGRAM = """
import os, signal, sys, threading, time
import scope_profiler as sp
sp.setup(file_path=sys.argv[1])
def leave_open():
    sp.region("left open").__enter__()
for _ in range(3):
    thread = threading.Thread(target=leave_open)
    thread.start()
    thread.join()
time.sleep(1.1)  # they are told once a second
for _ in range(30000):
    with sp.region("inner"): pass
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_losses_of_the_recorder_are_told(command, python):
    output = command.folder / "run.h5"
    run_python(command, python, LOSING_PROGRAM, output)
    files = [*glob.glob(f"{output}*.journal"), *rings_of(output)]
    assert journal_reader.Journal(*files).losses == {"thread_exit": 3}
    done = command("recover", output)
    assert "while it recorded it lost: thread_exit 3\n" in done.out
    h5py = pytest.importorskip("h5py")
    with h5py.File(command.folder / "run.recovered.h5") as file:
        extra = file["scope_profiler_extra"]
        kinds = [kind.decode() for kind in extra["loss_kinds"]]
        assert dict(zip(kinds, extra["loss_counts"])) == {"thread_exit": 3}


# ---- What is left of the files --------------------------------------------------------------------


@pytest.fixture
def remains(command, storm):
    """(journal file, file of rings, what the naive reader makes of both) of a killed storm."""
    with subprocess.Popen([storm, "run", "truth", "1", "9"], stdout=subprocess.PIPE,
                          cwd=command.folder) as process:
        process.stdout.readline()
        deadline = time.time() + 30
        output = command.folder / "run_rank00000.h5"
        path = Path(f"{output}.journal")
        while (not path.exists() or path.stat().st_size < 200_000) and time.time() < deadline:
            time.sleep(0.001)
        process.kill()
    (rings,) = rings_of(output)
    return path, Path(rings), journal_reader.Journal(path, rings)


def calls_of(path):
    return len(journal_reader.Journal(path).calls)


def test_missing_rings(command, remains):
    path, rings, _ = remains
    rings.unlink()
    said, profile = recovered(command, path)
    assert "its rings are gone" in said
    assert sum(rows_of(profile).values()) == calls_of(path)


def test_missing_journal(command, remains):
    path, rings, whole = remains
    path.unlink()
    said, profile = recovered(command, rings)
    left = journal_reader.Journal(rings)
    assert left.missing > 0
    assert f"{left.missing} call(s) that were recorded are not found" in said
    assert sum(rows_of(profile).values()) == len(left.calls) + len(left.open)
    assert len(left.calls) + left.missing == len(whole.calls)


@pytest.mark.parametrize("part", [0.45, 0.6, 0.93])
def test_truncated(command, remains, part):
    path, rings, _ = remains
    rings.unlink()
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    said, profile = recovered(command, path)
    assert sum(rows_of(profile).values()) == calls_of(path) > 0
    assert "byte(s) of the journal were being written" in said


def test_damage_in_the_middle(command, remains):
    path, _, whole = remains
    data = bytearray(path.read_bytes())
    blocks = []
    at = 0
    while at < len(data):
        found = journal_reader.frame_at(bytes(data[at:]), 0)
        if found is None:
            at += 8
            continue
        if found[0] == 6:
            blocks.append((at, found[2]))
        at += found[2]
    place, size = blocks[1]
    lost = struct.unpack_from("<I", data, place + 32 + 28)[0]
    data[place + size // 2] ^= 4
    path.write_bytes(data)
    said, profile = recovered(command, path)
    assert f"{lost} call(s) that were recorded are not found" in said
    assert "damaged: 1 block(s)" in said
    kept = profile_calls(profile)
    assert len(kept) == len(whole.calls) + len(whole.open) - lost
    # Nothing is invented: what has a parent has the one that it has without the damage.
    everything = {}
    for call in whole.calls + whole.open:
        everything[call["lane"], call["number"]] = call
    starts = {}
    for call in whole.calls + whole.open:
        parent = everything.get((call["lane"], call["parent"]))
        starts.setdefault((whole.name(call), call["depth"]), []).append(parent)
    of = {call["id"]: call for call in kept}
    for call in kept:
        if call["parent"] >= 0:
            assert of[call["parent"]]["start"] <= call["start"]
    with_parent = sum(call["parent"] >= 0 for call in kept)
    assert with_parent > len(kept) // 2


def test_zero_pages(command, remains):
    """A node that went away leaves pages of files that were never written."""
    path, rings, _ = remains
    data = bytearray(path.read_bytes())
    data[-65536:] = bytes(65536)
    path.write_bytes(data)
    image = bytearray(rings.read_bytes())
    segment = next(s for s in journal_reader.segments(bytes(image)) if s["state"])
    begin = bytes(image).find(segment["data"][:128])
    image[begin + segment["ring"] : begin + segment["ring"] + 4096] = bytes(4096)
    rings.write_bytes(image)
    said, profile = recovered(command, path)
    assert "damaged: 1 ring(s) or stack(s)" in said or "are not found" in said
    assert rows_of(profile)


def test_nothing_there(command):
    done = command("recover", "nothing.h5")
    assert (done.code, done.out) == (1, "")
    assert "no journal of 'nothing.h5' is left" in done.err


def test_a_folder_of_several(command, python):
    for name in ("one", "two"):
        run_python(command, python, PYTHON_PROGRAM.replace("{death}", DEATHS["kill"][0]),
                   command.folder / f"{name}.h5")
    assert command("recover", ".").code == 0
    assert (command.folder / "one.recovered.h5").exists()
    assert (command.folder / "two.recovered.h5").exists()


# ---- Beside other runs ----------------------------------------------------------------------------

SHORT = "import sys, scope_profiler as sp\nsp.setup(file_path=sys.argv[1])\n"
ONE_CALL = "with sp.region('r'): pass\n"


def test_next_start_mentions_what_is_left(command, python):
    output = command.folder / "run.h5"
    run_python(command, python, PYTHON_PROGRAM.replace("{death}", DEATHS["kill"][0]), output)
    left = {*glob.glob(f"{output}*.journal"), *rings_of(output)}
    done = run_python(command, python, SHORT + ONE_CALL + "sp.finalize(verbose=False)", output)
    assert done.returncode == 0
    assert f"'scope-profiler recover {output}' makes a profile of it" in done.stderr
    assert {*glob.glob(f"{output}*.journal"), *rings_of(output)} == left


def test_another_live_run_is_told(command, python):
    output = command.folder / "run.h5"
    text = SHORT + ONE_CALL + "print('go', flush=True); sys.stdin.read()"
    with subprocess.Popen([python, "-c", text, output], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as first:
        first.stdout.readline()
        done = run_python(command, python, SHORT + ONE_CALL + "sp.finalize(verbose=False)", output)
        assert f"process {first.pid} (" in done.stderr and "also records into" in done.stderr
        assert command("recover", output, "--dry-run").out.count("which still runs") == 1
        refused = command("recover", output, "--remove", "-o", "x.h5")
        assert refused.code == 1 and "may still be written" in refused.err
        first.stdin.close()


def test_good_end_leaves_the_output_alone(command, python):
    output = command.folder / "run.h5"
    text = SHORT + "for _ in range(50000):\n with sp.region('r'): pass\nsp.finalize(verbose=False)"
    done = run_python(command, python, text, output)
    assert (done.returncode, done.stderr) == (0, "")
    assert os.listdir(command.folder) == ["run.h5"]
    assert rings_of(output) == []


@pytest.mark.parametrize("journal, options", [
    ("journal='off'", {}), ("", {"SCOPE_PROFILER_JOURNAL": "off"}),
    ("deactivate_file_output=True", {}), ("deactivate_profiling=True", {})])
def test_no_journal(command, python, journal, options):
    output = command.folder / "run.h5"
    text = ("import os, sys, scope_profiler as sp\n"
            f"sp.setup(file_path=sys.argv[1], {journal})\n"
            "for _ in range(50000):\n with sp.region('r'): pass\nos._exit(0)")
    assert run_python(command, python, text, output, **options).returncode == 0
    assert os.listdir(command.folder) == []
    assert rings_of(output) == []


def test_journals_elsewhere(command, python):
    output, folder = command.folder / "run.h5", command.folder / "deep" / "journals"
    text = ("import os, sys, scope_profiler as sp\n"
            "sp.setup(file_path=sys.argv[1], journal=sys.argv[2])\n"
            "for _ in range(50000):\n with sp.region('r'): pass\nos._exit(0)")
    assert run_python(command, python, text, output, folder).returncode == 0
    assert os.listdir(folder) == ["run.h5.journal"]
    _, profile = recovered(command, folder / "run.h5.journal")
    assert rows_of(profile) == {"r": 50000}


# ---- fork -----------------------------------------------------------------------------------------

FORKING = """
import os, sys
import scope_profiler as sp
sp.setup(file_path=sys.argv[1])
r = sp.region("parent")
with r:
    for _ in range(100):
        with sp.region("parent"): pass
        child = os.fork()
        if child == 0:
            for _ in range(20000):
                with sp.region("parent"): pass
            os._exit(0)
        os.waitpid(child, 0)
    os._exit(0)
"""


def test_children_never_write(command, python):
    output = command.folder / "run.h5"
    done = run_python(command, python, FORKING, output)
    assert (done.returncode, done.stderr) == (0, "")
    said, profile = recovered(command, output)
    assert "100 call(s) that had ended, 1 open" in said
    assert rows_of(profile) == {"parent": 101}


# ---- Signals that finalize ------------------------------------------------------------------------

INSIDE_C = """
import signal, sys
import scope_profiler as sp
sp.setup(file_path=sys.argv[1], finalize_signals=["SIGTERM", "usr1"])
with sp.region("outer"):
    for _ in range(500):
        with sp.region("inner"): pass
    print("go", flush=True)
    sum(range({count}))  # one long call that holds the interpreter
    with sp.region("after"): pass
sp.finalize(verbose=False)
"""


def start_python(python, text, *words):
    process = subprocess.Popen([python, "-c", text, *map(str, words)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "go\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_signal_finalizes_and_kills(command, python, number):
    output = command.folder / "run.h5"
    process = start_python(python, INSIDE_C.replace("{count}", "10**10"), output)
    time.sleep(0.2)
    process.send_signal(number)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (-number, "")
    assert command("convert", output, "-o", "run.json").code == 0
    profile = json.loads((command.folder / "run.json").read_text())
    assert rows_of(profile) == {"outer": 1, "inner": 500}
    assert glob.glob(f"{output}*.journal") == [] and rings_of(output) == []


def test_program_that_handles_the_signal_goes_on(command, python):
    output = command.folder / "run.h5"
    text = INSIDE_C.replace(
        "sp.setup(", "signal.signal(signal.SIGTERM, lambda *_: None)\nsp.setup(")
    process = start_python(python, text.replace("{count}", "10**8"), output)
    time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")
    assert command("convert", output, "-o", "run.json").code == 0
    profile = json.loads((command.folder / "run.json").read_text())
    assert rows_of(profile) == {"outer": 1, "inner": 500, "after": 1}


def test_signals_that_cannot_be_waited_for(command, python):
    text = "import scope_profiler as sp\nsp.setup(finalize_signals=['SIGKILL'])"
    done = run_python(command, python, text)
    assert done.returncode == 1
    assert "'SIGKILL' is no signal that a program can finalize at" in done.stderr


def test_children_have_the_old_action(command, python):
    text = """
import os, signal, sys, time
import scope_profiler as sp
sp.setup(file_path=sys.argv[1], finalize_signals=["SIGTERM"])
child = os.fork()
if child == 0:
    time.sleep(30)
time.sleep(0.1)
os.kill(child, signal.SIGTERM)
print(os.waitpid(child, 0)[1])
sp.finalize(verbose=False)
"""
    done = run_python(command, python, text, command.folder / "run.h5")
    assert (done.returncode, done.stdout) == (0, f"{int(signal.SIGTERM)}\n"), done.stderr
