"""Cost of marking a region from Python, net of an empty loop, in ns an iteration.

    python python_rows.py FLOOR_FOLDER [--peer]

Prints `<variant> <repeat> <ns>` lines like the C benches. FLOOR_FOLDER holds the compiled `floor`
extension for this interpreter. With --peer only the rows that the published package has too.
"""

import sys
import tempfile
import time

sys.path.insert(0, sys.argv[1])
import floor  # noqa: E402
import scope_profiler  # noqa: E402
from scope_profiler import ProfileManager  # noqa: E402

REPEATS = 9
PEER = "--peer" in sys.argv
COUNT = 20_000 if PEER else 200_000

# One compiled loop a variant; `{body}` is the statement under test.
LOOP = """
def loop(iterations, clock, {names}):
    start = clock()
    for i in iterations:
        {body}
    return clock() - start
"""


def net(variants):
    """Times every variant in turn, REPEATS times, and prints ns net of the empty loop."""
    compiled = {}
    for name, (body, values) in variants.items():
        space = {}
        exec(LOOP.format(names=", ".join(values) or "_=None", body=body), space)
        compiled[name] = (space["loop"], list(values.values()))
    iterations = range(COUNT)
    for repeat in range(REPEATS):
        empty = 0.0
        for name, (loop, values) in compiled.items():
            took = loop(iterations, time.perf_counter_ns, *values) / COUNT
            if name == "empty":
                empty = took
            else:
                print(name, repeat, f"{max(took - empty, 0.01):.3f}")


def plain():
    pass


def main():
    recorded = ProfileManager.profile("decorated")(plain)
    tagged = ProfileManager.profile("off", tags=("off",))(plain)
    settings = {} if PEER else {"region_tags": ["on"]}
    ProfileManager.setup(output=None)
    variants = {
        "empty": ("pass", {}),
        "with-floor": ("with empty: pass", {"empty": floor.Empty()}),
        "with-record": ("with region: pass", {"region": ProfileManager.region("with")}),
        "bare-call": ("f()", {"f": plain}),
        "decorated": ("f()", {"f": recorded}),
        "named-class": ("with look('x'): pass", {"look": ProfileManager.region}),
    }
    other = None if PEER else ProfileManager()
    if not PEER:
        other.setup(output=None)
        variants["with-other"] = ("with region: pass", {"region": other.region("with")})
        folder = tempfile.TemporaryDirectory()
        journaled = ProfileManager()
        journaled.setup(file_path=folder.name + "/run.h5")
        variants["with-journal"] = (
            "with region: pass",
            {"region": journaled.region("with")},
        )
        names = {f"prefix: name {k}": k for k in range(16)}
        variants["named-module"] = ("with sp.region('x'): pass", {"sp": scope_profiler})
        variants["named-manager"] = ("with PM.region('x'): pass", {"PM": ProfileManager})
        variants["fresh-floor"] = ("d['prefix: name %d' % (i & 15)]", {"d": names})
        variants["named-fresh"] = (
            "with sp.region('prefix: name %d' % (i & 15)): pass",
            {"sp": scope_profiler},
        )
    net(variants)
    ProfileManager.finalize(verbose=False)
    if PEER:
        return
    other.finalize(verbose=False)
    journaled.reset()
    folder.cleanup()
    ProfileManager.setup(output=None, **settings)
    net(
        {
            "empty": ("pass", {}),
            "off-bare": ("f()", {"f": plain}),
            "off-decorated": ("f()", {"f": tagged}),
            "off-wrapper": ("f()", {"f": floor.Wrapper(plain)}),
            "off-floor": ("with empty: pass", {"empty": floor.Empty()}),
            "off-with": ("with region: pass", {"region": ProfileManager.region("r", tags=("off",))}),
        }
    )
    for repeat in range(REPEATS):
        print("ticks", repeat, f"{floor.two_ticks():.3f}")


main()
