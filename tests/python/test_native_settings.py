"""Settings files of native programs: what Python accepts they accept, what it refuses they refuse."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import scope_profiler
from scope_profiler.profile_config import ProfilingConfig, load_profiling_config

LIBRARY = Path(scope_profiler.__file__).resolve().parent / "_core" / "lib" / "libscope_profiler.so.1"
INVALID = 8

pytestmark = pytest.mark.skipif(
    not (LIBRARY.parent / "scope-profiler" / "scope_profiler_toml.so").exists(),
    reason="this build has no TOML module",
)


@pytest.fixture(scope="module")
def native():
    library = ctypes.CDLL(LIBRARY)
    library.sp_last_error.restype = ctypes.c_char_p
    return library


def python_refuses(path):
    """What Python says about a file, None when it takes it. Absent instruments are another matter."""
    try:
        settings = load_profiling_config(path)
        off = {name: False for name in settings if name.startswith("use_") or "mpi" in name}
        ProfilingConfig(**{**settings, "deactivate_profiling": True, **off})
    except (ValueError, TypeError) as error:
        return str(error)
    return None


def native_refuses(native, path):
    status = native.sp_configure_file(os.fsencode(path))
    native.sp_configure_file(None)
    if status == 0:
        return None
    assert status in (INVALID, 4), status
    return native.sp_last_error().decode()


TAKEN = {
    "empty": "",
    "other tables": "[other]\nx = 1\n[profiling]\nlabel = 'a'\n",
    "at the top": "label = 'a'\ntrack_threads = true\n[hdf5]\ncompression = 'gzip'\n",
    "every group": "[profiling.memray]\nenabled = false\npath = 'x'\n[profiling.gpu]\nnvtx = false\n"
                   "backend = 'auto'\n[profiling.hdf5]\nchunk_size = 10\n",
    "dotted": "profiling.hdf5.compression_level = 3\nprofiling.hdf5.compression = ' GZIP '\n",
    "numbers as flags": "track_threads = 1\naggregation_mode = 0\n",
    "one tag, many tags": "enable_tags = 'io'\nperf_events = ['cycles', 'task-clock']\n",
    "no tags": "enable_tags = []\n",
    "no compression": "hdf5_compression = 'none'\n",
    "hexadecimal": "buffer_limit = 0x40\n",
    "unicode": "label = '\u00fc \U0001f600'\n",
    "inline": "profiling = {label = 'a', hdf5 = {compression = 'lzf'}}\n",
}

REFUSED = {
    "unknown": ("lable = 'a'\n", "Unknown profiling setting(s): 'lable' (did you mean 'label'?)"),
    "several unknown": ("[profiling]\nx = 1\nuse_likwd = true\n",
                        "(did you mean 'use_likwid'?)"),
    "unknown field": ("[profiling.hdf5]\ncompresion = 'gzip'\n",
                      "Unknown [hdf5] profiling setting(s): 'compresion' (did you mean 'compression'?)"),
    "old name": ("flush_to_disk = true\n",
                 "'flush_to_disk' (now deactivate_file_output, with the opposite meaning)"),
    "group field at the top": ("compression = 'gzip'\n",
                               "Unknown profiling setting(s): 'compression' "),
    "twice": ("[profiling]\nhdf5_compression = 'gzip'\n[profiling.hdf5]\ncompression = 'gzip'\n",
              "Profiling setting 'hdf5_compression' is set both directly and as hdf5.compression in "),
    "no table": ("profiling = 1\n", "[profiling] in "),
    "no group table": ("[profiling]\ngpu = 1\n", "[profiling.gpu] in "),
    "wrong flag": ("track_threads = 'yes'\n", "Profiling setting 'track_threads' must be "),
    "two": ("track_threads = 2\n", "Profiling setting 'track_threads' must be "),
    "number as text": ("label = 3\n", "Profiling setting 'label' must be a string, got 3"),
    "flag as text": ("label = true\n", "Profiling setting 'label' must be a string, got True"),
    "number as path": ("file_path = 3\n", "Profiling setting 'file_path' must be a path, got 3"),
    "empty path": ("file_path = ''\n", "file_path"),
    "text as number": ("buffer_limit = '5'\n", "buffer_limit"),
    "flag as number": ("buffer_limit = true\n", "buffer_limit"),
    "real number": ("buffer_limit = 5.5\n", "5.5"),
    "zero": ("buffer_limit = 0\n", "buffer_limit must be a positive integer, got 0"),
    "level": ("[profiling.hdf5]\ncompression = 'gzip'\ncompression_level = 10\n",
              "hdf5_compression_level"),
    "filter": ("hdf5_compression = 'bzip2'\n", "hdf5_compression must be "),
    "choice": ("metadata_detail = 'Full'\n", "metadata_detail must be one of "),
    "event": ("perf_events = ['cycles', 'cyclops']\n", "perf_events: unknown event 'cyclops'"),
    "event twice": ("perf_events = ['cycles', 'cycles']\n", "perf_events"),
    "no events": ("perf_events = []\n", "perf_events must name at least one event"),
    "number as tag": ("enable_tags = ['a', 1]\n", "enable_tags"),
    "number as tags": ("enable_tags = 1\n", "enable_tags"),
    "syntax": ("[profiling]\nlabel = 'a'\nlabel 'b'\n", "Invalid profiling TOML in "),
    "key twice": ("label = 'a'\nlabel = 'b'\n", "Invalid profiling TOML in "),
    "no key": ("[`x]\n", "Invalid profiling TOML in "),
    "unfinished": ("label = 'a\n", "Invalid profiling TOML in "),
    "NUL": ('label = "a\\u0000b"\n', "label"),
}


@pytest.mark.parametrize("text", TAKEN.values(), ids=TAKEN)
def test_taken_by_both(native, tmp_path, text):
    path = tmp_path / "s.toml"
    path.write_text(text, encoding="utf-8")
    assert python_refuses(path) is None
    assert native_refuses(native, path) is None


@pytest.mark.parametrize("text, words", REFUSED.values(), ids=REFUSED)
def test_refused_by_both_in_the_same_words(native, tmp_path, text, words):
    path = tmp_path / "s.toml"
    path.write_text(text, encoding="utf-8")
    said = native_refuses(native, path)
    assert words in python_refuses(path)
    assert words in said
    assert str(path) in said


def test_the_line_of_a_mistake(native, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text("[profiling]\n\nlabel = 'a'\nlabel 'b'\n")
    assert "line 4" in python_refuses(path)
    assert "line 4, column" in native_refuses(native, path)
    path.write_text("[profiling]\n\nlabel = 3\n")
    assert native_refuses(native, path).endswith(f"got 3 in '{path}', line 3")


def test_files_that_are_none(native, tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none.toml", tmp_path, tmp_path / "binary"):
        assert python_refuses(path) is not None
        said = native_refuses(native, path)
        assert said.startswith(("Could not read profiling config", "Invalid profiling TOML"))
        assert str(path) in said
    os.mkfifo(tmp_path / "pipe")
    assert "it is no file" in native_refuses(native, tmp_path / "pipe"), "and it does not wait"


# ---- what they do --------------------------------------------------------------------------------

PROGRAM = """
import ctypes, sys
native = ctypes.CDLL(sys.argv[1])
if len(sys.argv) > 2:
    assert native.sp_configure_file(sys.argv[2].encode()) == 0
    import os
    os.chdir("/")
