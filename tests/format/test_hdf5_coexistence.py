"""The module and h5py in one process, whichever comes first. Each case has a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

PRELUDE = """
import sys
sys.path.insert(0, {here!r})
import store_table as st
module, folder = {module!r}, {folder!r}

def publish(table, name):
    writer = st.Writer(table, f"{{folder}}/{{name}}")
    writer.begin_rank(0, [st.row("a", 0, 2)], columns=("start", "duration", "call_id"))
    writer.calls(start=[1, 3], duration=[1, 1], call_id=[0, 1])
    writer.commit()
    with st.Reader(table, f"{{folder}}/{{name}}") as run:
        assert run.calls(0, "start").tolist() == [1, 3]

def check(name):
    with h5py.File(f"{{folder}}/{{name}}") as file:
        assert file["events/start_deltas"][:].tolist() == [1, 2]
        assert file["events/call_ids"][:].tolist() == [0, 1]
"""

CASES = {
    "h5py first": """
import h5py
with h5py.File(f"{folder}/own.h5", "w") as file:
    file["x"] = [1, 2]
    table = st.load(module)
    publish(table, "a.h5")
    file["y"] = [3]
check("a.h5")
""",
    "module first": """
table = st.load(module)
publish(table, "a.h5")
import h5py
check("a.h5")
with h5py.File(f"{folder}/own.h5", "w") as file:
    file["x"] = [1, 2]
    publish(table, "b.h5")
    assert file["x"][:].tolist() == [1, 2]
check("b.h5")
""",
    "errors of both": """
import h5py
table = st.load(module)
for _ in range(3):
    try:
        h5py.File(f"{folder}/none.h5")
        raise SystemExit("opened a file that is not there")
    except FileNotFoundError:
        pass
    try:
        st.Writer(table, f"{folder}")
        raise SystemExit("wrote over a folder")
    except st.StoreError:
        pass
    publish(table, "a.h5")
    check("a.h5")
""",
    "a thread of h5py meanwhile": """
import threading
import h5py
import numpy as np
table = st.load(module)
stop, failures = threading.Event(), []

def use_h5py():
    try:
        while not stop.is_set():
            with h5py.File(f"{folder}/thread.h5", "w") as file:
                file.create_dataset("x", data=np.arange(1000), chunks=True, compression="gzip")
            with h5py.File(f"{folder}/thread.h5") as file:
                assert (file["x"][:] == np.arange(1000)).all()
    except BaseException as failure:
        failures.append(failure)

thread = threading.Thread(target=use_h5py)
thread.start()
for i in range(50):
    publish(table, "a.h5")
stop.set()
thread.join()
assert not failures, failures
check("a.h5")
""",
    "nothing on standard error": """
import h5py
table = st.load(module)
try:
    st.Writer(table, "/proc/none/a.h5")
except st.StoreError:
    pass
publish(table, "a.h5")
check("a.h5")
""",
}


@pytest.mark.parametrize("case", CASES)
def test_beside_h5py(module_path, tmp_path, case):
    prelude = PRELUDE.format(here=str(HERE), module=str(module_path), folder=str(tmp_path))
    result = subprocess.run([sys.executable, "-c", prelude + CASES[case]], capture_output=True,
                            text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
