"""Checks who includes whom: data flows one way, and a layer sees only the layers below it.

Usage: check_includes.py [root]. Prints one line for each edge that the table forbids.
"""

import re
import sys
from pathlib import Path

# What each folder of src/ may include beside itself. docs/ARCHITECTURE.md says why.
LAYERS = {
    "base": set(),
    "clock": {"base"},
    "registry": {"base"},
    "log": {"base"},
    "recorder": {"base", "clock", "registry", "log"},
    "store": {"base", "clock", "log"},
    "toml": set(),
    "session": {"base", "clock", "registry", "log", "recorder", "store", "toml"},
    "results": {"base", "clock", "log", "store"},
    "export": {"base", "results"},
    "backends": {"base"},
}

# The two halves of the store: who writes files never reads them, and the other way round.
NOT_IN_STORE = {"session": re.compile(r"reader"), "results": re.compile(r"writer|assemble")}

# Headers of the operating system: base/os speaks to it for everyone.
SYSTEM = re.compile(
    r"(sys|linux|asm|net|netinet|arpa|mach)/.*|unistd\.h|fcntl\.h|dlfcn\.h|link\.h|pthread\.h|sched\.h"
    r"|poll\.h|spawn\.h|pwd\.h|dirent\.h|ucontext\.h|semaphore\.h|syslog\.h"
)

INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)
PUBLIC = re.compile(r"scope_\w+\.h(pp)?")


def edges(path):
    """Yields (line number, name, is_quoted) of every include of a file."""
    text = path.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        line = text.count("\n", 0, match.start(1) if match[1] else match.start(2)) + 1
        yield line, match[1] or match[2], match[1] is not None


def layer_trouble(layer, inside, name, quoted):
    """Why a file of src/<layer>/<inside> may not include `name`, None when it may."""
    if not quoted:
        if SYSTEM.fullmatch(name) and not (layer == "base" and inside.startswith("os/")):
            return "only base/os includes headers of the operating system"
        if name == "hdf5.h" and not (layer == "store" and inside.startswith("hdf5/")):
            return "only store/hdf5 includes hdf5.h"
        if layer == "recorder" and name == "stdio.h":
            return "the recorder does no stdio"
        return None
    if PUBLIC.fullmatch(name):
        return None
    target = name.split("/")[0]
    if target == layer:
        return own_trouble(layer, inside, name)
    if target not in LAYERS:
        return "a path that starts with a layer is wanted, e.g. \"base/error.h\""
    if target not in LAYERS[layer]:
        return f"{layer} may see {', '.join(sorted(LAYERS[layer])) or 'nothing else'}"
    pattern = NOT_IN_STORE.get(layer)
    if target == "store" and pattern and pattern.search(name):
        return f"the wrong half of the store for {layer}"
    return None


def own_trouble(layer, inside, name):
    """Back ends do not see each other."""
    if layer == "backends" and name.split("/")[1] != inside.split("/")[0]:
        return "a back end does not see another one"
    return None


def outside_trouble(area, path, name, quoted):
    """The same for files of cli/ and bindings/, which see include/ and their own folder."""
    if not quoted or PUBLIC.fullmatch(name) or (path.parent / name).exists():
        return None
    if area == "bindings/python" and name == "session/binding.h":
        return None
    return f"{area} sees include/ and its own folder only"


def check(root):
    """Lines of trouble for the tree at `root`."""
    found = []
    for path in sorted((root / "src").rglob("*.[ch]")):
        layer, _, inside = path.relative_to(root / "src").as_posix().partition("/")
        for line, name, quoted in edges(path):
            reason = layer_trouble(layer, inside, name, quoted)
            if reason:
                found.append(f"{path.relative_to(root)}:{line}: includes {name}: {reason}")
    for area in ("cli", "bindings/python", "bindings/fortran"):
        for path in sorted((root / area).rglob("*.[ch]")):
            for line, name, quoted in edges(path):
                reason = outside_trouble(area, path, name, quoted)
                if reason:
                    found.append(f"{path.relative_to(root)}:{line}: includes {name}: {reason}")
    return found


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = check(root)
    print("\n".join(found + [f"include edges: {len(found)} wrong"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
