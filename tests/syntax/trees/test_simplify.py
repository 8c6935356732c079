"""Tests of the simplification of labels and tags."""

import pytest
from nltk import Tree

from pipeline_py.syntax.trees.constituency import (
    PhraseNode,
    PhraseTree,
    Preterminal,
    simplify_tree,
    strip_functional_tags,
    to_bracket_string,
)


@pytest.mark.parametrize(
    ("label", "stripped_label"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("PP-LOC=3", "PP"),
        ("PRP$", "PRP$"),
        ("-LRB-", "-LRB-"),
        ("-NONE-", "-NONE-"),
        ("=", "="),
        ("", ""),
    ],
)
def test_functional_tags_are_stripped(label: str, stripped_label: str) -> None:
    assert strip_functional_tags(label) == stripped_label


def test_punctuation_tags_are_kept() -> None:
    tree = PhraseTree(PhraseNode("S-1", (Preterminal("=", "="), Preterminal("--", "-"), Preterminal("NN", "a"))))
    assert Tree.fromstring(to_bracket_string(simplify_tree(tree).root)).pos() == [("=", "="), ("-", "--"), ("a", "NN")]
