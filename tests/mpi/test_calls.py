"""Calls of MPI, recorded one by one: in C, in Fortran and through mpi4py. Counts and bytes are worked out
by hand from the programs."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from building import PROGRAMS, compiled, module

from scope_profiler import parse_mpi_region, read_profile

#: Module of Fortran -> the types of its handles.
MODULES = {
    "mpi": {"REQUEST": "integer", "COMM": "integer", "FILE": "integer"},
    "mpi_f08": {"REQUEST": "type(MPI_Request)", "COMM": "type(MPI_Comm)", "FILE": "type(MPI_File)"},
}


def preload(mpi):
    return module(f"libscope_profiler_pmpi_{mpi.name}.so")


class Calls:
    """What the ranks of a job recorded: for each operation and rank the metadata of its calls."""

    def __init__(self, files):
        self.rows = {}
        self.tags = {}
        for path in files:
            results = read_profile(path)
            for region in results:
                self.tags[region.name] = region.tags
                for rank, part in region.regions.items():
                    notes = [note or {} for note in part.event_metadata or [{}] * part.num_calls]
                    self.rows[region.name, rank] = [dict(note) for note in notes]

    def of(self, name, rank):
        return self.rows[name, rank]

    def counts(self, rank):
        return {name: len(calls) for (name, at), calls in self.rows.items() if at == rank}

    def column(self, name, rank, key):
        return [call.get(key) for call in self.of(name, rank)]


COUNTS_C = {
    "all": 1, "MPI_Send": 2, "MPI_Recv": 1, "MPI_Isend": 1, "MPI_Irecv": 1, "MPI_Waitall": 4, "MPI_Sendrecv": 2,
    "MPI_Send_init": 2, "MPI_Recv_init": 2, "MPI_Startall": 3, "MPI_Start": 2, "MPI_Wait": 3,
    "MPI_Request_free": 4, "MPI_Barrier": 3, "MPI_Bcast": 1, "MPI_Allreduce": 1, "MPI_Iallreduce": 1,
    "MPI_Gather": 1, "MPI_Allgatherv": 1, "MPI_Alltoall": 1, "MPI_Alltoallv": 1, "MPI_Comm_split": 1,
    "MPI_Comm_dup": 1, "MPI_Comm_free": 2, "MPI_Win_create": 1, "MPI_Win_fence": 3, "MPI_Put": 1, "MPI_Get": 1,
    "MPI_Win_free": 1, "MPI_File_open": 1, "MPI_File_write_at_all": 1, "MPI_File_close": 1,
}  # fmt: skip


def check_matrix(size, files):
    """Who sent how much to whom in that program."""
    reports = [read_profile(path).mpi for path in files]
    expected = [[0] * size for _ in range(size)]
    counted = [[0] * size for _ in range(size)]
    for rank in range(size):
        after, before = (rank + 1) % size, (rank - 1) % size
        for other, num_bytes, num_messages in (
            (after, 3 * 4 * (rank + 1), 3),
            (after, 4 * 40, 4),  # the persistent send of ten integers, started four times
            (before, 3 * 20, 3),  # the one of twenty bytes, three times
            (after, 24, 1),  # the put
            (rank ^ 1, 16, 1),  # within the pair
        ):
            expected[rank][other] += num_bytes
            counted[rank][other] += num_messages
        expected[after][rank] += 12  # the get
        counted[after][rank] += 1
    assert sum(report.bytes for report in reports).tolist() == expected
    assert sum(report.messages for report in reports).tolist() == counted


@pytest.mark.parametrize("size", [2, 4])
def test_every_kind_of_call_of_c(mpi, size, tmp_path):
    program = compiled(mpi, "mpicc", PROGRAMS / "calls.c", "-std=c99", "-w")
    mpi.launch(size, program, "run", "data.bin", LD_PRELOAD=preload(mpi)).check()
    files = sorted(tmp_path.glob("run*.h5"))
    calls = Calls(files)
    for rank in range(size):
        after, before = (rank + 1) % size, (rank - 1) % size
        own = 4 * (rank + 1)
        # One call of the program is one record, and nothing outside the recording is one.
        assert calls.counts(rank) == COUNTS_C
        assert calls.of("MPI_Send", rank) == [
            {"bytes": own, "peer": after, "tag": 7, "comm": 0, "to": after},
            {"bytes": 20, "peer": -1, "tag": 9, "comm": 0},
        ]
        assert calls.of("MPI_Recv", rank) == [{"bytes": 256, "peer": before, "tag": 7, "comm": 0}]
        assert calls.of("MPI_Irecv", rank) == [{"bytes": 256, "peer": -1, "tag": 8, "comm": 0}]
        assert calls.of("MPI_Startall", rank) == [{"bytes": [40, 20], "to": [after, before]}] * 3
        assert calls.of("MPI_Start", rank) == [
            {}, {"bytes": 40, "peer": after, "tag": 10, "comm": 0, "to": after}]  # fmt: skip
        collective = {"comm": 0}
        first = calls.of("MPI_Barrier", rank)[0]["seq"]
        assert first == 1  # one went before the recording
        expected = {
            "MPI_Bcast": {"bytes": 24, "root": 1}, "MPI_Allreduce": {"bytes": 16},
            "MPI_Iallreduce": {"bytes": 8}, "MPI_Gather": {"bytes": 8, "root": 0},
            "MPI_Allgatherv": {"bytes": own}, "MPI_Alltoall": {"bytes": 8 * size},
            "MPI_Alltoallv": {"bytes": 12 * size},
        }  # fmt: skip
        for seq, (name, notes) in enumerate(expected.items(), first + 1):
            assert calls.of(name, rank) == [{**notes, **collective, "seq": seq}]
        assert calls.of("MPI_Put", rank) == [{"bytes": 24, "peer": after, "to": after}]
        assert calls.of("MPI_Get", rank) == [{"bytes": 12, "peer": after, "from": after}]
        assert calls.column("MPI_File_write_at_all", rank, "bytes") == [40]
        # Within the halves the ranks run backwards: the other one of the pair is meant.
        inner = calls.of("MPI_Sendrecv", rank)[1]
        assert (inner["bytes"], inner["to"], inner["peer"]) == (16, rank ^ 1, rank % 2)
        half, copy = calls.column("MPI_Barrier", rank, "comm")[1:]
        assert half != copy == inner["comm"] and 0 not in (half, copy)
        assert calls.column("MPI_Barrier", rank, "comm") == calls.column("MPI_Barrier", rank ^ 1, "comm")
    check_matrix(size, files)
    assert set(calls.tags["MPI_Isend"]) == {"mpi", "mpi.kind:point-to-point", "mpi.operation:isend"}
    assert "mpi.kind:collective" in calls.tags["MPI_Bcast"]
    assert "mpi.kind:wait" in calls.tags["MPI_Waitall"]
    assert "mpi.kind:one-sided" in calls.tags["MPI_Put"]
    assert "mpi.kind:io" in calls.tags["MPI_File_open"]


COUNTS_FORTRAN = {
    "MPI_Send": 1, "MPI_Recv": 1, "MPI_Isend": 1, "MPI_Irecv": 1, "MPI_Waitall": 2, "MPI_Sendrecv": 1,
    "MPI_Send_init": 1, "MPI_Recv_init": 1, "MPI_Startall": 1, "MPI_Request_free": 2, "MPI_Bcast": 1,
    "MPI_Allreduce": 1, "MPI_Gather": 1, "MPI_Comm_split": 1, "MPI_Barrier": 1, "MPI_Comm_free": 1,
    "MPI_File_open": 1, "MPI_File_write_at_all": 1, "MPI_File_close": 1,
}  # fmt: skip


@pytest.mark.parametrize(("module", "size"), [("mpi", 2), ("mpi_f08", 4)])
def test_one_call_of_fortran_is_one_record(mpi, module, size, tmp_path):
    text = (PROGRAMS / "calls.f90.in").read_text().replace("@MODULE@", module)
    for name, kind in MODULES[module].items():
        text = text.replace(f"@{name}@", kind)
    source = tmp_path / "calls.f90"
    source.write_text(text)
    program = compiled(mpi, "mpif90", source, "-fallow-argument-mismatch", "-w")
    mpi.launch(size, program, "run", "data.bin", LD_PRELOAD=preload(mpi)).check()
    calls = Calls(sorted(tmp_path.glob("run*.h5")))
    for rank in range(size):
        after, own = (rank + 1) % size, 4 * (rank + 1)
        assert calls.counts(rank) == COUNTS_FORTRAN
        message = {"bytes": own, "peer": after, "comm": 0, "to": after}
        assert calls.of("MPI_Send", rank) == [{**message, "tag": 7}]
        assert calls.of("MPI_Isend", rank) == [{**message, "tag": 8}]
        assert calls.of("MPI_Startall", rank) == [{**message, "tag": 10, "bytes": 40}]
        assert calls.of("MPI_Bcast", rank) == [{"bytes": 24, "root": 1, "comm": 0, "seq": 0}]
        assert calls.of("MPI_Allreduce", rank) == [{"bytes": 16, "comm": 0, "seq": 1}]
        # At the root of the gather MPI_IN_PLACE: what counts is its share of the result.
        assert calls.of("MPI_Gather", rank) == [{"bytes": 8, "root": 0, "comm": 0, "seq": 2}]
        assert calls.column("MPI_File_write_at_all", rank, "bytes") == [40]
    assert (tmp_path / "data.bin").stat().st_size == 40 * size


MPI4PY = """
    import sys
    from mpi4py import MPI
    from scope_profiler import ProfileManager
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    ProfileManager.setup(file_path="run.h5")
    after, before = (rank + 1) % size, (rank - 1) % size
    comm.Send(bytearray(100 + rank), dest=after, tag=3)
    comm.Recv(bytearray(1000), source=before, tag=3)
    requests = [comm.Isend(bytearray(8), dest=after), comm.Irecv(bytearray(8), source=before)]
    MPI.Request.Waitall(requests)
    comm.Barrier()
    comm.bcast([1, 2, 3], root=0)
    ProfileManager.finalize(verbose=False)
