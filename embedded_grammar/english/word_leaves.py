"""English leaves: determiners, nouns, pronouns, and verbs with their auxiliaries."""

from embedded_grammar.derivation import Determiner
from embedded_grammar.english.verbs import EnglishVerb, inflect_english_verb
from embedded_grammar.nouns import Noun, Pronoun
from embedded_grammar.syntax_tree import Leaf

# Words that take the article of their first sound, not of their first letter.
VOWEL_SOUND_PREFIXES = ("hour", "honest")
CONSONANT_SOUND_PREFIXES = ("uni", "use", "euro", "one")

VERB_BE = inflect_english_verb("be")
VERB_HAVE = inflect_english_verb("have")
VERB_DO = inflect_english_verb("do")

MODAL_BY_TENSE = {"future": "will", "can": "can", "must": "must", "should": "should", "could": "could"}

_DETERMINER_FEATS = {
    "the": "Definite=Def|PronType=Art",
    "a": "Definite=Ind|PronType=Art",
    "this": "Number=Sing|PronType=Dem",
    "these": "Number=Plur|PronType=Dem",
}


def choose_indefinite_article(next_word: str) -> str:
    """Return `a` or `an`, by the first sound of the next word."""
    if next_word.startswith(CONSONANT_SOUND_PREFIXES):
        return "a"
    return "an" if next_word[0] in "aeiou" or next_word.startswith(VOWEL_SOUND_PREFIXES) else "a"


def build_determiner_leaf(entry: Determiner, next_word: str) -> Leaf:
    """Build the leaf of a determiner before a word."""
    match entry.pos_tag:
        case "PRP$":
            return Leaf(entry.english, "PRP$", "PRON", feats="Poss=Yes|PronType=Prs")
        case "CD":
            return build_number_leaf(entry.english)
        case "JJ":
            return Leaf(entry.english, "JJ", "ADJ", feats="Degree=Pos")
        case _:
            form = choose_indefinite_article(next_word) if entry.english == "a" else entry.english
            lemma = {"these": "this"}.get(entry.english, entry.english)
            return Leaf(form, "DT", "DET", lemma, _DETERMINER_FEATS.get(entry.english, "_"))


def build_number_leaf(form: str) -> Leaf:
    """Build the leaf of a number, or of a time or date in digits."""
    return Leaf(form, "CD", "NUM", feats="NumType=Card")


def build_noun_leaf(entry: Noun, is_plural: bool) -> Leaf:
    """Build the leaf of a noun or name."""
    if not entry.is_common:
        return Leaf(entry.english, "NNP", "PROPN", feats="Number=Sing")
    if is_plural:
        return Leaf(entry.english_plural, "NNS", "NOUN", entry.english, "Number=Plur")
    return Leaf(entry.english, "NN", "NOUN", entry.english, "Number=Sing")


def build_pronoun_leaf(entry: Pronoun, is_nominative: bool) -> Leaf:
    """Build the leaf of a personal pronoun."""
    number = "Plur" if entry.is_plural else "Sing"
    case = "Nom" if is_nominative else "Acc"
    form = entry.english if is_nominative else entry.object
    feats = f"Case={case}|Number={number}|Person={entry.person}|PronType=Prs"
    return Leaf(form, "PRP", "PRON", entry.english, feats)


def _build_finite_leaf(verb: EnglishVerb, is_past: bool, person: int, is_plural: bool, upos: str) -> Leaf:
    is_third_singular = person == 3 and not is_plural
    number = "Plur" if is_plural else "Sing"
    if verb is VERB_BE:
        form = ("were" if is_plural else "was") if is_past else "are" if is_plural else "am" if person == 1 else "is"
    else:
        form = verb.past if is_past else verb.third if is_third_singular else verb.base
    tag = "VBD" if is_past else "VBZ" if is_third_singular else "VBP"
    tense = "Past" if is_past else "Pres"
    return Leaf(form, tag, upos, verb.base, f"Mood=Ind|Number={number}|Person={person}|Tense={tense}|VerbForm=Fin")


def _build_infinitive_leaf(verb: EnglishVerb, upos: str) -> Leaf:
    return Leaf(verb.base, "VB", upos, verb.base, "VerbForm=Inf")


def _build_participle_leaf(verb: EnglishVerb, upos: str) -> Leaf:
    return Leaf(verb.participle, "VBN", upos, verb.base, "Tense=Past|VerbForm=Part")


def build_verb_chain(
    verb: EnglishVerb, tense: str, is_past_frame: bool, person: int, is_plural: bool, is_negated: bool
) -> list[Leaf]:
    """Build the leaves of a verb and its auxiliaries, the finite verb first and `verb` last.

    `is_negated` adds do-support where it is needed, but not the negation itself.
    """
    upos = "AUX" if verb is VERB_BE else "VERB"
    if tense in MODAL_BY_TENSE:
        form = MODAL_BY_TENSE[tense]
        return [
            Leaf(form, "MD", "AUX", "can" if form == "could" else form, "VerbForm=Fin"),
            _build_infinitive_leaf(verb, upos),
        ]
    if tense == "infinitive":
        return [_build_infinitive_leaf(verb, upos)]
    if tense == "perfect":
        return [
            _build_finite_leaf(VERB_HAVE, is_past_frame, person, is_plural, "AUX"),
            _build_participle_leaf(verb, upos),
        ]
    if tense == "progressive":
        gerund = Leaf(verb.gerund, "VBG", upos, verb.base, "Tense=Pres|VerbForm=Part")
        return [_build_finite_leaf(VERB_BE, is_past_frame, person, is_plural, "AUX"), gerund]
    if is_negated and verb is not VERB_BE:
        return [
            _build_finite_leaf(VERB_DO, is_past_frame, person, is_plural, "AUX"),
            _build_infinitive_leaf(verb, upos),
        ]
    return [_build_finite_leaf(verb, is_past_frame, person, is_plural, upos)]
