"""The ranks of a job publish together: one file, one summary, nobody waits for ever unless asked to."""

import textwrap

import h5py
import numpy as np
import pytest

from scope_profiler import read_profile

HEAD = """
    import os, sys, time
    from mpi4py import MPI
    from scope_profiler import ProfileManager
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
"""


def program(text):
    return textwrap.dedent(HEAD) + textwrap.dedent(text)


COUNTS = program("""
    ProfileManager.setup(file_path="run.h5")
    for _ in range(10 * rank):
        with ProfileManager.region("step"):
            with ProfileManager.region("inner"):
                pass
    if rank == size - 1:
        with ProfileManager.region("only on the last"):
            pass
    results = ProfileManager.finalize(return_results=True)
    assert results.is_root == (rank == 0)
    assert results.num_ranks == size
    assert len(results.region_names) == (0 if rank else 2 + (size > 1))
""")


@pytest.mark.parametrize("size", [2, 4, 8])
def test_one_file_and_one_summary(mpi, size, tmp_path):
    ended = mpi.run(size, COUNTS.replace("10 * rank", "10 * rank + 1")).check()
    assert ended.out.count("only on the last") == 1
    assert [path.name for path in tmp_path.glob("run*")] == ["run.h5"]
    results = read_profile(tmp_path / "run.h5")
    assert results.num_ranks == size
    assert results.metadata["mpi_size"] == size
    assert results.metadata["num_nodes"] == 1
    for rank in range(size):
        assert results["step"][rank].num_calls == 10 * rank + 1
        assert results["inner"][rank].num_calls == 10 * rank + 1
    assert list(results["only on the last"].regions) == [size - 1]
    # Each rank has its own ids and its own parents.
    calls = results.call_stack(rank=size - 1)
    assert {call["depth"] for call in calls if call["name"] == "inner"} == {1}


def test_an_independent_reader_sees_every_rank(mpi, tmp_path):
    mpi.run(3, COUNTS).check()
    with h5py.File(tmp_path / "run.h5") as file:
        index = file["rank_region_index"]
        names = [name.decode() for name in file["region_table/names"][()]]
        seen = {
            (int(rank), names[region]): int(count)
            for rank, region, count in zip(
                index["ranks"][()], index["region_ids"][()], index["event_counts"][()]
            )
        }
        assert seen == {(1, "step"): 10, (1, "inner"): 10, (2, "step"): 20, (2, "inner"): 20,
                        (2, "only on the last"): 1}  # fmt: skip
        total = sum(seen.values())
        assert all(len(column) == total for column in file["events"].values())
        assert np.all(file["events/call_ids"][()] >= 0)


def test_in_memory_all_calls_come_to_rank_0(mpi):
    mpi.run(3, program("""
        ProfileManager.setup(output=None)
        for _ in range(rank + 1):
            with ProfileManager.region("step"):
                pass
        results = ProfileManager.finalize(verbose=False, return_results=True)
        if rank == 0:
            assert [results["step"][r].num_calls for r in range(size)] == [1, 2, 3]
        else:
            assert not results.is_root and len(results.region_names) == 0
            results.print_summary()
    """)).check()


@pytest.mark.parametrize("settings", ["aggregation_mode=True", "track_threads=True"])
def test_modes(mpi, settings, tmp_path):
    mpi.run(2, program(f"""
        import threading
        ProfileManager.setup(file_path="run.h5", {settings})
        def work():
            for _ in range(5):
                with ProfileManager.region("step"):
                    pass
        threads = [threading.Thread(target=work, name=f"w{{rank}}") for _ in range(rank + 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ProfileManager.finalize(verbose=False)
    """)).check()
    results = read_profile(tmp_path / "run.h5")
    assert [results["step"][rank].num_calls for rank in range(2)] == [5, 10]
    if "threads" in settings:
        names = [sorted(info.name for info in results.threads[rank]) for rank in range(2)]
        assert names == [["MainThread", "w0"], ["MainThread", "w1", "w1"]]


def test_json_output(mpi, tmp_path):
    mpi.run(2, program("""
        with ProfileManager.session(file_path="run.json", verbose=False):
            with ProfileManager.region("step"):
                pass
    """)).check()
    results = read_profile(tmp_path / "run.json")
    assert [results["step"][rank].num_calls for rank in range(2)] == [1, 1]


def test_finalizing_again_holds_what_came_since(mpi, tmp_path):
    mpi.run(2, program("""
        ProfileManager.setup(file_path="run.h5")
        for count in (3, 1):
            for _ in range(count + rank):
                with ProfileManager.region("step"):
                    pass
            ProfileManager.finalize(verbose=False)
    """)).check()
    results = read_profile(tmp_path / "run.h5")
    assert [results["step"][rank].num_calls for rank in range(2)] == [1, 2]


def test_another_manager_beside_the_default(mpi, tmp_path):
    mpi.run(2, program("""
        other = ProfileManager()
        other.setup(file_path="other.h5")
        ProfileManager.setup(file_path="run.h5")
        with ProfileManager.region("default"), other.region("other"):
            pass
        ProfileManager.finalize(verbose=False)
        other.finalize(verbose=False)
    """)).check()
    assert read_profile(tmp_path / "run.h5").region_names == ["default"]
    assert sorted(read_profile(tmp_path / "other.h5")["other"].regions) == [0, 1]


