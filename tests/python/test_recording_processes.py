"""Ends of programs, forks, launchers: each in an interpreter of its own."""

import os
import signal
import subprocess
import sys
import textwrap

import h5py
import pytest

PRELUDE = "import os, signal, sys, time\nimport scope_profiler as sp\npath = sys.argv[1]\n"


def program(text):
    return PRELUDE + textwrap.dedent(text)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("with sp.session(file_path=path, verbose=False):\n    with sp.region('r'): sys.exit(3)", 3),
        ("sp.setup(file_path=path, auto_finalize=True)\nwith sp.region('r'): sys.exit(3)", 3),
        ("sp.setup(file_path=path, auto_finalize=True)\nwith sp.region('r'): 1 / 0", 1),
        (
            "sp.setup(file_path=path, auto_finalize=True)\nwith sp.region('r'): pass\n"
            "sp.finalize(verbose=False)",
            0,
        ),
        (
            "with sp.session(file_path=path, verbose=False):\n    with sp.region('r'):\n"
            "        os.kill(os.getpid(), signal.SIGINT); time.sleep(5)",
            -signal.SIGINT,
        ),
    ],
)
def test_ends_of_programs(body, status, tmp_path, run_python, read):
    path = tmp_path / "run.h5"
    done = run_python(program(body), path)
    assert done.returncode in (status, 128 - status if status < 0 else status), done.stderr
    assert read(path).calls("r") == 1


def test_auto_finalize_prints_like_finalize(tmp_path, run_python):
    text = "sp.setup(file_path=path, auto_finalize=True)\nwith sp.region('r'): pass"
    done = run_python(program(text), tmp_path / "run.h5")
    assert "run.h5" in done.stdout and done.stderr == ""


def test_auto_finalize_counts_open_calls_until_then(tmp_path, run_python):
    text = """
        import threading
        sp.setup(file_path=path, auto_finalize=True)
        inside = threading.Event()
        def serve():
            with sp.region("serve"):
                for _ in range(3):
                    with sp.region("request"): pass
                inside.set()
                time.sleep(60)
        threading.Thread(target=serve, daemon=True).start()
        inside.wait()
        time.sleep(0.01)
    """
    path = tmp_path / "run.h5"
    done = run_python(program(text), path)
    assert "1 call was still open when the recording ended" in done.stdout
    with h5py.File(path) as file:
        [flagged] = file["scope_profiler_extra/call_flag_ids"][()]
        assert file["scope_profiler_extra/call_flags"][()].tolist() == [16]
        ids = file["events/call_ids"][()].tolist()
        durations = file["events/durations"][()].tolist()
        parents = file["events/parent_ids"][()].tolist()
        assert durations[ids.index(flagged)] >= 10_000_000
        assert sorted(parents) == [-1, flagged, flagged, flagged]


def test_new_configuration_cancels_auto_finalize(tmp_path, run_python):
    text = """
        sp.setup(file_path=path, auto_finalize=True)
        sp.setup(file_path=path, replace=True)
        with sp.region('r'): pass
    """
    assert run_python(program(text), tmp_path / "run.h5").returncode == 0
    assert os.listdir(tmp_path) == []


def test_exit_without_cleaning_up_keeps_the_old_file(tmp_path, run_python, read):
    path = tmp_path / "run.h5"
    run_python(program("with sp.session(file_path=path, verbose=False): pass"), path)
    old = path.read_bytes()
    text = "sp.setup(file_path=path, auto_finalize=True)\nwith sp.region('new'): pass\nos._exit(0)"
    assert run_python(program(text), path).returncode == 0
    assert path.read_bytes() == old


def test_killed_while_writing(tmp_path, read, python_environment):
    """Whatever the moment: the old file, or a whole new one."""
    import time

    path = tmp_path / "run.h5"
    code = program(
        """
        print("go", flush=True)
        while True:
            sp.setup(file_path=path, replace=True)
            r = sp.region("new")
            for _ in range(5000):
                with r: pass
            sp.finalize(verbose=False)
        """
    )
    for delay in (0.1, 0.17, 0.23):
        with subprocess.Popen(
            [sys.executable, "-c", code, path], stdout=subprocess.PIPE, env=python_environment
        ) as process:
            process.stdout.readline()
            time.sleep(delay)
            process.kill()
        if path.exists():
            assert read(path).calls("new") == 5000


# ---- fork ----------------------------------------------------------------------------------------


def test_child_of_a_fork_stands_down(tmp_path, run_python, read):
    path = tmp_path / "run.h5"
    text = """
        sp.setup(file_path=path, auto_finalize=True)
        with sp.region("parent"): pass
        child = os.fork()
        if child == 0:
            with sp.region("child"): pass
            assert not sp.is_active() and not sp.is_configured()
            assert sp.registered_regions() == () and sp.finalize() is None
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert not os.path.exists(path)
        with sp.region("parent"): pass
    """
    done = run_python(program(text), path)
    assert done.returncode == 0, done.stderr
    recorded = read(path)
    assert (recorded.names, recorded.calls("parent")) == ({"parent"}, 2)
    assert done.stdout.count("parent") == 1
    assert os.listdir(tmp_path) == ["run.h5"]


def test_child_may_record_for_itself(tmp_path, run_python, read):
    text = """
        @sp.profile
        def f(): pass

        with sp.session(file_path=path, verbose=False):
            with sp.region("w"): f()
            child = os.fork()
            if child == 0:
                with sp.session(file_path=path + ".child", verbose=False):
                    for _ in range(5):
                        with sp.region("w"): f()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            with sp.region("w"): pass
    """
    path = tmp_path / "run.h5"
    done = run_python(program(text), path)
    assert done.returncode == 0, done.stderr
    parent, child = read(path), read(f"{path}.child")
    assert (parent.calls("w"), parent.calls("f")) == (2, 1)
    assert (child.calls("w"), child.calls("f")) == (5, 5)


