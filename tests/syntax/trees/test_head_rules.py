"""Head rules against examples of the treebanks that they are made for."""

import pytest

from pipeline_py.syntax.trees.head_rules import CHINESE, ENGLISH, RULES, HeadRules, Rule


@pytest.mark.parametrize(
    ("rules", "phrase", "head"),
    [
        (CHINESE, "VP VV AS NP", "VV"),
        (CHINESE, "VP PP VP", "VP"),
        (CHINESE, "VP BA IP", "BA"),
        (CHINESE, "IP NP VP PU", "VP"),
        (CHINESE, "IP IP PU IP PU", 2),
        (CHINESE, "NP NP PU NN", "NN"),
        (CHINESE, "NP QP NN NN", 2),
        (CHINESE, "CP IP DEC", "IP"),
        (CHINESE, "DNP NP DEG", "DEG"),
        (CHINESE, "DP DT CLP", "DT"),
        (CHINESE, "DP DT QP M", "M"),
        (CHINESE, "LCP NP LC", "LC"),
        (CHINESE, "PP P NP", "P"),
        (CHINESE, "VRD VV VV", 0),
        (CHINESE, "XP A B", "B"),
        (ENGLISH, "VP MD RB VP", "MD"),
        (ENGLISH, "S NP VP .", "VP"),
        (ENGLISH, "NP DT NN POS", "POS"),
        (ENGLISH, "NP NP PP", "NP"),
        (ENGLISH, "NP NNP NN", "NN"),
        (ENGLISH, "PP IN NP", "IN"),
        (ENGLISH, "PRN , S ,", 0),
        (ENGLISH, "XP A B", "B"),
    ],
)
def test_heads_of_phrases(rules: HeadRules, phrase: str, head: str | int) -> None:
    label, *children = phrase.split()
    place = rules.head_child(label, children)
    assert place == head if isinstance(head, int) else children[place] == head


def test_rules_of_a_language_have_a_name() -> None:
    assert {language: rules.name for language, rules in RULES.items()} == {
        "en": "English (Collins 1999)",
        "zh": "Chinese (Zhang and Clark 2008)",
    }
    assert HeadRules("none", {"X": Rule((), True)}).head_child("X", ["A", "B"]) == 0
