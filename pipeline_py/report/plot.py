"""A figure of BLEU by groups of sentences: one line for each system, as in the SDAtt and SDRNMT papers."""

import csv
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline_py import stage
from pipeline_py.report import figure_files
from pipeline_py.report.names import names
from pipeline_py.stage import InputError
from pipeline_py.text import read_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours without the yellow, which is too light for a line. The numbers of colours, markers and dashes
# have no common factor, so that no two systems look alike, also in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1.2, 1, 1.2)), (0, (8, 2)))

AXIS_NAMES = {"length": "Source length in words, up to"}
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
    """What is drawn: for every system (BLEU, sd or NaN) in each group; `sentences` is by group."""

    feature: str
    sentences: dict[str, int]
    systems: dict[str, list[tuple[float, float]]]


def plot(
    *,
    buckets: Path,
    title: str,
    svg_output: Path,
    label: list[str] | None = None,
    pdf_output: Path | None = None,
) -> None:
    """Draw BLEU of every system by groups of sentences, with the number of sentences under each group.

    Where the systems have several runs, bars reach one standard deviation up and down, and the systems stand side by
    side so that their bars do not overlap.

    Args:
        buckets: the scores, TSV of evaluation.buckets.
        title: headline of the figure.
        svg_output: the figure as SVG; its text stays text.
        label: SYSTEM=LABEL, what the figure calls a system; repeatable, by default its name.
        pdf_output: the figure as PDF.

    Raises:
        InputError: if the scores are malformed or incomplete, or a label belongs to no system.
    """
    curves = _read(buckets)
    labels = {system: system for system in curves.systems} | names(label or [], curves.systems, "--label")

    with figure_files.style(STYLE):
        figure_files.save(draw(curves, title, labels), title, svg_output, pdf_output)


def draw(curves: Curves, title: str, labels: dict[str, str]) -> "Figure":
    """Draw the figure; the line of the n-th system has the identifier `system-n` in an SVG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=INCHES, layout="constrained")
    axes = figure.add_subplot()
    # The headline of the figure, not of the axes, has the width above the legend as well.
    figure.suptitle(textwrap.fill(title, 80), x=0.01, ha="left", fontsize=10, fontweight="bold")
    lines = []
    looks = zip(cycle(COLOURS), cycle(MARKERS), cycle(DASHES), strict=False)
    has_bars = not all(isnan(sd) for points in curves.systems.values() for _, sd in points)
    apart = min(0.08, 0.5 / len(curves.systems)) if has_bars else 0.0
    for number, (points, look) in enumerate(zip(curves.systems.values(), looks, strict=False), start=1):
        shift = apart * (number - (len(curves.systems) + 1) / 2)
        lines.append(_line(axes, points, shift, look, f"system-{number}"))
    _name_groups(axes, curves)
    legend = figure.legend(lines, [""] * len(lines), loc="outside right center", frameon=False, handlelength=3.2)
    # Set afterwards: a legend leaves out a label that begins with an underscore.
    for text, name in zip(legend.get_texts(), labels.values(), strict=True):
        text.set_text(textwrap.fill(name, 24))
    return figure


def _line(axes: "Axes", points: Sequence[tuple[float, float]], shift: float, look: tuple[Any, ...], gid: str) -> Any:
    colour, marker, dashes = look
    places = [place + shift for place in range(len(points))]
    bleu, sds = zip(*points, strict=True)
    if not all(map(isnan, sds)):
        axes.errorbar(places, bleu, sds, fmt="none", ecolor=colour, elinewidth=0.8, capsize=2)
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


def _name_groups(axes: "Axes", curves: Curves) -> None:
    axes.set_xlim(-0.5, len(curves.sentences) - 0.5)
    axes.set_xticks(range(len(curves.sentences)), list(curves.sentences))
    counts = axes.secondary_xaxis(location=0.0)
    counts.set_xticks(range(len(curves.sentences)), [f"{number:,}" for number in curves.sentences.values()])
    counts.tick_params(length=0, pad=17, labelsize=7, labelcolor="#555555")
    counts.spines["bottom"].set_visible(False)
    below: Any = {"xycoords": "axes fraction", "xytext": (-4, -17), "textcoords": "offset points"}
    axes.annotate("sentences", (0, 0), **below, ha="right", va="top", fontsize=7, color="#555555")
    counts.set_xlabel(AXIS_NAMES.get(curves.feature, curves.feature))
    axes.set_ylabel("BLEU")
    axes.set_axisbelow(True)


def _read(path: Path) -> Curves:
    """Read the scores; every system has every group, so that all lines are as long."""
    cells: dict[tuple[str, str], tuple[float, float]] = {}
    sentences: dict[str, int] = {}
    systems: dict[str, None] = {}
    features: dict[str, None] = {}
    lines = csv.DictReader(read_lines(path), delimiter="\t")
    for row in lines:
        try:
            group, name = row["group"], row["system"]
            cells[name, group] = float(row["bleu"]), float(row["sd"] or "nan")
            sentences[group] = int(row["sentences"])
            features[row["feature"]] = systems[name] = None
        except (KeyError, ValueError, TypeError):
            raise InputError("no row of evaluation.buckets; make the file anew", path, lines.line_num) from None
    if len(features) != 1:
        raise InputError(f"a figure shows one feature and the file has {len(features)}; give it the rows of one", path)
    for name in systems:
        for group in sentences:
            if (name, group) not in cells:
                raise InputError(f"{name!r} has no score in group {group}; make the file anew", path)
    (feature,) = features
    return Curves(feature, sentences, {name: [cells[name, group] for group in sentences] for name in systems})


if __name__ == "__main__":
    stage.run(plot)
