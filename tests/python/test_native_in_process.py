"""Native code in a Python process: one recorder, one tree, whoever starts it."""

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import scope_profiler

CORE = Path(scope_profiler.__file__).resolve().parent / "_core"

LIBRARY = """
#include <pthread.h>
#include <scope_profiler.h>

static int early = SP_INVALID_REGION;

void take_handle(void) { early = sp_region("early"); }
int handle(void) { return early; }

void block(void)
{
    SP_SCOPE("block");
    sp_metadata_int("answer", 42);
    sp_begin(early);
    sp_end(early);
}

void tagged(void)
{
    int region = sp_region_tagged("tagged", "kernels");
    sp_begin(region);
    sp_end(region);
}

void on_open_call(void) { sp_metadata_string("from", "native"); }

static void *work(void *unused)
{
    for (int i = 0; i < 1000; i++)
        block();
    return unused;
}

void foreign_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_join(thread, 0);
}
"""

PRELUDE = """
import ctypes, json, sys
import scope_profiler as sp
native = ctypes.CDLL(sys.argv[1])
def paths(profile):
    found, above = {}, []
    for call in sp.read_h5(profile).call_stack(rank=0):
        above[call["depth"]:] = [call["name"]]
        path = " > ".join(above[above[0] == "scope_profiler.session":])
        found[path] = found.get(path, 0) + 1
    found.pop("", None)
    return found
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if not shutil.which("cc"):
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("native")
    (folder / "native.c").write_text(LIBRARY)
    command = ["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "native.c",
               f"-I{CORE}/include", f"-L{CORE}/lib", "-lscope_profiler",
               f"-Wl,-rpath,{CORE}/lib", "-lpthread", "-o", "native.so"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "native.so"


def run(library, folder, body):
    """Runs a program in a process of its own; its output."""
    script = folder / "program.py"
    script.write_text(PRELUDE + textwrap.dedent(body))
    done = subprocess.run([sys.executable, script, library], cwd=folder, text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def test_blocks_nest_under_python_regions(library, tmp_path):
    run(library, tmp_path, """
        native.take_handle()
        native.block()                       # nothing records yet
        sp.setup(file_path="run.h5")
        with sp.region("outer"):
            native.block()                   # the call site comes alive, the handle stays -1
            native.tagged()
            native.on_open_call()            # of "outer"
        assert native.handle() == -1
        native.take_handle()
        native.block()
        sp.finalize(verbose=False)
        native.block()
        assert paths("run.h5") == {
            "outer": 1, "outer > block": 1, "outer > tagged": 1, "block": 1, "block > early": 1}
        run = sp.read_h5("run.h5")
        assert run["tagged"][0].tags == ("kernels",)
        assert list(run["outer"][0].event_metadata) == [{"from": "native"}]
        assert list(run["block"][0].event_metadata) == [{"answer": 42}] * 2
    """)
    assert [path.name for path in tmp_path.glob("*.h5")] == ["run.h5"]


def test_init_and_finalize_join_and_leave(library, tmp_path):
    done = run(library, tmp_path, """
        sp.setup(file_path="run.h5")
        native.sp_output_path.restype = ctypes.c_char_p
        assert native.sp_init(b"ignored", 3) == 0
        assert native.sp_output_path().endswith(b"/run.h5")
        assert native.sp_set_output_format(1) == 0   # the host's file stays what it is
        native.block()
        assert native.sp_flush() == 0
        assert native.sp_finalize() == 0 and native.sp_is_active() == 1
        native.block()
        assert native.sp_finalize() == 0 and native.sp_is_active() == 1
        sp.finalize(verbose=False)
        assert paths("run.h5") == {"block": 2}
    """)
    assert done.stderr == ""
    assert [path.name for path in tmp_path.glob("*.h5")] == ["run.h5"]


def test_python_takes_over_what_native_code_began(library, tmp_path):
    run(library, tmp_path, """
        assert native.sp_init(b"mine", 0) == 0
        native.block()
        sp.setup(file_path="run.h5")
        with sp.region("outer"):
            native.block()
        assert native.sp_finalize() == 0 and native.sp_is_active() == 1
        sp.finalize(verbose=False)
        assert paths("run.h5") == {"block": 1, "outer": 1, "outer > block": 1}
    """)
    assert [path.name for path in tmp_path.glob("*.h5")] == ["run.h5"]


def test_threads_that_python_never_saw(library, tmp_path):
    run(library, tmp_path, """
        sp.setup(file_path="run.h5")
        with sp.region("outer"):
            native.foreign_thread()
        sp.finalize(verbose=False)
        assert paths("run.h5") == {"outer": 1, "block": 1000}
        assert len(sp.read_h5("run.h5")["block"][0].thread_ids) == 1000
    """)


def test_what_native_code_leaves_open_is_written_at_exit(library, tmp_path):
    run(library, tmp_path, """
        assert native.sp_init(b"left", 0) == 0
        native.block()
    """)
    assert [path.name for path in tmp_path.glob("*.h5")] == ["left_rank00000.h5"]