def test_output_that_cannot_be_written_is_an_error_on_every_rank(mpi, tmp_path):
    (tmp_path / "run.h5").write_text("the run before", encoding="utf-8")
    mpi.run(3, program("""
        os.makedirs("later", exist_ok=True)
        ProfileManager.setup(file_path="later/run.h5")
        with ProfileManager.region("step"):
            pass
        comm.Barrier()
        if rank == 0:
            os.rmdir("later")
            open("later", "w").close()
        comm.Barrier()
        try:
            ProfileManager.finalize(verbose=False)
        except OSError as error:
            assert "later/run.h5" in str(error), error
        else:
            raise AssertionError("no error")
        comm.Barrier()
        if rank == 0:
            os.remove("later")
            os.mkdir("later")
        comm.Barrier()
        ProfileManager.finalize(verbose=False)  # nothing was lost
    """)).check()
    results = read_profile(tmp_path / "later" / "run.h5")
    assert [results["step"][rank].num_calls for rank in range(3)] == [1, 1, 1]


def test_a_rank_that_does_not_finalize_is_named(mpi, tmp_path):
    ended = mpi.run(3, program("""
        ProfileManager.setup(file_path="run.h5", finalize_timeout=1)
        with ProfileManager.region("step"):
            pass
        if rank == 1:
            time.sleep(3)  # and never finalizes
        else:
            ProfileManager.finalize(verbose=False)
    """)).check()
    assert "1 of 3 ranks did not finalize in time" in ended.err
    results = read_profile(tmp_path / "run.h5")
    assert sorted(results["step"].regions) == [0, 2]
    assert results.metadata["missing_ranks"] == ["1"]
    assert results.num_ranks == 3


def test_a_rank_that_dies_costs_the_others_nothing(mpi, tmp_path):
    # MPICH's launcher ends the whole job when a rank is killed, whatever it is told.
    death = "os.kill(os.getpid(), signal.SIGKILL)" if mpi.name == "openmpi" else "os._exit(0)"
    mpi.run(3, program(f"""
        import signal
        ProfileManager.setup(file_path="run.h5", finalize_timeout=2)
        with ProfileManager.region("step"):
            pass
        comm.Barrier()
        if rank == 2:
            {death}
        ProfileManager.finalize(verbose=False)
        os._exit(0)  # MPI itself would wait for the dead
    """), keep_going=True)
    results = read_profile(tmp_path / "run.h5")
    assert sorted(results["step"].regions) == [0, 1]
    assert results.metadata["missing_ranks"] == ["2"]


def test_the_death_of_rank_0_costs_the_others_no_calls(mpi, tmp_path):
    if mpi.name == "mpich":
        pytest.skip("under MPICH the other ranks do not come out of it")
    mpi.run(3, program("""
        import signal
        ProfileManager.setup(file_path="run.h5", finalize_timeout=1)
        with ProfileManager.region("step"):
            pass
        comm.Barrier()
        if rank == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            ProfileManager.finalize(verbose=False)
        except OSError:
            calls = ProfileManager.get_region("step").num_calls
            with open(f"rank{rank}.txt", "w") as file:
                file.write(str(calls))
        os._exit(0)  # MPI itself would wait for the dead
    """), keep_going=True)
    assert not (tmp_path / "run.h5").exists()
    assert [(tmp_path / f"rank{rank}.txt").read_text() for rank in (1, 2)] == ["1", "1"]


def test_without_a_timeout_a_killed_rank_leaves_no_file_that_looks_complete(mpi, tmp_path):
    ended = mpi.run(3, program("""
        import signal
        ProfileManager.setup(file_path="run.h5")
        with ProfileManager.region("step"):
            pass
        if rank == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        ProfileManager.finalize(verbose=False)
    """))
    assert not (tmp_path / "run.h5").exists()
    assert ended.code != 0 or mpi.name == "mpich"  # 4.2 ends the job, and says that all is well


def test_a_wait_can_be_interrupted(mpi):
    ended = mpi.run(2, program("""
        import signal, threading
        ProfileManager.setup(file_path="run.h5")
        with ProfileManager.region("step"):
            pass
        if rank == 0:
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                ProfileManager.finalize(verbose=False)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
        else:
            time.sleep(5)  # a launcher may end the others when this one does
        os._exit(0)  # not an orderly end for MPI
    """))
    assert ended.out.count("interrupted") == 1, ended.err


def test_the_parallel_mode_says_what_it_needs(mpi):
    mpi.run(2, program("""
        ProfileManager.setup(file_path="run.h5", output_mode="parallel")
        try:
            ProfileManager.finalize(verbose=False)
        except RuntimeError as error:
            assert "requires an h5py build with MPI support" in str(error)
        else:
            raise AssertionError("no error")
    """)).check()


@pytest.mark.parametrize("suffix", [".h5", ".json.gz"])
def test_a_file_a_rank(mpi, suffix, tmp_path):
    mpi.run(2, program(f"""
        ProfileManager.setup(file_path="run{suffix}", output_mode="per-rank")
        for _ in range(rank + 1):
            with ProfileManager.region("step"):
                pass
        results = ProfileManager.finalize(verbose=False, return_results=True)
        assert results.is_root == (rank == 0)
    """)).check()
    files = sorted(path.name for path in tmp_path.glob("run*"))
    assert files == [f"run_rank0000{rank}{suffix}" for rank in range(2)]
    for rank, name in enumerate(files):
        assert read_profile(tmp_path / name)["step"][rank].num_calls == rank + 1


def test_each_process_is_alone_when_told_so(mpi, tmp_path):
    mpi.run(2, """
        import os, sys
        from scope_profiler import ProfileManager
        rank = os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"]
        with ProfileManager.session(file_path=f"run{rank}.h5", verbose=False):
            with ProfileManager.region("step"):
                pass
        assert "mpi4py" not in sys.modules
    """, SCOPE_PROFILER_MPI="0").check()
    for rank in range(2):
        assert read_profile(tmp_path / f"run{rank}.h5").num_ranks == 1
