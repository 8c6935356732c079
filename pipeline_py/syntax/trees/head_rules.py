"""Heads of English phrases: which child the others are attached to.

The table is that of Collins (1999, appendix A) for the Penn Treebank, without his special treatment of coordination.
"""

from collections.abc import Sequence

# label: (search from the left?, labels in the order of their priority)
RULES: dict[str, tuple[bool, str]] = {
    "ADJP": (True, "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
    "ADVP": (False, "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
    "CONJP": (False, "CC RB IN"),
    "FRAG": (False, ""),
    "INTJ": (True, ""),
    "LST": (False, "LS :"),
    "NAC": (True, "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
    "PP": (False, "IN TO VBG VBN RP FW"),
    "PRN": (True, ""),
    "PRT": (False, "RP"),
    "QP": (True, "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    "RRC": (False, "VP NP ADVP ADJP PP"),
    "S": (True, "TO IN VP S SBAR ADJP UCP NP"),
    "SBAR": (True, "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
    "SBARQ": (True, "SQ S SINV SBARQ FRAG"),
    "SINV": (True, "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    "SQ": (True, "VBZ VBD VBP VB MD VP SQ"),
    "UCP": (False, ""),
    "VP": (True, "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    "WHADJP": (True, "CC WRB JJ ADJP"),
    "WHADVP": (False, "CC WRB"),
    "WHNP": (True, "WDT WP WP$ WHADJP WHPP WHNP"),
    "WHPP": (False, "IN TO FW"),
}

# A noun phrase asks for one of a set at a time: (search from the left?, set).
NOUN_PHRASE: tuple[tuple[bool, str], ...] = (
    (False, "NN NNP NNPS NNS NX POS JJR"),
    (True, "NP"),
    (False, "$ ADJP PRN"),
    (False, "CD"),
    (False, "JJ JJS RB QP"),
)


def head_child(label: str, children: Sequence[str]) -> int:
    """The index of the head among the labels of a phrase's children.

    An unknown phrase (another treebank, another language) has its last child as head.
    """
    last = len(children) - 1
    from_left, priorities = RULES.get(label, (False, ""))
    searches: Sequence[tuple[bool, str]] = [(from_left, wanted) for wanted in priorities.split()]
    if label in ("NP", "NX"):
        searches = NOUN_PHRASE if children[last] != "POS" else ()
    for search_from_left, wanted in searches:
        for place in range(last + 1) if search_from_left else range(last, -1, -1):
            if children[place] in wanted.split():
                return place
    return 0 if from_left else last
