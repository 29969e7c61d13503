"""The store table of scope_plugin.h for ctypes: writes and reads runs through the built module.

Names, order and types mirror the header. Texts are bytes or str; columns are NumPy int64 arrays.
"""

import ctypes as c
import os

import numpy as np

COLUMNS = ("start", "duration", "call_id", "parent_id", "thread_id", "task_id", "await", "gpu")
OK, INVALID, NOT_FOUND, NOT_A_PROFILE, DAMAGED, SCHEMA = 0, 8, 9, 10, 11, 12
IO, UNSUPPORTED, NO_MEMORY = 4, 7, 3


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("system_errno", c.c_int), ("text", c.c_char * 1008)]


class StoreError(Exception):
    def __init__(self, error):
        super().__init__(error.text.decode())
        self.status, self.errno = error.status, error.system_errno


class MetadataEntry(c.Structure):
    _fields_ = [("key", c.c_char_p), ("kind", c.c_int), ("integer", c.c_int64),
                ("real", c.c_double), ("text", c.c_char_p), ("list", c.POINTER(c.c_char_p)),
                ("list_length", c.c_size_t)]


class Statistics(c.Structure):
    _fields_ = [(n, c.c_int64) for n in ("total", "minimum", "maximum", "first", "last",
                                         "start_minimum", "end_maximum")]
    _fields_ += [("gpu_count", c.c_uint64), ("gpu_total", c.c_int64), ("mean", c.c_double),
                 ("m2", c.c_double)]


class Aggregate(c.Structure):
    _fields_ = [("count", c.c_uint64), ("total", c.c_int64), ("minimum", c.c_int64),
                ("maximum", c.c_int64), ("exclusive", c.c_int64)]


class Row(c.Structure):
    _fields_ = [("region", c.c_char_p), ("rank", c.c_uint32), ("offset", c.c_uint64),
                ("count", c.c_uint64), ("source_file", c.c_char_p), ("source_text", c.c_char_p),
                ("source_line", c.c_int64), ("tags_json", c.c_char_p),
                ("event_metadata_json", c.c_char_p), ("exclusive_total", c.c_int64),
                ("has_statistics", c.c_bool), ("statistics", Statistics),
                ("has_aggregate", c.c_bool), ("aggregate", Aggregate)]


class Thread(c.Structure):
    _fields_ = [("rank", c.c_uint32), ("index", c.c_int64), ("ident", c.c_int64),
                ("native_id", c.c_int64), ("is_daemon", c.c_bool), ("start_ns", c.c_int64),
                ("end_ns", c.c_int64), ("cpu_ns", c.c_int64), ("name", c.c_char_p)]


class Task(c.Structure):
    _fields_ = [("rank", c.c_uint32)]
    _fields_ += [(n, c.c_int64) for n in ("index", "thread_index", "created_ns", "done_ns",
                                          "steps", "running_ns", "suspended_ns")]
    _fields_ += [(n, c.c_char_p) for n in ("kind", "name", "coroutine_name")]


class Extra(c.Structure):
    _fields_ = [("name", c.c_char_p), ("rank", c.c_uint32), ("length", c.c_size_t),
                ("integers", c.POINTER(c.c_int64)), ("reals", c.POINTER(c.c_double)),
                ("texts", c.POINTER(c.c_char_p))]


class Options(c.Structure):
    _fields_ = [("size", c.c_size_t), ("compression", c.c_char_p), ("compression_level", c.c_int),
                ("chunk_size", c.c_uint64), ("is_aggregate", c.c_bool)]


class Description(c.Structure):
    _fields_ = [("format", c.c_char_p), ("schema", c.c_int), ("is_aggregate", c.c_bool),
                ("num_ranks", c.c_uint32), ("metadata", c.POINTER(MetadataEntry)),
                ("num_metadata", c.c_size_t), ("rows", c.POINTER(Row)), ("num_rows", c.c_size_t),
                ("region_names", c.POINTER(c.c_char_p)), ("num_regions", c.c_size_t),
                ("num_calls", c.c_uint64), ("columns", c.c_uint),
                ("threads", c.POINTER(Thread)), ("num_threads", c.c_size_t),
                ("tasks", c.POINTER(Task)), ("num_tasks", c.c_size_t),
                ("extras", c.POINTER(Extra)), ("num_extras", c.c_size_t)]


