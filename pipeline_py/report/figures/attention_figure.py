"""The figure of attention on the tree: the translation, and a tree for each chosen word of it.

After tree2seq, Figures 4–6, and Figure 6 of the hierarchical paper.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil, cos, radians
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, Rectangle

from pipeline_py.report.figures.attended_sentence import AttendedSentence, PhraseColumn
from pipeline_py.report.figures.pens import CHOSEN, FRAME, INK, NOTE, RULE, TRACK, bracket, cut, on, paper, write
from pipeline_py.report.figures.typesetting import lines_of, width, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARGIN, GUTTER, BETWEEN = 12.0, 40.0, 28.0
"""Around the figure, left of texts, and between panels, in points."""

PAGE, LEAST_WIDTH = 800.0, 320.0
"""Width for which panels stand side by side, as many as fit (a wider figure would be shown too small to be read), and
that of text over a single small one."""

TITLE_SIZE, TOKEN_SIZE, WORD_SIZE, NOTE_SIZE, NUMBER_SIZE, LABEL_SIZE = 10.0, 9.0, 8.5, 7.0, 6.5, 5.5
LINE = 14.0
"""From one line of text to the next."""

BAR_WIDTH, BAR_HEIGHT = 14.0, 10.0
"""Of β = 1; its number is as wide."""

SLANT, WIDEST = 45.0, 560.0
"""Degrees by which words slant where they would need more room side by side."""

LEAST_SLOT, GAP = 19.0, 9.0
"""Room of a word, at the least that of a box with a number, and space between words, once more in front of EOS."""

BOX, LEVEL = 11.0, 24.0
"""Height of a box of one line, and from a phrase up to one that is 1 higher: a box of two lines and some space."""

NUMBERED, TINY = 5, 0.045
"""How many of the highest weights have numbers; of a tiny one a number would not say more than its shade."""

DARKEST = 0.92
"""Part of matplotlib's scale "Blues" that is used; its end is nearly black."""

LEGEND_WIDTH, LEGEND_HEIGHT, SHADES = 110.0, 7.0, 24


@dataclass(frozen=True)
class Layout:
    """Places of columns (words, EOS, then phrases) in a panel, from where the row of words begins.

    Attributes:
        places: the middle of each column's box.
        slanted: whether words slant.
        left: how far words reach to the left of the row.
        right, top, bottom: how far all of it reaches otherwise.
    """

    places: Sequence[tuple[float, float]]
    slanted: bool
    left: float
    right: float
    top: float
    bottom: float


def layout(words: Sequence[str], phrases: Sequence[PhraseColumn]) -> Layout:
    """Place J words, the last of them EOS, side by side and every phrase over the middle of its span."""
    widths = [width(word, WORD_SIZE) for word in words]
    slots = [max(LEAST_SLOT, each + GAP) for each in widths]
    slanted = sum(slots) + GAP > WIDEST
    if slanted:
        slots = [LEAST_SLOT] * len(words)
    for phrase in phrases:
        # Every label has its room, with some between boxes.
        within = slice(phrase.first, phrase.last + 1)
        missing = width(phrase.label, LABEL_SIZE) + 4 + 5 - sum(slots[within])
        slots[within] = [slot + max(0.0, missing) / len(slots[within]) for slot in slots[within]]
    ends = [*accumulate(slots)]
    ends[-1] += GAP
    starts = [end - slot for end, slot in zip(ends, slots, strict=True)]
    spans = [(place, place, 0) for place in range(len(words))]
    spans += [(phrase.first, phrase.last, phrase.height) for phrase in phrases]
    places = [((starts[first] + ends[last]) / 2, -LEVEL * height) for first, last, height in spans]
    reaches = [each * cos(radians(SLANT)) if slanted else 0.0 for each in widths]
    left = max(0.0, *(reach - x for reach, (x, _) in zip(reaches, places, strict=False)))
    top = BOX - min(y for _, y in places)
    return Layout(places, slanted, left, ends[-1], top, BOX + WORD_SIZE + max(reaches))


