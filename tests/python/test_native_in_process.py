"""Native code in a Python process: one recorder, one tree, whoever starts it."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import scope_profiler
from scope_profiler.native_trace import c_include_dir, c_source_path, fortran_source_path

CORE = Path(scope_profiler.__file__).resolve().parent / "_core"

LIBRARY = """
#define _GNU_SOURCE
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

static void call(int region)
{
    sp_begin(region);
    sp_end(region);
}

void regions(void)
{
    call(sp_region("plain"));
    call(sp_region_tagged("io", "io, disk"));
    call(sp_region_tagged("deep", "lib"));
    call(sp_region_tagged("both", "lib,io"));
}

/* A handle for the life of the process, as kernels keep it. */
void kept_handle(void)
{
    static int region = -1;
    if (region < 0) {
        SP_REGION_AT("kept");
        region = sp_region_tagged("kept", "io");
    }
    call(region);
}

void on_open_call(void) { sp_metadata_string("from", "native"); }

static void *work(void *unused)
{
    pthread_setname_np(pthread_self(), "solver-7");
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

ALONG = """
#include <scope_profiler.h>
int start(void) { return sp_init("along", 0); }
void block(void) { SP_SCOPE("block"); }
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
        run = sp.read_h5("run.h5")
        assert len(run["block"][0].thread_ids) == 1000
        assert [thread.name for thread in run.threads[0]] == ["MainThread", "solver-7"]
    """)


def test_what_native_code_leaves_open_is_written_at_exit(library, tmp_path):
    run(library, tmp_path, """
        assert native.sp_init(b"left", 0) == 0
        native.block()
    """)
    assert [path.name for path in tmp_path.glob("*.h5")] == ["left_rank00000.h5"]


def test_tags_asked_for_in_python_reach_native_regions(library, tmp_path):
    run(library, tmp_path, """
        def recorded(before=lambda: None, **settings):
            sp.setup(output=None, replace=True, **settings)
            before()
            native.regions()
            return sorted(region.name for region in sp.finalize(
                verbose=False, return_results=True))
        everything = ["both", "deep", "io", "plain"]
        assert recorded() == everything
        assert recorded(region_tags=["io"]) == ["both", "io"]
        assert recorded(region_tags="disk") == ["io"]
        sp.register_opt_in_tag("lib")
        assert recorded() == ["io", "plain"]
        assert recorded(enable_tags=["lib"]) == recorded(enable_tags=["*"]) == everything
        assert recorded(region_tags=["lib"]) == ["both", "deep"]
        assert recorded() == ["io", "plain"]
        # Registered after the regions were first reached, and a region that Python has as well.
        sp.setup(output=None, replace=True, region_tags=["disk"])
        with sp.region("io", tags=["other"]):
            pass
        native.regions()
        assert sp.finalize(verbose=False, return_results=True).region_names == []
    """)


def test_a_handle_that_native_code_keeps_serves_every_run(library, tmp_path):
    run(library, tmp_path, """
        for tags, calls in ((None, 1), (None, 1), (["io"], 1), (["else"], 0)):
            sp.setup(output=None, replace=True, region_tags=tags)
            native.kept_handle()
            results = sp.finalize(verbose=False, return_results=True)
            assert len(results) == calls, tags
            if calls:
                assert results["kept"].num_calls == 1
                assert results["kept"][0].tags == ("io",)
                assert results["kept"].source_file == "native.c"
                assert results["kept"].source_lineno > 0
    """)


def test_a_folder_without_traces_is_fine_when_native_code_recorded(library, tmp_path):
    run(library, tmp_path, """
        for enter in (native.block, lambda: native.sp_init(b"x", 0)):
            sp.setup(file_path="run.h5", replace=True)
            enter()
            sp.finalize(verbose=False, native_traces=".")
    """)


# ---- without linking -----------------------------------------------------------------------------


@pytest.fixture
def along(tmp_path):
    """Native code compiled together with the file of `c_source_path`, from any folder."""
    if not shutil.which("cc"):
        pytest.skip("no C compiler")

    def build(source):
        (tmp_path / "along.c").write_text(ALONG)
        subprocess.run(["cc", "-shared", "-fPIC", "along.c", source, f"-I{c_include_dir()}", "-ldl",
                        "-o", "along.so"], cwd=tmp_path, check=True)
        return tmp_path / "along.so"

    return build


def test_a_source_compiled_along_finds_the_recorder_of_the_process(along, tmp_path):
    run(along(c_source_path()), tmp_path, """
        native.block()
        sp.setup(file_path="run.h5")
        with sp.region("outer"):
            native.block()
        assert native.start() == 0
        sp.finalize(verbose=False)
        assert paths("run.h5") == {"outer": 1, "outer > block": 1}
    """)


def test_a_source_compiled_along_without_a_library(along, tmp_path):
    shutil.copy(c_source_path(), tmp_path)
    script = ("import ctypes, sys; native = ctypes.CDLL(sys.argv[1]); native.block()\n"
              "print([native.start() for _ in range(3)])")
    done = subprocess.run([sys.executable, "-c", script, along(tmp_path / "scope_profiler.c")],
                          text=True, capture_output=True, cwd=tmp_path)
    assert done.stdout == "[14, 14, 14]\n"
    assert done.stderr.count("\n") == 1 and "libscope_profiler.so.1 was not found" in done.stderr


def test_the_fortran_source_is_there():
    assert "module scope_profiler" in fortran_source_path().read_text()


def test_tags_hold_for_regions_that_native_code_defined_before(library, tmp_path):
    run(library, tmp_path, """
        assert native.sp_init(b"mine", 0) == 0
        native.regions()
        sp.setup(output=None, region_tags=["disk"])
        native.regions()
        results = sp.finalize(verbose=False, return_results=True)
        assert {region.name: region.num_calls for region in results} == {
            "plain": 1, "io": 2, "deep": 1, "both": 1}
    """)


def test_what_goes_on_in_memory_leaves_no_journal(library, tmp_path):
    """Python takes over what native code records into a file, and wants no file."""
    run(library, tmp_path, """
        import glob, os
        assert native.sp_init(b"mine", 0) == 0
        native.regions()
        rings = glob.glob(f"/dev/shm/scope-profiler-*-{os.getpid()}-*")
        sp.setup(output=None)
        native.regions()
        results = sp.finalize(verbose=False, return_results=True)
        assert results["plain"].num_calls == 2
        open("rings", "w").write(" ".join(rings))
    """)
    rings = (tmp_path / "rings").read_text().split()
    assert not [path for path in rings if os.path.exists(path)]
    assert not list(tmp_path.glob("*.journal"))
