"""Values of any origin as plain Python values that JSON and HDF5 can hold."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def plain(value: Any) -> Any:
    """Turns NumPy scalars and arrays, bytes, tuples and mappings into plain Python values."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value if type(value) in _EXACT else _base_value(value)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    return str(value)


_EXACT = {type(None), str, bool, int, float}


def _base_value(value: Any) -> Any:
    """Value of a subclass (numpy.float64, an enum, numpy.str_) as its plain base type."""
    for base in (bool, int, float, str):
        if isinstance(value, base):
            return base(value)
    return value


def finite(value: Any) -> Any:
    """Replaces NaN and infinities by None, at any depth of a plain value."""
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value


def shown(path: str | os.PathLike[str]) -> str:
    """Path as text that can be printed and stored: bytes that are none are written as escapes."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
