"""Head rules of treebanks: which child of a phrase the others are attached to, by the labels of the children.

- English: the table of Collins (1999, appendix A) for the Penn Treebank, without his special treatment of coordination.
- Chinese: the table of Zhang and Clark (2008, "A Tale of Two Parsers") for the Chinese Treebank, mostly that of Sun and
  Jurafsky (2004).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Search(NamedTuple):
    """A search for the first child with one of some labels.

    Attributes:
        from_left: whether it begins with the first child, or else with the last.
        labels: what it looks for.
    """

    from_left: bool
    labels: frozenset[str]


class Rule(NamedTuple):
    """The head rule of a phrase.

    Attributes:
        searches: in the order of their priority.
        first_by_default: whether the first child is the head if nothing is found, or else the last.
        last_label: the label with which the last child is the head, before any search.
    """

    searches: tuple[Search, ...] = ()
    first_by_default: bool = False
    last_label: str | None = None


@dataclass(frozen=True)
class HeadRules:
    """Head rules of a treebank.

    Attributes:
        name: the language and the source of the rules, for people.
        rules: by label of the phrase; the head of any other phrase is its last child.
    """

    name: str
    rules: Mapping[str, Rule]

    def head_child(self, label: str, children: Sequence[str]) -> int:
        """Return the index of the head among the labels of a phrase's children."""
        last = len(children) - 1
        rule = self.rules.get(label, Rule())
        if children[last] == rule.last_label:
            return last
        for search in rule.searches:
            for place in range(last + 1) if search.from_left else range(last, -1, -1):
                if children[place] in search.labels:
                    return place
        return 0 if rule.first_by_default else last


def _one_by_one(from_left: bool, labels: str) -> Rule:
    """Look for one label after the other."""
    return Rule(tuple(Search(from_left, frozenset([label])) for label in labels.split()), from_left)


def _any_of(from_left: bool, labels: str) -> Rule:
    """Look for all labels at a time."""
    return Rule((Search(from_left, frozenset(labels.split())),), from_left)


_ENGLISH_NOUN_PHRASE = Rule(
    (
        Search(False, frozenset(["NN", "NNP", "NNPS", "NNS", "NX", "POS", "JJR"])),
        Search(True, frozenset(["NP"])),
        Search(False, frozenset(["$", "ADJP", "PRN"])),
        Search(False, frozenset(["CD"])),
        Search(False, frozenset(["JJ", "JJS", "RB", "QP"])),
    ),
    last_label="POS",
)

ENGLISH = HeadRules(
    "English (Collins 1999)",
    {
        "ADJP": _one_by_one(True, "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
        "ADVP": _one_by_one(False, "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
        "CONJP": _one_by_one(False, "CC RB IN"),
        "FRAG": _one_by_one(False, ""),
        "INTJ": _one_by_one(True, ""),
        "LST": _one_by_one(False, "LS :"),
        "NAC": _one_by_one(True, "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
        "NP": _ENGLISH_NOUN_PHRASE,
        "NX": _ENGLISH_NOUN_PHRASE,
        "PP": _one_by_one(False, "IN TO VBG VBN RP FW"),
        "PRN": _one_by_one(True, ""),
        "PRT": _one_by_one(False, "RP"),
        "QP": _one_by_one(True, "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
        "RRC": _one_by_one(False, "VP NP ADVP ADJP PP"),
        "S": _one_by_one(True, "TO IN VP S SBAR ADJP UCP NP"),
        "SBAR": _one_by_one(True, "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
        "SBARQ": _one_by_one(True, "SQ S SINV SBARQ FRAG"),
        "SINV": _one_by_one(True, "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
        "SQ": _one_by_one(True, "VBZ VBD VBP VB MD VP SQ"),
        "UCP": _one_by_one(False, ""),
        "VP": _one_by_one(True, "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
        "WHADJP": _one_by_one(True, "CC WRB JJ ADJP"),
        "WHADVP": _one_by_one(False, "CC WRB"),
        "WHNP": _one_by_one(True, "WDT WP WP$ WHADJP WHPP WHNP"),
        "WHPP": _one_by_one(False, "IN TO FW"),
    },
)

CHINESE = HeadRules(
    "Chinese (Zhang and Clark 2008)",
    {
        "ADJP": _any_of(False, "ADJP JJ AD"),
        "ADVP": _any_of(False, "ADVP AD CS JJ NP PP P VA VV"),
        "CLP": _any_of(False, "CLP M NN NP"),
        "CP": _any_of(False, "CP IP VP"),
        "DNP": _any_of(False, "DEG DNP DEC QP"),
        "DP": Rule((Search(False, frozenset(["M"])), Search(True, frozenset(["DP", "DT", "OD"]))), True),
        "DVP": _any_of(False, "DEV AD VP"),
        "FRAG": _any_of(False, "VV NR NN NT"),
        "IP": _any_of(False, "VP IP NP"),
        "LCP": _any_of(False, "LCP LC"),
        "LST": _any_of(False, "CD NP QP"),
        "NP": _any_of(False, "NP NN IP NR NT"),
        "NN": _any_of(False, "NP NN IP NR NT"),
        "PP": _any_of(True, "P PP"),
        "PRN": _any_of(True, "PU"),
        "QP": _any_of(False, "QP CLP CD"),
        "UCP": _any_of(True, "IP NP VP"),
        "VCD": _any_of(True, "VV VA VE"),
        "VP": _any_of(True, "VE VC VV VNV VPT VRD VSB VCD VP"),
        "VPT": _any_of(True, "VA VV"),
        "VRD": _any_of(True, "VV VA"),
        "VSB": _any_of(False, "VV VE"),
    },
)

DEFAULT_RULES = "en"
"""The language whose rules stand in for those of a language without rules."""

RULES: Mapping[str, HeadRules] = {DEFAULT_RULES: ENGLISH, "zh": CHINESE}
"""Head rules by language."""
