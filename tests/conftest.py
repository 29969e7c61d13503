"""What all tests in Python share."""

import glob
import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def no_rings_left(tmp_path_factory):
    """Programs that tests kill leave files in shared memory."""
    yield
    folder = str(tmp_path_factory.getbasetemp()).encode()
    for path in glob.glob(f"/dev/shm/scope-profiler-{os.geteuid()}-*.rings"):
        try:
            if folder in Path(path).read_bytes()[:65536]:
                os.unlink(path)
        except FileNotFoundError:
            pass