P, E = c.c_void_p, c.POINTER(Error)
Values = c.c_void_p * len(COLUMNS)


class Table(c.Structure):
    _fields_ = [
        ("size", c.c_size_t), ("version", c.c_uint), ("name", c.c_char_p),
        ("create", c.CFUNCTYPE(c.c_int, c.c_char_p, c.POINTER(Options), c.POINTER(P), E)),
        ("write_metadata", c.CFUNCTYPE(c.c_int, P, c.POINTER(MetadataEntry), c.c_size_t, E)),
        ("begin_rank", c.CFUNCTYPE(c.c_int, P, c.c_uint32, c.POINTER(Row), c.c_size_t, c.c_uint,
                                   c.POINTER(Thread), c.c_size_t, c.POINTER(Task), c.c_size_t, E)),
        ("write_calls", c.CFUNCTYPE(c.c_int, P, c.c_size_t, Values, E)),
        ("write_extra", c.CFUNCTYPE(c.c_int, P, c.POINTER(Extra), E)),
        ("commit", c.CFUNCTYPE(c.c_int, P, E)),
        ("abort", c.CFUNCTYPE(None, P)),
        ("open", c.CFUNCTYPE(c.c_int, c.c_char_p, c.POINTER(P), E)),
        ("describe", c.CFUNCTYPE(c.POINTER(Description), P)),
        ("read_calls", c.CFUNCTYPE(c.c_int, P, c.c_size_t, c.c_int, c.c_uint64, c.c_size_t,
                                   c.c_void_p, E)),
        ("close", c.CFUNCTYPE(None, P)),
        ("is_thread_safe", c.CFUNCTYPE(c.c_bool)),
        ("library_version", c.CFUNCTYPE(c.c_char_p)),
    ]


def load(path):
    """The table of the module at `path`, opened the way the libraries open it."""
    mode = os.RTLD_NOW | os.RTLD_LOCAL
    if not os.environ.get("SCOPE_PROFILER_TEST_NO_DEEPBIND"):
        mode |= os.RTLD_DEEPBIND
    library = c.CDLL(str(path), mode=mode)
    library.sp_store_module.restype = c.POINTER(Table)
    library.sp_store_module.argtypes = [E]
    error = Error()
    table = library.sp_store_module(c.byref(error))
    if not table:
        raise StoreError(error)
    return table.contents


def _bytes(text):
    return text.encode() if isinstance(text, str) else text


def _entry(key, value):
    entry = MetadataEntry(key=_bytes(key))
    if isinstance(value, int):
        entry.kind, entry.integer = 0, value
    elif isinstance(value, float):
        entry.kind, entry.real = 1, value
    elif isinstance(value, (str, bytes)):
        entry.kind, entry.text = 2, _bytes(value)
    else:
        entry.kind, entry.list_length = 3, len(value)
        entry.list = (c.c_char_p * len(value))(*map(_bytes, value))
    return entry


def _structure(kind, values):
    return kind(**{k: _bytes(v) if isinstance(v, str) else v for k, v in values.items()})


def row(region, rank=0, count=0, statistics=None, aggregate=None, **values):
    values = {"source_file": "", "source_text": "", "source_line": -1, "tags_json": "[]",
              "event_metadata_json": None, "exclusive_total": -1, **values}
    made = _structure(Row, {"region": region, "rank": rank, "count": count, **values})
    if statistics is not None:
        made.has_statistics, made.statistics = True, Statistics(**statistics)
    if aggregate is not None:
        made.has_aggregate, made.aggregate = True, Aggregate(*aggregate)
    return made


