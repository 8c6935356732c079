"""Attention over words: a source word has the weight of its pieces, a target word the mean over its own."""

import numpy as np
import pytest

from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.attended_sentence import AttendedSentence, PhraseColumn
from pipeline_py.report.figures.compared_attention import draw, of_words
from pipeline_py.report.figures.figure_files import rendered
from pipeline_py.report.figures.source_tree import Phrases

SOURCE, TARGET = ["un@@", "happy", "cats", "</s>"], ["ka@@", "t@@", "zen", "da", "</s>"]
PHRASE = PhraseColumn("NP", 1, 0, 2, (0, 1, 2))


def attended(phrases: int = 0) -> AttendedSentence:
    weights = np.random.default_rng(1).dirichlet(np.ones(len(SOURCE) + phrases), size=len(TARGET))
    return AttendedSentence(SOURCE, [PHRASE] * phrases, TARGET, weights, None)


def test_pieces_become_words():
    each = attended()
    found = of_words("A", each)
    assert (found.words, found.translation) == (["unhappy", "cats"], ["katzen", "da", "</s>"])
    for row, of_target in enumerate(([0, 1, 2], [3], [4])):
        for column, of_source in enumerate(([0, 1], [2], [3])):
            naive = sum(each.weights[i][j] for i in of_target for j in of_source) / len(of_target)
            assert found.weights[row, column] == pytest.approx(naive)
    assert found.weights.sum(axis=1) == pytest.approx(1) and found.phrases is None


def test_what_lies_on_phrases_is_told_apart():
    each = attended(phrases=2)
    found = of_words("A", each)
    assert found.phrases is not None
    assert found.phrases[0] == pytest.approx(each.weights[:3, 4:].sum() / 3)
    assert found.weights.sum(axis=1) + found.phrases == pytest.approx(1)


def test_both_systems_stand_below_one_tree():
    tree = Phrases(["unhappy", "cats"], [PhraseColumn("NP", 1, 0, 1, (0, 1))])
    with figure_files.style():
        figure = draw(tree, [of_words("First <A>", attended()), of_words("Second", attended(phrases=1))])
        markup = rendered(figure, "title", "name").markup
    for text in ("NP", "unhappy", "cats", "First &lt;A&gt;", "Second", "katzen", "phrases"):
        assert f">{text}</text>" in markup
