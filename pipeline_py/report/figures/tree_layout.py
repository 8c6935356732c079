"""Where the words and phrases of a sentence stand on paper, in points; y grows upwards from the row of words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import cos, radians

from pipeline_py.report.figures.phrase_columns import PhraseColumn
from pipeline_py.report.figures.typesetting import width

WORD_SIZE = 8.5
"""Font size of words."""

SLANT = 45.0
"""Degrees by which words slant where there are too many to stand side by side."""

WIDEST = 560.0
"""Words slant where they would need more room."""

LEAST_SLOT = 19.0
"""Room of a word on its row, at the least: that of a box with a number, and some space."""

GAP = 9.0
"""Space between words, and once more in front of EOS, which is no part of the tree."""

LEVEL = 24.0
"""From a phrase up to one whose height is 1 greater: a box of two lines and some space."""

BOX = 11.0
"""Height of a box of one line."""


@dataclass(frozen=True)
class TreeLayout:
    """Places of columns: words, EOS, then phrases.

    Attributes:
        x, y: the middle of each column's box.
        room: how wide each column's box may be.
        slanted: whether words slant.
        left: how far words reach to the left of x = 0.
        right: where the last word ends.
        top: where the highest box ends.
        bottom: how far words reach below y = 0.
    """

    x: Sequence[float]
    y: Sequence[float]
    room: Sequence[float]
    slanted: bool
    left: float
    right: float
    top: float
    bottom: float


def layout(words: Sequence[str], phrases: Sequence[PhraseColumn]) -> TreeLayout:
    """Place J words, the last of them EOS, side by side and every phrase over the middle of its span."""
    widths = [width(word, WORD_SIZE) for word in words]
    slots = [max(LEAST_SLOT, each + GAP) for each in widths]
    slanted = sum(slots) + GAP > WIDEST
    if slanted:
        slots = [LEAST_SLOT] * len(words)
    ends = list(accumulate(slots))
    ends[-1] += GAP
    starts = [end - slot for end, slot in zip(ends, slots, strict=True)]
    x = [(start + end) / 2 for start, end in zip(starts, ends, strict=True)]
    y = [0.0] * len(words)
    room = [LEAST_SLOT] * len(words)
    for phrase in phrases:
        x.append((starts[phrase.first] + ends[phrase.last]) / 2)
        y.append(LEVEL * phrase.height)
        room.append(ends[phrase.last] - starts[phrase.first])
    reaches = [each * cos(radians(SLANT)) for each in widths] if slanted else [0.0]
    return TreeLayout(
        x,
        y,
        room,
        slanted,
        left=max(0.0, *(reach - place for reach, place in zip(reaches, x, strict=False))),
        right=ends[-1],
        top=max(y) + BOX,
        bottom=BOX + (max(reaches) + WORD_SIZE if slanted else WORD_SIZE),
    )
