"""Metadata values as JSON text; for values that the encoder in C leaves to Python."""

from __future__ import annotations

import json

from ._plain import finite, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def encode(value: Any) -> str:
    """JSON of a mapping, list or tuple. What JSON cannot hold becomes text, infinities null."""
    if not isinstance(value, (dict, list, tuple)):
        try:
            value = dict(value)
        except (TypeError, ValueError):
            raise TypeError(f"metadata must be a mapping, got {value!r}") from None
    text = json.dumps(finite(plain(value)), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "replace").decode("utf-8")
