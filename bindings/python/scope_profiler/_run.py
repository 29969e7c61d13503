"""What `scope-profiler run` hands a Python script to. cli/cmd_run.c describes the command line."""

import contextlib
import io
import os
import runpy
import sys
import types
import zipfile
from importlib.machinery import SourceFileLoader

# Options of the command that are settings of the same meaning; flags map to a value.
_VALUES = {"label": "label", "outfile": "output", "buffer-limit": "buffer_limit"}
_FLAGS = {
    "aggregation-mode": ("aggregation_mode", True),
    "line-profile": ("use_line_profiler", True),
    "memory-profile": ("use_memray", True),
    "mpi-calls": ("profile_mpi_calls", True),
    "no-mpi-calls": ("profile_mpi_calls", False),
    "no-output": ("output", None),
    "no-recursive": ("recursive_profile", False),
    "recursive": ("recursive_profile", True),
}
_LISTS = {"tag": "region_tags", "enable-tag": "enable_tags"}
_TRACING = ("all", "include", "exclude", "entrypoint")
_QUIET = "quiet"
# Files of the frames between the interpreter and the script; "<string>" is the command's bootstrap.
_OWN_FILES = (__file__, "<string>", "<frozen runpy>")


def _fail(message):
    print(f"scope-profiler run: {message}", file=sys.stderr)
    return 1


def _read_options(words):
    """Settings of setup() and whether the summary is wanted. Later options win over earlier ones."""
    settings, tracing, wants_summary = {}, [], True
    for word in words:
        name, _, value = word[2:].partition("=")
        if name == _QUIET:
            wants_summary = False
        elif name == "config":
            settings["config_path"] = value
        elif name in _LISTS:
            settings.setdefault(_LISTS[name], []).append(value)
        elif name in _FLAGS:
            setting, given = _FLAGS[name]
            settings[setting] = given
        elif name in _TRACING:
            tracing.append(name)
        else:
            settings[_VALUES[name]] = value
    if tracing and not settings.get("recursive_profile"):
        raise ValueError(f"--{tracing[0]} chooses what --recursive traces; give --recursive too")
    if settings.get("recursive_profile"):
        raise RuntimeError("--recursive: this build does not trace Python calls")
    if "buffer_limit" in settings:
        try:
            settings["buffer_limit"] = int(settings["buffer_limit"])
        except ValueError:
            raise ValueError(f"--buffer-limit {settings['buffer_limit']!r} is no number") from None
    return settings, wants_summary


def _prepare(script, arguments):
    """What the interpreter does before it runs a script."""
    sys.argv = [script, *arguments]
    is_archive = os.path.isdir(script) or zipfile.is_zipfile(script)
    if is_archive or not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, script if is_archive else os.path.dirname(os.path.realpath(script)))
    return is_archive


def _execute(script):
    """Runs the file as __main__ and leaves it there, as the interpreter does."""
    path = os.path.abspath(script)
    with io.open_code(path) as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__cached__ = None
    main.__loader__ = SourceFileLoader("__main__", path)
    main.__builtins__ = sys.modules["builtins"]
    sys.modules["__main__"] = main
    exec(code, main.__dict__)


def _join_threads():
    """Waits for the threads that the interpreter would wait for, so that their calls count."""
    threading = sys.modules.get("threading")
    if threading is None:
        return
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


class _Watch:
    """Stands where a session would, to learn of what the script finalizes itself."""

    def __init__(self, manager):
        self._manager = manager
        self._finalized = None
        manager._session = self

    def close_root(self):
        """There is no root region: a script run by the command shows its own regions alone."""

    def mark_finalized(self):
        self._finalized = self._now()

    def _now(self):
        return self._manager._config, self._manager._profiler.finished_calls()

    def publish(self, wants_summary):
        """Finalizes, unless the script did and recorded nothing since."""
        if not self._manager.is_configured() or self._now() == self._finalized:
            return
        # A program's own output may be piped into another program; the summary must not be.
        redirect = contextlib.nullcontext()
        if sys.stdout is None or not sys.stdout.isatty():
            redirect = contextlib.redirect_stdout(sys.stderr)
        else:
            sys.stdout.flush()
        try:
            with redirect:
                self._manager.finalize(verbose=wants_summary)
        except Exception as error:
            _fail(error)


def _hide_own_frames():
    """Tracebacks of the script start at the script."""
    shown = sys.excepthook

    def hook(kind, error, traceback):
        while traceback is not None and traceback.tb_frame.f_code.co_filename in _OWN_FILES:
            traceback = traceback.tb_next
        shown(kind, error.with_traceback(traceback), traceback)

    sys.excepthook = hook


def _run_recorded(script, is_archive, watch, wants_summary):
    try:
        try:
            if is_archive:
                runpy.run_path(script, run_name="__main__")
            else:
                _execute(script)
        finally:
            _join_threads()
    except BaseException:
        _hide_own_frames()
        raise
    finally:
        watch.publish(wants_summary)


def main(words):
    version, *words = words
    try:
        import scope_profiler
        from scope_profiler import ProfileManager
    except ImportError as error:
        return _fail(f"{sys.executable} cannot import scope_profiler: {error}")
    if scope_profiler.__version__ != version:
        return _fail(
            f"{sys.executable} has scope_profiler {scope_profiler.__version__}, this command is "
            f"{version}; install that version there, or name another interpreter in "
            "SCOPE_PROFILER_PYTHON")
    split = words.index("--")
    script, *arguments = words[split + 1:]
    try:
        settings, wants_summary = _read_options(words[:split])
        ProfileManager.setup(**settings)
    except Exception as error:
        return _fail(error)
    watch = _Watch(ProfileManager._default)
    _run_recorded(script, _prepare(script, arguments), watch, wants_summary)
    return 0
