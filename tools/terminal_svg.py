"""Draws text from standard input as it looks in a terminal: an SVG on standard output.

Usage: scope-profiler inspect heat.h5 | python3 tools/terminal_svg.py 'scope-profiler inspect heat.h5'
The argument is shown as the command that was typed. Wide (CJK) characters count two cells.
"""

import re
import sys
import unicodedata
from xml.sax.saxutils import escape

CELL, LINE, SIZE, MARGIN = 7.8, 17, 13, 14
BACK, FRONT, PROMPT = "#1d2129", "#d8dee9", "#8fbc8f"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def draw(lines, command):
    """The SVG text of the lines, the command above them."""
    rows = ([f"$ {command}"] if command else []) + [COLOUR.sub("", line) for line in lines]
    columns = max(map(width, rows), default=0)
    box = (round(columns * CELL + 2 * MARGIN), round(len(rows) * LINE + 2 * MARGIN))
    yield f'<svg xmlns="http://www.w3.org/2000/svg" width="{box[0]}" height="{box[1]}">'
    yield f'<rect width="100%" height="100%" rx="6" fill="{BACK}"/>'
    yield f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{SIZE}" fill="{FRONT}">'
    for number, row in enumerate(rows):
        colour = f' fill="{PROMPT}"' if command and number == 0 else ""
        # textLength keeps the columns true whatever font the viewer has.
        length = f'textLength="{width(row) * CELL:.1f}" lengthAdjust="spacingAndGlyphs"'
        place = f'x="{MARGIN}" y="{MARGIN + SIZE + number * LINE}"'
        if row.strip():
            yield f'<text xml:space="preserve" {place} {length}{colour}>{escape(row)}</text>'
    yield "</g></svg>"


if __name__ == "__main__":
    text = sys.stdin.read().rstrip("\n").split("\n")
    print("\n".join(draw(text, " ".join(sys.argv[1:]))))
