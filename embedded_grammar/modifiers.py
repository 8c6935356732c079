"""What can be added to a noun or a clause: adjectives, attributes, adverbs, times and subordinate clauses."""

from collections.abc import Mapping
from dataclasses import dataclass

from embedded_grammar.lexicon.entries import entries, known
from embedded_grammar.nouns import NAMES, NOUNS, TOWNS, Head, Noun, of_classes
from embedded_grammar.senses import Slot, marking

TIMES = ("noun", "adverb", "frequency", "late")
KINDS = (*TIMES, "daytime", "manner", "sentence", "degree")
TENSES = ("present", "past", "perfect", "progressive", "future", "can", "could", "must", "should")
COORDINATORS = {english: (english, german) for english, german in (("and", "und"), ("but", "aber"), ("or", "oder"))}


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective; `stem` takes the German endings, and `nouns` are those that it fits."""

    english: str
    german: str
    stem: str
    nouns: tuple[Noun, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Adverb:
    """An adverb, or words that never change and stand like one; `kind` is one of `KINDS`, or `digits`."""

    english: str
    german: str
    kind: str
    tenses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Subordinator:
    """A subordinating conjunction; German may have another one in the past."""

    english: str
    german: str
    past: str
    tense: str


def _adjective(english: str, german: str, stem: str, nouns: str) -> Adjective:
    return Adjective(english, german, stem or german, of_classes(nouns))


def _attribute(nouns: str, english: str, inner: str, german: str) -> tuple[tuple[Noun, ...], Slot]:
    fillers = TOWNS if inner == "@town" else of_classes(inner)
    return of_classes(nouns), Slot(english, fillers, *(marking(german) if german else ()))


def _adverb(english: str, german: str, kind: str, tenses: str) -> Adverb:
    known(kind, KINDS)
    return Adverb(english, german, kind, known(tenses, TENSES))


def _subordinator(english: str, german: str, past: str, tense: str) -> Subordinator:
    known(tense, ("simple", "perfect"))
    return Subordinator(english, german, past, tense)


ADJECTIVES = entries("adjectives", _adjective)
ATTRIBUTES = entries("attributes", _attribute)
ADVERBS = entries("adverbs", _adverb)
EVENTS = entries("event_prepositions", lambda english, german: (english, *marking(german)))
SUBORDINATORS = entries("subordinators", _subordinator)
OPPOSITES = entries("opposites", lambda adjectives: known(adjectives, {word.english for word in ADJECTIVES}))

ADJECTIVES_OF: Mapping[Head, tuple[Adjective, ...]] = {
    noun: tuple(adjective for adjective in ADJECTIVES if noun in adjective.nouns) for noun in NOUNS
}
ATTRIBUTES_OF: Mapping[Head, tuple[Slot, ...]] = {
    noun: tuple(slot for nouns, slot in ATTRIBUTES if noun in nouns) for noun in (*NOUNS, *NAMES)
}


def adverbs(*kinds: str) -> tuple[Adverb, ...]:
    """Those of some kinds, frequent ones first."""
    return tuple(adverb for adverb in ADVERBS if adverb.kind in kinds)


def clash(one: Adjective, other: Adjective) -> bool:
    """Whether two adjectives are the same or cannot describe the same thing."""
    pair = {one.english, other.english}
    return len(pair) == 1 or any(pair <= opposites for opposites in OPPOSITES)
