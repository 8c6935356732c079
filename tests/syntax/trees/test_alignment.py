"""Trees beside other trees: who is named when they do not belong together."""

from pathlib import Path

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.trees.constituency import PhraseTree, build_failed_phrase_tree
from pipeline_py.syntax.trees.tree_formats import pair_trees

ONE, OTHER = Path("one"), Path("other")


def trees(*sentences: str) -> list[PhraseTree]:
    return [
        PhraseTree(build_failed_phrase_tree(sentence.split()).root if sentence else None, line)
        for line, sentence in enumerate(sentences, start=11)
    ]


def test_pairs_of_the_same_words() -> None:
    one, other = trees("a ( b", "", "Ä"), trees("a -LRB- b", "", "ä")
    assert list(pair_trees(one[:2], other[:2], ONE, OTHER, "try again")) == [*zip(one[:2], other[:2], strict=True)]
    assert list(pair_trees(one[2:], other[2:], ONE, OTHER, "try again", str.lower)) == [(one[2], other[2])]
    with pytest.raises(
        InputError, match=r"^other, line 13: the words of sentence 3 are not .* one, line 13; try again$"
    ):
        list(pair_trees(one, other, ONE, OTHER, "try again"))


def test_the_shorter_file_is_named_first() -> None:
    one, other = trees("a", "b"), trees("a")
    with pytest.raises(InputError, match=r"^other: the file ends after 1 sentences, one goes on; try again$"):
        list(pair_trees(one, other, ONE, OTHER, "try again"))
    with pytest.raises(InputError, match=r"^one: the file ends after 1 sentences, other goes on; try again$"):
        list(pair_trees(other, one, ONE, OTHER, "try again"))
    assert not list(pair_trees([], [], ONE, OTHER, "try again"))
