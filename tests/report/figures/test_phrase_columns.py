"""Tests of the order of phrase columns."""

import numpy as np
import pytest

from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.report.figures.attended_sentence import build_phrase_columns
from pipeline_py.subword.pack_trees import pack_trees
from pipeline_py.syntax.trees.constituency import PhraseNode, Preterminal, read_phrase_trees


def test_phrases_are_sorted_by_height_and_position(tmp_path):
    (tmp_path / "trees").write_text(
        "(S (NP (D the) (N film)) (VP (V showed) (@VP (NP (A good) (N performance)) (R even))))\n"
    )
    (tree,) = read_phrase_trees(tmp_path / "trees")
    phrases = build_phrase_columns([tree.root], position_count=7)
    assert [(phrase.label, phrase.height, phrase.first, phrase.last) for phrase in phrases] == [
        ("NP", 1, 0, 1),
        ("NP", 1, 3, 4),
        ("@VP", 2, 3, 5),
        ("VP", 3, 2, 5),
        ("S", 4, 0, 5),
    ]
    assert [phrase.children for phrase in phrases] == [(0, 1), (3, 4), (8, 5), (2, 9), (7, 10)]


def test_trees_over_parts_of_sentence_are_numbered_together():
    word = Preterminal("X", "w")
    trees = [word, PhraseNode("A", (PhraseNode("A", (word, word)), word)), PhraseNode("B", (word, word)), word]
    phrases = build_phrase_columns(trees, position_count=8)
    assert [(phrase.label, phrase.first, phrase.last, phrase.children) for phrase in phrases] == [
        ("A", 1, 2, (1, 2)),
        ("B", 4, 5, (4, 5)),
        ("A", 1, 3, (8, 3)),
    ]


def test_no_trees_give_no_phrases():
    assert build_phrase_columns([], position_count=3) == []
    assert build_phrase_columns([Preterminal("X", "w")], position_count=2) == []


@pytest.mark.parametrize("seed", range(5))
def test_columns_agree_with_packed_trees(tmp_path, seed):
    random = np.random.default_rng(seed)
    words = [f"w{place}" for place in range(12)]

    def over(first: int, last: int) -> str:
        if first == last:
            return f"(X {words[first]})"
        cut = int(random.integers(first, last))
        return f"(P {over(first, cut)} {over(cut + 1, last)})"

    (tmp_path / "trees").write_text(over(0, 11) + "\n")
    (tmp_path / "pieces").write_text(" ".join(words) + "\n")
    files = {name: tmp_path / name for name in ("trees", "pieces", "output", "counts_output")}
    pack_trees(**files)
    nodes = RaggedArrayFile(tmp_path / "output")[0][1:].reshape(-1, 3)
    (tree,) = read_phrase_trees(tmp_path / "trees")
    # Node 12 + k is column 13 + k, because EOS is column 12.
    phrases = build_phrase_columns([tree.root], position_count=13)
    assert [list(phrase.children) for phrase in phrases] == [
        [n if n < 12 else n + 1 for n in node[:2]] for node in nodes
    ]
    assert [phrase.height for phrase in phrases] == nodes[:, 2].tolist()
    assert phrases[-1].first == 0 and phrases[-1].last == 11


def test_deep_tree_does_not_overflow_the_stack():
    node = Preterminal("X", "w")
    for _ in range(3000):
        node = PhraseNode("P", (Preterminal("X", "w"), node))
    phrases = build_phrase_columns([node], position_count=3002)
    assert (phrases[0].first, phrases[-1].first, phrases[-1].height) == (2999, 0, 3000)
