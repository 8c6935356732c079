"""Tests of head rules on examples from treebanks."""

import pytest

from pipeline_py.syntax.trees.head_rules import (
    CHINESE_HEAD_RULES,
    ENGLISH_HEAD_RULES,
    HEAD_RULES_BY_LANGUAGE,
    HeadRule,
    HeadRules,
)


@pytest.mark.parametrize(
    ("rules", "phrase", "head"),
    [
        (CHINESE_HEAD_RULES, "VP VV AS NP", "VV"),
        (CHINESE_HEAD_RULES, "VP PP VP", "VP"),
        (CHINESE_HEAD_RULES, "VP BA IP", "BA"),
        (CHINESE_HEAD_RULES, "IP NP VP PU", "VP"),
        (CHINESE_HEAD_RULES, "IP IP PU IP PU", 2),
        (CHINESE_HEAD_RULES, "NP NP PU NN", "NN"),
        (CHINESE_HEAD_RULES, "NP QP NN NN", 2),
        (CHINESE_HEAD_RULES, "CP IP DEC", "IP"),
        (CHINESE_HEAD_RULES, "DNP NP DEG", "DEG"),
        (CHINESE_HEAD_RULES, "DP DT CLP", "DT"),
        (CHINESE_HEAD_RULES, "DP DT QP M", "M"),
        (CHINESE_HEAD_RULES, "LCP NP LC", "LC"),
        (CHINESE_HEAD_RULES, "PP P NP", "P"),
        (CHINESE_HEAD_RULES, "VRD VV VV", 0),
        (CHINESE_HEAD_RULES, "XP A B", "B"),
        (ENGLISH_HEAD_RULES, "VP MD RB VP", "MD"),
        (ENGLISH_HEAD_RULES, "S NP VP .", "VP"),
        (ENGLISH_HEAD_RULES, "NP DT NN POS", "POS"),
        (ENGLISH_HEAD_RULES, "NP NP PP", "NP"),
        (ENGLISH_HEAD_RULES, "NP NNP NN", "NN"),
        (ENGLISH_HEAD_RULES, "PP IN NP", "IN"),
        # The first label of the list is searched for first, whatever the order of the children.
        (ENGLISH_HEAD_RULES, "VP TO VBD", "TO"),
        (ENGLISH_HEAD_RULES, "VP VBD TO", "TO"),
        (ENGLISH_HEAD_RULES, "VP VB VBZ", "VBZ"),
        (ENGLISH_HEAD_RULES, "S VP IN", "IN"),
        (ENGLISH_HEAD_RULES, "SBAR S IN", "IN"),
        (ENGLISH_HEAD_RULES, "SBAR IN WHNP", "WHNP"),
        (ENGLISH_HEAD_RULES, "SINV MD VBZ", "VBZ"),
        (ENGLISH_HEAD_RULES, "SQ VP MD", "MD"),
        (ENGLISH_HEAD_RULES, "ADJP RB JJ", "JJ"),
        (ENGLISH_HEAD_RULES, "ADVP IN RB", "RB"),
        (ENGLISH_HEAD_RULES, "QP CD IN", "IN"),
        (ENGLISH_HEAD_RULES, "WHNP WP WDT", "WDT"),
        (ENGLISH_HEAD_RULES, "WHPP TO IN", "IN"),
        (ENGLISH_HEAD_RULES, "NAC NNS NN", "NN"),
        (ENGLISH_HEAD_RULES, "RRC NP VP", "VP"),
        # Of equal labels, the side where the search begins decides.
        (ENGLISH_HEAD_RULES, "VP VB VB", 0),
        (ENGLISH_HEAD_RULES, "PP IN IN", 1),
        (ENGLISH_HEAD_RULES, "SBAR S S", 0),
        (ENGLISH_HEAD_RULES, "ADJP JJ JJ", 0),
        (ENGLISH_HEAD_RULES, "ADVP RB RB", 1),
        (ENGLISH_HEAD_RULES, "WHADVP CC CC", 1),
        # Without a label of the list, it is the child on that side.
        (ENGLISH_HEAD_RULES, "VP A B", "A"),
        (ENGLISH_HEAD_RULES, "PP A B", "B"),
        (ENGLISH_HEAD_RULES, "PRN , S ,", 0),
        (ENGLISH_HEAD_RULES, "XP A B", "B"),
    ],
)
def test_head_child_follows_the_rules(rules: HeadRules, phrase: str, head: str | int) -> None:
    label, *children = phrase.split()
    place = rules.find_head_child(label, children)
    assert place == head if isinstance(head, int) else children[place] == head


def test_rules_have_display_names() -> None:
    assert {language: rules.name for language, rules in HEAD_RULES_BY_LANGUAGE.items()} == {
        "en": "English (Collins 1999)",
        "zh": "Chinese (Zhang and Clark 2008)",
    }
    assert HeadRules("none", {"X": HeadRule((), True)}).find_head_child("X", ["A", "B"]) == 0
