"""English phrases without clauses inside: base noun phrases, adjective, adverb and prepositional phrases."""

from embedded_grammar.derivation import NounPhrase
from embedded_grammar.determiners import DETERMINER_THE
from embedded_grammar.english.word_leaves import (
    build_determiner_leaf,
    build_noun_leaf,
    build_number_leaf,
    build_pronoun_leaf,
)
from embedded_grammar.modifiers import Adjective, Adverb
from embedded_grammar.nouns import Pronoun
from embedded_grammar.syntax_tree import Constituent, Leaf, SyntaxNode, set_relation

NEGATIVE_POLARITY = "Polarity=Neg"


def build_coordinator(conjunction: str, conjunct: SyntaxNode) -> SyntaxNode:
    """Build the leaf of a coordinating conjunction, governed by the conjunct after it."""
    return set_relation(Leaf(conjunction, "CC", "CCONJ"), "cc", conjunct)


def build_prepositional_phrase(preposition: str, phrase: Constituent, relation: str) -> Constituent:
    """Build PP → IN NP, headed by the noun."""
    case = set_relation(Leaf(preposition, "TO" if preposition == "to" else "IN", "ADP"), "case")
    result = Constituent("PP", phrase, [case, phrase])
    set_relation(result, relation)
    return result


def build_adverb_phrase(adverb: Adverb) -> Constituent:
    """Build an adverb, an adverbial noun (`yesterday`) or a phrase (`in the morning`, `at 14:30`)."""
    preposition, *words = adverb.english.split()
    if adverb.kind == "digits":
        head = build_number_leaf(words[0])
        return build_prepositional_phrase(preposition, Constituent("NP", head, [head]), "obl")
    leaf = Leaf(words[-1] if words else preposition, "NN", "NOUN", feats="Number=Sing")
    if adverb.kind == "daytime":
        article = set_relation(build_determiner_leaf(DETERMINER_THE, leaf.form), "det")
        return build_prepositional_phrase(preposition, Constituent("NP", leaf, [article, leaf]), "obl")
    if adverb.kind == "noun":
        return Constituent("NP", set_relation(leaf, "obl:tmod"), [leaf])
    leaf = Leaf(adverb.english, "RB", "ADV", feats=NEGATIVE_POLARITY if adverb.english == "never" else "_")
    return Constituent("ADVP", set_relation(leaf, "advmod"), [leaf])


def build_adjective_phrase(adjective: Adjective, degree: Adverb | None) -> Constituent:
    """Build an ADJP from an adjective and its degree, if it has one."""
    leaf = Leaf(adjective.english, "JJ", "ADJ", feats="Degree=Pos")
    children: list[SyntaxNode] = [leaf]
    if degree is not None:
        children.insert(0, set_relation(Leaf(degree.english, "RB", "ADV"), "advmod"))
    return Constituent("ADJP", leaf, children)


def build_base_noun_phrase(phrase: NounPhrase, is_nominative: bool) -> Constituent:
    """Build NP → (DT | NP 's) (JJ | ADJP)* NN."""
    if isinstance(phrase.head, Pronoun):
        leaf = build_pronoun_leaf(phrase.head, is_nominative)
        return Constituent("NP", leaf, [leaf])
    head = build_noun_leaf(phrase.head, phrase.is_plural)
    children: list[SyntaxNode] = []
    for adjective, degree in phrase.adjectives:
        inner = set_relation(build_adjective_phrase(adjective, degree), "amod")
        # An adjective without a degree is a bare JJ.
        children.append(inner if degree is not None else inner.head)
    children.append(head)
    if phrase.possessor is not None:
        children.insert(0, _build_possessor(phrase.possessor))
    elif phrase.determiner is not None:
        following = next(leaf.form for leaf in children[0].iterate_leaves())
        leaf = build_determiner_leaf(phrase.determiner, following)
        relation = {"PRP$": "nmod:poss", "CD": "nummod", "JJ": "amod"}.get(leaf.xpos, "det")
        children.insert(0, set_relation(leaf, relation))
    return Constituent("NP", head, children)


def _build_possessor(possessor: NounPhrase) -> Constituent:
    owner = build_base_noun_phrase(possessor, is_nominative=False)
    mark = set_relation(Leaf("'" if owner.head.form.endswith("s") else "'s", "POS", "PART", "'s"), "case")
    result = Constituent("NP", owner, [*owner.children, mark])
    set_relation(result, "nmod:poss")
    return result
