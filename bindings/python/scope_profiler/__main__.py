"""`python -m scope_profiler`: the command `scope-profiler`, told to use this interpreter."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_NAME = "scope-profiler"


def _candidates() -> Iterator[str]:
    """Where an installation puts the command: beside the interpreter, in the scripts folder of the
    scheme that this package was installed with, in the package itself, on PATH."""
    import sysconfig

    yield os.path.join(os.path.dirname(sys.executable), _NAME)
    yield os.path.join(sysconfig.get_path("scripts"), _NAME)
    user_scheme = f"{os.name}_user"
    if user_scheme in sysconfig.get_scheme_names():
        yield os.path.join(sysconfig.get_path("scripts", user_scheme), _NAME)
    yield os.path.join(os.path.dirname(__file__), "_core", "bin", _NAME)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder:
            yield os.path.join(folder, _NAME)


def _is_ours(path: str) -> bool:
    """An executable that is no Python script, as that of another package of this name would be."""
    try:
        with open(path, "rb") as file:
            return file.read(2) != b"#!" and os.access(path, os.X_OK)
    except OSError:
        return False


def main(arguments: list[str] | None = None) -> int:
    """Becomes the command; returns only when there is none."""
    arguments = sys.argv[1:] if arguments is None else arguments
    tried = []
    for path in dict.fromkeys(_candidates()):
        if _is_ours(path):
            os.environ["SCOPE_PROFILER_PYTHON"] = sys.executable
            os.environ["SCOPE_PROFILER_CORE"] = os.path.join(os.path.dirname(__file__), "_core")
            sys.stdout.flush()
            sys.stderr.flush()
            os.execv(path, [_NAME, *arguments])
        tried.append(path)
    print(
        f"python -m scope_profiler: the command {_NAME} is not installed; looked for {tried[0]} and "
        f"on PATH",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
