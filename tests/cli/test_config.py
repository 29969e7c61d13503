"""`scope-profiler config`: programs are built with what it prints, and record."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

C = """
#include <scope_profiler.h>
int main(void)
{
    sp_init("built", 0);
    int region = sp_region("r");
    sp_begin(region);
    sp_end(region);
    return sp_finalize();
}
"""

FORTRAN = """
program built
    use scope_profiler
    call sp_init("built")
    call sp_begin_name("r")
    call sp_end_name("r")
    call sp_finalize()
end program built
"""


@pytest.fixture
def config(command):
    result = command("config")
    if result.code != 0 and "no scope_profiler.h" in result.err:
        pytest.skip("the command under test is not installed")
    return command


def build_and_run(config, compiler, source, *options):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    result = config("config", "--cflags", "--libs", *options)
    if result.code != 0 and "without a Fortran compiler" in result.err:
        pytest.skip("no compiled Fortran module")
    assert result.code == 0, result.err
    flags = shlex.split(result.out)
    program = config.folder / "built"
    subprocess.run([compiler, source, *flags, "-o", program], cwd=config.folder, check=True)
    subprocess.run([program], cwd=config.folder, check=True)
    assert len(list(config.folder.glob("built_rank00000.*"))) == 1


def test_c_programs(config):
    (config.folder / "a b.c").write_text(C)
    build_and_run(config, "cc", "a b.c")


def test_fortran_programs(config):
    (config.folder / "a.f90").write_text(FORTRAN)
    build_and_run(config, "gfortran", "a.f90", "--fortran")
    source = Path(config("config", "--fortran").out.strip())
    assert "module scope_profiler" in source.read_text()


def test_folders(config):
    prefix = Path(config("config", "--prefix").out.strip())
    assert (prefix / "include" / "scope_profiler.h").is_file()
    package = Path(config("config", "--cmakedir").out.strip())
    assert (package / "scope-profiler-config.cmake").is_file()
    lines = config("config").out.splitlines()
    assert [line.split()[0] for line in lines] == ["prefix", "cflags", "libs", "cmakedir", "fortran"]
    assert config("config", "--cflags").out == f"-I{prefix}/include\n"


def test_words_for_a_shell(config, tmp_path):
    prefix = Path(config("config", "--prefix").out.strip())
    link = tmp_path / "a place"
    shutil.copytree(prefix / "include", link / "include")
    (link / "lib").mkdir()
    (link / "lib" / "libscope_profiler.so.1").touch()
    out = config("config", "--cflags", SCOPE_PROFILER_CORE=str(link)).out
    assert shlex.split(out) == [f"-I{link}/include"]


def test_without_an_installation(command, tmp_path):
    alone = tmp_path / "bin" / "scope-profiler"
    alone.parent.mkdir()
    shutil.copy(command.path, alone)
    done = subprocess.run([alone, "config"], capture_output=True, text=True,
                          env={**command.environment, "SCOPE_PROFILER_CORE": str(tmp_path)})
    assert done.returncode == 1 and done.stdout == ""
    assert "SCOPE_PROFILER_CORE" in done.stderr
    assert command("config", "word").code == 2


def test_the_package_of_a_python(command, python):
    done = subprocess.run([python, "-m", "scope_profiler", "config", "--prefix"],
                          capture_output=True, text=True, cwd=command.folder, env=os.environ)
    assert done.returncode == 0 and done.stdout.strip().endswith("_core"), done.stderr


def test_the_openmp_tool(config):
    result = config("config", "--openmp-tool")
    library = Path(config("config", "--prefix").out.strip()) / "lib"
    tool = library / "scope-profiler" / "scope_profiler_ompt.so"
    if tool.exists():
        assert (result.code, result.out) == (0, f"{tool}\n")
    else:
        assert result.code == 1 and "without the OpenMP tool" in result.err
