"""Colours and drawing functions for figures in points; y grows downwards."""

from collections.abc import Sequence
from math import cos, nan, radians, sin
from typing import TYPE_CHECKING

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEXT_COLOUR, PAPER_COLOUR = "#202124", "#ffffff"
NOTE_COLOUR = "#5f6368"
"""Colour of notes."""

HIGHLIGHT_COLOUR = "#d55e00"
"""Colour of the word of a panel."""

EDGE_COLOUR, FRAME_COLOUR, BAR_BACKGROUND = "#9aa0a6", "#b4bac0", "#eceff1"
"""Colours of edges, frames of boxes, and the background of bars."""

PRINTED_WIDTH = 538.0
"""Width of an A4 page between margins of 10 mm, in points; wider figures shrink when they are printed."""

LETTER_MIDDLE = 0.36
"""Centre of a letter above its baseline, in ems."""


def create_axes() -> "Axes":
    """Create axes with the origin at the upper left corner; `crop_figure` sets their size."""
    axes = Figure().add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    return axes


def crop_figure(axes: "Axes", width: float, height: float) -> Figure:
    """Set the size of a figure in points and return it."""
    axes.set(xlim=(0, width), ylim=(height, 0))
    figure = axes.get_figure()
    assert isinstance(figure, Figure)
    figure.set_size_inches(width / 72, height / 72)
    return figure


def write_text(
    axes: "Axes",
    position: tuple[float, float],
    text: str,
    font_size: float,
    *,
    color: str = TEXT_COLOUR,
    align: str = "left",
    bold: bool = False,
    slant: float = 0.0,
) -> None:
    """Write a text whose left end, right end or centre is at a point, centred vertically.

    The position depends on the baseline, not on the glyphs, because fonts differ in the height of glyphs.
    """
    x, y = position
    descent = LETTER_MIDDLE * font_size
    axes.text(
        x + descent * sin(radians(slant)),
        y + descent * cos(radians(slant)),
        text,
        size=font_size,
        weight="bold" if bold else "normal",
        color=color,
        ha=align,
        va="baseline",
        rotation=slant,
        rotation_mode="anchor",
        zorder=3,
    )


def get_contrasting_colour(background: str) -> str:
    """Return the text colour that is readable on a background."""
    red, green, blue = to_rgb(background)
    return PAPER_COLOUR if 0.299 * red + 0.587 * green + 0.114 * blue < 0.55 else TEXT_COLOUR


def compute_bracket(height: float, child_points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the corners of a bar over a phrase's children with a line down to each child."""
    corners = [(child_points[0][0], height), (child_points[-1][0], height)]
    return corners + [corner for x, y in child_points for corner in ((nan, nan), (x, height), (x, y))]
