"""Time by line: which lines are counted, how often, for which region; and what a file has of it."""

import io
import json
import subprocess
import sys
import threading

import pytest

import scope_profiler as sp
from scope_profiler import ProfileManager
from scope_profiler.region_profiler import LineProfilerRegion

pytest.importorskip("line_profiler")


def add_up(n):
    total = 0
    for i in range(n):
        total += i
    return total


def factorial(n):
    if n == 0:
        return 1
    return n * factorial(n - 1)


class Adder:
    @staticmethod
    def plain(n):
        return n + 1

    def method(self, n):
        return n + 2


@pytest.fixture
def run():
    return ProfileManager.setup(output=None, use_line_profiler=True)


def hits(results, region, function, rank=0):
    """{line counted from the function's first: passes}."""
    (record,) = (
        record for record in results.line_profile.get(rank, [])
        if (record["region"], record["function"].rpartition(".")[2]) == (region, function)
    )  # fmt: skip
    lines = (record["line_numbers"] - record["first_lineno"]).tolist()
    assert len(record["times"]) == len(lines) and (record["times"] > 0).all()
    return dict(zip(lines, record["hits"].tolist()))


def finalize():
    return ProfileManager.finalize(verbose=False, return_results=True)


def test_functions_of_a_region_count_while_it_is_open(run):
    add_up(100)
    with sp.region("sum", functions=[add_up]):
        add_up(3)
        add_up(4)
    add_up(100)
    results = finalize()
    assert hits(results, "sum", "add_up") == {1: 2, 2: 3 + 1 + 4 + 1, 3: 7, 4: 2}
    assert isinstance(sp.region("sum"), LineProfilerRegion)
    (record,) = results.line_profile[0]
    assert record["source"].splitlines()[0] == "def add_up(n):"
    assert record["source_first_lineno"] == record["first_lineno"]


def test_recursion_counts_every_level(run):
    with sp.region("recursive", functions=[factorial]):
        assert factorial(5) == 120
    assert hits(finalize(), "recursive", "factorial") == {1: 6, 2: 1, 3: 5}


def test_two_regions_have_a_function_each_for_itself(run):
    with sp.region("outer", functions=[add_up]):
        add_up(1)
        with sp.region("inner", functions=[add_up]):
            add_up(2)
    results = finalize()
    assert hits(results, "inner", "add_up")[3] == 2
    assert hits(results, "outer", "add_up")[3] == 3


def test_decorated_functions_time_themselves(run):
    @sp.profile("decorated", record_outcome=True)
    def decorated(n):
        for _ in range(n):
            pass
        raise KeyError(n)

    for _ in range(2):
        with pytest.raises(KeyError):
            decorated(3)
    assert hits(finalize(), "decorated", "decorated") == {2: 8, 3: 6, 4: 2}


def test_generators_count_their_own_lines_only(run):
    @sp.profile("steps")
    def steps():
        for i in range(3):
            yield i

    for _ in steps():
        add_up(5)
    results = finalize()
    assert hits(results, "steps", "steps") == {2: 4, 3: 3}
    assert {record["function"].rpartition(".")[2] for record in results.line_profile[0]} == {"steps"}


def test_descriptors_and_decorated_functions_are_looked_through(run):
    decorated = sp.profile("other")(add_up)
    region = sp.region("many", functions=[Adder.plain, Adder().method, decorated])
    with region:
        Adder.plain(1)
        Adder().method(1)
        decorated(2)
    results = finalize()
    assert hits(results, "many", "plain") == {2: 1}
    assert hits(results, "many", "method") == {1: 1}
    assert hits(results, "many", "add_up")[3] == hits(results, "other", "add_up")[3] == 2


def test_what_is_not_python_has_no_lines(run):
    with pytest.raises(TypeError, match="has no lines: it is not written in Python"):
        sp.region("builtin", functions=[len])
    sp.profile("fine")(len)("abc")
    assert not finalize().line_profile


def test_a_block_without_functions_times_its_frame(run):
    with sp.region("block"):
        total = 0
        for i in range(4):
            total += i
    total += 1
    first = test_a_block_without_functions_times_its_frame.__code__.co_firstlineno
    (record,) = finalize().line_profile[0]
    assert record["first_lineno"] == first
    assert dict(zip(record["line_numbers"] - first, record["hits"])) == {2: 1, 3: 5, 4: 4}


def test_a_block_that_raises_counts_the_line_that_did(run):
    with pytest.raises(ZeroDivisionError):
        with sp.region("raises"):
            one = 1
            one / 0
    record = finalize().line_profile[0][0]
    assert record["hits"].tolist() == [1, 1]
    assert (record["line_numbers"] - record["first_lineno"]).tolist() == [3, 4]


def test_nested_blocks_and_functions_together(run):
    with sp.region("outer"):
        before = 1
        with sp.region("calls", functions=[add_up]):
            add_up(before)
        add_up(2)
    results = finalize()
    assert hits(results, "calls", "add_up") == {1: 1, 2: 2, 3: 1, 4: 1}
    name = "test_nested_blocks_and_functions_together"
    outer = hits(results, "outer", name)
    assert outer[2] == outer[4] == outer[5] == 1 and outer[3] >= 1


def test_cells_without_a_file(run):
    code = compile("with region('cell'):\n    a = 1\n    b = a + 1\n", "<cell 1>", "exec")
    exec(code, {"region": sp.region})
    (record,) = finalize().line_profile[0]
    assert (record["filename"], record["function"]) == ("<cell 1>", "<module>")
    assert record["line_numbers"].tolist() == [2, 3] and record["hits"].tolist() == [1, 1]


