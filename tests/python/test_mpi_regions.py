"""Names of regions of MPI, and sizes of messages; no MPI is needed for them."""

import array

import numpy as np
import pytest
from scope_profiler import MPIRegionMetadata, format_mpi_region, message_nbytes, parse_mpi_region


@pytest.mark.parametrize(
    ("about", "name"),
    [
        (("isend", "point-to-point", 800, 1, -1, 7, 0),
         "mpi:isend kind=point-to-point bytes=800 peer=1 root=-1 tag=7 comm=0"),
        (("bcast", "collective", -1, -1, 2, -1, -4), "mpi:bcast kind=collective bytes=-1 peer=-1 root=2 tag=-1 comm=-4"),
        (("wait", "wait", 8, 0, -1, 3, 5, 12),
         "mpi:wait kind=wait bytes=8 peer=0 root=-1 tag=3 comm=5 request=12"),
    ],
)  # fmt: skip
def test_names_there_and_back(about, name):
    assert format_mpi_region(*about) == name
    assert parse_mpi_region(name) == MPIRegionMetadata(*about)


@pytest.mark.parametrize(
    "name", ["", "MPI_Send", "mpi:send", "mpi:send kind=other bytes=1 peer=1 root=1 tag=1 comm=1",
             "x mpi:send kind=wait bytes=1 peer=1 root=1 tag=1 comm=1"])  # fmt: skip
def test_other_names(name):
    assert parse_mpi_region(name) is None


class Double:
    def Get_size(self):
        return 8


@pytest.mark.parametrize(
    ("message", "size"),
    [(b"abc", 3), (bytearray(10), 10), (np.zeros((3, 4)), 96), (array.array("i", [1, 2]), 8),
     ([np.zeros(100), Double()], 800), ([np.zeros(100), 5, Double()], 40), ({"a": 1}, -1), (None, -1), ([1, 2], -1)],
)  # fmt: skip
def test_sizes_of_messages(message, size):
    assert message_nbytes(message) == size
