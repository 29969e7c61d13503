"""Columns of a run as NumPy arrays.

NumPy is imported by the first call of a function here, never by importing a module of the
package.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from numpy.typing import NDArray

    from ._results import Column

    IntArray = NDArray[np.int64]
    FloatArray = NDArray[np.float64]

# Numbers of the columns, as in scope_plugin.h.
START, DURATION, CALL_ID, PARENT_ID, THREAD_ID, TASK_ID, AWAIT, GPU_DURATION = range(8)

NS_PER_S = 1_000_000_000

_DTYPES = {"q": "int64", "Q": "uint64", "i": "int32", "I": "uint32"}


def view(column: Column) -> NDArray[Any]:
    """Returns the read-only array over a column, without a copy."""
    import numpy as np

    if len(column) == 0:
        return np.empty(0, dtype=_DTYPES[column.format])
    array: NDArray[Any] = np.frombuffer(memoryview(column), dtype=_DTYPES[column.format])
    return array


def empty() -> IntArray:
    """Returns an int64 array without elements."""
    import numpy as np

    return np.empty(0, dtype=np.int64)


def seconds(values: IntArray) -> FloatArray:
    """Converts nanoseconds to seconds."""
    return values / float(NS_PER_S)


def as_int64(values: Any, what: str) -> IntArray:
    """Returns `values` as a contiguous int64 array; whole numbers of any type are accepted.

    Raises:
        TypeError: The values are not whole numbers.
        ValueError: They are not one-dimensional.
    """
    import numpy as np

    array = np.asarray(values)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1:
        raise ValueError(f"{what} must be one-dimensional, not of shape {array.shape}")
    if array.dtype.kind not in "iub":
        whole = array.astype(np.int64) if array.dtype.kind == "f" else None
        if whole is None or not np.array_equal(whole, array):
            raise TypeError(f"{what} must hold integers (nanoseconds), not {array.dtype}")
        array = whole
    return np.ascontiguousarray(array, dtype=np.int64)


def origin_ns(origin: float) -> int:
    """Converts an origin in seconds to integer nanoseconds; 0 stays exactly 0."""
    return round(origin * NS_PER_S)


def checked_ranks(ranks: int | list[int] | tuple[int, ...] | None) -> list[int] | None:
    """Returns ranks as a list; None means all of them."""
    if ranks is None:
        return None
    if isinstance(ranks, int):
        return [ranks]
    return [int(rank) for rank in ranks]
