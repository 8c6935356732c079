"""Tests of the search for maximum spanning trees against Stanza's implementation and exhaustive search."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stanza.models.common.chuliu_edmonds import chuliu_edmonds_one_root
from stanza.models.depparse import model

from pipeline_py.syntax.stanza.pipeline import find_greedy_heads, find_maximum_tree, patch_maximum_tree_search


def is_tree(heads: tuple[int, ...]) -> bool:
    """Return true if the heads of words 1 … W form a tree with one root word."""
    for word in range(1, len(heads)):
        for _ in heads:
            word = heads[word]
        if word:
            return False
    return heads[1:].count(0) == 1


def search_best_tree(scores: np.ndarray) -> tuple[int, ...]:
    words = range(len(scores))
    trees = filter(is_tree, ((0, *heads) for heads in itertools.product(words, repeat=len(scores) - 1)))
    return max(trees, key=lambda heads: sum(scores[word, heads[word]] for word in words[1:]))


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), words=st.integers(1, 5), certainty=st.sampled_from([0.0, 3.0, 30.0]))
def test_maximum_tree_has_the_highest_score(seed: int, words: int, certainty: float) -> None:
    """`certainty` is added to the scores of the heads of a random tree."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(words + 1, words + 1)).astype(np.float32)
    for word in range(1, words + 1):
        scores[word, random.integers(0, word) if word > 1 else 0] += certainty
    scores -= np.logaddexp.reduce(scores, axis=1, keepdims=True)
    original_scores = scores.copy()
    heads = find_maximum_tree(scores)
    assert np.array_equal(scores, original_scores), "scores are not changed"
    assert heads.tolist() == chuliu_edmonds_one_root(scores).tolist() == [*search_best_tree(scores)]
    greedy = find_greedy_heads(scores)
    assert greedy is None or greedy.dtype == heads.dtype


@pytest.mark.parametrize(
    "heads", [(0, 0, 0), (0, 2, 1), (0, 0, 3, 2), (0, 0, 1, 0)], ids=["two roots", "no root", "cycle", "two of three"]
)
def test_greedy_heads_that_are_not_a_tree_are_rejected(heads: tuple[int, ...]) -> None:
    scores = np.full((len(heads), len(heads)), -9.0, dtype=np.float32)
    for word in range(1, len(heads)):
        scores[word, heads[word]] = -0.1 * word
    assert find_greedy_heads(scores) is None
    assert is_tree(tuple(find_maximum_tree(scores).tolist()))


def test_greedy_heads_of_a_long_chain_are_found() -> None:
    size = 70
    scores = np.full((size, size), -9.0, dtype=np.float32)
    scores[np.arange(1, size), np.arange(size - 1)] = -0.1
    assert find_greedy_heads(scores).tolist() == [0, *range(size - 1)]


class Labels:
    """A vocabulary whose labels are numbers."""

    def unmap(self, numbers: list[int]) -> list[int]:
        return numbers


def test_stanzas_parser_uses_the_patched_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "chuliu_edmonds_one_root", chuliu_edmonds_one_root)
    scores = np.array([[[0, 0, 0], [-0.1, -9, -3], [-5, -0.1, -9]]], dtype=np.float32)
    predictions = scores, np.full((1, 3, 3), 7)
    expected = model.GraphParser.decode_graph_predictions(Labels(), 1, predictions, [3])
    patch_maximum_tree_search()
    monkeypatch.setattr("pipeline_py.syntax.stanza.pipeline.chuliu_edmonds_one_root", None)
    assert model.GraphParser.decode_graph_predictions(Labels(), 1, predictions, [3]) == expected == [[[0, 7], [1, 7]]]
