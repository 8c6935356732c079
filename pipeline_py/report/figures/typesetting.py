"""Text and lines in figures whose unit is the point.

Widths do not ask which fonts a machine has beyond the one that comes with matplotlib, so that figures are the same
everywhere: an ideograph is as wide as it is high, and what DejaVu Sans lacks is as wide as its sign for that.
"""

import unicodedata
from collections.abc import Sequence
from functools import cache
from math import cos, nan, radians, sin
from typing import TYPE_CHECKING

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ft2font import FT2Font


ELLIPSIS = "…"


def shown(text: str) -> str:
    """Put a sign for what no line of an SVG may hold: controls, halves of pairs, and line separators."""
    return "".join(
        " " if category == "Zs" else "\ufffd" if category in ("Cc", "Cn", "Cs", "Zl", "Zp") else character
        for character in text
        for category in (unicodedata.category(character),)
    )


def width(text: str, size: float, bold: bool = False) -> float:
    """Width of a line in points, at a font size in points."""
    return size * sum(_advance(character, bold) for character in text)


def fitted(text: str, size: float, room: float) -> str:
    """Cut a text off, with an ellipsis, where it is wider than `room` points."""
    if width(text, size) <= room:
        return text
    while text and width(text + ELLIPSIS, size) > room:
        text = text[:-1]
    return text + ELLIPSIS


def lines_of(widths: Sequence[float], room: float) -> list[range]:
    """Break a row of boxes into lines of at most `room` points; a box that is wider has a line of its own."""
    lines: list[range] = []
    start, used = 0, 0.0
    for place, each in enumerate(widths):
        if place > start and used + each > room:
            lines.append(range(start, place))
            start, used = place, 0.0
        used += each
    return [*lines, range(start, len(widths))] if len(widths) else lines


def wrapped(text: str, size: float, room: float, bold: bool = False) -> list[str]:
    """Break a text into lines of at most `room` points, at spaces, or within a word that is wider than a line."""
    words: list[str] = []
    for word in text.split(" "):
        if width(word, size, bold) > room:
            parts = lines_of([width(character, size, bold) for character in word], room)
            words += [word[part.start : part.stop] for part in parts]
        else:
            words.append(word)
    space = width(" ", size, bold)
    lines = lines_of([width(word, size, bold) + space for word in words], room + space)
    return [" ".join(words[line.start : line.stop]) for line in lines]


@cache
def _advance(character: str, bold: bool) -> float:
    """Width of a character in ems."""
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    if unicodedata.combining(character) or unicodedata.category(character) == "Cf":
        return 0.0
    from matplotlib.ft2font import LoadFlags

    font = _font(bold)
    glyph = font.load_glyph(font.get_char_index(ord(character)), flags=LoadFlags.NO_HINTING)
    return float(glyph.linearHoriAdvance) / 65536


@cache
def _font(bold: bool) -> "FT2Font":
    from matplotlib.font_manager import FontProperties, findfont
    from matplotlib.ft2font import FT2Font

    # Of our own: matplotlib changes the size of those that it shares.
    font = FT2Font(findfont(FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")))
    font.set_size(1, 72)
    return font


INK, PAPER = "#202124", "#ffffff"
NOTE = "#5f6368"
"""For what is said beside the matter."""

CHOSEN = "#d55e00"
"""For the word that a panel is about."""

RULE, FRAME, TRACK = "#9aa0a6", "#b4bac0", "#eceff1"
"""Edges, frames of boxes, and the ground of bars."""

MIDDLE = 0.36
"""The middle of a letter above its line, in ems."""


def paper() -> "Axes":
    """Axes that are drawn on from the upper left corner, and cut to their size at last."""
    axes = Figure().add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    return axes


def cut(axes: "Axes", wide: float, high: float) -> Figure:
    """The figure of what was drawn, in points."""
    axes.set(xlim=(0, wide), ylim=(high, 0))
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    figure.set_size_inches(wide / 72, high / 72)
    return figure


def write(
    axes: "Axes",
    at: tuple[float, float],
    text: str,
    size: float,
    *,
    color: str = INK,
    align: str = "left",
    bold: bool = False,
    slant: float = 0.0,
) -> None:
    """Write a text whose middle, in height, is at a point: its left end, its right end, or its centre.

    Only the line, not the outline of the glyphs, decides where it stands: those of other fonts may be higher.
    """
    x, y = at
    down = MIDDLE * size
    axes.text(
        x + down * sin(radians(slant)),
        y + down * cos(radians(slant)),
        text,
        size=size,
        weight="bold" if bold else "normal",
        color=color,
        ha=align,
        va="baseline",
        rotation=slant,
        rotation_mode="anchor",
        zorder=3,
    )


def on(shade: str) -> str:
    """The ink that can be read on a shade."""
    red, green, blue = to_rgb(shade)
    return PAPER if 0.299 * red + 0.587 * green + 0.114 * blue < 0.55 else INK


def bracket(height: float, children: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners of a bar over a phrase's children and a line down to each: it meets no edge that is not its own."""
    corners = [(children[0][0], height), (children[-1][0], height)]
    return corners + [corner for x, y in children for corner in ((nan, nan), (x, height), (x, y))]
