"""The tree of a sentence, each word and phrase shaded by the attention that it gets."""

from collections.abc import Callable
from math import nan
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import FancyBboxPatch

from pipeline_py.report.figures.attended_sentence import AttendedSentence
from pipeline_py.report.figures.pens import FRAME, INK, NOTE, RULE, on, write
from pipeline_py.report.figures.tree_layout import BOX, SLANT, WORD_SIZE, TreeLayout
from pipeline_py.report.figures.typesetting import fitted, width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NUMBERED = 5
"""How many of the highest weights have their number, if they are not tiny."""

TINY = 0.045
"""Of less, a number would not say more than the shade does."""

LABEL_SIZE, NUMBER_SIZE = 5.5, 6.5


def numbered(weights: np.ndarray) -> list[int]:
    """Name the columns whose weights have numbers, highest first: always the highest, and others up to five."""
    highest = np.argsort(-weights, kind="stable")[:NUMBERED].tolist()
    return [column for rank, column in enumerate(highest) if rank == 0 or weights[column] >= TINY]


def draw_tree(
    axes: "Axes",
    attended: AttendedSentence,
    layout: TreeLayout,
    step: int,
    colour: Callable[[float], str],
    at: tuple[float, float],
    name: str,
) -> None:
    """Draw the tree with the weights of one step.

    In an SVG the box of a column is called `NAME-column-N`, N counted from 0, and the edges from a phrase to its
    children `NAME-edges-N`.

    Args:
        axes: their unit is the point.
        attended: words, phrases, and their weights.
        layout: where words and phrases stand.
        step: whose weights are drawn.
        colour: shade of a weight.
        at: where x = 0, y = 0 of the layout is.
        name: begins the identifiers.
    """
    left, base = at
    places = [(left + x, base + y) for x, y in zip(layout.x, layout.y, strict=True)]
    weights = attended.weights[step]
    with_number = set(numbered(weights))
    labels = ["" for _ in attended.words] + [phrase.label for phrase in attended.phrases]
    for column, phrase in enumerate(attended.phrases, start=len(attended.words)):
        _edges(axes, places[column][1], [places[child] for child in phrase.children], f"{name}-edges-{column}")
    for column, label in enumerate(labels):
        number = f"{weights[column]:.2f}" if column in with_number else ""
        shade = colour(float(weights[column]))
        _box(axes, places[column], layout.room[column], label, number, shade, f"{name}-column-{column}")
    for column, word in enumerate(attended.words):
        below = (places[column][0], base - BOX / 2 - (4 if layout.slanted else 2 + WORD_SIZE / 2))
        colour_of_word = INK if column in with_number else NOTE
        if layout.slanted:
            write(axes, below, word, WORD_SIZE, color=colour_of_word, align="right", slant=SLANT)
        else:
            write(axes, below, word, WORD_SIZE, color=colour_of_word, align="center")


def _edges(axes: "Axes", height: float, children: list[tuple[float, float]], name: str) -> None:
    """Draw a bar over the children and a line down to each: it meets no box and no edge that is not its own."""
    corners = [(children[0][0], height), (children[-1][0], height)]
    for x, y in children:
        corners += [(nan, nan), (x, height), (x, y)]
    xs, ys = zip(*corners, strict=True)
    axes.plot(xs, ys, color=RULE, linewidth=0.7, solid_capstyle="round", gid=name, zorder=1)


def _box(axes: "Axes", at: tuple[float, float], room: float, label: str, number: str, shade: str, name: str) -> None:
    """Draw a box with its label, number, both (two lines), or nothing."""
    label = fitted(label, LABEL_SIZE, room - 5)
    wide = max(width(label, LABEL_SIZE) + 4, width(number, NUMBER_SIZE, bold=True) + 2, BOX)
    high = 2 * BOX - 4 if label and number else BOX
    x, y = at
    axes.add_patch(
        FancyBboxPatch(
            (x - wide / 2, y - high / 2),
            wide,
            high,
            boxstyle="round,pad=0,rounding_size=2.5",
            facecolor=shade,
            edgecolor=FRAME,
            linewidth=0.5,
            gid=name,
            zorder=2,
        )
    )
    apart = high / 4 if label and number else 0
    if label:
        write(axes, (x, y + apart), label, LABEL_SIZE, color=on(shade), align="center")
    if number:
        write(axes, (x, y - apart), number, NUMBER_SIZE, color=on(shade), align="center", bold=True)
