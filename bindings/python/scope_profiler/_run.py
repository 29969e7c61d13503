"""What `scope-profiler run` hands Python programs to. cli/cmd_run.c describes the command line."""

import io
import os
import sys
from importlib.machinery import BuiltinImporter, SourceFileLoader

# What is imported here is imported in the program, too: as little as can be.

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
_PROGRAMS = ("module", "command")
# What chooses the calls to trace.
_RULES = ("all", "include", "exclude", "entrypoint", "max-depth", "min-duration", "c-calls")
_QUIET = "quiet"
# Rows with a smaller share are left out of the summary of a traced program, which has thousands.
_LEAST_SHOWN_PERCENT = 1.0


def _fail(message):
    if _is_open(sys.stderr):
        print(f"scope-profiler run: {message}", file=sys.stderr)
    return 1


def _integer(name, text):
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"--{name} {text!r} is no number") from None


def _depth(text):
    depth = _integer("max-depth", text)
    if depth < 1:
        raise ValueError(f"--max-depth {text}: the depth is at least 1")
    return depth


def _percent(text):
    try:
        percent = float(text)
    except ValueError:
        percent = -1.0
    if not 0 <= percent <= 100:
        raise ValueError(f"--min-percent {text!r} is not a number from 0 to 100")
    return percent


class _Options:
    """What the words of the command line ask for. Later options win over earlier ones."""

    def __init__(self, words):
        self.settings = {}
        self.rules = {}
        self.module = self.command = self._first_rule = None
        self.program_words = ()
        self.wants_summary = True
        self.least_shown_percent = None
        for word in words:
            name, _, value = word[2:].partition("=")
            self._take(name, value)

    def _take(self, name, value):
        if name in _LISTS:
            self.settings.setdefault(_LISTS[name], []).append(value)
        elif name in _FLAGS:
            setting, given = _FLAGS[name]
            self.settings[setting] = given
        elif name == _QUIET:
            self.wants_summary = False
        elif name in _PROGRAMS:
            setattr(self, name, value)
            self.program_words = (f"-{name[0]}", value)
        elif name == "config":
            self.settings["config_path"] = value
        elif name == "min-percent":
            self.least_shown_percent = _percent(value)
        elif name == "buffer-limit":
            self.settings["buffer_limit"] = _integer(name, value)
        elif name in _RULES:
            self._first_rule = self._first_rule or name
            self._take_rule(name, value)
        else:
            self.settings[_VALUES[name]] = value

    def _take_rule(self, name, value):
        if name in ("include", "exclude"):
            self.rules.setdefault(name, []).append(value)
        elif name == "all":
            self.rules["only_user_code"] = False
        elif name == "entrypoint":
            self.rules["entrypoint"] = value
        elif name == "max-depth":
            self.rules["max_depth"] = _depth(value)
        elif name == "min-duration":
            from .tracing import parse_duration

            self.rules["min_duration_ns"] = parse_duration(value, "--min-duration")
        elif name == "c-calls":
            self.rules["c_calls"] = True

    def check(self, traces):
        """Refuses rules of tracing where nothing is traced."""
        if self.rules and not traces:
            raise ValueError(
                f"--{self._first_rule} chooses what --recursive traces; give --recursive too"
            )


# ---- programs, run as the interpreter runs them ----------------------------------------------


def _new_main(loader):
    """An empty module __main__, as the interpreter makes it."""
    main = type(sys)("__main__")
    main.__loader__ = loader
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    main.__builtins__ = sys.modules["builtins"]
    sys.modules["__main__"] = main
    return main.__dict__


def _put_first_on_path(folder):
    if not getattr(sys.flags, "safe_path", False):
        sys.path.insert(0, folder)


def _is_importable(path):
    """Whether the interpreter could import from a path, a folder or archive: then it runs the __main__
    in there."""
    for hook in sys.path_hooks:
        try:
            return hook(path) is not None
        except ImportError:
            pass
    return False


class _Script:
    """A file, or a folder or archive with a __main__ in it."""

    main_file = None

    def __init__(self, path, arguments):
        sys.argv = [path, *arguments]
        self._path = path
        self.name = os.path.basename(path.rstrip("/")) or path
        self._absolute = os.path.join(os.getcwd(), path)
        self._is_archive = _is_importable(self._absolute)
        if self._is_archive:
            sys.path.insert(0, self._absolute)
        else:
            _put_first_on_path(os.path.dirname(os.path.realpath(path)))

    def execute(self):
        """Runs it as __main__ and leaves it there."""
        if self._is_archive:
            _execute_module("__main__", False)
            return
        path = self._absolute
        with io.open_code(path) as file:
            code = compile(file.read(), path, "exec", dont_inherit=True)
        main = _new_main(SourceFileLoader("__main__", path))
        main["__file__"] = path
        main["__cached__"] = None
        exec(code, main)