def test_worker_process_by_fork_and_by_spawn(tmp_path, run_python, read):
    (tmp_path / "work.py").write_text(
        "import scope_profiler as sp\n@sp.profile('work')\ndef work(x): return x * 2\n"
    )
    text = """
        import multiprocessing
        sys.path.insert(0, os.path.dirname(path))
        from work import work

        if __name__ == "__main__":
            with sp.session(file_path=path, verbose=False):
                for method in ("fork", "spawn"):
                    with multiprocessing.get_context(method).Pool(1) as pool:
                        assert pool.map(work, [1, 2, 3]) == [2, 4, 6]
                assert work(5) == 10
    """
    path = tmp_path / "run.h5"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    done = run_python(program(text), path, env=environment)
    assert done.returncode == 0, done.stderr
    assert read(path).calls("work") == 1


WORKERS = """
import os, sys
import scope_profiler as sp

@sp.profile("work")
def work(x):
    return x * 2

def in_a_session(job):
    folder, number, times = job
    path = os.path.join(folder, f"worker{number}.h5")
    with sp.session(file_path=path, verbose=False):
        return path, sum(work(1) for _ in range(times))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_of_pools_and_executors_write_files_of_their_own(method, tmp_path, run_python, read):
    """Workers of a pool and of an executor; each records 3 and 4 calls, the parent one."""
    (tmp_path / "workers.py").write_text(WORKERS)
    text = f"""
        import concurrent.futures, multiprocessing
        from workers import in_a_session, work

        if __name__ == "__main__":
            folder = os.path.dirname(path)
            context = multiprocessing.get_context("{method}")
            with sp.session(file_path=path, verbose=False):
                with sp.region("all"):
                    with context.Pool(2) as pool:
                        [first] = pool.map(in_a_session, [(folder, 0, 3)])
                    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as executor:
                        second = executor.submit(in_a_session, (folder, 1, 4)).result()
                    work(1)
            print(first[1], second[1])
    """
    path = tmp_path / "run.h5"
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    script = tmp_path / "main.py"
    script.write_text(program(text))
    code = "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    done = run_python(code, script, path, env=environment)
    assert (done.returncode, done.stdout) == (0, "6 8\n"), done.stderr
    workers = [tmp_path / f"worker{i}.h5" for i in range(2)]
    assert (read(path).calls("work"), read(path).calls("all")) == (1, 1)
    assert [read(worker).calls("work") for worker in workers] == [3, 4]


def test_another_interpreter_of_the_process_does_not_take_the_run(tmp_path, run_python, read):
    """It may record beside it, with a manager of its own."""
    path = tmp_path / "run.h5"
    done = run_python(
        program(
            """
            try:
                import _interpreters as interpreters
                make = lambda: interpreters.create("legacy")
            except ImportError:
                import _xxsubinterpreters as interpreters
                make = lambda: interpreters.create(isolated=False)
            sp.setup(file_path=path)
            with sp.region("mine"): pass
            interpreters.run_string(make(), '''if True:
                import scope_profiler as sp
                try:
                    sp.setup(file_path="other.h5")
                except ValueError as error:
                    print(error)
            ''')
            sp.finalize(verbose=False)
            """
        ),
        path,
    )
    assert done.returncode == 0, done.stderr
    assert "another interpreter of this process records" in done.stdout
    assert read(path).calls("mine") == 1


# ---- imports -------------------------------------------------------------------------------------

LAUNCHERS = [
    "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "MPI_LOCALRANKID",
    "ALPS_APP_PE", "PALS_RANKID", "SLURM_PROCID", None,
]  # fmt: skip


@pytest.mark.parametrize("launcher", LAUNCHERS)
def test_import_touches_no_mpi_and_no_file(launcher, tmp_path, run_python):
    (tmp_path / "mpi4py").mkdir()
    (tmp_path / "mpi4py" / "__init__.py").write_text("import os; os._exit(77)\n")
    work = tmp_path / "work"
    work.mkdir()
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    if launcher is not None:
        environment[launcher] = "1"
    code = (
        "import scope_profiler as sp\n"
        "@sp.profile\n"
        "def f(): pass\n"
        "with sp.region('r'): f()\n"
        "with sp.session(output=None, verbose=False, return_results=True) as run: f()\n"
        "assert run.results.num_ranks == 1 and run.results['f'].num_calls == 1\n"
    )
    done = run_python(code, cwd=work, env=environment)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert os.listdir(work) == []


HEAVY = ("numpy", "dataclasses", "typing", "inspect", "pathlib", "tomllib", "h5py", "re", "json")


def test_import_is_light(run_python):
    code = (
        "import sys; before = set(sys.modules)\n"
        "import scope_profiler\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    done = run_python(code, options=("-S", "-E"))
    if done.returncode:
        done = run_python(code)
    loaded = done.stdout.split()
    assert "scope_profiler" in loaded, done.stderr
    assert not set(loaded) & set(HEAVY)


def test_recording_needs_no_numpy(tmp_path, run_python):
    (tmp_path / "numpy.py").write_text("raise ImportError('not wanted')\n")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    code = program("with sp.session(file_path=path):\n    with sp.region('r'): pass")
    done = run_python(code, tmp_path / "run.h5", env=environment)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run.h5").exists()
