"""Labels and tags by hand, and trees that can be read again whatever their tags are."""

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
    ("label", "bare"),
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
def test_functional_tags(label: str, bare: str) -> None:
    assert strip_functional_tags(label) == bare


def test_a_tag_of_nothing_but_a_sign_stays_a_tag() -> None:
    tree = PhraseTree(PhraseNode("S-1", (Preterminal("=", "="), Preterminal("--", "-"), Preterminal("NN", "a"))))
    assert Tree.fromstring(to_bracket_string(simplify_tree(tree).root)).pos() == [("=", "="), ("-", "--"), ("a", "NN")]
