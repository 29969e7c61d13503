"""Colours of regions: one table and one rule for figures, tools and the page, and who can tell them apart."""

import itertools
import math
import re
from pathlib import Path

import pytest
from scope_profiler import MPIRegion
from scope_profiler._results import region_color

TREE = Path(__file__).parents[2]
PALETTE = (TREE / "viewer" / "src" / "palette.ts").read_text(encoding="utf-8")
HUES = re.findall(r"#[0-9a-f]{6}", re.search(r"HUES = \[(.*?)\]", PALETTE).group(1))
SEED = int(re.search(r"SEED = (\d+)", PALETTE).group(1))
SESSION = re.search(r'SESSION_COLOUR = "(#\w+)"', PALETTE).group(1)

#: How the two kinds of red-green blindness see light, in linear RGB (Machado and others 2009, severity 1).
VISION = {
    "everybody": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
}  # fmt: skip


def channels(color):
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]


def mixed(color, towards, part):
    """As the page mixes: halves go up."""
    return "#" + "".join(f"{math.floor(v + (towards - v) * part + 0.5):02x}" for v in channels(color))


def depths(hue):
    return [hue, mixed(hue, 255, 0.28), mixed(hue, 0, 0.22)]


def color_by_the_page(name):
    """The rule of palette.ts, once more."""
    if name == "scope_profiler.session":
        return SESSION
    h = SEED
    data = name.encode("utf-16-le")
    for i in range(0, len(data), 2):
        h = (h ^ int.from_bytes(data[i : i + 2], "little")) * 16777619 & 0xFFFFFFFF
    h ^= h >> 15
    h = h * 0x2C1B3C6D & 0xFFFFFFFF
    h ^= h >> 13
    return depths(HUES[h % len(HUES)])[h // len(HUES) % 3]


def linear(color):
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
            for v in (c / 255 for c in channels(color))]  # fmt: skip


def lab(color, vision):
    """CIE L*a*b* under D65, in which one is about the least difference that is seen side by side."""
    seen = [sum(m * v for m, v in zip(row, linear(color))) for row in VISION[vision]]
    r, g, b = (min(1, max(0, v)) for v in seen)
    x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047
    y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b
    z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def luminance(color):
    r, g, b = linear(color)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


NAMES = ["scope_profiler.session", "main", "solve", "step", "é/x", "😀", "solver:assemble", "",
         *(f"module.function_{i}" for i in range(300))]  # fmt: skip


def test_figures_and_the_page_agree():
    assert [region_color(name) for name in NAMES] == [color_by_the_page(name) for name in NAMES]
    assert MPIRegion("solve", {}).color == color_by_the_page("solve")
    assert len({region_color(name) for name in NAMES}) == 31  # the whole table, and the session


def test_half_a_character_has_a_color():
    assert region_color("a\udc80") == color_by_the_page("a?")


@pytest.mark.parametrize("vision", VISION)
def test_hues_are_told_apart(vision):
    """Twenty is a difference that is plain between patches that do not touch."""
    assert len(HUES) == 10
    for a, b in itertools.combinations([*HUES, SESSION], 2):
        distance = math.dist(lab(a, vision), lab(b, vision))
        assert distance >= (20 if SESSION not in (a, b) else 10), (a, b, distance)


def test_text_on_a_color_is_readable():
    """AA of the web's rules: 4.5 to 1, with the better of black and white."""
    for color in [SESSION, *itertools.chain.from_iterable(map(depths, HUES))]:
        assert max(contrast(color, "#000000"), contrast(color, "#ffffff")) >= 4.5


def test_plot_data_has_the_colors_of_the_regions(tmp_path):
    import json

    import scope_profiler as sp

    with sp.session(output=None, verbose=False, return_results=True) as session:
        for name in ("one", "two"):
            with sp.region(name):
                pass
    [path] = [sp.export_plot_data(session.results, "gantt", tmp_path / "gantt.json",
                                  data_format="json")]
    colors = json.loads((tmp_path / "gantt.json").read_text())["colors"]
    assert colors == {name: color_by_the_page(name) for name in ("scope_profiler.session", "one", "two")}, path
