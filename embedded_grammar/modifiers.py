"""Lexicon entries that modify nouns and clauses: adjectives, attributes, adverbs and conjunctions."""

from collections.abc import Mapping
from dataclasses import dataclass

from embedded_grammar.lexicon.entries import parse_known_words, read_entries
from embedded_grammar.nouns import NOUNS, PROPER_NAMES, TOWN_NAMES, NominalHead, Noun, select_nouns
from embedded_grammar.senses import ArgumentSlot, parse_german_marking

TIME_ADVERB_KINDS = ("noun", "adverb", "frequency", "late")
ADVERB_KINDS = (*TIME_ADVERB_KINDS, "daytime", "manner", "sentence", "degree")
TENSES = ("present", "past", "perfect", "progressive", "future", "can", "could", "must", "should")
COORDINATORS = {english: (english, german) for english, german in (("and", "und"), ("but", "aber"), ("or", "oder"))}


@dataclass(frozen=True, slots=True, eq=False)
class Adjective:
    """An adjective with the nouns that it can modify; German endings are added to `german_stem`."""

    english: str
    german: str
    german_stem: str
    compatible_nouns: tuple[Noun, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Adverb:
    """An adverb or invariable adverbial; `kind` is one of `ADVERB_KINDS` or `digits`."""

    english: str
    german: str
    kind: str
    tenses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class Subordinator:
    """A subordinating conjunction; `german_past` replaces `german` in the past if it is not empty."""

    english: str
    german: str
    german_past: str
    required_tense: str


def _build_adjective(english: str, german: str, stem: str, nouns: str) -> Adjective:
    return Adjective(english, german, stem or german, select_nouns(nouns))


def _parse_attribute(nouns: str, english: str, inner: str, german: str) -> tuple[tuple[Noun, ...], ArgumentSlot]:
    fillers = TOWN_NAMES if inner == "@town" else select_nouns(inner)
    return select_nouns(nouns), ArgumentSlot(english, fillers, *(parse_german_marking(german) if german else ()))


def _build_adverb(english: str, german: str, kind: str, tenses: str) -> Adverb:
    parse_known_words(kind, ADVERB_KINDS)
    return Adverb(english, german, kind, parse_known_words(tenses, TENSES))


def _build_subordinator(english: str, german: str, past: str, tense: str) -> Subordinator:
    parse_known_words(tense, ("simple", "perfect"))
    return Subordinator(english, german, past, tense)


ADJECTIVES = read_entries("adjectives", _build_adjective)
ATTRIBUTE_SLOTS = read_entries("attributes", _parse_attribute)
ADVERBS = read_entries("adverbs", _build_adverb)
EVENT_PREPOSITIONS = read_entries(
    "event_prepositions", lambda english, german: (english, *parse_german_marking(german))
)
SUBORDINATORS = read_entries("subordinators", _build_subordinator)
OPPOSITE_ADJECTIVES = read_entries(
    "opposites", lambda adjectives: parse_known_words(adjectives, {word.english for word in ADJECTIVES})
)

ADJECTIVES_BY_NOUN: Mapping[NominalHead, tuple[Adjective, ...]] = {
    noun: tuple(adjective for adjective in ADJECTIVES if noun in adjective.compatible_nouns) for noun in NOUNS
}
ATTRIBUTE_SLOTS_BY_NOUN: Mapping[NominalHead, tuple[ArgumentSlot, ...]] = {
    noun: tuple(slot for nouns, slot in ATTRIBUTE_SLOTS if noun in nouns) for noun in (*NOUNS, *PROPER_NAMES)
}


def select_adverbs(*kinds: str) -> tuple[Adverb, ...]:
    """Select the adverbs of some kinds, frequent ones first."""
    return tuple(adverb for adverb in ADVERBS if adverb.kind in kinds)


def is_incompatible(first_adjective: Adjective, second_adjective: Adjective) -> bool:
    """Return whether two adjectives are equal or opposites."""
    pair = {first_adjective.english, second_adjective.english}
    return len(pair) == 1 or any(pair <= opposites for opposites in OPPOSITE_ADJECTIVES)
