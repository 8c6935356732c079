"""Head rules against examples of the treebanks that they are made for."""

import pytest

from pipeline_py.syntax.trees.head_rules import CHINESE, ENGLISH, RULES, HeadRules, Rule


@pytest.mark.parametrize(
    ("phrase", "head"),
    [
        ("VP VV AS NP", "VV"),
        ("VP PP VP", "VP"),
        ("VP BA IP", "BA"),
        ("IP NP VP PU", "VP"),
        ("IP IP PU IP PU", 2),
        ("NP NP PU NN", "NN"),
        ("NP QP NN NN", 2),
        ("CP IP DEC", "IP"),
        ("DNP NP DEG", "DEG"),
        ("DP DT CLP", "DT"),
        ("DP DT QP M", "M"),
        ("LCP NP LC", "LC"),
        ("PP P NP", "P"),
        ("VRD VV VV", 0),
        ("XP A B", "B"),
    ],
)
def test_heads_of_chinese_phrases(phrase: str, head: str | int) -> None:
    label, *children = phrase.split()
    place = CHINESE.head_child(label, children)
    assert place == head if isinstance(head, int) else children[place] == head


@pytest.mark.parametrize(
    ("phrase", "head"),
    [
        ("VP MD RB VP", "MD"),
        ("S NP VP .", "VP"),
        ("NP DT NN POS", "POS"),
        ("NP NP PP", "NP"),
        ("NP NNP NN", "NN"),
        ("PP IN NP", "IN"),
        ("PRN , S ,", 0),
        ("XP A B", "B"),
    ],
)
def test_heads_of_english_phrases(phrase: str, head: str | int) -> None:
    label, *children = phrase.split()
    place = ENGLISH.head_child(label, children)
    assert place == head if isinstance(head, int) else children[place] == head


def test_rules_of_a_language_have_a_name() -> None:
    assert {language: rules.name for language, rules in RULES.items()} == {
        "en": "English (Collins 1999)",
        "zh": "Chinese (Zhang and Clark 2008)",
    }
    assert HeadRules("none", {"X": Rule((), True)}).head_child("X", ["A", "B"]) == 0