def draw(title: str, attended: AttendedSentence, chosen: Sequence[int], reference: str = "") -> "Figure":
    """Draw the figure; in an SVG the identifiers of panel N, counted from 1, begin with `panel-N-`.

    Args:
        title: headline, may be empty.
        attended: what is drawn.
        chosen: steps that have a panel, counted from 0.
        reference: shown below, may be empty.
    """
    tree = layout(attended.words, attended.phrases)
    apart = max(tree.left + tree.right, LEAST_WIDTH if len(chosen) == 1 else 0.0) + BETWEEN
    columns = max(1, min(len(chosen), int((PAGE + BETWEEN) / apart)))
    wide = max(columns * apart - BETWEEN, LEAST_WIDTH)
    # The darkest shade is that of the highest weight, up to the next tenth.
    most = max(0.1, ceil(float(attended.weights[list(chosen)].max()) * 10 - 1e-5) / 10)
    blues = matplotlib.colormaps["Blues"]

    def colour(weight: float) -> str:
        return to_hex(blues(DARKEST * min(1.0, weight / most)))

    axes, y = paper(), MARGIN
    for line in wrapped(title, TITLE_SIZE, wide, bold=True) if title else []:
        write(axes, (MARGIN, y + LINE / 2), line, TITLE_SIZE, bold=True)
        y += LINE
    y = _translation(axes, attended, chosen, wide - GUTTER, y + 4 if title else y)
    for number, step in enumerate(chosen):
        x = MARGIN + number % columns * apart
        y += LINE if number % columns == 0 else 0.0
        write(axes, (x, y), f"word {step + 1}", NOTE_SIZE, color=CHOSEN)
        write(axes, (x + GUTTER, y), attended.translation[step], TOKEN_SIZE, color=CHOSEN, bold=True)
        _panel(axes, attended, tree, step, colour, (x + tree.left, y + LINE + tree.top), f"panel-{number + 1}")
        if number % columns == columns - 1 or step == chosen[-1]:
            y += LINE + tree.top + tree.bottom + BETWEEN / 2
    for number, line in enumerate(wrapped(reference, TOKEN_SIZE, wide - GUTTER) if reference else []):
        if number == 0:
            write(axes, (MARGIN, y), "reference", NOTE_SIZE, color=NOTE)
        write(axes, (MARGIN + GUTTER, y), line, TOKEN_SIZE)
        y += LINE
    _legend(axes, colour, most, attended.gates is not None, y)
    return cut(axes, wide + 2 * MARGIN, y + LEGEND_HEIGHT + MARGIN)


def _translation(axes: "Axes", attended: AttendedSentence, chosen: Sequence[int], room: float, y: float) -> float:
    """Draw the words of the translation, below each its β as a bar and a number; chosen ones stand out.

    In an SVG the bar of step N, from 0, is called `gate-N`.

    Args:
        axes: their unit is the point.
        attended: what is drawn.
        chosen: steps that have a panel.
        room: for a line of words.
        y: where it begins.

    Returns:
        Where it ends.
    """
    slots = [max(BAR_WIDTH, width(token, TOKEN_SIZE, bold=True)) + 6 for token in attended.translation]
    for line in lines_of(slots, room):
        x = MARGIN + GUTTER
        for step in line:
            x, middle = x + slots[step], x + (slots[step] - 6) / 2
            ink = CHOSEN if step in chosen else NOTE if step + 1 == len(slots) else INK
            token = attended.translation[step]
            write(axes, (middle, y + LINE / 2), token, TOKEN_SIZE, color=ink, align="center", bold=step in chosen)
            if attended.gates is None:
                continue
            beta, base = float(attended.gates[step]), y + LINE + BAR_HEIGHT
            ink = CHOSEN if step in chosen else RULE
            for high, shade, gid in ((1.0, TRACK, None), (beta, ink, f"gate-{step}")):
                corner = (middle - BAR_WIDTH / 2, base - BAR_HEIGHT * high)
                axes.add_patch(Rectangle(corner, BAR_WIDTH, BAR_HEIGHT * high, facecolor=shade, linewidth=0, gid=gid))
            ink = CHOSEN if step in chosen else NOTE
            write(axes, (middle, base + 4), f"{beta:.2f}", LABEL_SIZE, color=ink, align="center")
        y += LINE
        if attended.gates is not None:
            write(axes, (MARGIN, y + BAR_HEIGHT / 2), "β", NOTE_SIZE, color=NOTE)
            y += LINE + BAR_HEIGHT
    return y


