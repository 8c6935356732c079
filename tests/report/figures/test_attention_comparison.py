"""Tests of the comparison figure of attention over words."""

import numpy as np
import pytest
from matplotlib.text import Text

from pipeline_py.report.figures import figure_files
from pipeline_py.report.figures.attended_sentence import AttendedSentence, PhraseColumn
from pipeline_py.report.figures.attention_comparison import (
    WordAttention,
    aggregate_by_word,
    draw_attention_comparison,
)
from pipeline_py.report.figures.drawing import PRINTED_WIDTH
from pipeline_py.report.figures.figure_files import render_inline_figure
from pipeline_py.report.figures.source_tree import PhraseBrackets

SOURCE, TARGET = ["un@@", "happy", "cats", "</s>"], ["ka@@", "t@@", "zen", "da", "</s>"]
PHRASE = PhraseColumn("NP", 1, 0, 2, (0, 1, 2))


def attended(phrases: int = 0) -> AttendedSentence:
    weights = np.random.default_rng(1).dirichlet(np.ones(len(SOURCE) + phrases), size=len(TARGET))
    return AttendedSentence(SOURCE, [PHRASE] * phrases, TARGET, weights, None)


def test_aggregate_by_word_sums_source_and_averages_target_pieces():
    sentence = attended()
    word_attention = aggregate_by_word("A", sentence)
    assert (word_attention.words, word_attention.translation) == (["unhappy", "cats"], ["katzen", "da", "</s>"])
    for row, target_pieces in enumerate(([0, 1, 2], [3], [4])):
        for column, source_pieces in enumerate(([0, 1], [2], [3])):
            expected = sum(sentence.weights[i][j] for i in target_pieces for j in source_pieces) / len(target_pieces)
            assert word_attention.weights[row, column] == pytest.approx(expected)
    assert word_attention.weights.sum(axis=1) == pytest.approx(1) and word_attention.phrase_weights is None


def test_aggregate_by_word_separates_phrase_weights():
    sentence = attended(phrases=2)
    word_attention = aggregate_by_word("A", sentence)
    assert word_attention.phrase_weights is not None
    assert word_attention.phrase_weights[0] == pytest.approx(sentence.weights[:3, 4:].sum() / 3)
    assert word_attention.weights.sum(axis=1) + word_attention.phrase_weights == pytest.approx(1)


@pytest.mark.parametrize(("word_count", "rotation"), [(3, 0.0), (25, 90.0)])
def test_comparison_figure_of_long_sentence_fits_printed_page(word_count: int, rotation: float):
    words = ["internationalization"] * word_count
    weights = np.full((2, word_count + 1), 1 / (word_count + 1))
    figure = draw_attention_comparison(
        PhraseBrackets(words, []), [WordAttention("A", words, ["katzen", "</s>"], weights, None)]
    )
    assert figure.get_figwidth() * 72 <= PRINTED_WIDTH
    texts = [text for text in figure.findobj(Text) if text.get_text() == words[0]]
    assert [text.get_rotation() for text in texts] == [rotation] * word_count


def test_comparison_figure_has_tree_and_both_systems():
    tree = PhraseBrackets(["unhappy", "cats"], [PhraseColumn("NP", 1, 0, 1, (0, 1))])
    with figure_files.use_style():
        figure = draw_attention_comparison(
            tree, [aggregate_by_word("First <A>", attended()), aggregate_by_word("Second", attended(phrases=1))]
        )
        markup = render_inline_figure(figure, "title", "name").markup
    for text in ("NP", "unhappy", "cats", "First &lt;A&gt;", "Second", "katzen", "phrases"):
        assert f">{text}</text>" in markup
