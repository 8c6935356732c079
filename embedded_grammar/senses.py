"""The senses of verbs: an English verb with its arguments and the German verb that translates it.

The translation of an English verb depends on its particle (`give up`, `give back`), on whether it has an object
(`run`), and on the object (`miss a train`, `miss a friend`).
"""

from dataclasses import dataclass

from embedded_grammar.english.verbs import EnglishVerb, inflect_english_verb
from embedded_grammar.german.verbs import GermanVerb, inflect_german_verb
from embedded_grammar.lexicon.entries import parse_known_words, read_entries
from embedded_grammar.nouns import NominalHead, Noun, select_nouns

CASES = ("nom", "acc", "dat", "gen")
CLAUSAL_ROLES = ("that", "whether", "infinitive")
PLACE_ROLES = ("place", "goal")
VERB_TRAITS = ("sein", "stative", "modal", "place")


@dataclass(frozen=True, slots=True, eq=False)
class ArgumentSlot:
    """An argument of a verb or an attribute of a noun, with its possible fillers and its marking in both languages."""

    english_role: str  # obj, iobj, place, goal, that, whether, infinitive, or a preposition
    fillers: tuple[Noun, ...] = ()
    german_preposition: str = ""
    german_case: str = ""  # empty for a clause, an apposition (`ein Glas Wein`) and a place or goal

    @property
    def is_clausal(self) -> bool:
        """True if a clause fills the slot."""
        return self.english_role in CLAUSAL_ROLES

    def get_prepositions(self, head: NominalHead) -> tuple[str, str]:
        """Return the English and the German preposition, which may depend on the head of the filler."""
        if self.english_role in PLACE_ROLES:
            return head.place_prepositions[self.english_role]
        return "to" if self.english_role == "iobj" else self.english_role, self.german_preposition


@dataclass(frozen=True, slots=True, eq=False)
class VerbSense:
    """A verb with its arguments in both languages."""

    english_verb: EnglishVerb
    particle: str
    subject_nouns: tuple[Noun, ...]
    slots: tuple[ArgumentSlot, ...]
    german_verb: GermanVerb
    traits: frozenset[str]
    instrument_nouns: tuple[Noun, ...]

    @property
    def object_slot(self) -> ArgumentSlot | None:
        """The slot of the direct object, if the verb has one."""
        return next((slot for slot in self.slots if slot.english_role == "obj"), None)


def parse_german_marking(german: str) -> tuple[str, str]:
    """Split `auf+acc` into preposition and case; the preposition of `acc` is empty.

    Raises:
        KeyError: the case is unknown.
    """
    preposition, _, case = german.rpartition("+")
    if case not in CASES:
        raise KeyError(german)
    return preposition, case


def _parse_slot(argument: str) -> ArgumentSlot:
    english, _, rest = argument.partition(":")
    classes, _, german = rest.partition("=")
    if english in CLAUSAL_ROLES:
        return ArgumentSlot(english)
    if english in PLACE_ROLES:
        return ArgumentSlot(
            english, tuple(noun for noun in select_nouns(classes) if english in noun.place_prepositions)
        )
    return ArgumentSlot(english, select_nouns(classes), *parse_german_marking(german))


def _build_sense(english: str, subjects: str, arguments: str, german: str, traits: str, instruments: str) -> VerbSense:
    verb, _, particle = english.partition(" ")
    return VerbSense(
        english_verb=inflect_english_verb(verb),
        particle=particle,
        subject_nouns=select_nouns(subjects),
        slots=tuple(_parse_slot(argument) for argument in arguments.split()),
        german_verb=inflect_german_verb(german),
        traits=parse_known_words(traits, VERB_TRAITS),
        instrument_nouns=select_nouns(instruments) if instruments else (),
    )


SENSES = read_entries("senses", _build_sense)
