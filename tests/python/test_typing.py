"""Type checkers see what there is: a sample program, and the stubs against the modules."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = Path(__file__).with_name("typing_sample.py")
STUBBED = ("scope_profiler.profile_manager", "scope_profiler._recorder")


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    pytest.importorskip("mypy")
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
    done = run(
        "mypy", "--config-file", config, "--strict", "--warn-unused-ignores",
        "--python-version", "3.10", "--follow-imports", "silent", SAMPLE,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


@pytest.mark.long
@pytest.mark.parametrize("module", STUBBED)
def test_stubs_agree_with_the_modules(mypy, module):
    run, config = mypy
    done = run("mypy.stubtest", "--mypy-config-file", config, module)
    assert done.returncode == 0, done.stdout


@pytest.mark.long
def test_sample_program_under_pyright(tmp_path):
    """The complaints are those, and only those, that the comments of the sample expect."""
    if importlib.util.find_spec("basedpyright") is None:
        pytest.skip("basedpyright is not installed; pip install -r requirements-long.txt")
    project = tmp_path / "pyrightconfig.json"
    project.write_text(
        json.dumps(
            {
                "include": [str(SAMPLE)],
                "typeCheckingMode": "standard",
                "enableTypeIgnoreComments": False,
                "pythonVersion": "3.10",
            }
        )
    )
    words = ("-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable)
    done = subprocess.run(
        [sys.executable, *words, "--project", project], capture_output=True, text=True, cwd=tmp_path
    )
    found = [
        complaint
        for complaint in json.loads(done.stdout)["generalDiagnostics"]
        if complaint["severity"] == "error"
    ]
    lines = SAMPLE.read_text(encoding="utf-8").splitlines()
    expected = [number for number, line in enumerate(lines) if "# type: ignore" in line]
    assert [complaint["range"]["start"]["line"] for complaint in found] == expected, found
