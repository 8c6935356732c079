"""Tests of pairing the trees of two files."""

from pathlib import Path

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.constituency import PhraseTree, build_failed_phrase_tree
from pipeline_py.syntax.trees.tree_formats import pair_trees

FIRST, SECOND = Path("first"), Path("second")


def trees(*sentences: str) -> list[PhraseTree]:
    return [
        PhraseTree(build_failed_phrase_tree(sentence.split()).root if sentence else None, line)
        for line, sentence in enumerate(sentences, start=11)
    ]


def test_trees_of_the_same_words_are_paired() -> None:
    first, second = trees("a ( b", "", "Ä"), trees("a -LRB- b", "", "ä")
    expected = [*zip(first[:2], second[:2], strict=True)]
    assert list(pair_trees(first[:2], second[:2], FIRST, SECOND, "try again")) == expected
    assert list(pair_trees(first[2:], second[2:], FIRST, SECOND, "try again", str.lower)) == [(first[2], second[2])]
    with pytest.raises(
        InputError, match=r"^second, line 13: the words of sentence 3 are not .* first, line 13; try again$"
    ):
        list(pair_trees(first, second, FIRST, SECOND, "try again"))


def test_shorter_file_is_named_first() -> None:
    first, second = trees("a", "b"), trees("a")
    with pytest.raises(InputError, match=r"^second: the file ends after 1 sentences, first goes on; try again$"):
        list(pair_trees(first, second, FIRST, SECOND, "try again"))
    with pytest.raises(InputError, match=r"^first: the file ends after 1 sentences, second goes on; try again$"):
        list(pair_trees(second, first, FIRST, SECOND, "try again"))
    assert not list(pair_trees([], [], FIRST, SECOND, "try again"))