class Writer:
    def __init__(self, table, path, compression=None, level=-1, chunk_size=0, aggregate=False):
        self.table, self.handle = table, P()
        options = Options(c.sizeof(Options), _bytes(compression), level, chunk_size, aggregate)
        self._check(lambda e: table.create(os.fsencode(path), c.byref(options),
                                           c.byref(self.handle), e))

    @staticmethod
    def _check(call):
        error = Error()
        if call(c.byref(error)) != OK:
            raise StoreError(error)

    def metadata(self, entries):
        array = (MetadataEntry * len(entries))(*(_entry(k, v) for k, v in entries.items()))
        self._check(lambda e: self.table.write_metadata(self.handle, array, len(entries), e))

    def begin_rank(self, rank, rows, columns=("start", "duration"), threads=(), tasks=()):
        mask = sum(1 << COLUMNS.index(name) for name in columns)
        arrays = [(Row * len(rows))(*rows),
                  (Thread * len(threads))(*(_structure(Thread, t) for t in threads)),
                  (Task * len(tasks))(*(_structure(Task, t) for t in tasks))]
        self._check(lambda e: self.table.begin_rank(self.handle, rank, arrays[0], len(rows), mask,
                                                    arrays[1], len(threads), arrays[2], len(tasks),
                                                    e))

    def calls(self, **columns):
        arrays = {k.rstrip("_"): np.ascontiguousarray(v, np.int64) for k, v in columns.items()}
        values = Values(*(arrays[n].ctypes.data if n in arrays else None for n in COLUMNS))
        count = len(next(iter(arrays.values())))
        self._check(lambda e: self.table.write_calls(self.handle, count, values, e))

    def extra(self, name, values, rank=0):
        extra = Extra(name=_bytes(name), rank=rank, length=len(values))
        if len(values) and isinstance(values[0], str):
            extra.texts = (c.c_char_p * len(values))(*map(_bytes, values))
        elif len(values) and isinstance(values[0], float):
            extra.reals = (c.c_double * len(values))(*values)
        else:
            extra.integers = (c.c_int64 * len(values))(*values)
        self._check(lambda e: self.table.write_extra(self.handle, c.byref(extra), e))

    def commit(self):
        handle, self.handle = self.handle, None
        self._check(lambda e: self.table.commit(handle, e))

    def abort(self):
        handle, self.handle = self.handle, None
        self.table.abort(handle)


class Reader:
    """A profile, its description copied into Python values."""

    def __init__(self, table, path):
        self.table, self.handle = table, P()
        Writer._check(lambda e: table.open(os.fsencode(path), c.byref(self.handle), e))
        d = self.description = table.describe(self.handle).contents
        self.schema, self.num_ranks, self.num_calls = d.schema, d.num_ranks, d.num_calls
        self.is_aggregate = d.is_aggregate
        self.columns = {n for i, n in enumerate(COLUMNS) if d.columns >> i & 1}
        self.metadata = {m.key.decode(): self._value(m) for m in d.metadata[:d.num_metadata]}
        self.regions = [n.decode() for n in d.region_names[:d.num_regions]]
        self.rows = d.rows[:d.num_rows]
        self.threads, self.tasks = d.threads[:d.num_threads], d.tasks[:d.num_tasks]
        self.extras = {}
        for extra in d.extras[:d.num_extras]:
            values = extra.integers or extra.reals or extra.texts
            self.extras.setdefault(extra.name.decode(), {})[extra.rank] = values[:extra.length]

    @staticmethod
    def _value(entry):
        if entry.kind == 3:
            return [text.decode() for text in entry.list[:entry.list_length]]
        return (entry.integer, entry.real, (entry.text or b"").decode())[entry.kind]

    def calls(self, row, column, first=0, count=None):
        count = self.rows[row].count - first if count is None else count
        out = np.empty(count, np.int64)
        Writer._check(lambda e: self.table.read_calls(
            self.handle, row, COLUMNS.index(column), first, count, out.ctypes.data, e))
        return out

    def close(self):
        handle, self.handle = self.handle, None
        self.table.close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        self.close()
