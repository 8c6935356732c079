"""Head rules of treebanks, which select the head child of a phrase by the labels of its children.

- English: the table of Collins (1999, appendix A) for the Penn Treebank, without his special treatment of coordination.
- Chinese: the table of Zhang and Clark (2008, "A Tale of Two Parsers") for the Chinese Treebank, mostly that of Sun and
  Jurafsky (2004).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class HeadSearch(NamedTuple):
    """A search for a child with one of several labels.

    Attributes:
        is_from_left: Start with the first child instead of the last.
        labels: Labels to search for.
    """

    is_from_left: bool
    labels: frozenset[str]


class HeadRule(NamedTuple):
    """The head rule of a phrase.

    Attributes:
        searches: Searches in order of priority.
        is_first_default: Use the first child instead of the last if all searches fail.
        last_child_head_label: If the last child has this label, it is the head.
    """

    searches: tuple[HeadSearch, ...] = ()
    is_first_default: bool = False
    last_child_head_label: str | None = None


@dataclass(frozen=True)
class HeadRules:
    """Head rules of a treebank.

    Attributes:
        name: Language and source of the rules, for display.
        rules: Rules by label of the phrase; the head of other phrases is their last child.
    """

    name: str
    rules: Mapping[str, HeadRule]

    def find_head_child(self, phrase_label: str, child_labels: Sequence[str]) -> int:
        """Return the index of the head among the labels of a phrase's children."""
        last = len(child_labels) - 1
        rule = self.rules.get(phrase_label, HeadRule())
        if child_labels[last] == rule.last_child_head_label:
            return last
        for search in rule.searches:
            for place in range(last + 1) if search.is_from_left else range(last, -1, -1):
                if child_labels[place] in search.labels:
                    return place
        return 0 if rule.is_first_default else last


def _build_ordered_rule(is_from_left: bool, labels: str) -> HeadRule:
    """Build a rule that searches for one label after the other."""
    return HeadRule(tuple(HeadSearch(is_from_left, frozenset([label])) for label in labels.split()), is_from_left)


def _build_unordered_rule(is_from_left: bool, labels: str) -> HeadRule:
    """Build a rule that searches for all labels at once."""
    return HeadRule((HeadSearch(is_from_left, frozenset(labels.split())),), is_from_left)


_ENGLISH_NOUN_PHRASE_RULE = HeadRule(
    (
        HeadSearch(False, frozenset(["NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR"])),
        HeadSearch(True, frozenset(["NP"])),
        HeadSearch(False, frozenset(["$", "ADJP", "PRN"])),
        HeadSearch(False, frozenset(["CD"])),
        HeadSearch(False, frozenset(["JJ", "JJS", "RB", "QP"])),
    ),
    last_child_head_label="POS",
)

ENGLISH_HEAD_RULES = HeadRules(
    "English (Collins 1999)",
    {
        "ADJP": _build_ordered_rule(True, "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
        "ADVP": _build_ordered_rule(False, "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
        "CONJP": _build_ordered_rule(False, "CC RB IN"),
        "FRAG": _build_ordered_rule(False, ""),
        "INTJ": _build_ordered_rule(True, ""),
        "LST": _build_ordered_rule(False, "LS :"),
        "NAC": _build_ordered_rule(True, "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
        "NP": _ENGLISH_NOUN_PHRASE_RULE,
        "NX": _ENGLISH_NOUN_PHRASE_RULE,
        "PP": _build_ordered_rule(False, "IN TO VBG VBN RP FW"),
        "PRN": _build_ordered_rule(True, ""),
        "PRT": _build_ordered_rule(False, "RP"),
        "QP": _build_ordered_rule(True, "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
        "RRC": _build_ordered_rule(False, "VP NP ADVP ADJP PP"),
        "S": _build_ordered_rule(True, "TO IN VP S SBAR ADJP UCP NP"),
        "SBAR": _build_ordered_rule(True, "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
        "SBARQ": _build_ordered_rule(True, "SQ S SINV SBARQ FRAG"),
        "SINV": _build_ordered_rule(True, "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
        "SQ": _build_ordered_rule(True, "VBZ VBD VBP VB MD VP SQ"),
        "UCP": _build_ordered_rule(False, ""),
        "VP": _build_ordered_rule(True, "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
        "WHADJP": _build_ordered_rule(True, "CC WRB JJ ADJP"),
        "WHADVP": _build_ordered_rule(False, "CC WRB"),
        "WHNP": _build_ordered_rule(True, "WDT WP WP$ WHADJP WHPP WHNP"),
        "WHPP": _build_ordered_rule(False, "IN TO FW"),
    },
)

CHINESE_HEAD_RULES = HeadRules(
    "Chinese (Zhang and Clark 2008)",
    {
        "ADJP": _build_unordered_rule(False, "ADJP JJ AD"),
        "ADVP": _build_unordered_rule(False, "ADVP AD CS JJ NP PP P VA VV"),
        "CLP": _build_unordered_rule(False, "CLP M NN NP"),
        "CP": _build_unordered_rule(False, "CP IP VP"),
        "DNP": _build_unordered_rule(False, "DEG DNP DEC QP"),
        "DP": HeadRule((HeadSearch(False, frozenset(["M"])), HeadSearch(True, frozenset(["DP", "DT", "OD"]))), True),
        "DVP": _build_unordered_rule(False, "DEV AD VP"),
        "FRAG": _build_unordered_rule(False, "VV NR NN NT"),
        "IP": _build_unordered_rule(False, "VP IP NP"),
        "LCP": _build_unordered_rule(False, "LCP LC"),
        "LST": _build_unordered_rule(False, "CD NP QP"),
        "NP": _build_unordered_rule(False, "NP NN IP NR NT"),
        "NN": _build_unordered_rule(False, "NP NN IP NR NT"),
        "PP": _build_unordered_rule(True, "P PP"),
        "PRN": _build_unordered_rule(True, "PU"),
        "QP": _build_unordered_rule(False, "QP CLP CD"),
        "UCP": _build_unordered_rule(True, "IP NP VP"),
        "VCD": _build_unordered_rule(True, "VV VA VE"),
        "VP": _build_unordered_rule(True, "VE VC VV VNV VPT VRD VSB VCD VP"),
        "VPT": _build_unordered_rule(True, "VA VV"),
        "VRD": _build_unordered_rule(True, "VV VA"),
        "VSB": _build_unordered_rule(False, "VV VE"),
    },
)

DEFAULT_RULES_LANGUAGE = "en"
"""Language whose rules are used for languages without rules."""

HEAD_RULES_BY_LANGUAGE: Mapping[str, HeadRules] = {DEFAULT_RULES_LANGUAGE: ENGLISH_HEAD_RULES, "zh": CHINESE_HEAD_RULES}
