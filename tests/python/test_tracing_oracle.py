"""The tracer against an independent one: the same calls, in the same order, equally deep."""

import json
import os
import subprocess
import sys

import pytest
from traced_programs import PROGRAMS

import scope_profiler

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(scope_profiler.__file__)))


def run(script, folder, options):
    environment = {**os.environ, "PYTHONPATH": PACKAGE_FOLDER}
    done = subprocess.run(
        [sys.executable, os.path.join(HERE, script), folder, *options],
        capture_output=True, text=True, env=environment, timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def file_of(name):
    return name.replace(" ", "_") + ".py"


@pytest.fixture(scope="module", params=[(), ("--c-calls",)], ids=["python", "c calls"])
def seen(tmp_path_factory, request):
    """(calls by the oracle, calls by the tracer) of every program."""
    folder = tmp_path_factory.mktemp("programs")
    for name, source in PROGRAMS.items():
        (folder / file_of(name)).write_text(source)
    expected, _ = run("profile_oracle.py", folder, request.param)
    traced, complaints = run("traced_run.py", folder, request.param)
    assert "Exception ignored" not in complaints and "scope_profiler" not in complaints
    return expected, traced


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_calls(seen, name):
    expected, traced = (calls[file_of(name)] for calls in seen)
    assert any(expected.values())
    assert traced == expected


def test_there_are_programs_of_every_kind():
    assert len(PROGRAMS) >= 30
