"""Memory of a recording stays where it is, whatever the number of calls."""

import os
import shutil
import subprocess
from pathlib import Path

import h5py
import pytest

SHORT, LONG = 10_000_000, 200_000_000
MIB = 1 << 20

PROGRAM = """
#include <scope_profiler.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long resident(void) /* memory that no file stands behind, in bytes */
{
    char line[256];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, "RssAnon:", 8) == 0)
            kib = atol(line + 8);
    if (status != NULL)
        fclose(status);
    return kib * 1024;
}

int main(int count, char **words)
{
    long calls = atol(words[1]), early = 0;
    (void)count;
    if (sp_init("run", 0) != SP_OK)
        return 1;
    int region = sp_region("work");
    for (long i = 0; i < calls; i++) {
        sp_begin(region);
        sp_end(region);
        if (i == calls / 10)
            early = resident();
    }
    printf("%ld %ld\\n", early, resident());
    return sp_finalize() == SP_OK ? 0 : 1;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    package = pytest.importorskip("scope_profiler")
    core = Path(package.__file__).resolve().parent / "_core"
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("flat")
    (folder / "flat.c").write_text(PROGRAM)
    subprocess.run(
        [compiler, "-O2", "-std=gnu11", folder / "flat.c", "-o", folder / "flat", f"-I{core}/include",
         core / "lib/libscope_profiler.so.1", f"-Wl,-rpath,{core}/lib"], check=True)  # fmt: skip
    return folder / "flat"


def check(program, folder, on_full, calls):
    environment = {**os.environ, "SCOPE_PROFILER_JOURNAL": "off", "SCOPE_PROFILER_ON_FULL": on_full,
                   "SCOPE_PROFILER_MAX_MEMORY": "4MB", "TMPDIR": str(folder)}  # fmt: skip
    done = subprocess.run([program, str(calls)], cwd=folder, env=environment, check=True,
                          capture_output=True, text=True)  # fmt: skip
    early, late = map(int, done.stdout.split())
    assert late < early + MIB
    assert late < 16 * MIB
    with h5py.File(folder / "run_rank00000.h5") as file:
        kept = int(file["rank_region_index/event_counts"][0])
        extra = file["scope_profiler_extra"]
        beside = 0
        if "totals_calls" in extra:
            beside = int(extra["totals_calls"][0] + extra["totals_untimed"][0])
    assert kept + beside == calls
    assert (beside == 0) == (on_full == "spill")
    assert sorted(os.listdir(folder)) == ["run_rank00000.h5"]


@pytest.mark.parametrize("on_full", ["spill", "aggregate", "ring", "stop"])
def test_memory_is_flat(program, tmp_path, on_full):
    check(program, tmp_path, on_full, SHORT)


@pytest.mark.long
@pytest.mark.parametrize("on_full", ["aggregate", "ring", "stop"])
def test_memory_is_flat_over_many_calls(program, tmp_path, on_full):
    check(program, tmp_path, on_full, LONG)
