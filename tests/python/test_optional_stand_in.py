"""The file that libraries carry: nothing without the package, the package with it."""

import importlib.util
import inspect
import sys
from pathlib import Path

import pytest

import scope_profiler

FILE = Path(__file__).resolve().parents[2] / "examples" / "optional" / "scope_profiler_optional.py"


def load():
    spec = importlib.util.spec_from_file_location("carried", FILE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def without(monkeypatch):
    monkeypatch.setitem(sys.modules, "scope_profiler", None)
    return load()


def test_it_is_one_short_file():
    lines = FILE.read_text().splitlines()
    assert len(lines) < 80
    assert "MIT-0" in lines[0]


def test_present():
    module = load()
    assert module.HAS_SCOPE_PROFILER
    for name in ("profile", "region", "register_opt_in_tag"):
        assert getattr(module, name) == getattr(scope_profiler, name)


def test_absent(without):
    assert not without.HAS_SCOPE_PROFILER
    with without.region("a", tags=["x"]) as region:
        with without.region("b"):
            pass
    assert region.num_calls == 0
    assert without.register_opt_in_tag("x", "y") is None

    def f():
        return 1

    assert without.profile(f) is f
    assert without.profile()(f) is f
    assert without.profile("name", tags=["x"], record_outcome=True)(f) is f
    assert region.wrap(f) is f
    with pytest.raises(KeyError):
        with without.region("c"):
            raise KeyError


def test_same_signatures(without):
    for name in ("profile", "region", "register_opt_in_tag"):
        ours, theirs = getattr(without, name), getattr(scope_profiler, name)
        assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
