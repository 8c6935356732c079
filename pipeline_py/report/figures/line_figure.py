"""Line figures with one style for each system; on the page, the template draws the legend."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

from pipeline_py.report.figures.typesetting import compute_text_width, wrap_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Colours of Okabe and Ito without yellow, which is too light for a line. The numbers of colours, markers and dashes
# are coprime, so that all systems look different, also in grey.
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
"""Characters of matplotlib's markers."""

MANY_GROUPS = 6
"""Number of groups above which their names have a smaller font."""

LABEL_SIZE, LABEL_WIDTH = 10.0, 150.0
"""Font size of labels in the legend, and their maximum width in points, unless a word is wider."""

_MAX_MARKED_POINTS = 12
"""Largest number of points of a line with markers."""


@dataclass(frozen=True)
class LineStyle:
    """The line style of a system, the same in all figures."""

    colour: str
    marker: str
    dashes: Any

    @property
    def marker_sign(self) -> str:
        """Marker for a legend."""
        return MARKER_SIGNS[self.marker]

    @property
    def dash_array(self) -> str:
        """Dashes for a legend."""
        return "" if self.dashes == "-" else " ".join(f"{1.6 * length:g}" for length in self.dashes[1])


@dataclass(frozen=True)
class LineSeries:
    """Points of one system with optional intervals."""

    style: LineStyle
    x: Sequence[float]
    y: Sequence[float]
    intervals: Sequence[tuple[float, float]] = ()


def get_line_style(index: int) -> LineStyle:
    """Return the line style of a system by its index in a table."""
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
    """Draw lines. Call it within `use_style(LINE_FIGURE_STYLE)`.

    Args:
        lines: one line for each system or run; the SVG identifier of the n-th line is `system-n`.
        x_label: label below the figure.
        y_label: label above the figure.
        group_names: names of groups at x = 0, 1, …; None if x is a number.
        group_counts: sizes of the groups, shown below their names.
        size_label: unit of the sizes.
        title: title of a figure outside the page.
        line_names: labels of the lines in the legend of a figure outside the page.
        note: note below the figure.
    """
    from matplotlib.figure import Figure

    width, height = FIGURE_SIZES["alone" if line_names else "on a page"]
    label_width = compute_label_width(line_names)
    # Without more space for a wide word, the legend would cover the lines.
    figure = Figure(figsize=(width + (label_width - LABEL_WIDTH) / 72, height), layout="constrained")
    axes = figure.add_subplot()
    shifts = compute_line_shifts(len(lines)) if any(line.intervals for line in lines) else [0.0] * len(lines)
    line_artists = []
    for place, (line, shift) in enumerate(zip(lines, shifts, strict=True), start=1):
        points = [(x + shift, y) for x, y in zip(line.x, line.y, strict=True) if isfinite(y)]
        if points and line.intervals:
            ends = zip(*line.intervals, strict=True)
            axes.vlines([x + shift for x in line.x], *ends, color=line.style.colour, linewidth=0.9, alpha=0.7)
        line_artists += axes.plot(
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
        tick_labels = (
            [f"{group}\n{count}" for group, count in zip(group_names, group_counts, strict=True)]
            if group_counts
            else list(group_names)
        )
        axes.set_xticks(range(len(group_names)), tick_labels, fontsize=7.5 if len(group_names) > MANY_GROUPS else 9)
        x_label += f"\n(below: {size_label})" if group_counts else ""  # in one line, a long label would be cut
    axes.set_xlabel(f"{x_label}\n{note}" if note else x_label)
    axes.set_title(y_label, loc="left", fontsize=10)
    axes.set_axisbelow(True)
    if title:
        # Unlike a title of the axes, a title of the figure also extends over the legend.
        figure.suptitle(textwrap.fill(title, 80), x=0.01, ha="left", fontsize=10, fontweight="bold")
    if line_names:
        legend = figure.legend(
            line_artists, [""] * len(line_artists), loc="outside right center", frameon=False, handlelength=3.2
        )
        # Set labels afterwards, because a legend omits labels that begin with an underscore.
        for text, name in zip(legend.get_texts(), line_names, strict=True):
            text.set_text("\n".join(wrap_text(name, LABEL_SIZE, label_width)))
    return figure


def compute_label_width(labels: Sequence[str]) -> float:
    """Return the width of labels in the legend, in points: `LABEL_WIDTH`, or that of the widest word."""
    word_widths = [compute_text_width(word, LABEL_SIZE) for label in labels for word in label.split(" ")]
    return max([LABEL_WIDTH, *word_widths])


def compute_line_shifts(line_count: int) -> list[float]:
    """Return shifts of lines to the right, in groups, so that their bars do not overlap."""
    spacing = min(0.08, 0.5 / max(1, line_count))
    return [spacing * (index - (line_count - 1) / 2) for index in range(line_count)]
