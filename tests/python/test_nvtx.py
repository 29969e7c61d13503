"""Regions as NVTX ranges, from Python, C and Fortran, as a tool hears of them that writes everything down."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import scope_profiler

CORE = Path(scope_profiler.__file__).resolve().parent / "_core"
SOURCE = Path(__file__).parents[1] / "native" / "nvtx_tool.c"

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")

PYTHON = """
import threading
import scope_profiler as sp

def work():
    with sp.region("inner"):
        pass

with sp.session(output=None, verbose=False, use_nvtx=True):
    with sp.region("outer"):
        work()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
"""

C = """
#include <scope_profiler.h>
int main(void)
{
    sp_init("run", 0);
    int a = sp_region("outer"), b = sp_region("inner");
    sp_begin(a);
    sp_begin(b);
    sp_end(b);
    sp_end(a);
    return sp_finalize();
}
"""

FORTRAN = """
program main
  use scope_profiler
  implicit none
  integer :: a, b
  call sp_init("run", 0)
  a = sp_region("outer")
  b = sp_region("inner")
  call sp_begin(a)
  call sp_begin(b)
  call sp_end(b)
  call sp_end(a)
  call sp_finalize()
end program
"""


@pytest.fixture(scope="module")
def tool(tmp_path_factory):
    library = tmp_path_factory.mktemp("tool") / "nvtx_tool.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-D_GNU_SOURCE", "-o", library, SOURCE, "-lpthread"], check=True)
    return library


def heard(command, tool, folder):
    """What the tool was told by a program: (action, range, thread, name) in order."""
    log = folder / "log"
    environment = {**os.environ, "NVTX_INJECTION64_PATH": str(tool), "NVTX_TOOL_LOG": str(log)}
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=60)
    lines = [line.split() for line in log.read_text().splitlines()]
    assert lines[0] == ["domain", "1", "scope_profiler"]
    assert not [line for line in lines if line[0] == "odd"]
    return [(line[0], line[1], line[3], line[-1] if line[0] == "start" else None)
            for line in lines if line[0] in ("start", "end")]


@pytest.mark.parametrize("more", ["", ", track_threads=True"])
def test_python(tool, tmp_path, more):
    program = PYTHON.replace("use_nvtx=True", "use_nvtx=True" + more)
    assert heard([sys.executable, "-c", program], tool, tmp_path) == [
        ("start", "1", "1", "scope_profiler.session"),
        ("start", "2", "1", "outer"),
        ("start", "3", "1", "inner"),
        ("end", "3", "1", None),
        ("start", "4", "2", "inner"),
        ("end", "4", "2", None),
        ("end", "2", "1", None),
        ("end", "1", "1", None),
    ]


def build(folder, compiler, name, source):
    (folder / "settings.toml").write_text("[profiling.gpu]\nnvtx = true\n")
    (folder / name).write_text(textwrap.dedent(source))
    libraries = [f"-L{CORE / 'lib'}", f"-Wl,-rpath,{CORE / 'lib'}"]
    if compiler == "gfortran":
        module = next(iter(CORE.rglob("scope_profiler.f90")))
        sources = [module, name]
    else:
        sources = [f"-I{CORE / 'include'}", name]
    subprocess.run([compiler, *sources, *libraries, "-l:libscope_profiler.so.1", "-o", "program"],
                   cwd=folder, check=True)
    return ["env", "SCOPE_PROFILER_CONFIG=settings.toml", "./program"]


@pytest.mark.parametrize("compiler, name, source", [("cc", "a.c", C), ("gfortran", "a.f90", FORTRAN)])
def test_native(tool, tmp_path, compiler, name, source):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    command = build(tmp_path, compiler, name, source)
    assert heard(command, tool, tmp_path) == [
        ("start", "1", "1", "outer"),
        ("start", "2", "1", "inner"),
        ("end", "2", "1", None),
        ("end", "1", "1", None),
    ]


def test_a_wrong_tool_is_named(tmp_path):
    code = "import scope_profiler as sp; sp.setup(output=None, use_nvtx=True)"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, cwd=tmp_path,
                          env={**os.environ, "NVTX_INJECTION64_PATH": "/no/such/tool.so"})
    assert done.returncode == 1
    assert "OSError" in done.stderr and "/no/such/tool.so" in done.stderr