def _panel(
    axes: "Axes",
    attended: AttendedSentence,
    tree: Layout,
    step: int,
    colour: Callable[[float], str],
    at: tuple[float, float],
    name: str,
) -> None:
    """Draw the tree with the weights of one step.

    In an SVG the box of a column is called `NAME-column-N`, N counted from 0, and the edges from a phrase to its
    children `NAME-edges-N`.
    """
    weights = attended.weights[step]
    highest = np.argsort(-weights, kind="stable")[:NUMBERED].tolist()
    numbered = [column for rank, column in enumerate(highest) if rank == 0 or weights[column] >= TINY]
    places = [(at[0] + x, at[1] + y) for x, y in tree.places]
    labels = ["" for _ in attended.words] + [phrase.label for phrase in attended.phrases]
    for column, phrase in enumerate(attended.phrases, start=len(attended.words)):
        xs, ys = zip(*bracket(places[column][1], [places[child] for child in phrase.children]), strict=True)
        gid = f"{name}-edges-{column}"
        axes.plot(xs, ys, color=RULE, linewidth=0.7, solid_capstyle="round", gid=gid, zorder=1)
    for column, label in enumerate(labels):
        number = f"{weights[column]:.2f}" if column in numbered else ""
        shade, gid = colour(float(weights[column])), f"{name}-column-{column}"
        _box(axes, places[column], label, number, shade, gid)
    for column, word in enumerate(attended.words):
        (x, y), ink = places[column], INK if column in numbered else NOTE
        if tree.slanted:
            write(axes, (x, y + BOX / 2 + 4), word, WORD_SIZE, color=ink, align="right", slant=SLANT)
        else:
            write(axes, (x, y + BOX / 2 + 2 + WORD_SIZE / 2), word, WORD_SIZE, color=ink, align="center")


def _box(axes: "Axes", at: tuple[float, float], label: str, number: str, shade: str, gid: str) -> None:
    """Draw a box with its label, number, both (two lines), or nothing."""
    wide = max(width(label, LABEL_SIZE) + 4, width(number, NUMBER_SIZE, bold=True) + 2, BOX)
    high = 2 * BOX - 4 if label and number else BOX
    corner, look = (at[0] - wide / 2, at[1] - high / 2), "round,pad=0,rounding_size=2.5"
    box = FancyBboxPatch(
        corner, wide, high, boxstyle=look, facecolor=shade, edgecolor=FRAME, linewidth=0.5, gid=gid, zorder=2
    )
    axes.add_patch(box)
    apart = high / 4 if label and number else 0
    for text, size, y in ((label, LABEL_SIZE, at[1] - apart), (number, NUMBER_SIZE, at[1] + apart)):
        if text:
            write(axes, (at[0], y), text, size, color=on(shade), align="center", bold=text == number)


def _legend(axes: "Axes", colour: Callable[[float], str], most: float, gated: bool, y: float) -> None:
    x, middle = MARGIN + GUTTER, y + LEGEND_HEIGHT / 2
    for place in range(SHADES):
        # Each goes on under those that follow: side by side they would show seams.
        start = LEGEND_WIDTH * place / SHADES
        shade = colour(most * (place + 0.5) / SHADES)
        axes.add_patch(
            Rectangle((x + start, y), LEGEND_WIDTH - start, LEGEND_HEIGHT, facecolor=shade, edgecolor=FRAME, lw=0)
        )
    axes.add_patch(Rectangle((x, y), LEGEND_WIDTH, LEGEND_HEIGHT, fill=False, edgecolor=FRAME, linewidth=0.5))
    write(axes, (x - 4, middle), "α   0", NOTE_SIZE, color=NOTE, align="right")
    note = f"{most:.1f}   attention" + ("; β: weight of phrases, 0 to 1" if gated else "")
    write(axes, (x + LEGEND_WIDTH + 4, middle), note, NOTE_SIZE, color=NOTE)
