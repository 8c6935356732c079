"""A source tree, and below it what two systems attended to at each word of their translations."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Rectangle

from pipeline_py.report.figures.attended_sentence import AttendedSentence
from pipeline_py.report.figures.pens import cut, paper, write
from pipeline_py.report.figures.typesetting import fitted, shown, width
from pipeline_py.subword.pieces import by_word, join
from pipeline_py.subword.vocabulary import EOS, SPECIALS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pipeline_py.report.figures.source_tree import SourceTree

SIZE, SMALL = 9.0, 6.5
ROW, GAP, MARGIN = 13.0, 9.0, 6.0
GUTTER = 130.0
"""The most that words of a translation have on the left."""

INK, NOTE, RULE, SHADE = "#000000", "#555555", "#dddddd", "#0072b2"
"""Those that a page knows."""

PHRASES, END = "phrases", SPECIALS[EOS]


@dataclass(frozen=True)
class WordAttention:
    """What one system attended to, over whole words.

    Attributes:
        system: what it is called.
        words: of the source, J.
        translation: its words and the end of the sentence, I.
        weights: (I, J + 1), the last column that of the source's end.
        phrases: (I,) what lies on phrases; None where the system has none.
    """

    system: str
    words: Sequence[str]
    translation: Sequence[str]
    weights: np.ndarray
    phrases: np.ndarray | None


def of_words(system: str, attended: AttendedSentence) -> WordAttention:
    """Add up the weights of the pieces of a source word, and take the mean over those of a target word."""
    source, target = list(attended.words[:-1]), list(attended.translation[:-1])
    columns = [len(word) for word in by_word(source)] + [1]
    rows = [len(word) for word in by_word(target)] + [1]
    over_words = attended.weights[:, : len(attended.words)]
    summed = np.add.reduceat(over_words, [0, *accumulate(columns[:-1])], axis=1)
    means = np.add.reduceat(summed, [0, *accumulate(rows[:-1])], axis=0) / np.array(rows)[:, None]
    on_phrases = np.add.reduceat(1 - over_words.sum(axis=1), [0, *accumulate(rows[:-1])]) / np.array(rows)
    return WordAttention(system, join(source), [*join(target), END], means, on_phrases if attended.phrases else None)


def draw(tree: "SourceTree", attentions: Sequence[WordAttention]) -> "Figure":
    """Draw the tree over its words, and below it a row of weights for each word of each translation."""
    words = [*map(shown, tree.words), END]
    if any(each.phrases is not None for each in attentions):
        words.append(PHRASES)
    labels = [shown(word) for each in attentions for word in each.translation]
    left = MARGIN + min(GUTTER, max(width(word, SIZE) for word in labels)) + 8
    slots = tree.widened([max(18.0, width(word, SIZE) + GAP) for word in words])
    ends = [left + end for end in accumulate(slots)]
    x = [end - slot / 2 for end, slot in zip(ends, slots, strict=True)]
    axes, y = paper(), MARGIN + tree.height
    tree.draw(axes, x, y)
    for place, word in zip(x, words, strict=True):
        write(
            axes,
            (place, y + ROW / 2),
            word,
            SIZE,
            color=NOTE if word in (END, PHRASES) else INK,
            align="center",
        )
    for each in attentions:
        write(axes, (MARGIN, y + 1.8 * ROW), each.system, SIZE, color=INK, bold=True)
        y += 2.4 * ROW
        axes.vlines(x, y, y + ROW * len(each.translation), color=RULE, linewidth=0.6, zorder=0)
        weights = each.weights if each.phrases is None else np.column_stack([each.weights, each.phrases])
        for word, row in zip(each.translation, weights, strict=True):
            label = fitted(shown(word), SIZE, GUTTER)
            write(axes, (left - 5, y + ROW / 2), label, SIZE, color=NOTE if word == END else INK, align="right")
            for weight, end, slot in zip(row.tolist(), ends, slots, strict=False):
                if weight >= 0.02:
                    corner, alpha = (end - slot + 1, y + 0.5), min(1.0, weight)
                    axes.add_patch(Rectangle(corner, slot - 2, ROW - 1, facecolor=SHADE, alpha=alpha, linewidth=0))
            y += ROW
        y -= ROW
    return cut(axes, ends[-1] + MARGIN, y + ROW + MARGIN)
