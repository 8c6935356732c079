"""Inks, and text that stands on its line, for figures whose axes have the point as their unit."""

from math import cos, radians, sin
from typing import TYPE_CHECKING

from matplotlib.colors import to_rgb

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, PAPER = "#202124", "#ffffff"
NOTE = "#5f6368"
"""For what is said beside the matter."""

CHOSEN = "#d55e00"
"""For the word that a panel is about."""

RULE, FRAME, TRACK = "#9aa0a6", "#b4bac0", "#eceff1"
"""Edges, frames of boxes, and the ground of bars."""

MIDDLE = 0.36
"""The middle of a letter above its line, in ems."""


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
        y - down * cos(radians(slant)),
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