"""


def test_calls_of_mpi4py(mpi, tmp_path):
    size = 4
    mpi.run(size, MPI4PY, LD_PRELOAD=preload(mpi)).check()
    calls = Calls([tmp_path / "run.h5"])
    for rank in range(size):
        after = (rank + 1) % size
        assert calls.of("MPI_Send", rank) == [
            {"bytes": 100 + rank, "peer": after, "tag": 3, "comm": 0, "to": after}]  # fmt: skip
        assert calls.column("MPI_Isend", rank, "bytes") == [8]
        assert calls.column("MPI_Recv", rank, "bytes") == [1000]
        assert len(calls.of("MPI_Waitall", rank)) == 1
        assert len(calls.of("MPI_Barrier", rank)) == 1
        # The length of the pickle goes first.
        assert calls.column("MPI_Bcast", rank, "root") == [0, 0]


def test_nobody_records_and_nothing_happens(mpi, tmp_path):
    mpi.run(2, """
        from mpi4py import MPI
        assert MPI.COMM_WORLD.allreduce(2) == 4
        assert MPI.COMM_WORLD.Dup().Get_size() == 2
    """, LD_PRELOAD=preload(mpi)).check()  # fmt: skip


def test_the_library_of_another_mpi_is_refused(mpi, tmp_path):
    other = {"openmpi": "mpich", "mpich": "openmpi"}[mpi.name]
    path = module(f"libscope_profiler_pmpi_{other}.so")
    program = compiled(mpi, "mpicc", PROGRAMS / "calls.c", "-std=c99", "-w")
    ended = mpi.launch(1, "env", f"LD_PRELOAD={path}", program, "run", "data.bin")
    assert ended.code != 0
    assert "preload the one of that MPI" in ended.err + ended.out


# ---- the command -----------------------------------------------------------------------------

COMMAND = Path(sys.executable).parent / "scope-profiler"


def test_the_command_starts_a_program_with_the_library_of_its_mpi(mpi, tmp_path):
    preload(mpi)
    program = compiled(mpi, "mpicc", PROGRAMS / "calls.c", "-std=c99", "-w")
    words = [COMMAND, "run", "-q", "--mpi-calls", "-o", tmp_path / "out.h5", "--", program, "run", "data.bin"]
    mpi.launch(2, *words).check()
    assert [path.name for path in tmp_path.glob("out*")] == ["out.h5"]
    for rank in range(2):
        # Here the recording lasts from the first to the last line of the program.
        assert Calls([tmp_path / "out.h5"]).counts(rank) == {**COUNTS_C, "MPI_Barrier": 5}


SCRIPT = """
    import os
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    rank, size = comm.Get_rank(), comm.Get_size()
    comm.Send(bytearray(100 + rank), dest=(rank + 1) % size, tag=3)
    comm.Recv(bytearray(1000), source=(rank - 1) % size, tag=3)
    comm.Barrier()
    print(os.environ.get("LD_PRELOAD"))
