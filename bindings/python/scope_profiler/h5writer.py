"""Writing HDF5 profiles rank by rank.

A writer gathers ranks and metadata; the file appears under its name when the writer leaves its
``with`` block without an exception, and the previous file stays untouched until then.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import _columns
from ._lanes import copy_lanes
from ._records import RECORDS, store
from ._results import Run
from .results import set_metadata

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType
    from typing import Any

__all__ = ["ColumnarIndex", "ProfilingWriter", "write_metadata", "write_rank_payload"]

# Positions of the optional arrays in the tuple of a region, after its starts and ends.
_OPTIONAL = (
    _columns.GPU_DURATION,
    _columns.CALL_ID,
    _columns.PARENT_ID,
    _columns.THREAD_ID,
    _columns.TASK_ID,
    _columns.AWAIT,
)


class ColumnarIndex:
    """Region names and ranks that a file holds so far."""

    def __init__(self, names: list[str] | None = None, ranks: list[int] | None = None) -> None:
        self.names = list(names or [])
        self.ranks = list(ranks or [])

    def state(self) -> dict[str, list[Any]]:
        """Returns ``{"names": [...], "ranks": [...]}``, enough to go on in another process."""
        return {"names": list(self.names), "ranks": list(self.ranks)}


class ProfilingWriter:
    """Writes one HDF5 profile; use it in a ``with`` statement."""

    def __init__(
        self,
        file_path: str | os.PathLike[str],
        metadata: Mapping[str, Any] | None = None,
        *,
        compression: str | None = None,
        compression_level: int | None = None,
        chunk_size: int | None = None,
        atomic: bool = True,
    ) -> None:
        """Prepares a writer; nothing is created yet.

        Args:
            file_path: The file.
            metadata: Metadata of the run.
            compression: ``"gzip"``, ``"lzf"``, ``"zstd"``, ``"auto"`` or None.
            compression_level: Level of the filter; None takes its default.
            chunk_size: Values per chunk of the time columns; None leaves it to the library.
            atomic: Accepted for older programs; files always appear complete or not at all.
        """
        self.path = Path(file_path)
        self.index_state = ColumnarIndex()
        self._run = Run.create()
        self._options: dict[str, Any] = {
            "compression": compression,
            "compression_level": -1 if compression_level is None else compression_level,
            "chunk_size": chunk_size or 0,
        }
        if metadata:
            self.write_metadata(metadata)

    @classmethod
    def open_existing(
        cls,
        file_path: str | os.PathLike[str],
        *,
        index_state: ColumnarIndex | Mapping[str, list[Any]] | None = None,
        **options: Any,
    ) -> ProfilingWriter:
        """Returns a writer that adds ranks to an existing profile.

        Args:
            file_path: The file; it is replaced when the writer is done.
            index_state: What the file holds according to the writer before; checked.
            options: As of the constructor.

        Raises:
            ValueError: The file holds other ranks than `index_state` says.
        """
        writer = cls(file_path, **options)
        existing = Run.open(file_path)
        for row in range(existing.num_rows):
            writer._run.add_row_of(existing, row)
        copy_lanes(writer._run, [existing])
        for name in RECORDS:
            for text in existing.extra_texts(name):
                for rank, records in json.loads(text).items():
                    writer._run.add_extra_text(name, int(rank), json.dumps({rank: records}))
        writer.write_metadata(existing.metadata())
        ranks = sorted({existing.row(row).rank for row in range(existing.num_rows)})
        writer.index_state = ColumnarIndex(existing.region_names, ranks)
        if index_state is not None:
            state = index_state.state() if isinstance(index_state, ColumnarIndex) else index_state
            if sorted(state["ranks"]) != ranks:
                raise ValueError(f"{file_path} holds ranks {ranks}, not {sorted(state['ranks'])}")
        return writer

    def write_metadata(self, metadata: Mapping[str, Any]) -> None:
        """Adds metadata; later values replace earlier ones."""
        set_metadata(self._run, metadata)
        size = metadata.get("mpi_size")
        if isinstance(size, int) and size > self._run.num_ranks:
            self._run.set_num_ranks(size)

    def write_rank(self, rank: int, payload: Any) -> bool:
        """Adds the regions of one rank.

        Args:
            rank: The rank.
            payload: An object with the fields of
                :class:`scope_profiler.profile_manager.RankPayload`, or a dictionary of them.

        Returns:
            False when the rank has no region.

        Raises:
            ValueError: The rank was written before.
        """
        if rank in self.index_state.ranks:
            raise ValueError(f"rank {rank} was already written to {self.path}")
        fields = payload if isinstance(payload, dict) else payload._asdict()
        regions = fields.get("regions") or {}
        aggregates = fields.get("aggregate_stats") or {}
        names = list(dict.fromkeys([*regions, *aggregates]))
        if not names:
            return False
        for name in names:
            self._run.add_row(name, rank, **_row_arguments(name, fields))
            if name not in self.index_state.names:
                self.index_state.names.append(name)
        self._add_lanes(rank, fields.get("lanes"))
        store(
            self._run,
            {rank: fields.get("likwid") or {}},
            {rank: fields.get("perf_events") or {}},
            {rank: fields.get("line_profile") or []},
            {rank: fields.get("likwid_environment") or {}},
        )
        self.index_state.ranks.append(rank)
        return True

    def _add_lanes(self, rank: int, lanes: Mapping[str, Any] | None) -> None:
        for table, add in (("threads", self._run.add_thread), ("tasks", self._run.add_task)):
            for entry in _table_rows((lanes or {}).get(table)):
                add(**{**entry, "rank": rank})

    def commit(self) -> None:
        """Writes the file; called at the end of the ``with`` block."""
        self._run.write(self.path, **self._options)

    def __enter__(self) -> ProfilingWriter:
        return self

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if exception_type is None:
            self.commit()


def _row_arguments(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of Run.add_row for one region of a payload."""
    source = (fields.get("sources") or {}).get(name) or (None, None, None)
    metadata = (fields.get("event_metadata") or {}).get(name)
    exclusive = (fields.get("exclusive_totals") or {}).get(name)
    arguments: dict[str, Any] = {
        "source_file": source[0],
        "source_line": source[1],
        "source_text": source[2] if len(source) > 2 else None,
        "tags_json": json.dumps(
            list((fields.get("tags") or {}).get(name) or ()), ensure_ascii=False
        ),
        "exclusive_total": -1 if exclusive is None else int(exclusive),
    }
    totals = (fields.get("aggregate_stats") or {}).get(name)
    if totals is not None:
        from .region import _totals

        return {**arguments, **_totals(totals, event_data_available=True)}
    arrays = (fields.get("regions") or {})[name]
    arguments["starts"] = _columns.as_int64(arrays[0], "starts")
    arguments["ends"] = _columns.as_int64(arrays[1], "ends")
    arguments["columns"] = {
        column: _columns.as_int64(values, "column")
        for column, values in zip(_OPTIONAL, arrays[2:])
        if values is not None
    }
    if metadata and any(metadata):
        arguments["event_metadata_json"] = json.dumps(list(metadata), ensure_ascii=False)
    return arguments


