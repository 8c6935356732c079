"""A figure of BLEU by groups of sentences: one line for each system, as in the SDAtt and SDRNMT papers."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress, cycle
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pipeline_py import stage
from pipeline_py.options import Option
from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.line_figure import (
    COLOURS,
    DASHES,
    MARKERS,
    beside_each_other,
    draw_intervals,
    left_out,
)
from pipeline_py.report.names import names
from pipeline_py.report.read_table import read_table
from pipeline_py.stage import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEATURE, AXIS_NAME = "length", "Source length in words, up to"
INCHES = (7.0, 3.6)
STYLE: Any = {
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "grid.color": "#dddddd",
}


@dataclass(frozen=True)
class Curves:
    """What is drawn.

    Attributes:
        sentences: of each group.
        systems: BLEU of every system in each group, and the ends of its 95 % interval.
    """

    sentences: dict[str, int]
    systems: dict[str, list[tuple[float, float, float]]]

    def without_groups_below(self, least: int) -> "Curves":
        """The groups that have at least so many sentences."""
        kept = [number >= least for number in self.sentences.values()]
        return Curves(
            dict(compress(self.sentences.items(), kept)),
            {system: list(compress(points, kept)) for system, points in self.systems.items()},
        )


def plot(
    *,
    buckets: Path,
    title: str,
    svg_output: Path,
    label: list[str] | None = None,
    smallest_group: Annotated[int, Option(min=1)] = 1,
    pdf_output: Path | None = None,
) -> None:
    """Draw BLEU of every system by groups of sentences, with the number of sentences under each group.

    Bars are 95 % intervals of BLEU; the systems stand side by side so that their bars do not overlap. Groups that are
    too small are not drawn, and a line below the figure says how many sentences they have.

    Args:
        buckets: the scores, TSV of evaluation.breakdown.
        title: headline of the figure.
        svg_output: the figure as SVG; its text stays text.
        label: SYSTEM=LABEL, what the figure calls a system; repeatable, by default its name.
        smallest_group: how many sentences a group needs to be drawn.
        pdf_output: the figure as PDF.

    Raises:
        InputError: if the scores are malformed or incomplete, or a label belongs to no system.
    """
    curves = _read(buckets)
    labels = {system: system for system in curves.systems} | names(label or [], curves.systems, "--label")

    with figure_files.style(STYLE):
        figure_files.save(draw(curves, title, labels, smallest_group), title, svg_output, pdf_output)


def draw(curves: Curves, title: str, labels: dict[str, str], smallest_group: int) -> "Figure":
    """Draw the figure; the line of the n-th system has the identifier `system-n` in an SVG."""
    from matplotlib.figure import Figure

    shown = curves.without_groups_below(smallest_group)
    small = [number for group, number in curves.sentences.items() if group not in shown.sentences]

    figure = Figure(figsize=INCHES, layout="constrained")
    axes = figure.add_subplot()
    # The headline of the figure, not of the axes, has the width above the legend as well.
    figure.suptitle(textwrap.fill(title, 80), x=0.01, ha="left", fontsize=10, fontweight="bold")
    lines = []
    looks = zip(cycle(COLOURS), cycle(MARKERS), cycle(DASHES), strict=False)
    apart = beside_each_other(len(shown.systems))
    for place, (points, shift, look) in enumerate(zip(shown.systems.values(), apart, looks, strict=False), start=1):
        lines.append(_line(axes, points, shift, look, f"system-{place}"))
    _name_groups(axes, shown, ["Bars: 95 % intervals.", *left_out(small, smallest_group, "sentence")])
    legend = figure.legend(lines, [""] * len(lines), loc="outside right center", frameon=False, handlelength=3.2)
    # Set afterwards: a legend leaves out a label that begins with an underscore.
    for text, name in zip(legend.get_texts(), labels.values(), strict=True):
        text.set_text(textwrap.fill(name, 24))
    return figure


def _line(
    axes: "Axes", points: Sequence[tuple[float, float, float]], shift: float, look: tuple[Any, ...], gid: str
) -> Any:
    colour, marker, dashes = look
    places = [place + shift for place in range(len(points))]
    bleu = [score for score, _, _ in points]
    draw_intervals(axes, places, [(low, high) for _, low, high in points], colour)
    (line,) = axes.plot(
        places,
        bleu,
        color=colour,
        marker=marker,
        linestyle=dashes,
        linewidth=1.4,
        markersize=5.5,
        markeredgecolor="white",
        markeredgewidth=0.5,
    )
    line.set_gid(gid)
    return line


def _name_groups(axes: "Axes", curves: Curves, notes: Sequence[str]) -> None:
    axes.set_xlim(-0.5, max(1, len(curves.sentences)) - 0.5)
    axes.set_xticks(range(len(curves.sentences)), list(curves.sentences))
    counts = axes.secondary_xaxis(location=0.0)
    counts.set_xticks(range(len(curves.sentences)), [f"{number:,}" for number in curves.sentences.values()])
    counts.tick_params(length=0, pad=17, labelsize=7, labelcolor="#555555")
    counts.spines["bottom"].set_visible(False)
    below: Any = {"xycoords": "axes fraction", "xytext": (-4, -17), "textcoords": "offset points"}
    axes.annotate("sentences", (0, 0), **below, ha="right", va="top", fontsize=7, color="#555555")
    counts.set_xlabel("\n".join([AXIS_NAME, " ".join(notes)]))
    axes.set_ylabel("BLEU")
    axes.set_axisbelow(True)


def _read(path: Path) -> Curves:
    """Read the scores; every system has every group, so that all lines are as long."""
    table = read_table(path, ["by", "bucket", "system"], ["bleu", "bleu_low", "bleu_high"], ["sentences"])
    table = table[table["by"] == FEATURE]
    points = table.set_index(["system", "bucket"])[["bleu", "bleu_low", "bleu_high"]].apply(tuple, axis=1).to_dict()
    sentences = dict(zip(table["bucket"], table["sentences"], strict=True))
    systems = table["system"].unique()
    for name in systems:
        for group in sentences:
            if (name, group) not in points:
                raise InputError(f"{name!r} has no score in group {group}; make the file anew", path)
    return Curves(sentences, {name: [points[name, group] for group in sentences] for name in systems})


if __name__ == "__main__":
    stage.run(plot)
