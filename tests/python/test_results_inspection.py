"""Inspection: the text about a profile, and metadata as JSON."""

import io
import json

import pytest

import scope_profiler as sp
from scope_profiler import inspection


@pytest.fixture
def path(tmp_path):
    """A run of 3 calls of `work`, each with one of `inner`, in a file with a label."""
    file = tmp_path / "run.h5"
    sp.setup(output=file, label="three", capture_region_source=True)

    @sp.profile
    def work():
        with sp.region("inner"):
            pass

    for _ in range(3):
        work()
    sp.finalize(verbose=False)
    return file


def text_of(path, **arguments):
    stream = io.StringIO()
    assert sp.inspect_file(path, stream=stream, **arguments) is None
    return stream.getvalue()


def test_title_and_sizes(path):
    lines = text_of(path, show_metadata=False, show_regions=False).splitlines()
    assert lines[0] == "=" * 78
    assert lines[1] == f"three - {path}"
    size = path.stat().st_size / (1 << 20)
    assert lines[2].startswith(f"1 rank(s), 2 region(s), {size:.2f} MiB, ")
    assert lines[2].endswith("s total (setup to finalize)")
    assert lines[3:] == []


def test_parts_can_be_left_out(path):
    whole = text_of(path)
    assert "Parallelism" in whole and "mpi_size" in whole and "work (3x)" in whole
    assert "work (3x)" not in text_of(path, show_regions=False)
    assert "Parallelism" not in text_of(path, show_metadata=False)


def test_rows_are_chosen_as_in_the_summary(path):
    text = text_of(path, show_metadata=False, include="in", columns=["region", "calls"])
    assert "inner" in text and "calls" not in text and "total [s]" not in text
    assert "work" not in text
    assert "work" not in text_of(path, show_metadata=False, exclude=["wor"])
    for wrong in ({"sort": "size"}, {"columns": "size"}, {"percentage_mode": "size"}):
        with pytest.raises(ValueError):
            text_of(path, **wrong)
    assert "work" in text_of(path, ranks=0)


def test_sources(path):
    text = text_of(path, source=["work", "nope"], show_metadata=False, show_regions=False)
    assert "Source (2)" in text
    assert "test_results_inspection.py:" in text and "with sp.region" in text
    assert "no such region" in text and "work" in text.partition("no such region")[2]
    assert "Source (1)" in text_of(path, source="inner")


def test_long_values_are_clipped_unless_all_is_wanted(tmp_path):
    file = tmp_path / "long.json"
    metadata = {"LONG": "x" * 300}
    sp.write_profile(sp.ProfilingResults({}, metadata=metadata, num_ranks=1), file)
    assert "x" * 300 not in text_of(file) and "[…]" in text_of(file)
    assert "x" * 300 in text_of(file, full=True)


def test_files_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError):
        sp.inspect_file(tmp_path / "none.h5")
    (tmp_path / "bad.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + b"?" * 100)
    with pytest.raises(sp.CorruptProfileError):
        sp.inspect_file(tmp_path / "bad.h5")


def test_printed_to_standard_output(path, capsys):
    sp.inspect_file(path)
    assert "work (3x)" in capsys.readouterr().out


def test_metadata_of_files(path, tmp_path):
    results = sp.load(path)
    collected = sp.collect_file_metadata([path, results])
    assert collected == {"files": [collected["files"][0]] * 2}
    entry = collected["files"][0]
    assert set(entry) == {"file_path", "num_ranks", "metadata"}
    assert (entry["file_path"], entry["num_ranks"]) == (str(path), 1)
    assert entry["metadata"]["label"] == "three"
    assert sp.collect_file_metadata(str(path)) == {"files": [entry]}
    target = tmp_path / "new folder" / "meta.json"
    assert inspection.write_metadata_json(path, target) == {"files": [entry]}
    text = target.read_text(encoding="utf-8")
    assert json.loads(text) == {"files": [entry]}
    assert text.startswith('{\n  "files": [\n    {\n      "file_path"')
    assert [file.name for file in target.parent.iterdir()] == ["meta.json"]


def test_metadata_that_json_lacks(tmp_path):
    odd = sp.ProfilingResults({}, metadata={"a": float("inf"), "b": b"n\xff", "c": (1, 2)}, num_ranks=1)
    [entry] = inspection.write_metadata_json(odd, tmp_path / "odd.json")["files"]
    assert entry == {
        "file_path": None, "num_ranks": 1, "metadata": {"a": None, "b": "n\\xff", "c": [1, 2]},
    }  # fmt: skip
