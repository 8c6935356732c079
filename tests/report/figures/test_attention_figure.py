"""Places of words and phrases: nothing overlaps, and every phrase stands over its span."""

from itertools import combinations

import numpy as np
import pytest

from pipeline_py.report.figures.attended_sentence import build_phrase_columns
from pipeline_py.report.figures.attention_figure import (
    BOX_HEIGHT,
    LABEL_SIZE,
    LEVEL_HEIGHT,
    MAX_UPRIGHT_WIDTH,
    MIN_SLOT_WIDTH,
    WORD_GAP,
    WORD_SIZE,
    compute_panel_layout,
)
from pipeline_py.report.figures.typesetting import compute_text_width
from pipeline_py.syntax.trees.constituency import PhraseNode, Preterminal


def tree(words, random):
    if len(words) == 1:
        return Preterminal("X", words[0])
    cut = int(random.integers(1, len(words)))
    return PhraseNode("P" * int(random.integers(1, 20)), (tree(words[:cut], random), tree(words[cut:], random)))


@pytest.mark.parametrize("size", [1, 2, 5, 12, 40])
@pytest.mark.parametrize("seed", range(3))
def test_boxes_keep_apart(size, seed):
    random = np.random.default_rng(seed)
    words = [*("x" * int(length) for length in random.integers(1, 14, size=size)), "</s>"]
    phrases = build_phrase_columns([tree(words[:-1], random)], len(words))
    found = compute_panel_layout(words, phrases)
    assert len(found.column_centres) == 2 * size
    room = [MIN_SLOT_WIDTH] * (size + 1) + [
        max(BOX_HEIGHT, compute_text_width(phrase.label, LABEL_SIZE) + 4) for phrase in phrases
    ]
    assert LEVEL_HEIGHT > 2 * BOX_HEIGHT - 4, "boxes of two lines fit one above the other"
    for a, b in combinations(range(2 * size), 2):
        if found.column_centres[a][1] == found.column_centres[b][1]:
            assert abs(found.column_centres[a][0] - found.column_centres[b][0]) >= (room[a] + room[b]) / 2 - 1e-9
    for column, phrase in enumerate(phrases, start=len(words)):
        x, y = found.column_centres[column]
        first, last, *children = (
            found.column_centres[each][0] for each in (phrase.first, phrase.last, *phrase.children)
        )
        assert y == -LEVEL_HEIGHT * phrase.height
        assert first < x < last
        # So that the edges to its children leave its box on either side.
        assert children[0] < x < children[1]
    assert {y for _, y in found.column_centres[: len(words)]} == {0}
    assert found.top_extent >= BOX_HEIGHT / 2 - min(y for _, y in found.column_centres)


def test_few_words_stand_side_by_side_and_many_slant():
    few = ["international", "能源", "a", "</s>"]
    found = compute_panel_layout(few, [])
    assert not found.is_slanted and found.left_extent == 0
    for place in range(3):
        reach = (compute_text_width(few[place], WORD_SIZE) + compute_text_width(few[place + 1], WORD_SIZE)) / 2
        assert found.column_centres[place + 1][0] - found.column_centres[place][0] >= reach + WORD_GAP / 2
    many = compute_panel_layout([*(["internationalization"] * 8), "</s>"], [])
    assert many.is_slanted and many.right_extent < MAX_UPRIGHT_WIDTH
    # What slants reaches as far down as to the left.
    reach = compute_text_width("internationalization", WORD_SIZE) / 2**0.5
    assert many.left_extent == pytest.approx(reach - many.column_centres[0][0])
    assert many.bottom_extent >= reach
