"""Writes docs/guide/combinations.md from the table of the recorder.

    .venv/bin/python tools/generate_combinations_page.py > docs/guide/combinations.md

The table is src/session/combinations.c, asked through the installed package. A test holds the page to it.
"""

import sys

from scope_profiler import _recorder

HEAD = """# What combines

Instruments against modes of recording. Whatever combines may be used together with any other that does;
what does not is refused at setup, with the reason.

"""


def page():
    """The text of the page."""
    pairs = _recorder.combinations()
    instruments = list(dict.fromkeys(instrument for instrument, _, _ in pairs))
    modes = list(dict.fromkeys(mode for _, mode, _ in pairs))
    apart = {(instrument, mode): reason for instrument, mode, reason in pairs if reason}
    reasons = list(dict.fromkeys(apart.values()))
    lines = ["| | " + " | ".join(f"`{mode}`" for mode in modes) + " |"]
    lines.append("| --- |" + " --- |" * len(modes))
    for instrument in instruments:
        cells = []
        for mode in modes:
            reason = apart.get((instrument, mode))
            cells.append("yes" if reason is None else f"no ({reasons.index(reason) + 1})")
        lines.append(f"| `{instrument}` | " + " | ".join(cells) + " |")
    lines.append("")
    lines.extend(f"{number}. No: {reason}." for number, reason in enumerate(reasons, 1))
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
