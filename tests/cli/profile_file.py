"""Writes a profile of schema 3 with h5py, independent of the code under test."""

import json
from pathlib import Path

import h5py
import numpy as np

TEXT = h5py.string_dtype()
STATISTICS = np.dtype([
    ("total", "<i8"), ("minimum", "<i8"), ("maximum", "<i8"), ("first", "<i8"), ("last", "<i8"),
    ("start_minimum", "<i8"), ("end_maximum", "<i8"), ("gpu_count", "<u8"), ("gpu_total", "<i8"),
    ("mean", "<f8"), ("m2", "<f8"),
])


def write_profile(path, metadata, regions, calls, sources=None) -> Path:
    """`calls`: rank -> region -> [(start, end) in seconds of the monotonic clock, in order]."""
    sources = sources or {}
    rows = [(rank, name, [(round(a * 1e9), round(b * 1e9)) for a, b in intervals])
            for rank, by_name in calls.items() for name, intervals in by_name.items()]
    starts, durations, statistics = [], [], []
    for _, _, intervals in rows:
        begin = np.array([a for a, _ in intervals], dtype=np.int64)
        length = np.array([b - a for a, b in intervals], dtype=np.int64)
        starts.append(np.diff(begin, prepend=0))
        durations.append(length)
        statistics.append((
            length.sum(), length.min(), length.max(), length[0], length[-1], begin[0],
            (begin + length).max(), 0, 0, length.mean(), ((length - length.mean()) ** 2).sum()))
    counts = [len(intervals) for _, _, intervals in rows]

    with h5py.File(path, "w") as file:
        file.attrs["scope_profiler_schema"] = np.int64(3)
        file.attrs["storage_layout"] = "columnar"
        group = file.create_group("metadata")
        for key, value in metadata.items():
            if isinstance(value, list):
                group.attrs.create(key, np.array(value, dtype=object), dtype=TEXT)
            else:
                group.attrs[key] = np.int64(value) if isinstance(value, int) else value
        file.create_dataset("region_table/names", data=regions, dtype=TEXT)
        index = file.create_group("rank_region_index")
        index["region_ids"] = np.array([regions.index(name) for _, name, _ in rows], "<u4")
        index["ranks"] = np.array([rank for rank, _, _ in rows], "<u4")
        index["event_offsets"] = np.array(np.cumsum([0, *counts])[:-1], "<u8")
        index["event_counts"] = np.array(counts, "<u8")
        found = [sources.get(name, ("", -1, "")) for _, name, _ in rows]
        index["source_lines"] = np.array([line for _, line, _ in found], "<i8")
        index["exclusive_totals"] = np.full(len(rows), -1, "<i8")
        index["summary_statistics"] = np.array(statistics, STATISTICS)
        index.create_dataset("source_files", data=[name for name, _, _ in found], dtype=TEXT)
        index.create_dataset("source_texts", data=[text for _, _, text in found], dtype=TEXT)
        index.create_dataset("tags", data=[json.dumps([])] * len(rows), dtype=TEXT)
        file["events/start_deltas"] = np.concatenate(starts) if rows else np.array([], "<i8")
        file["events/durations"] = np.concatenate(durations) if rows else np.array([], "<i8")
    return Path(path)
