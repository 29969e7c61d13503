"""The extension itself: buffers, bad arguments, threads, sub-interpreters, laziness, leaks."""

import array
import ctypes
import gc
import subprocess
import sys
import threading
import weakref

import pytest
from scope_profiler import _results
from scope_profiler._results import Run
from scope_profiler.mpi_region import MPIRegion
from scope_profiler.region import Region
from scope_profiler.results import ProfilingResults


@pytest.fixture
def run():
    run = Run.create()
    run.add_row("a", 0, starts=array.array("q", [0, 10]), ends=array.array("q", [4, 19]))
    return run


def in_a_child(code):
    path = next(iter(sys.modules["scope_profiler"].__path__)).rsplit("/", 1)[0]
    return subprocess.run(
        [sys.executable, "-X", "dev", "-c", f"import sys; sys.path.insert(0, {path!r})\n{code}"],
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_column_is_a_read_only_buffer(run):
    column = run.column(0, 1)
    view = memoryview(column)
    assert (view.format, view.shape, view.readonly) == ("q", (2,), True)
    assert view.tolist() == list(column) == [4, 9]
    assert column.format == "q" and len(column) == 2 and column[-1] == 9
    with pytest.raises(IndexError):
        column[2]
    with pytest.raises(TypeError):
        view[0] = 1


def test_a_view_keeps_the_memory(run):
    view = memoryview(run.column(0, 0))
    del run
    gc.collect()
    assert view.tolist() == [0, 10]


def test_columns_of_the_tree_have_their_own_types(run):
    tree = run.call_tree(0)
    formats = {
        name: getattr(tree, name).format
        for name in ("row", "call_index", "start_ns", "end_ns", "depth", "parent", "exclusive_ns")
    }
    assert formats == {
        "row": "I", "call_index": "Q", "start_ns": "q", "end_ns": "q", "depth": "i", "parent": "q",
        "exclusive_ns": "q",
    }  # fmt: skip
    assert list(tree.depth) == [0, 0] and list(tree.parent) == [-1, -1] and tree.lane is None
    assert len(run.call_tree(7).row) == 0


def test_types_are_closed():
    for kind in (Run, _results.Column):
        with pytest.raises(TypeError):
            kind()
        with pytest.raises(TypeError):
            kind.attribute = 1
        with pytest.raises(TypeError):
            type("Sub", (kind,), {})


@pytest.mark.parametrize(
    "ask",
    [
        lambda run: run.row(1),
        lambda run: run.row(-1),
        lambda run: run.row(2**70),
        lambda run: run.column(0, 8),
        lambda run: run.column(9, 0),
        lambda run: run.exclusive(3),
        lambda run: run.row_statistics(3),
        lambda run: run.region_statistics(1),
        lambda run: run.percentiles(5, [50]),
        lambda run: run.imbalance(1),
    ],
)
def test_an_index_outside_the_run(run, ask):
    with pytest.raises(IndexError):
        ask(run)


@pytest.mark.parametrize(
    "ask",
    [
        lambda run: run.column(0),
        lambda run: run.column("a", 0),
        lambda run: run.region_statistics(),
        lambda run: run.region_statistics(0, 5),
        lambda run: run.percentiles(0, 50),
        lambda run: run.percentiles(0, ["x"]),
        lambda run: run.set_metadata("a"),
        lambda run: run.set_metadata(1, 2),
        lambda run: run.set_metadata("a", {}),
        lambda run: run.set_metadata("a", [1]),
        lambda run: run.add_row("a"),
        lambda run: run.add_row("b", 0, starts=[1], ends=[2]),
        lambda run: run.add_row("b", 0, starts=b"12345678", ends=b"12345678"),
        lambda run: run.add_row("b", 0, aggregate=5),
        lambda run: run.add_row("b", 0, statistics=5),
        lambda run: run.add_row_of("x", 0),
        lambda run: run.summary_text(names=[1]),
        lambda run: run.summary_text(columns=[1]),
        lambda run: Run.open(5),
        lambda run: Run.from_image("x"),
    ],
)
def test_an_argument_of_the_wrong_type(run, ask):
    with pytest.raises((TypeError, ValueError)):
        ask(run)


def test_arguments_with_wrong_values(run):
    one, two = array.array("q", [1]), array.array("q", [1, 2])
    for refused in (
        lambda: run.add_row("b", 0, starts=one, ends=two),
        lambda: run.add_row("b", 0, starts=one, ends=one, columns={2: two}),
        lambda: run.add_row("b", 0, starts=one, ends=one, columns={0: one}),
        lambda: run.add_row("", 0, starts=one, ends=one),
        lambda: run.add_row("a\0b", 0, starts=one, ends=one),
        lambda: run.add_row("a", 0, starts=one, ends=one),
        lambda: run.add_row_of(run, 0),
        lambda: run.percentiles(0, [101]),
        lambda: run.imbalance(0, [-1]),
        lambda: run.summary_text(sort="bogus"),
        lambda: run.summary_text(columns=["bogus"]),
    ):
        with pytest.raises(ValueError):
            refused()
    assert run.num_rows == 1


def capsule_of(content):
    """A capsule as the recorder makes it: {malloc'ed data, its size}."""
    c_library = ctypes.CDLL(None)
    c_library.malloc.restype = ctypes.c_void_p
    data = c_library.malloc(ctypes.c_size_t(max(len(content), 1)))
    ctypes.memmove(data, content, len(content))
    image = (ctypes.c_size_t * 2)(data, len(content))
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    return make(ctypes.addressof(image), _NAME, None), image


_NAME = b"scope_profiler.image"


@pytest.mark.parametrize("content", [b"", b"x", bytes(64), bytes(range(256)) * 8])
def test_an_image_that_is_none(content):
    capsule, image = capsule_of(content)
    with pytest.raises((OSError, ValueError)):
        Run.from_image(capsule)
    assert image[0] == 0  # the memory has moved, also on failure
    with pytest.raises(ValueError, match="already opened"):
        Run.from_image(capsule)


def test_a_run_is_not_a_file():
    run = Run.create()
    assert (run.path, run.schema, run.file_bytes, run.num_ranks) == ("", 0, 0, 0)
    assert run.metadata() == {} and run.region_names == [] and run.times().start is None


def test_metadata_keeps_types_and_order(run):
    values = {"z": 1, "a": 1.5, "t": "ü", "empty": [], "list": ["b", "a"], "z2": -(2**63)}
    for key, value in values.items():
        run.set_metadata(key, value)
    assert run.metadata() == values and list(run.metadata()) == list(values)


def test_threads_may_ask_the_same_run():
    depth = 20_000
    region = Region(range(depth), range(2 * depth, depth, -1))
    run = ProfilingResults({"a": MPIRegion("a", {0: region})})
    errors = []

    def ask():
        try:
            for _ in range(5):
                assert run["a"].num_calls == depth
                assert int(run["a"][0].exclusive_durations_ns.sum()) == 2 * depth
                assert run["a"].p50_duration > 0
                assert run._run.summary_rows()[0]["calls"] == depth
        except BaseException as error:  # handed to the main thread
            errors.append(error)

    workers = [threading.Thread(target=ask) for _ in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert errors == []


def test_runs_are_freed():
    run = ProfilingResults({"a": Region([0], [1])})
    watched = weakref.ref(run)
    run.events(), run.call_stack(), run.summary()
    del run
    gc.collect()
    assert watched() is None


def test_asking_again_and_again_does_not_leak():
    """Peak memory after many more rounds stays what it was after a few."""
    child = in_a_child(
        """
import os
import resource
import tempfile
from scope_profiler.results import ProfilingResults
from scope_profiler.region import Region
from scope_profiler.json_export import write_json
from scope_profiler.prof_export import to_pstats

path = os.path.join(tempfile.mkdtemp(), "x.json")

def once():
    run = ProfilingResults(
        {"a": Region(range(0, 20000, 2), range(1, 20001, 2)), "b": Region([0], [30000])},
        metadata={"label": "x", "modules": ["a", "b"]},
    )
    run.events(), run.call_stack(), run.summary(), run._run.summary_rows()
    run["a"].percentile_duration(20), run._run.summary_text()
    write_json(run, path), to_pstats(run)
    try:
        run._run.percentiles(0, [500])
    except ValueError:
        pass

for _ in range(20):
    once()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for _ in range(200):
    once()
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert after - before < 8 * 1024, (before, after)
"""
    )
    assert child.returncode == 0, child.stderr


def test_numpy_is_imported_with_the_first_array():
    child = in_a_child(
        """
from scope_profiler import _results, results, call_stack, summary, profile_io, json_export
from scope_profiler import native_trace, statistics, h5reader, h5schema, concurrency
run = _results.Run.create()
for module in ("numpy", "h5py", "pandas", "mpi4py", "typing"):
    assert module not in sys.modules or module in at_start, module
""".replace(
            "from scope_profiler import _results,",
            "at_start = set(sys.modules)\nfrom scope_profiler import _results,",
        )
    )
    assert child.returncode == 0, child.stderr


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="the module of that name moved")
def test_each_interpreter_has_its_own_module():
    child = in_a_child(
        '''
import _xxsubinterpreters as interpreters
from scope_profiler import _results
code = f"""
import sys
sys.path[:] = {sys.path!r}
from scope_profiler import _results
assert _results.Run.create().num_rows == 0
"""
for _ in range(3):
    number = interpreters.create(isolated=False)  # shares the lock, as the recorder wants
    interpreters.run_string(number, code)
    interpreters.destroy(number)
assert _results.Run.create().num_rows == 0
'''
    )
    assert child.returncode == 0, child.stderr


def test_the_module_may_be_loaded_twice():
    child = in_a_child(
        """
from scope_profiler import _results
first = _results.Run
del sys.modules["scope_profiler._results"]
from scope_profiler import _results as again
import importlib
again = importlib.import_module("scope_profiler._results")
assert again.Run.create().num_rows == first.create().num_rows == 0
"""
    )
    assert child.returncode == 0, child.stderr


def test_functions_have_signatures():
    import inspect

    for name, member in inspect.getmembers(Run):
        if not name.startswith("_") and callable(member):
            assert inspect.signature(member) is not None and member.__doc__, name


def test_exceptions_can_be_pickled():
    import pickle

    from scope_profiler.call_stack import NestingError
    from scope_profiler.h5reader import CorruptProfileError, HDF5SchemaError
    from scope_profiler.region import EventDataUnavailableError

    for kind in (NestingError, CorruptProfileError, HDF5SchemaError, EventDataUnavailableError):
        copy = pickle.loads(pickle.dumps(kind("text")))
        assert type(copy) is kind and copy.args == ("text",)
    assert issubclass(CorruptProfileError, OSError) and issubclass(HDF5SchemaError, ValueError)
