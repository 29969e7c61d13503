"""Checks that the tree speaks of itself alone: no path of one machine, no host that serves packages,
no document or ticket that a reader of the tree cannot open.

Usage: check_words.py [root].
"""

import re
import sys
from pathlib import Path

from tree import tree_files

# Names of XML vocabularies and texts of licenses; nothing is fetched from them.
HARMLESS_URLS = re.compile(r"https?://(www\.w3\.org/|www\.speedscope\.app/file-format-schema|www\.apache\.org/|github\.com/(ecomfe/zrender|d3/)|localhost\b|127\.0\.0\.1\b|example\.(org|com)\b)")

RULES = [
    (re.compile(r"(?<![\w.$}-])/(?:root|work|Users)/\w[\w./-]*"), "a path of one machine"),
    (re.compile(r"(?<![\w.$}-])/home/(?!user\b)\w[\w./-]*"), "a path of one machine"),
    (re.compile(r"\bhttps?://[^\s\"'<>)\]]+"), "a host outside the tree"),
    (re.compile(r"\b(?:[\w-]+\.)+(?:debian\.org|pypi\.org|npmjs\.org)\b|\bpypi\.org\b"), "a package host"),
    (re.compile(r"\bissues?\s+#?\d+\b", re.I), "a ticket that the tree does not hold"),
    (re.compile(r"\.\./shared\b"), "a folder outside the tree"),
]
DOCUMENT = re.compile(r"(?<![\w/*<-])([\w./-]*\w\.(?:md|rst))\b")


def document_trouble(name, path, root, known):
    """A document that is named must be in the tree, from its top, beside the file or by its name."""
    inside = name.lstrip("./")
    if (root / inside).exists() or (path.parent / name).exists() or inside in known:
        return None
    return f"{name}: a document that is not in the tree"


def line_trouble(line):
    for pattern, reason in RULES:
        for match in pattern.finditer(line):
            if not HARMLESS_URLS.match(match[0]):
                yield f"{match[0]}: {reason}"


def check(root, skipped=("tools/check_words.py", "tests/tools/test_checks.py")):
    """Lines of trouble for the text files of the tree; the files that must name such words skipped."""
    found = []
    files = tree_files(root)
    known = {path.name for path in files}
    for path in files:
        where = path.relative_to(root).as_posix()
        data = path.read_bytes()
        if where in skipped or b"\0" in data:
            continue
        for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
            troubles = list(line_trouble(line))
            for name in DOCUMENT.findall(line):
                troubles.append(document_trouble(name, path, root, known))
            found += [f"{where}:{number}: {trouble}" for trouble in troubles if trouble]
    return found


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    found = check(root)
    print("\n".join(found + [f"words: {len(found)} wrong"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
