"""Figures of lines: one line for each system, each with a look of its own. On a page the legend stands beside them."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours without the yellow, which is too light for a line. The numbers of colours, markers and dashes
# have no common factor, so that no two systems look alike, also in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.2, 1, 1.2)), (0, (8, 2)))

INCHES = {"on a page": (4.3, 2.9), "alone": (7.0, 3.6)}
STYLE: Any = {
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10,
    "grid.color": "#dddddd",
}
SIGNS = {"o": "●", "s": "■", "^": "▲", "D": "◆", "v": "▼", "P": "✚", "X": "✖", "*": "★"}
"""Markers of matplotlib as characters."""

MANY = 6
"""Groups whose names need smaller letters."""

_FEW = 12
"""Points of a line that each have a marker."""


@dataclass(frozen=True)
class Look:
    """How the n-th system looks in every figure."""

    colour: str
    marker: str
    dashes: Any

    @property
    def sign(self) -> str:
        """The marker, for a legend."""
        return SIGNS[self.marker]

    @property
    def dash_array(self) -> str:
        """The dashes, for a legend."""
        return "" if self.dashes == "-" else " ".join(f"{1.6 * length:g}" for length in self.dashes[1])


@dataclass(frozen=True)
class Line:
    """The points of one system, and the ends of their intervals, if they have such."""

    look: Look
    x: Sequence[float]
    y: Sequence[float]
    intervals: Sequence[tuple[float, float]] = ()


def look_of(number: int) -> Look:
    """The look of a system by its place in a table, from 0."""
    return Look(COLOURS[number % len(COLOURS)].lower(), MARKERS[number % len(MARKERS)], DASHES[number % len(DASHES)])


def draw(
    lines: Sequence[Line],
    *,
    x_label: str,
    y_label: str,
    groups: Sequence[str] | None = None,
    counts: Sequence[str] = (),
    size_label: str = "",
    title: str = "",
    names: Sequence[str] = (),
    note: str = "",
) -> "Figure":
    """Draw lines; within `figure_files.style(STYLE)`.

    Args:
        lines: one for each system or run; in an SVG the n-th is called `system-n`.
        x_label: below the figure.
        y_label: above it.
        groups: names of x = 0, 1, …, where these are groups and no numbers.
        counts: how much each of the groups has, shown below its name.
        size_label: what is counted.
        title: of a figure that stands alone.
        names: what its lines are called.
        note: below it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=INCHES["alone" if names else "on a page"], layout="constrained")
    axes = figure.add_subplot()
    apart = beside_each_other(len(lines)) if any(line.intervals for line in lines) else [0.0] * len(lines)
    drawn = []
    for place, (line, shift) in enumerate(zip(lines, apart, strict=True), start=1):
        points = [(x + shift, y) for x, y in zip(line.x, line.y, strict=True) if isfinite(y)]
        if points and line.intervals:
            ends = zip(*line.intervals, strict=True)
            axes.vlines([x + shift for x in line.x], *ends, color=line.look.colour, linewidth=0.9, alpha=0.7)
        drawn += axes.plot(
            *zip(*points or [(0.0, float("nan"))], strict=True),
            color=line.look.colour,
            marker=line.look.marker if len(points) <= _FEW else None,
            linestyle=line.look.dashes,
            linewidth=1.6,
            markersize=5.5,
            markeredgecolor="white",
            markeredgewidth=0.5,
            gid=f"system-{place}",
        )
    if groups is not None:
        axes.set_xlim(-0.4, max(1, len(groups)) - 0.6)
        both = [f"{group}\n{count}" for group, count in zip(groups, counts, strict=True)] if counts else list(groups)
        axes.set_xticks(range(len(groups)), both, fontsize=7.5 if len(groups) > MANY else 9)
        x_label += f"\n(below: {size_label})" if counts else ""  # in one line, a long label would be cut
    axes.set_xlabel(f"{x_label}\n{note}" if note else x_label)
    axes.set_title(y_label, loc="left", fontsize=10)
    axes.set_axisbelow(True)
    if title:
        # The headline of the figure, not of the axes, has the width above the legend as well.
        figure.suptitle(textwrap.fill(title, 80), x=0.01, ha="left", fontsize=10, fontweight="bold")
    if names:
        legend = figure.legend(drawn, [""] * len(drawn), loc="outside right center", frameon=False, handlelength=3.2)
        # Set afterwards: a legend leaves out a label that begins with an underscore.
        for text, name in zip(legend.get_texts(), names, strict=True):
            text.set_text(textwrap.fill(name, 24))
    return figure


def beside_each_other(lines: int) -> list[float]:
    """How far lines are shifted to the right, in groups, for their bars not to overlap."""
    apart = min(0.08, 0.5 / max(1, lines))
    return [apart * (place - (lines - 1) / 2) for place in range(lines)]
