"""Finds the HDF5 module and opens its table: that of $SCOPE_PROFILER_MODULE_PATH, else the one of
the installed package, else the one of a build tree."""

import importlib.util
import os
from pathlib import Path

import pytest

import store_table

ROOT = Path(__file__).resolve().parents[2]
NAME = "scope_profiler_hdf5.so"


def _candidates():
    for folder in os.environ.get("SCOPE_PROFILER_MODULE_PATH", "").split(":"):
        if folder:
            yield Path(folder)
    package = importlib.util.find_spec("scope_profiler")
    if package is not None and package.origin:
        yield Path(package.origin).parent / "_core/lib/scope-profiler"
    yield from sorted(ROOT.glob("build/*/lib/scope-profiler"))


@pytest.fixture(scope="session")
def module_path():
    for folder in _candidates():
        if (folder / NAME).is_file():
            return folder / NAME
    pytest.skip("this build has no HDF5 module")


@pytest.fixture(scope="session")
def table(module_path):
    return store_table.load(module_path)


@pytest.fixture(scope="session")
def data():
    return Path(__file__).parent / "data"