def _execute_module(name, alters_argv):
    from runpy import _run_module_as_main

    _new_main(BuiltinImporter)
    _run_module_as_main(name, alters_argv)


class _Module:
    """What `python -m` runs."""

    main_file = None

    def __init__(self, name, arguments):
        sys.argv = ["-m", *arguments]
        self.name = name
        _put_first_on_path(os.getcwd())

    def execute(self):
        """Runs it as __main__; the search for it may end the program with a message."""
        _execute_module(self.name, True)


class _Command:
    """What `python -c` runs."""

    name = "-c"
    main_file = "<string>"

    def __init__(self, text, arguments):
        sys.argv = ["-c", *arguments]
        self._text = text
        _put_first_on_path("")

    def execute(self):
        """Runs it as __main__."""
        code = compile(self._text, self.main_file, "exec", dont_inherit=True)
        if sys.version_info >= (3, 13):
            self._show_lines(code)
        exec(code, _new_main(BuiltinImporter))

    def _show_lines(self, code):
        """Lets tracebacks show the lines of the command, as the interpreter does since 3.13; the key
        changed within 3.13."""
        import linecache

        key = code if hasattr(linecache, "_interactive_cache") else self.main_file
        try:
            linecache._register_code(key, self._text, self.main_file)
        except (AttributeError, TypeError):
            pass


# ---- the run --------------------------------------------------------------------------------


def _join_threads():
    """Waits for the threads that the interpreter would wait for, so that their calls count."""
    threading = sys.modules.get("threading")
    if threading is None:
        return
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()


def _is_open(stream):
    return stream is not None and not getattr(stream, "closed", False)


def _summary_stream():
    """Standard output where that is a terminal: a program's own output may be piped into another
    program, the summary must not be. None when there is no place for it."""
    if _is_open(sys.stdout) and sys.stdout.isatty():
        sys.stdout.flush()
        return sys.stdout
    return sys.stderr if _is_open(sys.stderr) else None


class _Watch:
    """Stands where a session would, to learn of what the program finalizes itself."""

    def __init__(self, manager):
        self._manager = manager
        self._finalized = None
        manager._session = self

    def close_root(self):
        """Leaves the root region of a traced program open: it goes on."""

    def mark_finalized(self):
        self._finalized = self._now()

    def _now(self):
        return self._manager._config, self._manager._profiler.finished_calls()

    def publish(self, wants_summary):
        """Finalizes, unless the program did and recorded nothing since."""
        if not self._manager.is_configured() or self._now() == self._finalized:
            return
        stream, before = _summary_stream(), sys.stdout
        try:
            if stream is not None:
                sys.stdout = stream
            self._manager.finalize(verbose=wants_summary and stream is not None)
        except Exception as error:
            _fail(error)
        finally:
            sys.stdout = before


def _hide_own_frames(own_globals):
    """Tracebacks of the program start at the program."""
    shown = sys.excepthook

    def hook(kind, error, traceback):
        while traceback is not None and any(
            traceback.tb_frame.f_globals is own for own in own_globals
        ):
            traceback = traceback.tb_next
        shown(kind, error.with_traceback(traceback), traceback)

    sys.excepthook = hook


def _run_recorded(program, tracing, watch, wants_summary):
    own_globals = globals(), sys.modules["__main__"].__dict__
    try:
        try:
            try:
                program.execute()
            finally:
                _join_threads()
        finally:
            if tracing is not None:
                tracing.__exit__(*sys.exc_info())
    except BaseException:
        _hide_own_frames(own_globals)
        raise
    finally:
        watch.publish(wants_summary)


def _start_tracing(manager, program, options):
    """The tracing that has begun and is to be ended; None: none was asked for."""
    traces = manager._config.recursive_profile
    options.check(traces)
    least = options.least_shown_percent
    manager._least_shown_percent = _LEAST_SHOWN_PERCENT * traces if least is None else least
    if not traces:
        return None
    from ._trace import Tracing

    return Tracing(
        manager, program.name, main_file=program.main_file, **options.rules
    ).__enter__()


def _program_of(options, words):
    sys.orig_argv = [sys.orig_argv[0], *options.program_words, *words]
    if options.module is not None:
        return _Module(options.module, words)
    if options.command is not None:
        return _Command(options.command, words)
    return _Script(words[0], words[1:])


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
    manager = ProfileManager._default
    try:
        options = _Options(words[:split])
        if options.settings.get("profile_mpi_calls"):
            from ._mpi_library import start_again_with_library

            start_again_with_library()
        manager.setup(**options.settings)
        program = _program_of(options, words[split + 1:])
        tracing = _start_tracing(manager, program, options)
    except Exception as error:
        return _fail(error)
    watch = _Watch(manager)
    _run_recorded(program, tracing, watch, options.wants_summary)
    return 0
