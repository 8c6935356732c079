"""Figure of a source tree with the attention of two systems below it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.patches import Rectangle

from pipeline_py.report.figures.attended_sentence import AttendedSentence
from pipeline_py.report.figures.drawing import PRINTED_WIDTH, create_axes, crop_figure, write_text
from pipeline_py.report.figures.typesetting import compute_text_width, replace_unprintable, truncate_text
from pipeline_py.subword.pieces import group_by_word, join_pieces
from pipeline_py.subword.vocabulary import EOS, SPECIAL_TOKENS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pipeline_py.report.figures.source_tree import SourceTree

FONT_SIZE, SMALL_FONT_SIZE = 9.0, 6.5
ROW_HEIGHT, WORD_GAP, MARGIN = 13.0, 9.0, 6.0
MIN_SLOT_WIDTH = 18.0
"""Minimum width of the column of a source word, in points."""

MAX_LABEL_WIDTH = 130.0
"""Maximum width of a word of a translation and of a vertical source word, in points."""

TEXT_COLOUR, NOTE_COLOUR, LINE_COLOUR, WEIGHT_COLOUR = "#000000", "#555555", "#dddddd", "#0072b2"
"""Colours with a counterpart in the style sheet of the page."""

PHRASES_LABEL, END_LABEL = "phrases", SPECIAL_TOKENS[EOS]


@dataclass(frozen=True)
class WordAttention:
    """Attention of one system, aggregated over words.

    Attributes:
        system_label: display name of the system.
        words: J source words.
        translation: I target positions: words and end of the sentence.
        weights: attention weights (I, J + 1); the last column is the end of the source.
        phrase_weights: total weight of phrases (I,); None if the system reads no phrases.
    """

    system_label: str
    words: Sequence[str]
    translation: Sequence[str]
    weights: np.ndarray
    phrase_weights: np.ndarray | None


def aggregate_by_word(system_label: str, attended: AttendedSentence) -> WordAttention:
    """Sum weights over the pieces of a source word, and average them over the pieces of a target word."""
    source, target = list(attended.words[:-1]), list(attended.translation[:-1])
    columns = [len(word) for word in group_by_word(source)] + [1]
    rows = [len(word) for word in group_by_word(target)] + [1]
    word_weights = attended.weights[:, : len(attended.words)]
    summed_weights = np.add.reduceat(word_weights, [0, *accumulate(columns[:-1])], axis=1)
    means = np.add.reduceat(summed_weights, [0, *accumulate(rows[:-1])], axis=0) / np.array(rows)[:, None]
    on_phrases = np.add.reduceat(1 - word_weights.sum(axis=1), [0, *accumulate(rows[:-1])]) / np.array(rows)
    return WordAttention(
        system_label,
        join_pieces(source),
        [*join_pieces(target), END_LABEL],
        means,
        on_phrases if attended.phrases else None,
    )


def draw_attention_comparison(tree: "SourceTree", attentions: Sequence[WordAttention]) -> "Figure":
    """Draw the tree, and below it a row of weights for each word of each translation.

    The source words are upright if the figure then fits a printed page, and else vertical.
    """
    words = [*map(replace_unprintable, tree.words), END_LABEL]
    if any(attention.phrase_weights is not None for attention in attentions):
        words.append(PHRASES_LABEL)
    labels = [replace_unprintable(word) for attention in attentions for word in attention.translation]
    left = MARGIN + min(MAX_LABEL_WIDTH, max(compute_text_width(word, FONT_SIZE) for word in labels)) + 8
    widths = [compute_text_width(word, FONT_SIZE) for word in words]
    slots = [max(MIN_SLOT_WIDTH, width + WORD_GAP) for width in widths]
    is_upright = left + sum(slots) + MARGIN <= PRINTED_WIDTH
    slots = tree.widen_slots(slots if is_upright else [MIN_SLOT_WIDTH] * len(words))
    words_height = ROW_HEIGHT if is_upright else min(MAX_LABEL_WIDTH, max(widths)) + WORD_GAP
    ends = [left + end for end in accumulate(slots)]
    x = [end - slot / 2 for end, slot in zip(ends, slots, strict=True)]
    axes, y = create_axes(), MARGIN + tree.height
    tree.draw(axes, x, y)
    for place, word in zip(x, words, strict=True):
        write_text(
            axes,
            (place, y + words_height / 2),
            word if is_upright else truncate_text(word, FONT_SIZE, MAX_LABEL_WIDTH),
            FONT_SIZE,
            color=NOTE_COLOUR if word in (END_LABEL, PHRASES_LABEL) else TEXT_COLOUR,
            align="center",
            slant=0.0 if is_upright else 90.0,
        )
    y += words_height - ROW_HEIGHT
    for attention in attentions:
        write_text(
            axes, (MARGIN, y + 1.8 * ROW_HEIGHT), attention.system_label, FONT_SIZE, color=TEXT_COLOUR, bold=True
        )
        y += 2.4 * ROW_HEIGHT
        axes.vlines(x, y, y + ROW_HEIGHT * len(attention.translation), color=LINE_COLOUR, linewidth=0.6, zorder=0)
        weights = (
            attention.weights
            if attention.phrase_weights is None
            else np.column_stack([attention.weights, attention.phrase_weights])
        )
        for word, row in zip(attention.translation, weights, strict=True):
            label = truncate_text(replace_unprintable(word), FONT_SIZE, MAX_LABEL_WIDTH)
            write_text(
                axes,
                (left - 5, y + ROW_HEIGHT / 2),
                label,
                FONT_SIZE,
                color=NOTE_COLOUR if word == END_LABEL else TEXT_COLOUR,
                align="right",
            )
            for weight, end, slot in zip(row.tolist(), ends, slots, strict=False):
                if weight >= 0.02:
                    corner, alpha = (end - slot + 1, y + 0.5), min(1.0, weight)
                    axes.add_patch(
                        Rectangle(corner, slot - 2, ROW_HEIGHT - 1, facecolor=WEIGHT_COLOUR, alpha=alpha, linewidth=0)
                    )
            y += ROW_HEIGHT
        y -= ROW_HEIGHT
    return crop_figure(axes, ends[-1] + MARGIN, y + ROW_HEIGHT + MARGIN)