"""


def run_script(mpi, *options, text=SCRIPT, size=2, **environment):
    path = mpi.folder / "script.py"
    path.write_text(textwrap.dedent(text))
    return mpi.launch(size, COMMAND, "run", "-q", "-o", "run.h5", *options, path, **environment)


def test_the_command_starts_a_script_with_the_library_of_its_mpi(mpi, tmp_path):
    preload(mpi)
    ended = run_script(mpi, "--mpi-calls").check()
    assert ended.out.count("None") == 2  # what the script starts is its own business
    calls = Calls([tmp_path / "run.h5"])
    for rank in range(2):
        assert calls.counts(rank) == {"MPI_Send": 1, "MPI_Recv": 1, "MPI_Barrier": 1}
        assert calls.column("MPI_Send", rank, "bytes") == [100 + rank]


def test_without_the_option_nothing_is_recorded(mpi, tmp_path):
    run_script(mpi).check()
    assert read_profile(tmp_path / "run.h5").region_names == []


def test_a_program_without_mpi_is_refused(tmp_path):
    done = subprocess.run(
        [COMMAND, "run", "--mpi-calls", "--", "/bin/true"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 1
    assert "'/bin/true' is linked neither to Open MPI nor to MPICH" in done.stderr
    assert "mpirun -n 4 scope-profiler run" in done.stderr


# ---- proxies ---------------------------------------------------------------------------------

PROXIES = """
    from mpi4py import MPI
    from scope_profiler import ProfileManager, ProfiledMPIComm, ProfiledMPIRequest
    with ProfileManager.session(file_path="run.h5", profile_mpi_calls=True, verbose=False):
        comm = MPI.COMM_WORLD
        assert isinstance(comm, ProfiledMPIComm) and isinstance(comm, MPI.Intracomm)
        rank, size = comm.Get_rank(), comm.Get_size()
        after, before = (rank + 1) % size, (rank - 1) % size
        request = comm.Isend(bytearray(16), dest=after, tag=5)
        assert isinstance(request, ProfiledMPIRequest) and isinstance(request, MPI.Request)
        comm.Recv(bytearray(32), before, 5)
        request.Wait()
        assert comm.bcast({"a": 1}, root=1) == {"a": 1}
        assert comm.allreduce(rank) == sum(range(size))
        copy = comm.Dup()
        assert isinstance(copy, ProfiledMPIComm)
        copy.Barrier()
        half = copy.Split(rank // 2, rank)
        assert half.sendrecv(rank, half.Get_rank()) == rank
        window = MPI.Win.Allocate(8, comm=copy)  # a proxy is a communicator for everything
        window.Free()
        world = comm.py2f()
    assert not isinstance(MPI.COMM_WORLD, ProfiledMPIComm)
    if rank == 0:
        print(world)
"""


def test_proxies_where_the_library_is_not_in_front(mpi, tmp_path):
    ended = mpi.run(2, PROXIES).check()
    # Other lines are from the libraries underneath, which tell of their network.
    world = int(next(line for line in ended.out.split() if line.lstrip("-").isdigit()))
    results = read_profile(tmp_path / "run.h5")
    found = [parse_mpi_region(name) for name in results.region_names if name.startswith("mpi:")]
    by_operation = {}
    for about in found:
        by_operation.setdefault(about.operation, []).append(about)
    isend = by_operation["isend"]
    assert {(a.kind, a.bytes, a.root, a.tag, a.communicator) for a in isend} == {
        ("point-to-point", 16, -1, 5, world)}  # fmt: skip
    assert sorted(a.peer for a in isend) == [0, 1]
    assert {(a.bytes, a.tag) for a in by_operation["recv"]} == {(32, 5)}
    assert {a.kind for a in by_operation["wait"]} == {"wait"}
    assert all(a.request is not None for a in by_operation["wait"])
    assert [(a.bytes, a.root) for a in by_operation["bcast"]] == [(-1, 1)]
    assert world not in [a.communicator for a in by_operation["barrier"]]
    name = next(name for name in results.region_names if name.startswith("mpi:isend"))
    assert {"mpi", "mpi.kind:point-to-point", "mpi.operation:isend", "mpi.bytes:16", "mpi.root:-1", "mpi.tag:5",
            f"mpi.communicator:{world}"} <= set(results[name].tags)  # fmt: skip


# ---- results ---------------------------------------------------------------------------------


def test_a_late_rank_lets_the_others_wait(mpi, tmp_path):
    mpi.run(2, """
        import time
        from mpi4py import MPI
        from scope_profiler import ProfileManager
        comm = MPI.COMM_WORLD
        ProfileManager.setup(file_path="run.h5")
        comm.Barrier()
        time.sleep(0.3 * comm.Get_rank())
        comm.Barrier()
        ProfileManager.finalize(verbose=False)
    """, LD_PRELOAD=preload(mpi)).check()  # fmt: skip
    early, late = read_profile(tmp_path / "run.h5").mpi.ranks
    assert early.calls == late.calls == 2
    assert 0.1 < early.imbalance <= early.time
    assert late.time - late.transfer < 0.1 < early.time
