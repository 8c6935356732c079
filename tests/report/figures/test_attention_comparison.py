"""Attention over words: a source word has the weight of its pieces, a target word the mean over its own."""

import numpy as np
import pytest

from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.attended_sentence import AttendedSentence, PhraseColumn
from pipeline_py.report.figures.attention_comparison import aggregate_by_word, draw_attention_comparison
from pipeline_py.report.figures.figure_files import render_inline_figure
from pipeline_py.report.figures.source_tree import PhraseBrackets

SOURCE, TARGET = ["un@@", "happy", "cats", "</s>"], ["ka@@", "t@@", "zen", "da", "</s>"]
PHRASE = PhraseColumn("NP", 1, 0, 2, (0, 1, 2))


def attended(phrases: int = 0) -> AttendedSentence:
    weights = np.random.default_rng(1).dirichlet(np.ones(len(SOURCE) + phrases), size=len(TARGET))
    return AttendedSentence(SOURCE, [PHRASE] * phrases, TARGET, weights, None)


def test_pieces_become_words():
    each = attended()
    found = aggregate_by_word("A", each)
    assert (found.words, found.translation) == (["unhappy", "cats"], ["katzen", "da", "</s>"])
    for row, of_target in enumerate(([0, 1, 2], [3], [4])):
        for column, of_source in enumerate(([0, 1], [2], [3])):
            naive = sum(each.weights[i][j] for i in of_target for j in of_source) / len(of_target)
            assert found.weights[row, column] == pytest.approx(naive)
    assert found.weights.sum(axis=1) == pytest.approx(1) and found.phrase_weights is None


def test_what_lies_on_phrases_is_told_apart():
    each = attended(phrases=2)
    found = aggregate_by_word("A", each)
    assert found.phrase_weights is not None
    assert found.phrase_weights[0] == pytest.approx(each.weights[:3, 4:].sum() / 3)
    assert found.weights.sum(axis=1) + found.phrase_weights == pytest.approx(1)


def test_both_systems_stand_below_one_tree():
    tree = PhraseBrackets(["unhappy", "cats"], [PhraseColumn("NP", 1, 0, 1, (0, 1))])
    with figure_files.use_style():
        figure = draw_attention_comparison(
            tree, [aggregate_by_word("First <A>", attended()), aggregate_by_word("Second", attended(phrases=1))]
        )
        markup = render_inline_figure(figure, "title", "name").markup
    for text in ("NP", "unhappy", "cats", "First &lt;A&gt;", "Second", "katzen", "phrases"):
        assert f">{text}</text>" in markup
