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
LINE_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.2, 1, 1.2)), (0, (8, 2)))

FIGURE_SIZES = {"on a page": (4.3, 2.9), "alone": (7.0, 3.6)}
LINE_FIGURE_STYLE: Any = {
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10,
    "grid.color": "#dddddd",
}
MARKER_SIGNS = {"o": "●", "s": "■", "^": "▲", "D": "◆", "v": "▼", "P": "✚", "X": "✖", "*": "★"}
"""Markers of matplotlib as characters."""

MANY_GROUPS = 6
"""Groups whose names need smaller letters."""

_MAX_MARKED_POINTS = 12
"""Points of a line that each have a marker."""


@dataclass(frozen=True)
class LineStyle:
    """How the n-th system looks in every figure."""

    colour: str
    marker: str
    dashes: Any

    @property
    def marker_sign(self) -> str:
        """The marker, for a legend."""
        return MARKER_SIGNS[self.marker]

    @property
    def dash_array(self) -> str:
        """The dashes, for a legend."""
        return "" if self.dashes == "-" else " ".join(f"{1.6 * length:g}" for length in self.dashes[1])


@dataclass(frozen=True)
class LineSeries:
    """The points of one system, and the ends of their intervals, if they have such."""

    style: LineStyle
    x: Sequence[float]
    y: Sequence[float]
    intervals: Sequence[tuple[float, float]] = ()


def get_line_style(index: int) -> LineStyle:
    """The look of a system by its place in a table, from 0."""
    return LineStyle(
        LINE_COLOURS[index % len(LINE_COLOURS)].lower(), MARKERS[index % len(MARKERS)], DASHES[index % len(DASHES)]
    )


def draw_lines(
    lines: Sequence[LineSeries],
    *,
    x_label: str,
    y_label: str,
    group_names: Sequence[str] | None = None,
    group_counts: Sequence[str] = (),
    size_label: str = "",
    title: str = "",
    line_names: Sequence[str] = (),
    note: str = "",
) -> "Figure":
    """Draw lines; within `figure_files.style(STYLE)`.

    Args:
        lines: one for each system or run; in an SVG the n-th is called `system-n`.
        x_label: below the figure.
        y_label: above it.
        group_names: names of x = 0, 1, …, where these are groups and no numbers.
        group_counts: how much each of the groups has, shown below its name.
        size_label: what is counted.
        title: of a figure that stands alone.
        line_names: what its lines are called.
        note: below it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=FIGURE_SIZES["alone" if line_names else "on a page"], layout="constrained")
    axes = figure.add_subplot()
    apart = compute_line_shifts(len(lines)) if any(line.intervals for line in lines) else [0.0] * len(lines)
    drawn = []
    for place, (line, shift) in enumerate(zip(lines, apart, strict=True), start=1):
        points = [(x + shift, y) for x, y in zip(line.x, line.y, strict=True) if isfinite(y)]
        if points and line.intervals:
            ends = zip(*line.intervals, strict=True)
            axes.vlines([x + shift for x in line.x], *ends, color=line.style.colour, linewidth=0.9, alpha=0.7)
        drawn += axes.plot(
            *zip(*points or [(0.0, float("nan"))], strict=True),
            color=line.style.colour,
            marker=line.style.marker if len(points) <= _MAX_MARKED_POINTS else None,
            linestyle=line.style.dashes,
            linewidth=1.6,
            markersize=5.5,
            markeredgecolor="white",
            markeredgewidth=0.5,
            gid=f"system-{place}",
        )
    if group_names is not None:
        axes.set_xlim(-0.4, max(1, len(group_names)) - 0.6)
        both = (
            [f"{group}\n{count}" for group, count in zip(group_names, group_counts, strict=True)]
            if group_counts
            else list(group_names)
        )
        axes.set_xticks(range(len(group_names)), both, fontsize=7.5 if len(group_names) > MANY_GROUPS else 9)
        x_label += f"\n(below: {size_label})" if group_counts else ""  # in one line, a long label would be cut
    axes.set_xlabel(f"{x_label}\n{note}" if note else x_label)
    axes.set_title(y_label, loc="left", fontsize=10)
    axes.set_axisbelow(True)
    if title:
        # The headline of the figure, not of the axes, has the width above the legend as well.
        figure.suptitle(textwrap.fill(title, 80), x=0.01, ha="left", fontsize=10, fontweight="bold")
    if line_names:
        legend = figure.legend(drawn, [""] * len(drawn), loc="outside right center", frameon=False, handlelength=3.2)
        # Set afterwards: a legend leaves out a label that begins with an underscore.
        for text, name in zip(legend.get_texts(), line_names, strict=True):
            text.set_text(textwrap.fill(name, 24))
    return figure


def compute_line_shifts(line_count: int) -> list[float]:
    """How far lines are shifted to the right, in groups, for their bars not to overlap."""
    apart = min(0.08, 0.5 / max(1, line_count))
    return [apart * (place - (line_count - 1) / 2) for place in range(line_count)]
