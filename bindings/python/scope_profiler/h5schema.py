"""Schema versions of HDF5 profiles."""

from __future__ import annotations

import os
from pathlib import Path

from ._results import HDF5SchemaError, Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "CURRENT_SCHEMA_VERSION",
    "HDF5SchemaError",
    "SCHEMA_ATTRIBUTE",
    "migrate_schema",
    "read_schema_version",
]

#: Root attribute that holds the schema version.
SCHEMA_ATTRIBUTE = "scope_profiler_schema"

#: Version that is written, and the newest one that is read.
CURRENT_SCHEMA_VERSION = 3


def read_schema_version(h5file: Any) -> int:
    """Returns the schema version of an open file of h5py; 1 when the attribute is missing.

    Raises:
        HDF5SchemaError: The version is not a positive integer, or newer than this package reads.
    """
    value = h5file.attrs.get(SCHEMA_ATTRIBUTE, 1)
    value = value.item() if hasattr(value, "item") and getattr(value, "size", 1) == 1 else value
    if isinstance(value, bool) or not isinstance(value, int):
        raise HDF5SchemaError(f"schema version must be an integer, not {value!r}")
    if value <= 0:
        raise HDF5SchemaError(f"schema version must be positive, not {value}")
    if value > CURRENT_SCHEMA_VERSION:
        raise HDF5SchemaError(
            f"schema version {value} is newer than this package supports: this package supports "
            f"versions through {CURRENT_SCHEMA_VERSION}. Upgrade scope-profiler to read the file."
        )
    return value


def migrate_schema(
    source: str | os.PathLike[str], destination: str | os.PathLike[str] | None = None
) -> Path:
    """Rewrites a profile of an older schema in the current one.

    Args:
        source: Profile of any schema that can be read.
        destination: Path of the new file; by default the file is replaced.

    Returns:
        The path of the new file.
    """
    target = Path(source if destination is None else destination)
    Run.open(source).write(target)
    return target