def test_threads_count_together(run):
    def work():
        with sp.region("threads", functions=[add_up]):
            add_up(10)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hits(finalize(), "threads", "add_up") == {1: 4, 2: 44, 3: 40, 4: 4}


def test_an_existing_trace_function_goes_on(run):
    seen = []

    def trace(frame, event, arg):
        if frame.f_code is add_up.__code__:
            seen.append(event)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with sp.region("traced"):
            add_up(1)
        held = sys.gettrace()
    finally:
        sys.settrace(before)
    assert held is trace
    assert seen == ["call"] + ["line"] * 5 + ["return"]
    assert finalize().line_profile[0][0]["hits"].tolist() == [1]


def test_pauses_and_disabled_regions_time_nothing():
    ProfileManager.setup(output=None, use_line_profiler=True, region_tags=["on"])
    with sp.region("off", functions=[add_up]):
        add_up(1)
    region = sp.region("paused", functions=[add_up], tags=["on"])
    ProfileManager.pause()
    with region:
        add_up(1)
    ProfileManager.resume()
    assert not finalize().line_profile


def test_a_file_has_what_is_new_since_the_last(tmp_path):
    path = tmp_path / "run.h5"
    ProfileManager.setup(file_path=path, use_line_profiler=True)
    handle = ProfileManager.define_region("handled", functions=[add_up])
    with handle:
        add_up(3)
    ProfileManager.finalize(verbose=False)
    first = sp.read_h5(path)
    with handle:
        add_up(5)
    ProfileManager.finalize(verbose=False)
    assert hits(first, "handled", "add_up")[3] == 3
    assert hits(sp.read_h5(path), "handled", "add_up")[3] == 5


def test_a_json_profile_carries_them(tmp_path):
    path = tmp_path / "run.json"
    ProfileManager.setup(output=path, use_line_profiler=True)
    with sp.region("json", functions=[add_up]):
        add_up(3)
    ProfileManager.finalize(verbose=False)
    (record,) = json.loads(path.read_text())["line_profile"]["0"]
    assert record["hits"] == [1, 4, 3, 1] and record["unit"] == 1e-9
    assert not record["filename"].startswith("/")


def test_methods_of_the_region(run):
    region = sp.region("methods", functions=[add_up])
    with region:
        add_up(2)
    (lines,) = region.get_stats().timings.values()
    assert [hit for _, hit, _ in lines] == [1, 3, 2, 1]
    out = io.StringIO()
    region.print_stats(out)
    assert "total += i" in out.getvalue()
    assert region.manual_line_records() == []
    region.record_line_timing("file.py", "f", 1, 2, 3000)
    region.record_line_timing("file.py", "f", 1, 2, 0)
    (record,) = region.manual_line_records(unit=1e-6)
    assert (record["line_numbers"], record["hits"], record["times"]) == ([2], [1], [3.0])


def test_printed_on_request(capsys):
    ProfileManager.setup(output=None, use_line_profiler=True)
    with sp.region("printed", functions=[add_up]):
        add_up(2)
    ProfileManager.finalize(verbose=False, verbose_line_profiler=True)
    text = capsys.readouterr().out
    assert "Rank 0 | printed | add_up (" in text and "total += i" in text


PROGRAM = """\
import threading
def leaf(n):
    return n + 1
def work(n):
    for i in range(n):
        leaf(i)
thread = threading.Thread(target=work, args=(2,))
thread.start()
thread.join()
work(3)
"""


def command(*words, folder):
    return subprocess.run([sys.executable, "-m", "scope_profiler", *words], cwd=folder, text=True,
                          capture_output=True, timeout=120)  # fmt: skip


def test_a_traced_program_has_the_lines_of_all_its_functions(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = command("run", "-q", "--recursive", "--line-profile", "-o", "run.h5", "program.py",
                   folder=tmp_path)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    results = sp.read_h5(tmp_path / "run.h5")
    assert hits(results, "__main__.work", "work") == {1: 3 + 1 + 2 + 1, 2: 5}
    assert hits(results, "__main__.leaf", "leaf") == {1: 5}


def test_the_command_prints_tables_and_filters(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command("run", "-q", "--recursive", "--line-profile", "-o", "run.h5", "program.py",
            folder=tmp_path)  # fmt: skip
    text = command("line-profile", "run.h5", folder=tmp_path).stdout
    assert text.startswith("Line profile: run.h5\n")
    assert "Rank 0 | __main__.work | work (program.py:4)" in text
    cells = [line.split("│")[1].split() for line in text.splitlines() if "leaf(i)" in line]
    # In the table of the function, and as a line that is no line of the module's own.
    assert sorted((row[0], row[1], row[-1]) for row in cells) == [
        ("6", "5", "leaf(i)"), ("6", "leaf(i)", "leaf(i)")
    ]  # fmt: skip
    only = command("line-profile", "run.h5", "--function", "leaf", folder=tmp_path).stdout
    assert "| leaf (" in only and "| work (" not in only
    for option in (("--region", "nothing"), ("--rank", "7")):
        none = command("line-profile", "run.h5", *option, folder=tmp_path)
        assert none.stdout.splitlines()[1:] == ["No line-profile records matched."]
        assert none.returncode == 0


def test_without_the_package_setup_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "line_profiler", None)
    with pytest.raises(ImportError, match="line_profiler is not installed") as raised:
        ProfileManager.setup(output=None, use_line_profiler=True)
    assert raised.value.name == "line_profiler"