def _table_rows(table: Any) -> list[dict[str, Any]]:
    """Rows of a lane table that is given as columns or as rows."""
    if not table:
        return []
    if isinstance(table, dict):
        keys = [key for key in table if key != "ranks"]
        return [dict(zip(keys, values)) for values in zip(*(table[key] for key in keys))]
    return [dict(row._asdict() if hasattr(row, "_asdict") else row) for row in table]


def write_metadata(h5file: Any, metadata: Mapping[str, Any]) -> None:
    """Writes metadata to a :class:`ProfilingWriter` or to an open file of h5py."""
    if isinstance(h5file, ProfilingWriter):
        h5file.write_metadata(metadata)
        return
    import h5py  # type: ignore[import-untyped]

    from ._plain import plain

    text = h5py.string_dtype("utf-8")
    group = h5file.require_group("metadata")
    for key, value in metadata.items():
        value = plain(value)
        if isinstance(value, list):
            group.attrs.create(key, [str(item) for item in value], (len(value),), dtype=text)
        else:
            group.attrs[key] = value


def write_rank_payload(h5file: ProfilingWriter, rank: int, payload: Any) -> bool:
    """Writes the regions of one rank; as :meth:`ProfilingWriter.write_rank`."""
    return h5file.write_rank(rank, payload)
