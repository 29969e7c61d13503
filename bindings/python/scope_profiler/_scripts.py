"""Running scripts: in this process as __main__, or under the command in another one."""

from __future__ import annotations

import io
import os
import sys
from contextlib import nullcontext
from types import ModuleType

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence
    from typing import Any


def run_script(script_path: Any, script_args: Sequence[str] | None, tracing: Any = None) -> None:
    """Executes a script as `__main__`, inside a context manager if one is given; argv, module path
    and `__main__` are put back afterwards."""
    path = os.fspath(script_path)
    with io.open_code(os.path.abspath(path)) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    main = ModuleType("__main__")
    main.__file__ = path
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    saved = sys.argv, sys.path[:], sys.modules.get("__main__")
    sys.argv = [path, *map(os.fspath, script_args or ())]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    sys.modules["__main__"] = main
    try:
        with tracing or nullcontext():
            exec(code, main.__dict__)
    finally:
        sys.argv, sys.path[:] = saved[0], saved[1]
        if saved[2] is not None:
            sys.modules["__main__"] = saved[2]


def _is_python(word: str) -> bool:
    name = os.path.basename(word)
    return os.path.realpath(word) == os.path.realpath(sys.executable) or (
        name.startswith("python") and name[6:].replace(".", "").isdigit() or name == "python"
    )


def profile_command(
    command: Sequence[Any], output: Any, recursive: bool, all: bool, mpi_calls: bool
) -> subprocess.CompletedProcess[Any]:
    """Runs a script under `scope-profiler run`; the results become an attribute of what returns."""
    import subprocess

    words = [os.fspath(word) for word in command]
    if words and _is_python(words[0]):
        del words[0]
    if not words:
        raise ValueError("profile_command() requires a Python script path")
    path = "profiling_data.h5" if output is None else os.fspath(output)
    flags = {"--recursive": recursive, "--all": all, "--mpi-calls": mpi_calls}
    process = subprocess.run(
        [
            *(sys.executable, "-m", "scope_profiler", "run", "-q", "-o", path),
            *(flag for flag, wanted in flags.items() if wanted),
            *words,
        ]
    )
    results = _read_output(path) if process.returncode == 0 else None
    process.profile_results = results  # type: ignore[attr-defined]
    return process


def _read_output(path: str) -> Any:
    from .profile_io import load

    try:
        return load(path)
    except (OSError, ValueError):
        return None