status = native.sp_init(b"plain", 3)
for name in (b"a", b"quiet"):
    native.sp_register_opt_in_tag(b"q")
    region = native.sp_region_tagged(name, b"q" if name == b"quiet" else b"")
    for _ in range(5):
        native.sp_begin(region), native.sp_end(region)
print(status, native.sp_finalize())
"""


def run(folder, text, *arguments, **environment):
    (folder / "s.toml").write_text(text)
    variables = {**os.environ, "SCOPE_PROFILER_CONFIG": "s.toml", **environment}
    done = subprocess.run([sys.executable, "-c", PROGRAM, LIBRARY, *arguments], cwd=folder, text=True,
                          capture_output=True, env={k: v for k, v in variables.items() if v})
    assert done.returncode == 0, done.stderr
    files = sorted(path.name for path in folder.iterdir() if path.suffix in (".h5", ".spt"))
    return done.stdout.strip(), files, done.stderr


def profile(path):
    code = ("import json, sys, scope_profiler as sp; run = sp.load(sys.argv[1]);"
            "print(json.dumps([run.metadata['label'], sorted(run.region_names),"
            "run[next(iter(run)).name][3].has_event_data, bool(run.threads)]))")
    out = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def test_a_file_of_the_environment(tmp_path):
    text = """
    file_path = "made_{rank}.h5"
    label = "from a file"
    enable_tags = ["q"]
    track_threads = true
    [hdf5]
    compression = "gzip"
    """
    assert run(tmp_path, text) == ("0 0", ["made_3.h5"], "")
    assert profile(tmp_path / "made_3.h5") == ["from a file", ["a", "quiet"], True, True]
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "made_3.h5") as file:
        assert file["events/durations"].compression == "gzip"


def test_a_file_of_the_program_and_what_wins(tmp_path):
    text = "[profiling]\nlabel = 'mine'\naggregation_mode = true\n"
    named = {"SCOPE_PROFILER_CONFIG": ""}
    out, files, _ = run(tmp_path, text, "s.toml", SCOPE_PROFILER_OUTPUT=str(tmp_path / "o.h5"), **named)
    assert (out, files) == ("0 0", ["o_rank00003.h5"])
    assert profile(tmp_path / "o_rank00003.h5")[0] == "mine"
    (tmp_path / "other.toml").write_text("label = 'theirs'\n")
    run(tmp_path, text, "s.toml", SCOPE_PROFILER_CONFIG=str(tmp_path / "other.toml"),
        SCOPE_PROFILER_OUTPUT=str(tmp_path / "p.h5"))
    assert profile(tmp_path / "p_rank00003.h5")[0] == "theirs"


@pytest.mark.parametrize("text", ["deactivate_profiling = true", "deactivate_file_output = true"])
def test_no_file(tmp_path, text):
    assert run(tmp_path, text) == ("0 0", [], "")


def test_the_environment_wins(tmp_path):
    text = "deactivate_profiling = true\naggregation_mode = true"
    assert run(tmp_path, text, SCOPE_PROFILER_DISABLE="no")[1] == ["plain_rank00003.h5"]


def test_a_broken_file_is_said_and_nothing_is_recorded(tmp_path):
    out, files, err = run(tmp_path, "lable = 'x'")
    assert (out, files) == (f"{INVALID} 1", [])
    assert err == ("scope-profiler: recording does not start: Unknown profiling setting(s): 'lable' "
                   "(did you mean 'label'?) in 's.toml'\n")


def test_counters_of_the_environment_and_of_a_file(tmp_path):
    run(tmp_path, "track_cpu = true", SCOPE_PROFILER_PERF_EVENTS="task-clock, page-faults")
    from scope_profiler import read_h5

    counted = read_h5(tmp_path / "plain_rank00003.h5")
    totals = counted.get_perf_events(3)[3]["a"]
    assert list(totals.values) == ["task-clock", "page-faults"] and totals.calls > 0
    assert counted.get_cpu(3)[3]["a"].calls == totals.calls


def test_counters_that_cannot_be_had_cost_no_run(tmp_path):
    _, files, err = run(tmp_path, "", SCOPE_PROFILER_PERF_EVENTS="rffffffffffffffff")
    assert files == ["plain_rank00003.h5"]
    assert err.startswith("scope-profiler: perf event 'rffffffffffffffff'")
    assert err.endswith("; recording goes on without\n")


def test_settings_of_python_are_left_aside_and_said(tmp_path):
    _, files, err = run(tmp_path, "use_memray = true\nrecursive_profile = true\ntrack_async = false")
    assert files == ["plain_rank00003.h5"]
    assert err == ("scope-profiler: s.toml: 'use_memray', 'recursive_profile': not for native programs, "
                   "left aside\n")


def test_formats_that_native_programs_do_not_write(tmp_path):
    out, files, _ = run(tmp_path, "file_path = 'x.json'")
    assert (out, files) == ("7 1", [])
    assert run(tmp_path, "file_path = 'x.spt'")[1] == ["x_rank00003.spt"]


def test_without_the_module(tmp_path):
    library = tmp_path / LIBRARY.name
    # One that looks for a file that is nowhere.
    library.write_bytes(LIBRARY.read_bytes().replace(b"scope_profiler_toml.so", b"scope_profiler_none.so"))
    (tmp_path / "s.toml").write_text("label = 'x'")
    code = ("import ctypes, sys; native = ctypes.CDLL(sys.argv[1]);"
            "native.sp_last_error.restype = ctypes.c_char_p;"
            "print(native.sp_configure_file(b's.toml'), native.sp_last_error().decode())")
    done = subprocess.run([sys.executable, "-c", code, library], cwd=tmp_path, text=True,
                          capture_output=True, check=True)
    assert done.stdout.startswith("14 the TOML module, which reads settings files, "
                                  "scope_profiler_none.so was not found; name its folder in "
                                  "SCOPE_PROFILER_MODULE_PATH")


def test_details_of_the_machine_are_stored_on_request(tmp_path):
    """By an independent reader; without the setting no byte of the file tells the machine."""
    h5py = pytest.importorskip("h5py")
    secret = {"USER": "somebody-here", "LOGNAME": "", "SLURM_JOB_ID": "4711", "LOADEDMODULES": "gcc/12:mpi",
              "PATH": "/very/own/path:" + os.environ["PATH"]}
    for detail in ("full", "minimal"):
        run(tmp_path, f"file_path = '{detail}_{{rank}}.h5'\nmetadata_detail = '{detail}'\n", **secret)
    with h5py.File(tmp_path / "full_3.h5") as file:
        found = dict(file["metadata"].attrs)
    assert found["source_language"] == "c"
    assert found["user"] == "somebody-here"
    assert found["hostname"] == os.uname().nodename
    assert found["uname"] == " ".join(os.uname())
    assert found["working_directory"] == str(tmp_path)
    assert found["command_line"].startswith(f"{sys.executable} -c ")
    assert found["command_line"].rstrip().endswith(str(LIBRARY))
    assert list(found["modules"]) == ["gcc/12", "mpi"]
    assert (found["SLURM_JOB_ID"], found["PATH"]) == ("4711", secret["PATH"])
    content = (tmp_path / "minimal_3.h5").read_bytes()
    for text in ("somebody-here", "/very/own/path", "command_line", "4711", str(tmp_path), os.uname().nodename):
        assert text.encode() not in content, text
