"""Labels and tags by hand, and trees that can be read again whatever their tags are."""

import pytest
from nltk import Tree

from pipeline_py.syntax.trees.constituency import Phrase, PhraseTree, Preterminal, bare_label, brackets, simplify


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
    assert bare_label(label) == bare


def test_a_tag_of_nothing_but_a_sign_stays_a_tag() -> None:
    tree = PhraseTree(Phrase("S-1", (Preterminal("=", "="), Preterminal("--", "-"), Preterminal("NN", "a"))))
    assert Tree.fromstring(brackets(simplify(tree).root)).pos() == [("=", "="), ("-", "--"), ("a", "NN")]
