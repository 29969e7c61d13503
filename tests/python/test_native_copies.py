"""Other copies of the library in a Python process: one recorder, or a clear refusal."""

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import scope_profiler

CORE = Path(scope_profiler.__file__).resolve().parent / "_core"
LIBRARY = CORE / "lib" / "libscope_profiler.so.1"
ARCHIVE = Path(__file__).resolve().parents[2] / "build" / "prefix" / "lib" / "libscope_profiler.a"
VERSION = scope_profiler.__version__

KERNEL = """
#include <scope_profiler.h>
void kernel(void) { SP_SCOPE("kernel"); }
int start(void) { return sp_init("kernel", 0); }
int stop(void) { return sp_finalize(); }
"""


def run(folder, body, *arguments):
    script = folder / "program.py"
    script.write_text("import ctypes, sys\n" + textwrap.dedent(body))
    return subprocess.run([sys.executable, script, *arguments], cwd=folder, text=True,
                          capture_output=True, timeout=120)


def ok(done):
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture
def copy(tmp_path):
    path = tmp_path / "elsewhere" / LIBRARY.name
    path.parent.mkdir()
    shutil.copyfile(LIBRARY, path)
    return path


@pytest.fixture
def other(copy):
    """A library of another version: its number is written over, at the same length."""
    content, mine = copy.read_bytes(), VERSION.encode()
    assert mine in content
    copy.write_bytes(content.replace(mine, b"9" + mine[1:]))
    return copy


@pytest.fixture
def static_kernel(tmp_path):
    """Native code that has a copy of its own, linked in."""
    if not ARCHIVE.exists() or not shutil.which("cc"):
        pytest.skip("no archive of the library, or no compiler")
    (tmp_path / "kernel.c").write_text(KERNEL)
    subprocess.run(["cc", "-shared", "-fPIC", "kernel.c", f"-I{CORE}/include", str(ARCHIVE),
                    "-lm", "-lpthread", "-ldl", "-o", "kernel.so"], cwd=tmp_path, check=True)
    return tmp_path / "kernel.so"


NESTED = """
    assert [(call["name"], call["depth"]) for call in sp.read_h5("run.h5").call_stack(rank=0)] == [
        ("outer", 0), ("kernel", 1)]
"""


def test_a_copy_of_the_same_version_is_the_same_recorder(copy, tmp_path):
    assert ok(run(tmp_path, """
    import scope_profiler as sp
    sp.setup(file_path="run.h5")
    native = ctypes.CDLL(sys.argv[1])
    assert native.sp_init(b"kernel", 0) == 0
    with sp.region("outer"):
        region = native.sp_region(b"kernel")
        native.sp_begin(region), native.sp_end(region)
    assert native.sp_finalize() == 0 and native.sp_is_active() == 1
    sp.finalize(verbose=False)
    """ + NESTED, copy)) == ""
    assert [path.name for path in tmp_path.glob("*.h5")] == ["run.h5"]


@pytest.mark.parametrize("order", ["kernel first", "package first"])
def test_a_copy_linked_into_native_code_is_the_same_recorder(static_kernel, tmp_path, order):
    first, second = "native = ctypes.CDLL(sys.argv[1])", "import scope_profiler as sp"
    if order == "package first":
        first, second = second, first
    assert ok(run(tmp_path, f"""
    {first}
    {second}
    native.kernel()
    sp.setup(file_path="run.h5")
    with sp.region("outer"):
        native.kernel()
    assert native.start() == 0 and native.stop() == 0
    sp.finalize(verbose=False)
    """ + NESTED, static_kernel)) == ""
    assert [path.name for path in tmp_path.glob("*.h5")] == ["run.h5"]


def test_a_copy_that_records_already_keeps_the_package_out(static_kernel, tmp_path):
    done = run(tmp_path, """
    native = ctypes.CDLL(sys.argv[1])
    assert native.start() == 0
    try:
        import scope_profiler
    except ImportError as error:
        print(error)
    native.kernel()
    assert native.stop() == 0
    """, static_kernel)
    ok(done)
    for words in ("does not record", str(static_kernel), "load it first"):
        assert words in done.stdout
    assert [path.name for path in tmp_path.glob("*.h5")] == ["kernel_rank00000.h5"]


def test_another_version_is_refused_aloud(other, tmp_path):
    err = ok(run(tmp_path, """
    import scope_profiler as sp
    sp.setup(file_path="run.h5")
    native = ctypes.CDLL(sys.argv[1])
    with sp.region("r"):
        for _ in range(1000):
            assert native.sp_region(b"lost") == -1
            native.sp_begin(3), native.sp_end(3)
    assert native.sp_init(b"kernel", 0) == 16
    native.sp_last_error.restype = ctypes.c_char_p
    assert b"does not record" in native.sp_last_error()
    sp.finalize(verbose=False)
    assert sp.read_h5("run.h5").region_names == ["r"]
    """, other))
    assert err.count("\n") == 1
    for words in (f"version 9{VERSION[1:]}", str(other), f"version {VERSION}", str(LIBRARY)):
        assert words in err
    assert [path.name for path in tmp_path.glob("*.h5")] == ["run.h5"]


def test_the_package_refuses_the_library_of_another_version(other, tmp_path):
    done = run(tmp_path, """
    native = ctypes.CDLL(sys.argv[1])
    import scope_profiler
    """, other)
    assert done.returncode == 1
    assert f"ImportError: scope_profiler {VERSION} found version 9{VERSION[1:]}" in done.stderr
