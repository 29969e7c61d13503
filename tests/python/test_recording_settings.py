"""Settings: defaults, checks, precedence, groups, TOML, environment."""

import ast
import dataclasses
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

import scope_profiler as sp
from scope_profiler import GPUOptions, HDF5Options, MemrayOptions, ProfileManager, ProfilingOptions
from scope_profiler import _recorder, _settings
from scope_profiler.profile_config import ProfilingConfig, SetupOptions, load_profiling_config

DEFAULTS = {
    "file_path": "profiling_data.h5", "label": None, "use_likwid": False, "perf_events": (),
    "perf_events_kernel": False, "track_cpu": False, "counters_per_call": False,
    "use_line_profiler": False, "track_memory": False, "use_memray": False,
    "memory_profile_path": None,
    "memray_native_traces": False, "memray_trace_python_allocators": False,
    "memray_follow_fork": False, "deactivate_profiling": False, "use_nvtx": False,
    "use_gpu_timing": False, "gpu_timing_backend": "auto", "gpu_sync_on_exit": False,
    "deactivate_file_output": False, "recursive_profile": False, "aggregation_mode": False,
    "profile_mpi_calls": False, "track_threads": False, "track_async": False,
    "capture_region_source": False, "metadata_detail": "minimal", "buffer_limit": 1024,
    "output_mode": "auto", "finalize_timeout": None, "hdf5_compression": None, "hdf5_compression_level": None,
    "hdf5_chunk_size": None, "finalize_signals": (), "journal": "auto", "journal_flush": 10,
    "max_memory": 256 << 20, "on_full": "spill", "checkpoint_interval": None, "enable_tags": (),
}  # fmt: skip


def test_defaults():
    config = ProfilingConfig()
    assert {name: getattr(config, name) for name in DEFAULTS} == DEFAULTS
    assert (config.comm, config.tracker, config.paused) == (None, None, False)
    assert (config._rank, config._size) == (0, 1)
    with pytest.raises(AttributeError):
        config.label = "x"


