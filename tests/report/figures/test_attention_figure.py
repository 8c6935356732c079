"""Places of words and phrases: nothing overlaps, and every phrase stands over its span."""

from itertools import combinations

import numpy as np
import pytest

from pipeline_py.report.figures.attended_sentence import phrase_columns
from pipeline_py.report.figures.attention_figure import (
    BOX,
    GAP,
    LABEL_SIZE,
    LEAST_SLOT,
    LEVEL,
    WIDEST,
    WORD_SIZE,
    layout,
)
from pipeline_py.report.figures.typesetting import width
from pipeline_py.syntax.trees.constituency import Phrase, Preterminal


def tree(words, random):
    if len(words) == 1:
        return Preterminal("X", words[0])
    cut = int(random.integers(1, len(words)))
    return Phrase("P" * int(random.integers(1, 20)), (tree(words[:cut], random), tree(words[cut:], random)))


@pytest.mark.parametrize("size", [1, 2, 5, 12, 40])
@pytest.mark.parametrize("seed", range(3))
def test_boxes_keep_apart(size, seed):
    random = np.random.default_rng(seed)
    words = [*("x" * int(length) for length in random.integers(1, 14, size=size)), "</s>"]
    phrases = phrase_columns([tree(words[:-1], random)], len(words))
    found = layout(words, phrases)
    assert len(found.places) == 2 * size
    room = [LEAST_SLOT] * (size + 1) + [max(BOX, width(phrase.label, LABEL_SIZE) + 4) for phrase in phrases]
    assert LEVEL > 2 * BOX - 4, "boxes of two lines fit one above the other"
    for a, b in combinations(range(2 * size), 2):
        if found.places[a][1] == found.places[b][1]:
            assert abs(found.places[a][0] - found.places[b][0]) >= (room[a] + room[b]) / 2 - 1e-9
    for column, phrase in enumerate(phrases, start=len(words)):
        x, y = found.places[column]
        first, last, *children = (found.places[each][0] for each in (phrase.first, phrase.last, *phrase.children))
        assert y == -LEVEL * phrase.height
        assert first < x < last
        # So that the edges to its children leave its box on either side.
        assert children[0] < x < children[1]
    assert {y for _, y in found.places[: len(words)]} == {0}
    assert found.top >= BOX / 2 - min(y for _, y in found.places)


def test_few_words_stand_side_by_side_and_many_slant():
    few = ["international", "能源", "a", "</s>"]
    found = layout(few, [])
    assert not found.slanted and found.left == 0
    for place in range(3):
        reach = (width(few[place], WORD_SIZE) + width(few[place + 1], WORD_SIZE)) / 2
        assert found.places[place + 1][0] - found.places[place][0] >= reach + GAP / 2
    many = layout([*(["internationalization"] * 8), "</s>"], [])
    assert many.slanted and many.right < WIDEST
    # What slants reaches as far down as to the left.
    reach = width("internationalization", WORD_SIZE) / 2**0.5
    assert many.left == pytest.approx(reach - many.places[0][0])
    assert many.bottom >= reach
