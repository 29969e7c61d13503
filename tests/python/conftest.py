"""What the tests of the recording side share. Every test starts with a manager that knows nothing."""

import os
import subprocess
import sys

import pytest

import scope_profiler
from scope_profiler import ProfileManager

ROOT = "scope_profiler.session"
PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(scope_profiler.__file__)))


@pytest.fixture(autouse=True)
def fresh_default_manager():
    ProfileManager._reset()
    yield
    ProfileManager._reset()


@pytest.fixture
def memory_run():
    """An active run in memory of the default manager."""
    return ProfileManager.setup(output=None)


class Recorded:
    """What a finished run holds, in the few words that tests ask for."""

    def __init__(self, results):
        self.results = results

    @property
    def names(self):
        return {name for name in self.results.region_names if name != ROOT}

    def calls(self, name):
        return self.results[name][0].num_calls if name in self.results else 0

    def metadata(self, name):
        return [dict(values) for values in self.results[name][0].event_metadata]

    def tree(self):
        """[(name, depth)] in order of start, the session's own region left out."""
        return [
            (call["name"], call["depth"])
            for call in self.results.call_stack(rank=0)
            if call["name"] != ROOT
        ]

    def parents(self):
        """{name: set of the names of its callers}; None for a call that stands alone."""
        calls = self.results.call_stack(rank=0)
        found = {}
        for call in calls:
            parent = call["parent"]
            name = None if parent is None or parent < 0 else calls[parent]["name"]
            found.setdefault(call["name"], set()).add(None if name == ROOT else name)
        return found


@pytest.fixture
def finish():
    """Finalizes the default manager, or another one, quietly."""

    def finalize(manager=ProfileManager):
        return Recorded(manager.finalize(verbose=False, return_results=True))

    return finalize


@pytest.fixture
def read():
    return lambda path: Recorded(scope_profiler.read_h5(path))


def environment_of(base):
    """A copy of an environment in which an interpreter finds the package."""
    environment = dict(base)
    paths = [PACKAGE_FOLDER, environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return environment


@pytest.fixture
def python_environment():
    return environment_of(os.environ)


def python(code, *arguments, cwd=None, env=None, timeout=60, options=()):
    """Runs code in an interpreter of its own that finds the package."""
    return subprocess.run(
        [sys.executable, *options, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, cwd=cwd, timeout=timeout,
        env=environment_of(os.environ if env is None else env),
    )


@pytest.fixture
def run_python():
    return python
