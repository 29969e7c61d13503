"""Exports against rules that their readers publish: speedscope's own schema, from its package."""

import json
import shutil
import subprocess
import tarfile

import pytest

from profile_file import write_profile

pytestmark = pytest.mark.long

SPEEDSCOPE = "speedscope@1.25.0"
SCHEMA = "package/dist/release/file-format-schema.json"


@pytest.fixture(scope="module")
def validator(tmp_path_factory):
    jsonschema = pytest.importorskip("jsonschema")
    npm = shutil.which("npm")
    if not npm:
        pytest.skip("npm is not installed, so speedscope's schema cannot be had")
    folder = tmp_path_factory.mktemp("speedscope")
    done = subprocess.run([npm, "pack", "--silent", SPEEDSCOPE], cwd=folder, capture_output=True,
                          timeout=120)
    packages = list(folder.glob("speedscope-*.tgz"))
    if done.returncode != 0 or not packages:
        pytest.skip(f"{SPEEDSCOPE} cannot be had: {done.stderr.decode()[-200:]}")
    with tarfile.open(packages[0]) as package:
        schema = json.load(package.extractfile(SCHEMA))
    return jsonschema.Draft7Validator(schema)


@pytest.fixture
def odd(tmp_path):
    """Crossing calls, calls of no length, names with quotes and newlines, stamps above 2**53 ns."""
    late = 9_100_000
    return write_profile(
        tmp_path / "odd.h5", metadata={"label": 'a "b"\n'}, regions=['x"\n', "y", "z"],
        calls={0: {'x"\n': [(late, late + 2), (late + 3, late + 3)], "y": [(late + 1, late + 4)]},
               2: {"z": [(late, late + 1)]}})


def errors(validator, path):
    return [error.message for error in validator.iter_errors(json.loads(path.read_text()))]


@pytest.mark.parametrize("which", ["sample", "odd", "empty"])
def test_speedscope_files_fit_the_schema(command, validator, request, tmp_path, which):
    empty = write_profile(tmp_path / "empty.h5", metadata={}, regions=[], calls={0: {}})
    path = empty if which == "empty" else request.getfixturevalue(which)
    done = command("export", "speedscope", path, "-o", "out")
    assert (done.code, done.err) == (0, "")
    assert errors(validator, command.folder / "out" / "profile.speedscope.json") == []


def test_the_schema_refuses_what_is_wrong(validator, command, sample):
    command("export", "speedscope", sample, "-o", "out")
    path = command.folder / "out" / "profile.speedscope.json"
    document = json.loads(path.read_text())
    del document["profiles"][0]["unit"]
    path.write_text(json.dumps(document))
    assert errors(validator, path)
