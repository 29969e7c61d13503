"""How programs in the field use the package."""

import io
from contextlib import redirect_stdout

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager, ProfilingOptions

ROOT = "scope_profiler.session"


def test_names_are_built_on_every_call(memory_run, finish):
    names = ["mass matrix", "H1: (grad)", "a[0].b"]
    for i in range(100):
        for name in names:
            with ProfileManager.profile_region("assemble: " + name):
                with sp.region(f"{name} / {i % 3}"):
                    pass
    recorded = finish()
    assert [recorded.calls(f"assemble: {name}") for name in names] == [100] * 3
    assert recorded.calls("a[0].b / 0") == 34
    assert len(recorded.names) == 12


def test_region_of_an_object_with_functions_to_time(memory_run):
    class Solver:
        _region_name = "pre: solve"

        def solve(self):
            with ProfileManager.profile_region(self._region_name, functions=[self.solve]):
                return 1

        @ProfileManager.profile("Solver: step")
        def step(self):
            return self.solve()

    assert Solver().step() == 1
    assert ProfileManager.recorded_regions() == ("Solver: step", "pre: solve")


def test_every_setting_is_passed_and_most_are_none(tmp_path, read):
    path = str(tmp_path / "profiling_data.h5")
    nothing = dict.fromkeys(
        [
            "label", "use_likwid", "perf_events", "use_line_profiler", "use_memray", "use_nvtx",
            "recursive_profile", "profile_mpi_calls", "track_threads", "track_async",
            "metadata_detail", "buffer_limit", "hdf5_compression", "enable_tags", "region_tags",
            "native_traces", "config_path", "memray", "gpu", "hdf5", "deactivate_file_output",
        ]
    )  # fmt: skip
    with sp.session(
        options=ProfilingOptions(), deactivate_profiling=False, file_path=path, verbose=False,
        return_results=True, **nothing,
    ) as run:
        with sp.region("r"):
            pass
    assert run.results["r"].num_calls == read(path).calls("r") == 1


def test_options_are_re_exported_by_a_client():
    from scope_profiler import ProfilingOptions as client_options

    assert client_options is ProfilingOptions
    assert ProfilingOptions(label="x") == ProfilingOptions(label="x")


def test_finalize_inside_a_session_is_the_end_of_it(tmp_path):
    path = tmp_path / "run.h5"

    def simulate():
        with sp.session(file_path=str(path), verbose=True):
            with sp.region("work"):
                pass
            return ProfileManager.finalize(return_results=True, verbose=False)

    text = io.StringIO()
    with redirect_stdout(text):
        results = simulate()
    assert text.getvalue() == ""
    assert results.file_path == path
    modified = path.stat().st_mtime_ns
    assert sp.read_h5(path).region_names == results.region_names
    assert path.stat().st_mtime_ns == modified


def test_root_region_comes_first(tmp_path):
    path = tmp_path / "run.h5"
    with sp.session(file_path=str(path), verbose=False):
        with sp.region("aaa"):
            pass
    results = sp.read_h5(path)
    assert [region.name for region in results.get_regions()] == [ROOT, "aaa"]
    row = results.summary()[0]
    assert row["name"] == ROOT
    assert row["total_duration"] == pytest.approx(results[ROOT][0].total_duration)


def test_files_are_opaque_and_resolve_to_the_input(tmp_path):
    path = tmp_path / "profiling_data.h5"
    with sp.session(file_path=path, verbose=False, label="case 1"):
        with sp.region("r"):
            pass
    copy = tmp_path / "copy.h5"
    copy.write_bytes(path.read_bytes())
    results = sp.read_h5(copy)
    assert results.file_path.resolve() == copy.resolve()
    assert results.display_label == "case 1"
    damaged = tmp_path / "damaged.h5"
    damaged.write_bytes(path.read_bytes()[:500])
    with pytest.raises((OSError, ValueError)):
        sp.read_h5(damaged)


def test_rank_variables_of_batch_systems_mean_nothing(tmp_path, run_python):
    import os

    environment = {**os.environ, "SLURM_PROCID": "3", "SLURM_NTASKS": "4", "SLURM_JOB_ID": "1"}
    code = (
        "import scope_profiler as sp, sys\n"
        "with sp.session(output=sys.argv[1], verbose=False, return_results=True) as run: pass\n"
        "assert 'mpi4py' not in sys.modules\n"
        "print(run.results.num_ranks, run.results.metadata['mpi_size'])\n"
    )
    done = run_python(code, tmp_path / "run.h5", env=environment)
    assert (done.stdout.split(), done.stderr) == (["1", "1"], "")
