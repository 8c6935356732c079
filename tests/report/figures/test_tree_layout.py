"""Places of words and phrases: nothing overlaps, and every phrase stands over its span."""

from itertools import combinations

import numpy as np
import pytest

from pipeline_py.report.figures.phrase_columns import phrase_columns
from pipeline_py.report.figures.tree_layout import BOX, GAP, LEVEL, WIDEST, WORD_SIZE, layout
from pipeline_py.report.figures.typesetting import width
from pipeline_py.syntax.trees.constituency import Phrase, Preterminal


def tree(words, random):
    if len(words) == 1:
        return Preterminal("X", words[0])
    cut = int(random.integers(1, len(words)))
    return Phrase("P", (tree(words[:cut], random), tree(words[cut:], random)))


@pytest.mark.parametrize("size", [1, 2, 5, 12, 40])
@pytest.mark.parametrize("seed", range(3))
def test_boxes_keep_apart(size, seed):
    random = np.random.default_rng(seed)
    words = [*("x" * int(length) for length in random.integers(1, 14, size=size)), "</s>"]
    phrases = phrase_columns([tree(words[:-1], random)], len(words))
    found = layout(words, phrases)
    assert len(found.x) == len(found.y) == len(found.room) == 2 * size
    assert LEVEL > 2 * BOX - 4, "boxes of two lines fit one above the other"
    for a, b in combinations(range(2 * size), 2):
        if found.y[a] == found.y[b]:
            assert abs(found.x[a] - found.x[b]) >= (found.room[a] + found.room[b]) / 2 - 1e-9
    for column, phrase in enumerate(phrases, start=len(words)):
        x, y, room = found.x[column], found.y[column], found.room[column]
        assert y == LEVEL * phrase.height
        assert found.x[phrase.first] < x < found.x[phrase.last]
        assert x - room / 2 <= found.x[phrase.first] and found.x[phrase.last] <= x + room / 2
        # So that the edges to its children leave its box on either side.
        assert found.x[phrase.children[0]] < x < found.x[phrase.children[1]]
    assert found.y[: len(words)] == [0] * len(words)
    assert found.top >= max(found.y) + BOX / 2


def test_few_words_stand_side_by_side_and_many_slant():
    few = ["international", "能源", "a", "</s>"]
    found = layout(few, [])
    assert not found.slanted and found.left == 0
    for place in range(3):
        reach = (width(few[place], WORD_SIZE) + width(few[place + 1], WORD_SIZE)) / 2
        assert found.x[place + 1] - found.x[place] >= reach + GAP / 2
    many = layout([*(["internationalization"] * 8), "</s>"], [])
    assert many.slanted and many.right < WIDEST
    # What slants reaches as far down as to the left.
    reach = width("internationalization", WORD_SIZE) / 2**0.5
    assert many.left == pytest.approx(reach - many.x[0])
    assert many.bottom >= reach