def names_in_class(source, name):
    """Annotated names of a class of that name anywhere in a source text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return [child.target.id for child in node.body if isinstance(child, ast.AnnAssign)]
    raise AssertionError(f"no class {name}")


def test_everything_derives_from_the_table():
    names = [setting.name for setting in _settings.SETTINGS]
    assert sorted(names) == sorted(DEFAULTS)
    assert set(SetupOptions.__annotations__) == {*names, *_settings.GROUPS}
    fields = {field.name: field.default for field in dataclasses.fields(ProfilingOptions)}
    assert list(fields.items()) == [(name, None) for name in [*names, "memray", "gpu", "hdf5"]]
    for kind in (MemrayOptions, GPUOptions, HDF5Options):
        group = _settings.GROUPS[kind._group]
        assert {field.name: field.default for field in dataclasses.fields(kind)} == dict.fromkeys(
            group
        )
        # Every field is explained where the class is.
        described = re.findall(r"^ {4}(\w+): ", inspect.cleandoc(kind.__doc__), re.M)
        assert described == [field.name for field in dataclasses.fields(kind)]
    assert all(isinstance(getattr(ProfilingConfig, name), property) for name in names)


def test_what_type_checkers_see_derives_from_the_table():
    names = [setting.name for setting in _settings.SETTINGS]
    package = Path(_settings.__file__).parent
    options = (package / "profile_config.py").read_text(encoding="utf-8")
    assert names_in_class(options, "SetupOptions") == [*names, "memray", "gpu", "hdf5"]
    configuration = (package / "_configuration.py").read_text(encoding="utf-8")
    [config] = [
        node
        for node in ast.walk(ast.parse(configuration))
        if isinstance(node, ast.ClassDef) and node.name == "ProfilingConfig"
    ]
    declared = {node.name for node in ast.walk(config) if isinstance(node, ast.FunctionDef)}
    declared |= {node.target.id for node in ast.walk(config) if isinstance(node, ast.AnnAssign)
                 if isinstance(node.target, ast.Name)}  # fmt: skip
    assert set(names) <= declared
    stub = (package / "profile_manager.pyi").read_text(encoding="utf-8")
    assert "**overrides: Unpack[SetupOptions]" in stub


def test_rows_of_the_recorder():
    rows = _recorder.settings()
    assert all(len(row) == len(_settings.Setting.__slots__) for row in rows)
    by_name = {row[0]: row for row in rows}
    assert by_name["output_mode"] == (
        "output_mode", "choice", "str", "auto", ("auto", "direct", "parallel", "per-rank"), None, None,
        "How the ranks of an MPI run write one file.",
    )  # fmt: skip
    assert by_name["hdf5_chunk_size"][5:7] == ("hdf5", "chunk_size")
    with pytest.raises(TypeError, match="a dict of settings is wanted, got None"):
        _recorder.check_settings(None)
    for bad in ({"enable_tags": 3}, {"enable_tags": ("a", 3)}, {"label": 3}, {"buffer_limit": "x"}):
        with pytest.raises(TypeError):
            _recorder.check_settings(bad)
    checked = _recorder.check_settings({"label": "x", "unheard": 1, "perf_events": None})
    assert list(checked) == [row[0] for row in rows]
    assert (checked["label"], checked["perf_events"]) == ("x", None)


def test_objects_are_handed_on_as_they_are():
    backend = object()
    assert ProfilingConfig(gpu_timing_backend=backend).gpu_timing_backend is backend
    assert ProfilingConfig(gpu_timing_backend=None).gpu_timing_backend == "auto"


def test_paths_that_are_no_text_are_kept():
    path = os.fsdecode(b"caf\xe9.h5")
    assert ProfilingConfig(file_path=path).file_path == path
    assert ProfilingConfig(file_path=b"caf\xe9.h5").file_path == path
    assert ProfilingConfig(file_path=Path("a/b.h5")).file_path == "a/b.h5"


def test_a_level_without_compression_waits_for_one():
    config = ProfilingConfig(hdf5_compression_level=4)
    assert (config.hdf5_compression, config.hdf5_compression_level) == (None, 4)


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        ({"metadata_detail": "some"}, ValueError, "metadata_detail must be one of 'minimal', 'full'"),
        ({"output_mode": "fast"}, ValueError, "output_mode must be one of"),
        ({"hdf5_compression": "bzip"}, ValueError, "hdf5_compression must be 'auto'"),
        ({"hdf5_compression": "gzip", "hdf5_compression_level": 10}, ValueError, "0 to 9"),
        ({"hdf5_compression": "zstd", "hdf5_compression_level": 0}, ValueError, "1 to 22"),
        ({"hdf5_compression": "lzf", "hdf5_compression_level": 1}, ValueError, "does not go with"),
        ({"hdf5_chunk_size": 0}, ValueError, "hdf5_chunk_size must be a positive integer"),
        ({"buffer_limit": -1}, ValueError, "buffer_limit must be a positive integer"),
        ({"buffer_limit": True}, ValueError, "buffer_limit must be an integer"),
        ({"buffer_limit": 1.5}, ValueError, "buffer_limit must be an integer"),
        ({"gpu_sync_on_exit": True}, ValueError, "requires use_gpu_timing=True"),
        ({"perf_events": "cycels"}, ValueError, "unknown event 'cycels'; supported: cycles"),
        ({"perf_events": []}, ValueError, "at least one event"),
        ({"perf_events": ["cycles", "cycles"]}, ValueError, "twice"),
        ({"track_threads": "yes"}, TypeError, "'track_threads' must be True or False, got 'yes'"),
        ({"label": 3}, TypeError, "'label' must be a string"),
        ({"file_path": 3}, TypeError, "'file_path' must be a path"),
        ({"file_path": ""}, ValueError, "'file_path' must name a file"),
        ({"file_path": "a\0b"}, ValueError, "'file_path' must name a file, got 'a\\\\x00b'"),
        ({"label": "a\0b"}, ValueError, "'label' must not hold a NUL"),
        ({"output_mode": 3}, ValueError, "output_mode must be one of 'auto', 'direct', 'parallel'"),
        ({"output_mode": "auto\0x"}, ValueError, "'output_mode' must not hold a NUL"),
        ({"hdf5_chunk_size": 1 << 63}, ValueError, "hdf5_chunk_size is too large"),
        ({"enable_tags": ["a", 3]}, TypeError, "an iterable of strings"),
        ({"enable_tags": 3}, TypeError, "an iterable of strings, got 3"),
        ({"aggregation_mode": True, "use_line_profiler": True}, ValueError, "aggregation_mode"),
        ({"aggregation_mode": True, "use_gpu_timing": True}, ValueError, "aggregation_mode"),
        ({"aggregation_mode": True, "use_likwid": True}, ValueError, "aggregation_mode"),
        ({"aggregation_mode": True, "use_nvtx": True}, ValueError, "aggregation_mode"),
        ({"track_async": True, "perf_events": "cycles"}, ValueError, "perf_events: it counts what"),
        ({"aggregation_mode": True, "counters_per_call": True}, ValueError, "with counters_per_call"),
        ({"perf_events": ["cycles", "rxyz"]}, ValueError, "unknown event 'rxyz'"),
        ({"track_threads": True, "use_likwid": True}, ValueError, "track_threads cannot be"),
        ({"track_threads": True, "aggregation_mode": True}, ValueError, "track_threads cannot be"),
        ({"track_async": True, "use_nvtx": True}, ValueError, "track_async cannot be"),
    ],
)  # fmt: skip
def test_bad_values_are_refused(settings, error, text):
    with pytest.raises(error, match=text):
        ProfilingConfig(**settings)
    with pytest.raises(error, match=text):
        ProfileManager.setup(**settings)
    assert not ProfileManager.is_configured()


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"use_likwid": True}, "pylikwid"),
        ({"use_gpu_timing": True, "gpu_timing_backend": "cupy"}, "cupy is not installed"),
    ],
)
def test_instruments_that_are_missing_are_named(settings, error):
    with pytest.raises((ImportError, RuntimeError), match=error):
        ProfileManager.setup(output=None, **settings)
    ProfileManager.setup(output=None, deactivate_profiling=True, **settings)


@pytest.mark.parametrize("start", ["", "a"])
def test_errors_that_are_cut_end_within_no_character(start):
    for settings in ({"metadata_detail": start + "\u00e9" * 600}, {start + "\u00e9" * 600: 1}):
        with pytest.raises((ValueError, TypeError)) as caught:
            ProfilingConfig(**settings)
        assert not isinstance(caught.value, UnicodeError)
        assert start + "\u00e9" * 400 in str(caught.value)


def test_compression_is_normalised():
    for value in ("", "none", " None "):
        assert ProfilingConfig(hdf5_compression=value).hdf5_compression is None
    assert ProfilingConfig(hdf5_compression=" GZip ").hdf5_compression == "gzip"


def test_numpy_values_are_fine():
    config = ProfilingConfig(track_threads=numpy.bool_(True), buffer_limit=numpy.int32(7))
    assert config.track_threads is True
    assert (config.buffer_limit, type(config.buffer_limit)) == (7, int)


def test_unknown_names_come_with_the_closest():
    with pytest.raises(TypeError) as caught:
        ProfileManager.setup(use_likwd=True)
    assert str(caught.value) == (
        "Unknown profiling setting(s): 'use_likwd' (did you mean 'use_likwid'?)"
    )
    with pytest.raises(TypeError, match="'zzz'$"):
        sp.session(zzz=1).__enter__()
    with pytest.raises(TypeError, match="Unknown profiling setting"):
        ProfilingConfig(zzz=1)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("profiling_activated", "deactivate_profiling"),
        ("flush_to_disk", "deactivate_file_output"),
        ("time_trace", "aggregation_mode"),
    ],
)
def test_settings_of_old_versions_name_the_new_spelling(old, new):
    with pytest.raises(TypeError, match=f"'{old}' .*{new}"):
        ProfileManager.setup(**{old: True})


# ---- precedence ----------------------------------------------------------------------------------


def test_keywords_win_over_options_and_options_over_the_file(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text('[profiling]\nlabel = "file"\nbuffer_limit = 3\nhdf5_chunk_size = 5\n')
    ProfileManager.setup(
        ProfilingOptions(label="options", buffer_limit=4),
        config_path=file, label="keyword", hdf5_chunk_size=None, output=None,
    )  # fmt: skip
    config = ProfileManager.get_config()
    assert (config.label, config.buffer_limit, config.hdf5_chunk_size) == ("keyword", 4, 5)


def test_groups_flatten():
    options = ProfilingOptions(
        label="x", hdf5=HDF5Options(compression="gzip", compression_level=3), gpu=GPUOptions(),
    )  # fmt: skip
    assert options.to_kwargs() == {
        "label": "x", "hdf5_compression": "gzip", "hdf5_compression_level": 3,
    }  # fmt: skip
    assert GPUOptions(timing=True, backend="cupy").to_kwargs() == {
        "use_gpu_timing": True, "gpu_timing_backend": "cupy",
    }  # fmt: skip
    assert MemrayOptions(enabled=True, path="m.bin", follow_fork=False).to_kwargs() == {
        "use_memray": True, "memory_profile_path": "m.bin", "memray_follow_fork": False,
    }  # fmt: skip
    ProfileManager.setup(output=None, hdf5=HDF5Options(chunk_size=9))
    assert ProfileManager.get_config().hdf5_chunk_size == 9


def test_a_setting_given_both_ways_is_refused():
    text = (
        "'hdf5_compression' is set both directly and on the 'hdf5' option group; "
        "set it in one place"
    )
    both = {"hdf5_compression": "gzip", "hdf5": HDF5Options(compression="lzf")}
    with pytest.raises(ValueError) as caught:
        ProfilingOptions(**both).to_kwargs()
    assert str(caught.value) == text
    with pytest.raises(ValueError, match="in one place"):
        ProfileManager.setup(output=None, **both)


def test_options_must_be_options():
    with pytest.raises(TypeError, match="must be a ProfilingOptions"):
        ProfileManager.setup({"label": "x"})
    with pytest.raises(TypeError, match="must be an option group"):
        ProfileManager.setup(hdf5="gzip")


# ---- TOML ----------------------------------------------------------------------------------------


def toml(tmp_path, text):
    path = tmp_path / "config.toml"
    path.write_text(text)
    return path


def test_table_and_sub_tables(tmp_path):
    path = toml(
        tmp_path,
        '[profiling]\nlabel = "x"\n[profiling.hdf5]\ncompression = "gzip"\n'
        '[profiling.gpu]\ntiming = true\nbackend = "torch"\nsync_on_exit = true\n'
        '[profiling.memray]\nenabled = false\n',
    )
    assert load_profiling_config(path) == {
        "label": "x", "hdf5_compression": "gzip", "use_gpu_timing": True,
        "gpu_timing_backend": "torch", "gpu_sync_on_exit": True, "use_memray": False,
    }  # fmt: skip


def test_settings_at_the_top(tmp_path):
    path = toml(tmp_path, 'label = "top"\nenable_tags = ["a"]\n')
    assert load_profiling_config(str(path)) == {"label": "top", "enable_tags": ["a"]}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("label = ", "Invalid profiling TOML"),
        ("profiling = 3", "must be a TOML table"),
        ("[profiling]\nhdf5 = 3", "must be a TOML table"),
        ("[profiling]\nlabell = 'x'", "Unknown profiling setting\\(s\\): 'labell' \\(did you mean"),
        ("[profiling.hdf5]\nlevel = 3", "Unknown \\[hdf5\\] profiling setting\\(s\\): 'level'"),
        (
            "[profiling]\nhdf5_compression = 'gzip'\n[profiling.hdf5]\ncompression = 'lzf'",
            "Profiling setting 'hdf5_compression' is set both directly and as hdf5.compression",
        ),
    ],
)
def test_bad_files_are_refused(tmp_path, text, error):
    with pytest.raises(ValueError, match=error):
        load_profiling_config(toml(tmp_path, text))


def test_missing_file(tmp_path):
    with pytest.raises(ValueError, match="Could not read profiling config .*none.toml"):
        ProfileManager.setup(config_path=tmp_path / "none.toml")


# ---- environment ---------------------------------------------------------------------------------


@pytest.fixture
def environment(monkeypatch):
    for name in ("CONFIG", "OUTPUT", "RECURSIVE", "AUTO_FINALIZE", "ENABLE_TAGS"):
        monkeypatch.delenv(f"SCOPE_PROFILER_{name}", raising=False)
    return lambda **values: [
        monkeypatch.setenv(f"SCOPE_PROFILER_{name}", str(value)) for name, value in values.items()
    ]


def test_setup_reads_no_environment_but_the_tags(environment, tmp_path):
    environment(OUTPUT=tmp_path / "x.h5", CONFIG="/nowhere.toml", ENABLE_TAGS=" a, b,")
    ProfileManager.setup(output=None, enable_tags=["c"])
    config = ProfileManager.get_config()
    assert config.deactivate_file_output
    assert config._enabled_tags == {"a", "b", "c"}


def test_setup_from_env(environment, tmp_path):
    environment(
        OUTPUT=tmp_path / "x.h5",
        CONFIG=toml(tmp_path, 'label = "file"\nbuffer_limit = 3'),
        RECURSIVE="no",
    )
    run = ProfileManager.setup_from_env(label="mine")
    config = ProfileManager.get_config()
    assert run.file_path == str(tmp_path / "x.h5")
    assert (config.label, config.buffer_limit, config.recursive_profile) == ("mine", 3, False)
    ProfileManager.setup_from_env(output=None, replace=True)
    assert ProfileManager.get_config().deactivate_file_output


@pytest.mark.parametrize("value", ["1", "true", "YES", "On"])
def test_true_in_the_environment(environment, value):
    environment(RECURSIVE=value)
    ProfileManager.setup_from_env(output=None)
    assert ProfileManager.get_config().recursive_profile


def test_output_excludes_its_aliases():
    for alias in ({"file_path": "x.h5"}, {"deactivate_file_output": False}):
        with pytest.raises(TypeError, match="output cannot be combined with"):
            ProfileManager.setup(output="y.h5", **alias)
    ProfileManager.setup(output=None, file_path=None)


def test_output_wins_over_options(tmp_path):
    options = ProfilingOptions(file_path="a.h5", deactivate_file_output=True)
    ProfileManager.setup(options, output=tmp_path / "b.h5")
    config = ProfileManager.get_config()
    assert (config.file_path, config.deactivate_file_output) == (str(tmp_path / "b.h5"), False)


# ---- signatures ----------------------------------------------------------------------------------

SIGNATURES = {
    "region": "(region_name, functions=None, tags=None)",
    "profile_region": "(region_name, functions=None, tags=None)",
    "define_region": "(region_name, functions=None, tags=None)",
    "region_factory": "(region_name, *, tags=None)",
    "metadata": "(**values)",
    "get_region": "(region_name)",
    "get_all_regions": "()",
    "registered_regions": "()",
    "recorded_regions": "()",
    "register_opt_in_tag": "(*tags)",
    "profile": "(region_name=None, recursive=None, metadata=None, record_outcome=False, tags=None)",
    "instrument": "(module, *, include=('*',), exclude=(), prefix=None, tags=None)",
    "setup": "(options=None, *, auto_finalize=False, output=<unset>, replace=False, "
    "region_tags=None, config_path=None, **overrides)",
    "setup_from_env": "(**overrides)",
    "session": "(options=None, *, verbose=True, verbose_line_profiler=False, "
    "return_results=False, native_traces=None, output=<unset>, replace=False, config_path=None, "
    "**overrides)",
    "finalize": "(verbose=True, return_results=False, native_traces=None, "
    "verbose_line_profiler=False)",
    "reset": "()",
    "is_configured": "()",
    "is_active": "()",
    "get_config": "()",
    "set_config": "(config)",
    "pause": "()",
    "resume": "()",
    "sample_every": "(every, start=0)",
    "run": "(func, *args, output=None, **kwargs)",
    "run_script": "(script_path, script_args=None, region_name=None, only_user_code=True, "
    "recursive=True, include_patterns=(), exclude_patterns=(), entrypoint=None)",
    "profile_script": "(script_path, *, script_args=None, output=None, **kwargs)",
    "profile_command": "(command, *, output=None, recursive=False, all=False, mpi_calls=False)",
    "last_results": "()",
    "read_results": "()",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_members_are_on_class_and_instances(name):
    instance = ProfileManager()
    for owner in (ProfileManager, instance):
        member = getattr(owner, name)
        assert str(inspect.signature(member)) == SIGNATURES[name]
        assert member.__doc__
    assert getattr(ProfileManager, name).__func__ is getattr(instance, name).__func__
    assert getattr(instance, name).__self__ is instance


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("RegionHandle", "(manager, name, functions=None, tags=None)"),
        ("RegionFactory", "(manager, name, tags=None)"),
        ("ProfilingRun", "(manager, config, output=None)"),
        ("RankPayload", "(regions, likwid, likwid_environment, perf_events=None, sources=None, "
         "tags=None, event_metadata=None, line_profile=None, exclusive_totals=None, "
         "aggregate_stats=None, lanes=None)"),
    ],
)  # fmt: skip
def test_constructors(name, signature):
    from scope_profiler import profile_manager

    documented = inspect.signature(getattr(profile_manager, name))
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in documented.parameters.values()
    ]
    bare = documented.replace(parameters=parameters, return_annotation=inspect.Signature.empty)
    assert str(bare) == signature


# ---- what else tells settings --------------------------------------------------------------------

TREE = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("subject", ["settings", "combinations"])
def test_page_of_the_guide_is_the_table(subject):
    name = f"generate_{subject}_page"
    spec = importlib.util.spec_from_file_location(name, TREE / "tools" / f"{name}.py")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    page = TREE / "docs" / "guide" / f"{subject}.md"
    assert page.read_text(encoding="utf-8") == generator.page()


@pytest.mark.parametrize(("instrument", "mode", "reason"), _recorder.combinations())
def test_pairs_combine_or_say_why_not(instrument, mode, reason):
    values = {"perf_events": ("task-clock",), "journal": "off"}
    asked = {name: values.get(name, True) for name in (instrument, mode)}
    if reason is None:
        checked = _recorder.check_settings(asked)
        assert checked[instrument] and checked[mode]
        return
    with pytest.raises(ValueError) as caught:
        _recorder.check_settings(asked)
    assert str(caught.value) == f"{mode} cannot be combined with {instrument}: {reason}"


def test_options_of_the_command_are_settings():
    from scope_profiler import _run

    settings = {*_run._VALUES.values(), *(name for name, _ in _run._FLAGS.values())}
    settings |= set(_run._LISTS.values())
    assert settings - {"output", "region_tags"} <= set(_settings.BY_NAME)
    help_text = (TREE / "cli" / "cmd_run.c").read_text(encoding="utf-8")
    options = {*_run._VALUES, *_run._FLAGS, *_run._LISTS, *_run._RULES, *_run._PROGRAMS,
               _run._QUIET, "min-percent", "config"}
    assert options == set(re.findall(r'\{\.name = "([\w-]+)"', help_text))


def test_help_of_run_tells_the_defaults_of_the_table():
    done = subprocess.run(
        [sys.executable, "-m", "scope_profiler", "run", "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    default = _settings.BY_NAME["file_path"].default
    assert f"--outfile PATH output file (default: {default})" in told
    # A flag that switches a setting on says the same, which its default must be false for.
    for option, setting in (("aggregation-mode", "aggregation_mode"),
                            ("line-profile", "use_line_profiler"),
                            ("mpi-calls", "profile_mpi_calls")):  # fmt: skip
        row = _settings.BY_NAME[setting]
        said = row.help[0].lower() + row.help[1:].rstrip(".")
        assert row.default is False
        assert f"--{option} {said}" in told
    assert _settings.BY_NAME["recursive_profile"].default is False
    assert "record only the regions that the script marks (default)" in told
