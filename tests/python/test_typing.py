"""Type checkers see what there is: a sample program, and the stubs against the modules."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

STUBBED = ("scope_profiler.profile_manager", "scope_profiler._recorder")


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mypy")
    config = folder / "mypy.ini"
    config.write_text("[mypy]\nignore_missing_imports = True\n")
    environment = {**os.environ, "MYPY_CACHE_DIR": str(folder / "cache")}

    def run(module, *arguments):
        words = [sys.executable, "-m", module, *map(str, arguments)]
        return subprocess.run(words, capture_output=True, text=True, env=environment, cwd=folder)

    return run, config


@pytest.mark.long
def test_sample_program(mypy):
    run, config = mypy
    sample = Path(__file__).with_name("typing_sample.py")
    done = run(
        "mypy", "--config-file", config, "--strict", "--warn-unused-ignores",
        "--python-version", "3.10", "--follow-imports", "silent", sample,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.long
@pytest.mark.parametrize("module", STUBBED)
def test_stubs_agree_with_the_modules(mypy, module):
    run, config = mypy
    done = run("mypy.stubtest", "--mypy-config-file", config, module)
    assert done.returncode == 0, done.stdout
