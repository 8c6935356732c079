"""English phrases without clauses inside: base noun phrases, adjective, adverb and prepositional phrases."""

from embedded_grammar.derivation import NounPhrase
from embedded_grammar.determiners import THE
from embedded_grammar.english.words import determiner, noun, number, pronoun
from embedded_grammar.modifiers import Adjective, Adverb
from embedded_grammar.nouns import Pronoun
from embedded_grammar.tree import Leaf, Node, Phrase, attach

NEGATION = "Polarity=Neg"


def coordinator(word: str, conjunct: Node) -> Node:
    """`and` and its like, hung on the conjunct behind it."""
    return attach(Leaf(word, "CC", "CCONJ"), "cc", conjunct)


def prepositional(preposition: str, phrase: Phrase, relation: str) -> Phrase:
    """PP → IN NP, whose head is that of the noun phrase."""
    case = attach(Leaf(preposition, "TO" if preposition == "to" else "IN", "ADP"), "case")
    result = Phrase("PP", phrase, [case, phrase])
    attach(result, relation)
    return result


def adverb_phrase(adverb: Adverb) -> Phrase:
    """An adverb, an adverbial noun such as `yesterday`, or a phrase such as `in the morning` and `at 14:30`."""
    preposition, *words = adverb.english.split()
    if adverb.kind == "digits":
        head = number(words[0])
        return prepositional(preposition, Phrase("NP", head, [head]), "obl")
    leaf = Leaf(words[-1] if words else preposition, "NN", "NOUN", feats="Number=Sing")
    if adverb.kind == "daytime":
        article = attach(determiner(THE, leaf.form), "det")
        return prepositional(preposition, Phrase("NP", leaf, [article, leaf]), "obl")
    if adverb.kind == "noun":
        return Phrase("NP", attach(leaf, "obl:tmod"), [leaf])
    leaf = Leaf(adverb.english, "RB", "ADV", feats=NEGATION if adverb.english == "never" else "_")
    return Phrase("ADVP", attach(leaf, "advmod"), [leaf])


def adjective_phrase(adjective: Adjective, degree: Adverb | None) -> Phrase:
    """An adjective with or without a degree."""
    leaf = Leaf(adjective.english, "JJ", "ADJ", feats="Degree=Pos")
    children: list[Node] = [leaf]
    if degree is not None:
        children.insert(0, attach(Leaf(degree.english, "RB", "ADV"), "advmod"))
    return Phrase("ADJP", leaf, children)


def base(phrase: NounPhrase, nominative: bool) -> Phrase:
    """NP → (DT | NP 's) (JJ | ADJP)* NN."""
    if isinstance(phrase.head, Pronoun):
        leaf = pronoun(phrase.head, nominative)
        return Phrase("NP", leaf, [leaf])
    head = noun(phrase.head, phrase.plural)
    children: list[Node] = []
    for adjective, degree in phrase.adjectives:
        inner = attach(adjective_phrase(adjective, degree), "amod")
        # An adjective of its own is a bare JJ inside the NP; an ADJP needs a degree.
        children.append(inner if degree is not None else inner.head)
    children.append(head)
    if phrase.possessor is not None:
        children.insert(0, _possessor(phrase.possessor))
    elif phrase.determiner is not None:
        following = next(leaf.form for leaf in children[0].leaves())
        leaf = determiner(phrase.determiner, following)
        relation = {"PRP$": "nmod:poss", "CD": "nummod", "JJ": "amod"}.get(leaf.xpos, "det")
        children.insert(0, attach(leaf, relation))
    return Phrase("NP", head, children)


def _possessor(possessor: NounPhrase) -> Phrase:
    owner = base(possessor, nominative=False)
    mark = attach(Leaf("'" if owner.head.form.endswith("s") else "'s", "POS", "PART", "'s"), "case")
    result = Phrase("NP", owner, [*owner.children, mark])
    attach(result, "nmod:poss")
    return result
