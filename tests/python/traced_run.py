"""Runs programs under the tracer; the counterpart of profile_oracle.py, with the same output.

    python traced_run.py FOLDER [--c-calls]"""

import json
import os
import sys

from scope_profiler import ProfileManager
from scope_profiler._trace import Tracing


def calls_by_thread(results, root):
    """{thread name: [[name, depth], ...]} in the order of the begins; the root region left out."""
    threads = {thread.index: thread.name for thread in results.threads[0]}
    rows = []
    for name in results.region_names:
        region = results[name][0]
        ids, parents, lanes = region.call_ids, region.parent_ids, region.thread_ids
        rows += [(int(i), int(p), int(t), name) for i, p, t in zip(ids, parents, lanes)]
    depths, found = {}, {}
    for call, parent, lane, name in sorted(rows):
        depths[call] = depths[parent] + 1 if parent >= 0 else 0
        if name == root:
            depths[call] = -1
        else:
            found.setdefault(threads[lane], []).append([name, depths[call]])
    return found


def main(folder, *options):
    found = {}
    for entry in sorted(os.listdir(folder)):
        if not entry.endswith(".py"):
            continue
        ProfileManager.setup(output=None, track_threads=True, replace=True)
        try:
            with Tracing(ProfileManager._default, entry, c_calls="--c-calls" in options):
                ProfileManager.run_script(os.path.join(folder, entry), recursive=False)
        except SystemExit:
            pass
        results = ProfileManager.finalize(verbose=False, return_results=True)
        found[entry] = calls_by_thread(results, entry)
    json.dump(found, sys.stdout)


main(*sys.argv[1:])
