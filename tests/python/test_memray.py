"""Allocations captured by Memray beside a run: where the file goes, when it begins and ends."""

import subprocess
import sys

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager
from scope_profiler._memray import capture_path
from scope_profiler.profile_config import ProfilingConfig

memray = pytest.importorskip("memray")

MEBIBYTE = 1 << 20


def allocated_by(path, function):
    """Bytes that Memray says a function of that name held when the process held most."""
    with memray.FileReader(path) as reader:
        return sum(
            record.size
            for record in reader.get_high_watermark_allocation_records()
            if any(frame[0] == function for frame in record.stack_trace())
        )


def fill_buffer(depth=12):
    """Far inside: Memray forgets as many outer callers as were running when it was switched on."""
    return fill_buffer(depth - 1) if depth else bytearray(8 * MEBIBYTE)


def test_a_capture_goes_with_a_run(tmp_path, capsys):
    ProfileManager.setup(file_path=tmp_path / "run.h5", use_memray=True)
    with sp.region("fill"):
        fill_buffer()
    results = ProfileManager.finalize(return_results=True)
    path = tmp_path / "run.memray.bin"
    assert f"wrote Memray allocation profile to {path}" in capsys.readouterr().out
    assert 8 * MEBIBYTE <= allocated_by(path, "fill_buffer") < 9 * MEBIBYTE
    assert results.metadata["memory_profile"] == "run.memray.bin"
    fill_buffer()  # after the end
    assert allocated_by(path, "fill_buffer") < 9 * MEBIBYTE


def test_options_and_path(tmp_path):
    ProfileManager.setup(
        file_path=tmp_path / "run.h5",
        memray=sp.MemrayOptions(enabled=True, path=str(tmp_path / "a" / "allocations.bin"),
                                trace_python_allocators=True),
    )  # fmt: skip
    fill_buffer()
    ProfileManager.finalize(verbose=False)
    path = tmp_path / "a" / "allocations.bin"
    assert allocated_by(path, "fill_buffer") >= 8 * MEBIBYTE
    with memray.FileReader(path) as reader:
        assert reader.metadata.trace_python_allocators
        assert not reader.metadata.has_native_traces


@pytest.mark.parametrize(
    ("given", "rank", "size", "expected"),
    [
        (None, 0, 1, "out/run.memray.bin"),
        (None, 2, 4, "out/run.rank2.memray.bin"),
        ("x/y.bin", 2, 4, "x/y.rank2.bin"),
        ("x.y/z", 1, 2, "x.y/z.rank1"),
        ("x/y.bin", 0, 1, "x/y.bin"),
    ],
)
def test_names_of_captures(given, rank, size, expected):
    settings = {"memory_profile_path": given, "use_memray": True, "file_path": "out/run.h5"}
    assert capture_path(settings, rank, size) == expected


def test_no_capture_unless_asked_for(tmp_path):
    assert ProfilingConfig().memory_profile_path is None
    ProfileManager.setup(file_path=tmp_path / "run.h5", use_memray=True, deactivate_profiling=True)
    ProfileManager.finalize(verbose=False)
    assert list(tmp_path.iterdir()) == []


def test_without_memray_the_setting_names_it(monkeypatch):
    from scope_profiler import _configuration

    monkeypatch.setattr(_configuration, "_is_installed", lambda module: False)
    with pytest.raises(ImportError, match="memray is not installed; use_memray needs it") as raised:
        ProfileManager.setup(output=None, use_memray=True)
    assert raised.value.name == "memray"


def test_one_capture_a_process(tmp_path):
    ProfileManager.setup(file_path=tmp_path / "run.h5", use_memray=True)
    other = ProfileManager()
    with pytest.raises(RuntimeError, match="one tracker a process"):
        other.setup(file_path=tmp_path / "other.h5", use_memray=True)
    assert not other.is_configured()
    ProfileManager.finalize(verbose=False)
    other.setup(file_path=tmp_path / "other.h5", use_memray=True)
    other.finalize(verbose=False)
    assert (tmp_path / "other.memray.bin").exists()


@pytest.mark.parametrize("end", ["ProfileManager.reset()", "ProfileManager.setup(replace=True)"])
def test_a_run_that_is_dropped_ends_its_capture(tmp_path, end, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ProfileManager.setup(use_memray=True)
    eval(end)
    with memray.Tracker(tmp_path / "mine.bin"):
        fill_buffer()
    assert allocated_by(tmp_path / "mine.bin", "fill_buffer") >= 8 * MEBIBYTE


FAR_INSIDE = """
def fill_buffer(depth=30):
    return fill_buffer(depth - 1) if depth else bytearray(1 << 23)
data = fill_buffer()
"""


def test_the_command(tmp_path):
    (tmp_path / "program.py").write_text(FAR_INSIDE, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "scope_profiler", "run", "--memory-profile", "-o", "run.h5",
         "program.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert allocated_by(tmp_path / "run.memray.bin", "fill_buffer") >= 8 * MEBIBYTE
