"""Tests of the panel layout of the attention figure."""

from itertools import combinations

import numpy as np
import pytest

from pipeline_py.report.figures.attended_sentence import AttendedSentence, build_phrase_columns
from pipeline_py.report.figures.attention_figure import (
    BOX_HEIGHT,
    LABEL_SIZE,
    LEVEL_HEIGHT,
    MAX_UPRIGHT_WIDTH,
    MIN_SLOT_WIDTH,
    WORD_GAP,
    WORD_SIZE,
    compute_panel_layout,
    draw_attention_figure,
)
from pipeline_py.report.figures.drawing import PRINTED_WIDTH
from pipeline_py.report.figures.typesetting import compute_text_width
from pipeline_py.syntax.trees.constituency import PhraseNode, Preterminal


def tree(words, random):
    if len(words) == 1:
        return Preterminal("X", words[0])
    cut = int(random.integers(1, len(words)))
    return PhraseNode("P" * int(random.integers(1, 20)), (tree(words[:cut], random), tree(words[cut:], random)))


@pytest.mark.parametrize("size", [1, 2, 5, 12, 40])
@pytest.mark.parametrize("seed", range(3))
def test_boxes_do_not_overlap(size, seed):
    random = np.random.default_rng(seed)
    words = [*("x" * int(length) for length in random.integers(1, 14, size=size)), "</s>"]
    phrases = build_phrase_columns([tree(words[:-1], random)], len(words))
    layout = compute_panel_layout(words, phrases)
    assert len(layout.column_centres) == 2 * size
    widths = [MIN_SLOT_WIDTH] * (size + 1) + [
        max(BOX_HEIGHT, compute_text_width(phrase.label, LABEL_SIZE) + 4) for phrase in phrases
    ]
    assert LEVEL_HEIGHT > 2 * BOX_HEIGHT - 4, "boxes of two lines fit one above the other"
    for a, b in combinations(range(2 * size), 2):
        if layout.column_centres[a][1] == layout.column_centres[b][1]:
            assert abs(layout.column_centres[a][0] - layout.column_centres[b][0]) >= (widths[a] + widths[b]) / 2 - 1e-9
    for column, phrase in enumerate(phrases, start=len(words)):
        x, y = layout.column_centres[column]
        first, last, *children = (
            layout.column_centres[column][0] for column in (phrase.first, phrase.last, *phrase.children)
        )
        assert y == -LEVEL_HEIGHT * phrase.height
        assert first < x < last
        # The edges to its children leave the box on both sides.
        assert children[0] < x < children[1]
    assert {y for _, y in layout.column_centres[: len(words)]} == {0}
    assert layout.top_extent >= BOX_HEIGHT / 2 - min(y for _, y in layout.column_centres)


def test_many_words_slant():
    few = ["international", "能源", "a", "</s>"]
    layout = compute_panel_layout(few, [])
    assert not layout.is_slanted and layout.left_extent == 0
    for place in range(3):
        reach = (compute_text_width(few[place], WORD_SIZE) + compute_text_width(few[place + 1], WORD_SIZE)) / 2
        assert layout.column_centres[place + 1][0] - layout.column_centres[place][0] >= reach + WORD_GAP / 2
    many = compute_panel_layout([*(["internationalization"] * 8), "</s>"], [])
    assert many.is_slanted and many.right_extent < MAX_UPRIGHT_WIDTH
    # Slanted words extend equally far down and to the left.
    reach = compute_text_width("internationalization", WORD_SIZE) / 2**0.5
    assert many.left_extent == pytest.approx(reach - many.column_centres[0][0])
    assert many.bottom_extent >= reach


@pytest.mark.parametrize("word_count", [1, 4, 8, 20])
def test_figure_of_four_panels_fits_printed_page(word_count: int):
    words = [*(["international"] * word_count), "</s>"]
    weights = np.full((5, len(words)), 1 / len(words))
    figure = draw_attention_figure("Attention", AttendedSentence(words, [], ["a"] * 5, weights, None), range(4))
    assert figure.get_figwidth() * 72 <= PRINTED_WIDTH + 1e-6
