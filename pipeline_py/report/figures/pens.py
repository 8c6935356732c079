"""Inks, paper, and text that stands on its line, for figures whose unit is the point; y grows downwards."""

from collections.abc import Sequence
from math import cos, nan, radians, sin
from typing import TYPE_CHECKING

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

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
