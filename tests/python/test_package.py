"""The root of the package: names, laziness, shortcuts, the command as a module."""

import importlib
import os
import pydoc
import subprocess
import sys
import types

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager

SHORTCUTS = (
    "define_region", "finalize", "instrument", "is_active", "is_configured", "last_results",
    "metadata", "pause", "profile", "profile_command", "profile_script", "recorded_regions",
    "region", "region_factory", "register_opt_in_tag", "registered_regions", "reset", "resume",
    "run", "session", "setup", "setup_from_env",
)  # fmt: skip


@pytest.mark.parametrize("name", SHORTCUTS)
def test_shortcuts_are_the_members(name):
    assert getattr(sp, name).__func__ is getattr(ProfileManager, name).__func__
    assert getattr(sp, name).__self__ is ProfileManager._default
    assert name in sp.__all__


def test_all_names_exist():
    assert set(sp.__all__) == {"ProfileManager", *sp._LAZY, *SHORTCUTS}
    assert len(set(sp.__all__)) == len(sp.__all__)
    for name in sp.__all__:
        assert getattr(sp, name) is not None
    assert set(sp.__all__) <= set(dir(sp))
    assert dir(sp) == sorted(dir(sp))


def test_star_import_brings_them():
    namespace = {}
    exec("from scope_profiler import *", namespace)
    assert set(sp.__all__) <= set(namespace)
    assert namespace["region"] is sp.region


def test_unknown_names():
    with pytest.raises(AttributeError, match="module 'scope_profiler' has no attribute 'nonsense'"):
        sp.nonsense
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        from scope_profiler import nonsense  # noqa: F401
    with pytest.raises(ImportError, match=r"use read_h5\(\)"):
        from scope_profiler import ProfilingH5Reader  # noqa: F401


def test_version():
    assert isinstance(sp.__version__, str) and sp.__version__[0].isdigit()


def test_modules_named_like_functions_do_not_displace_them(run_python):
    code = (
        "import scope_profiler as sp\n"
        "import scope_profiler.region, scope_profiler.metadata\n"
        "from scope_profiler.region import Region\n"
        "from scope_profiler.metadata import collect_metadata\n"
        "import importlib\n"
        "assert importlib.import_module('scope_profiler.region').Region is Region is sp.Region\n"
        "assert sp.region is sp.ProfileManager.region\n"
        "assert sp.metadata.__func__ is sp.ProfileManager.metadata.__func__\n"
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr


def test_every_module_can_be_imported_first(run_python):
    folder = os.path.dirname(sp.__file__)
    names = [name[:-3] for name in sorted(os.listdir(folder)) if name.endswith(".py")]
    names = [name for name in names if name not in ("__main__", "__init__")]
    code = (
        "import importlib, sys\n"
        "module = importlib.import_module('scope_profiler.' + sys.argv[1])\n"
        "for name in getattr(module, '__all__', ()): getattr(module, name)\n"
    )
    for name in names:
        done = run_python(code, name)
        assert done.returncode == 0, (name, done.stderr)


def test_names_of_the_manager_module():
    from scope_profiler import profile_manager

    for name in ("ProfileManager", "ProfilingRun", "RankPayload", "RegionFactory", "RegionHandle"):
        assert getattr(profile_manager, name).__name__ == name
        assert name in dir(profile_manager)
    with pytest.raises(AttributeError):
        profile_manager.Nothing


def test_members_are_class_methods_to_tools():
    kinds = {name: type(value) for name, value in vars(ProfileManager).items()}
    assert issubclass(kinds["setup"], classmethod)
    help_text = pydoc.plain(pydoc.render_doc(ProfileManager))
    assert "sample_every" in help_text
    assert isinstance(ProfileManager.setup, types.MethodType)


# ---- python -m scope_profiler --------------------------------------------------------------------


def module_run(*arguments, env=None):
    environment = {**os.environ, **(env or {})}
    environment["PYTHONPATH"] = os.path.dirname(os.path.dirname(sp.__file__))
    return subprocess.run(
        [sys.executable, "-m", "scope_profiler", *arguments],
        capture_output=True, text=True, env=environment, timeout=60,
    )


def test_module_becomes_the_command(tmp_path, monkeypatch):
    """The first program of that name that is no script, told which interpreter to use."""
    script, binary = tmp_path / "script", tmp_path / "binary"
    script.mkdir(), binary.mkdir()
    (script / "scope-profiler").write_text("#!/bin/sh\necho wrong\n")
    (script / "scope-profiler").chmod(0o755)
    os.symlink("/usr/bin/env", binary / "scope-profiler")
    from scope_profiler import __main__ as module

    monkeypatch.setattr(
        module, "_candidates",
        lambda: iter([str(script / "scope-profiler"), str(binary / "scope-profiler")]),
    )
    started = []

    def execv(path, words):
        started.append((path, words, os.environ["SCOPE_PROFILER_PYTHON"]))
        raise SystemExit(0)

    monkeypatch.setattr(os, "execv", execv)
    monkeypatch.setenv("SCOPE_PROFILER_PYTHON", "old")
    with pytest.raises(SystemExit):
        module.main(["inspect", "x.h5"])
    assert started == [
        (str(binary / "scope-profiler"), ["scope-profiler", "inspect", "x.h5"], sys.executable)
    ]


def test_module_without_the_command_says_so(monkeypatch, capsys):
    from scope_profiler import __main__ as module

    monkeypatch.setattr(module, "_candidates", lambda: iter(["/nowhere/scope-profiler"]))
    assert module.main([]) == 1
    assert "scope-profiler is not installed; looked for /nowhere" in capsys.readouterr().err


def test_version_of_the_command_is_the_packages():
    done = module_run("--version")
    if "not installed" in done.stderr:
        pytest.skip("the command is not beside this interpreter")
    assert (done.returncode, sp.__version__ in done.stdout) == (0, True)
