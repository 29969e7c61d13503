"""What the recorded calls of MPI say about a job."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple

    from ._results import Run
else:
    from collections import namedtuple

__all__ = ["MPILink", "MPIOperation", "MPIRank", "MPIReport"]

if TYPE_CHECKING:

    class MPIRank(NamedTuple):
        """One rank: seconds in MPI, and of those in blocking collectives the wait until the last rank had
        come (`imbalance`) and the rest (`transfer`)."""

        rank: int
        calls: int
        time: float
        imbalance: float
        transfer: float

    class MPILink(NamedTuple):
        """What one rank sent to another."""

        sender: int
        receiver: int
        messages: int
        bytes: int

    class MPIOperation(NamedTuple):
        """One operation over all ranks; times in seconds as in :class:`MPIRank`."""

        name: str
        kind: str
        calls: int
        bytes: int
        time: float
        imbalance: float
        transfer: float

else:
    MPIRank = namedtuple("MPIRank", "rank calls time imbalance transfer")
    MPIRank.__doc__ = (
        "One rank: seconds in MPI, and of those in blocking collectives the wait until the last rank "
        "had come (`imbalance`) and the rest (`transfer`)."
    )
    MPILink = namedtuple("MPILink", "sender receiver messages bytes")
    MPILink.__doc__ = "What one rank sent to another."
    MPIOperation = namedtuple("MPIOperation", "name kind calls bytes time imbalance transfer")
    MPIOperation.__doc__ = "One operation over all ranks; times in seconds as in MPIRank."


class MPIReport:
    """Calls of MPI of a run.

    Attributes:
        ranks: One :class:`MPIRank` for each rank that called MPI, by rank.
        operations: One :class:`MPIOperation` for each operation, by time, the largest first.
        links: One :class:`MPILink` for each pair of ranks with messages. One-sided accesses are in it, in
            the direction of their data; collectives are not.
    """

    def __init__(self, run: Run, num_ranks: int) -> None:
        ranks, links, operations = run.mpi()
        self.ranks = [MPIRank(*row[:2], *(ns / 1e9 for ns in row[2:])) for row in ranks]
        self.links = [MPILink(*row) for row in links]
        self.operations = [MPIOperation(*row[:4], *(ns / 1e9 for ns in row[4:])) for row in operations]
        highest = max((max(link.sender, link.receiver) for link in self.links), default=-1)
        self._size = max(num_ranks, highest + 1)

    def __repr__(self) -> str:
        return f"<MPIReport: {len(self.ranks)} rank(s), {len(self.operations)} operation(s)>"

    def __bool__(self) -> bool:
        return bool(self.ranks)

    def _matrix(self, field: str) -> Any:
        import numpy as np

        matrix = np.zeros((self._size, self._size), dtype=np.int64)
        for link in self.links:
            matrix[link.sender, link.receiver] = getattr(link, field)
        return matrix

    @property
    def bytes(self) -> Any:
        """Array of bytes by sender and receiver."""
        return self._matrix("bytes")

    @property
    def messages(self) -> Any:
        """Array of the number of messages by sender and receiver."""
        return self._matrix("messages")
