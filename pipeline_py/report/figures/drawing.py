"""Inks, paper, and text that stands on its line, for figures whose unit is the point; y grows downwards."""

from collections.abc import Sequence
from math import cos, nan, radians, sin
from typing import TYPE_CHECKING

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TEXT_COLOUR, PAPER_COLOUR = "#202124", "#ffffff"
NOTE_COLOUR = "#5f6368"
"""For what is said beside the matter."""

HIGHLIGHT_COLOUR = "#d55e00"
"""For the word that a panel is about."""

EDGE_COLOUR, FRAME_COLOUR, BAR_BACKGROUND = "#9aa0a6", "#b4bac0", "#eceff1"
"""Edges, frames of boxes, and the ground of bars."""

LETTER_MIDDLE = 0.36
"""The middle of a letter above its line, in ems."""


def create_axes() -> "Axes":
    """Axes that are drawn on from the upper left corner, and cut to their size at last."""
    axes = Figure().add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    return axes


def crop_figure(axes: "Axes", width: float, height: float) -> Figure:
    """The figure of what was drawn, in points."""
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
    """Write a text whose middle, in height, is at a point: its left end, its right end, or its centre.

    Only the line, not the outline of the glyphs, decides where it stands: those of other fonts may be higher.
    """
    x, y = position
    down = LETTER_MIDDLE * font_size
    axes.text(
        x + down * sin(radians(slant)),
        y + down * cos(radians(slant)),
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
    """The ink that can be read on a shade."""
    red, green, blue = to_rgb(background)
    return PAPER_COLOUR if 0.299 * red + 0.587 * green + 0.114 * blue < 0.55 else TEXT_COLOUR


def compute_bracket(height: float, child_points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners of a bar over a phrase's children and a line down to each: it meets no edge that is not its own."""
    corners = [(child_points[0][0], height), (child_points[-1][0], height)]
    return corners + [corner for x, y in child_points for corner in ((nan, nan), (x, height), (x, y))]
