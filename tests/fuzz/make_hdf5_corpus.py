"""Writes the HDF5 files of corpus/ that hold everything that a profile can hold:

    python make_hdf5_corpus.py <module scope_profiler_hdf5.so>
"""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "format"))

import store_table as st  # noqa: E402

STATISTICS = {"total": 33, "minimum": 5, "maximum": 15, "mean": 11.0, "m2": 56.0}
IDS = ("call_id", "parent_id", "thread_id", "task_id", "await", "gpu")


def write(table, path, count, **options):
    writer = st.Writer(table, path, **options)
    writer.metadata({"mpi_size": 2, "load": 0.5, "host": "node", "modules": ["a", "b"], "none": []})
    thread = dict(index=0, ident=1, native_id=2, start_ns=3, end_ns=-1, cpu_ns=4, name="Main")
    task = dict(index=0, thread_index=0, steps=3, kind="task", name="Task-1", coroutine_name="f")
    for rank in range(2):
        rows = [st.row(name, rank, count, STATISTICS, source_file="a.py", source_text="x",
                       tags_json='["t"]', event_metadata_json='[{"n": 1}]')
                for name in ("solve", "io/read")]
        columns = ("start", "duration", *IDS) if rank == 0 else ("start", "duration")
        writer.begin_rank(rank, rows, columns, threads=[{**thread, "rank": rank}],
                          tasks=[{**task, "rank": rank}])
        numbers = np.arange(2 * count)
        values = {"start": numbers * 10, "duration": numbers % 7, **{c: numbers for c in IDS}}
        writer.calls(**{name: values[name] for name in columns})
        writer.extra("flags", list(range(600)), rank)
        writer.extra("offsets", [0.5, 1.5], rank)
        writer.extra("kinds", ["open", "lost"], rank)
    writer.commit()


def main():
    table = st.load(sys.argv[1])
    corpus = HERE / "corpus"
    write(table, corpus / "hdf5-plain.h5", 20)
    write(table, corpus / "hdf5-gzip.h5", 300, compression="gzip")
    write(table, corpus / "hdf5-chunks.h5", 40, chunk_size=7)


if __name__ == "__main__":
    main()
