"""The figure of attention on the tree: a panel for each chosen word of the translation.

After tree2seq, Figures 4–6, and Figure 6 of the hierarchical paper.
"""

from collections.abc import Callable, Sequence
from math import ceil

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from pipeline_py.report.figures.attended_sentence import AttendedSentence
from pipeline_py.report.figures.pens import FRAME, NOTE, write
from pipeline_py.report.figures.translation_drawing import LINE, NOTE_SIZE, TOKEN_SIZE, TranslationDrawing
from pipeline_py.report.figures.tree_drawing import draw_tree
from pipeline_py.report.figures.tree_layout import layout
from pipeline_py.report.figures.typesetting import width, wrapped

MARGIN, GUTTER, BETWEEN = 12.0, 40.0, 28.0
"""Around the figure, left of texts, and between panels, in points."""

LEAST_WIDTH = 320.0
"""Of a panel beside its gutter."""

ABOVE_THE_TREE = 8.0
PAGE = 800.0
"""Width for which panels stand side by side, as many as fit; a wider figure would be shown too small to be read."""

TITLE_SIZE = 10.0
DARKEST = 0.92
"""Part of matplotlib's scale "Blues" that is used; its end is nearly black."""

LEGEND_WIDTH, LEGEND_HEIGHT, SHADES = 110.0, 7.0, 24


def draw(title: str, attended: AttendedSentence, chosen: Sequence[int], reference: str = "") -> Figure:
    """Draw the figure; in an SVG the identifiers of panel N, counted from 1, begin with `panel-N-`.

    Args:
        title: headline, may be empty.
        attended: what is drawn.
        chosen: steps that have a panel, counted from 0.
        reference: shown below, may be empty.
    """
    tree = layout(attended.words, attended.phrases)
    left = max(GUTTER, tree.left)
    wide = left + max(tree.right, LEAST_WIDTH)
    translation = TranslationDrawing(attended, wide - GUTTER)
    high = translation.height + ABOVE_THE_TREE + tree.top + tree.bottom
    columns = max(1, min(len(chosen), int((PAGE + BETWEEN) / (wide + BETWEEN))))
    rows = ceil(len(chosen) / columns)

    inside = columns * wide + (columns - 1) * BETWEEN
    head = wrapped(title, TITLE_SIZE, inside, bold=True) if title else []
    foot = wrapped(reference, TOKEN_SIZE, inside - GUTTER) if reference else []
    top = MARGIN + LEGEND_HEIGHT + LINE * (len(foot) + 1) + rows * high + (rows - 1) * BETWEEN
    figure, axes = _page(inside + 2 * MARGIN, top + LINE * (len(head) + 0.5) + MARGIN)
    for number, line in enumerate(head):
        write(axes, (MARGIN, top + LINE * (len(head) - number)), line, TITLE_SIZE, bold=True)

    most = _scale(float(attended.weights[list(chosen)].max()))
    blues = matplotlib.colormaps["Blues"]

    def colour(weight: float) -> str:
        return to_hex(blues(DARKEST * min(1.0, weight / most)))

    for number, step in enumerate(chosen):
        row, column = divmod(number, columns)
        x, y = MARGIN + column * (wide + BETWEEN), top - row * (high + BETWEEN)
        translation.draw(axes, step, (x, y), GUTTER, f"panel-{number + 1}")
        draw_tree(axes, attended, tree, step, colour, (x + left, y - high + tree.bottom), f"panel-{number + 1}")
    for number, line in enumerate(foot):
        y = MARGIN + LEGEND_HEIGHT + LINE * (len(foot) - number)
        if number == 0:
            write(axes, (MARGIN, y), "reference", NOTE_SIZE, color=NOTE)
        write(axes, (MARGIN + GUTTER, y), line, TOKEN_SIZE)
    _legend(axes, colour, most, attended.gates is not None)
    return figure


def _page(wide: float, high: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(wide / 72, high / 72))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(0, wide)
    axes.set_ylim(0, high)
    return figure, axes


def _scale(highest: float) -> float:
    """The weight of the darkest shade: the highest that is drawn, up to the next tenth."""
    return max(0.1, ceil(highest * 10 - 1e-5) / 10)


def _legend(axes: Axes, colour: Callable[[float], str], most: float, gated: bool) -> None:
    x, middle = MARGIN + GUTTER, MARGIN + LEGEND_HEIGHT / 2
    for place in range(SHADES):
        # Each goes on under those that follow: side by side they would show seams.
        start = x + LEGEND_WIDTH * place / SHADES
        shade = colour(most * (place + 0.5) / SHADES)
        room = x + LEGEND_WIDTH - start
        axes.add_patch(Rectangle((start, MARGIN), room, LEGEND_HEIGHT, facecolor=shade, linewidth=0))
    axes.add_patch(
        Rectangle((x, MARGIN), LEGEND_WIDTH, LEGEND_HEIGHT, facecolor="none", edgecolor=FRAME, linewidth=0.5)
    )
    write(axes, (x - 4, middle), "α   0", NOTE_SIZE, color=NOTE, align="right")
    end = f"{most:.1f}"
    write(axes, (x + LEGEND_WIDTH + 4, middle), end, NOTE_SIZE, color=NOTE)
    note = "attention" + ("; β: weight of phrases, 0 to 1" if gated else "")
    write(axes, (x + LEGEND_WIDTH + 14 + width(end, NOTE_SIZE), middle), note, NOTE_SIZE, color=NOTE)
