"""English tokens: pronouns, determiners, nouns, and the chain of auxiliaries in front of a verb."""

from embedded_grammar.derivation import Determiner
from embedded_grammar.english.verbs import EnglishVerb, english_verb
from embedded_grammar.nouns import Noun, Pronoun
from embedded_grammar.tree import Leaf

# The few words of the grammar whose first letter and first sound disagree.
VOWEL_SOUND = ("hour", "honest")
CONSONANT_SOUND = ("uni", "use", "euro", "one")

BE = english_verb("be")
HAVE = english_verb("have")
DO = english_verb("do")

MODALS = {"future": "will", "can": "can", "must": "must", "should": "should", "could": "could"}

_DETERMINER_FEATS = {
    "the": "Definite=Def|PronType=Art",
    "a": "Definite=Ind|PronType=Art",
    "this": "Number=Sing|PronType=Dem",
    "these": "Number=Plur|PronType=Dem",
}


def indefinite_article(following: str) -> str:
    """`a` or `an`, by the sound the next word begins with."""
    if following.startswith(CONSONANT_SOUND):
        return "a"
    return "an" if following[0] in "aeiou" or following.startswith(VOWEL_SOUND) else "a"


def determiner(word: Determiner, following: str) -> Leaf:
    """The leaf of a determiner in front of a word."""
    match word.tag:
        case "PRP$":
            return Leaf(word.english, "PRP$", "PRON", feats="Poss=Yes|PronType=Prs")
        case "CD":
            return number(word.english)
        case "JJ":
            return Leaf(word.english, "JJ", "ADJ", feats="Degree=Pos")
        case _:
            form = indefinite_article(following) if word.english == "a" else word.english
            lemma = {"these": "this"}.get(word.english, word.english)
            return Leaf(form, "DT", "DET", lemma, _DETERMINER_FEATS.get(word.english, "_"))


def number(form: str) -> Leaf:
    """The leaf of a number, or of a time or date in digits."""
    return Leaf(form, "CD", "NUM", feats="NumType=Card")


def noun(entry: Noun, plural: bool) -> Leaf:
    """The leaf of a noun or name."""
    number = "Plur" if plural else "Sing"
    if not entry.common:
        return Leaf(entry.english, "NNP", "PROPN", feats="Number=Sing")
    if plural:
        return Leaf(entry.plural, "NNS", "NOUN", entry.english, f"Number={number}")
    return Leaf(entry.english, "NN", "NOUN", entry.english, f"Number={number}")


def pronoun(entry: Pronoun, nominative: bool) -> Leaf:
    """The leaf of a personal pronoun."""
    number = "Plur" if entry.plural else "Sing"
    case = "Nom" if nominative else "Acc"
    form = entry.english if nominative else entry.object
    feats = f"Case={case}|Number={number}|Person={entry.person}|PronType=Prs"
    return Leaf(form, "PRP", "PRON", entry.english, feats)


def _finite(verb: EnglishVerb, past: bool, person: int, plural: bool, upos: str) -> Leaf:
    third = person == 3 and not plural
    number = "Plur" if plural else "Sing"
    if verb is BE:
        form = ("were" if plural else "was") if past else "are" if plural else "am" if person == 1 else "is"
    else:
        form = verb.past if past else verb.third if third else verb.base
    tag = "VBD" if past else "VBZ" if third else "VBP"
    tense = "Past" if past else "Pres"
    return Leaf(form, tag, upos, verb.base, f"Mood=Ind|Number={number}|Person={person}|Tense={tense}|VerbForm=Fin")


def _plain(verb: EnglishVerb, upos: str) -> Leaf:
    return Leaf(verb.base, "VB", upos, verb.base, "VerbForm=Inf")


def _participle(verb: EnglishVerb, upos: str) -> Leaf:
    return Leaf(verb.participle, "VBN", upos, verb.base, "Tense=Past|VerbForm=Part")


def verb_chain(verb: EnglishVerb, tense: str, past_frame: bool, person: int, plural: bool, negated: bool) -> list[Leaf]:
    """The finite verb first, the lexical verb last; with a copula as `verb`, that is a form of `be`.

    `negated` only adds what negation needs (do-support), not the negation itself.
    """
    upos = "AUX" if verb is BE else "VERB"
    if tense in MODALS:
        form = MODALS[tense]
        return [Leaf(form, "MD", "AUX", "can" if form == "could" else form, "VerbForm=Fin"), _plain(verb, upos)]
    if tense == "infinitive":
        return [_plain(verb, upos)]
    if tense == "perfect":
        return [_finite(HAVE, past_frame, person, plural, "AUX"), _participle(verb, upos)]
    if tense == "progressive":
        gerund = Leaf(verb.gerund, "VBG", upos, verb.base, "Tense=Pres|VerbForm=Part")
        return [_finite(BE, past_frame, person, plural, "AUX"), gerund]
    if negated and verb is not BE:
        return [_finite(DO, past_frame, person, plural, "AUX"), _plain(verb, upos)]
    return [_finite(verb, past_frame, person, plural, upos)]
