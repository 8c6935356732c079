"""What verbs mean: a sense pairs an English verb with its arguments and the German verb those arguments call for.

The same English verb has different German verbs by its particle (`give up`, `give back`), by whether it has an
object (`run`), and by what the object is (`miss a train`, `miss a friend`): out of context it is ambiguous, in its
tree it is not.
"""

from dataclasses import dataclass

from embedded_grammar.english.verbs import EnglishVerb, english_verb
from embedded_grammar.german.verbs import GermanVerb, german_verb
from embedded_grammar.lexicon.entries import entries, known
from embedded_grammar.nouns import Head, Noun, of_classes

CASES = ("nom", "acc", "dat", "gen")
CLAUSAL = ("that", "whether", "infinitive")
PLACES = ("place", "goal")
TRAITS = ("sein", "stative", "modal", "place")


@dataclass(frozen=True, slots=True, eq=False)
class Slot:
    """An argument of a verb or an attribute of a noun: its English place, what fills it, and how German marks it."""

    english: str  # obj, iobj, place, goal, that, whether, infinitive, or a preposition
    fillers: tuple[Noun, ...] = ()
    preposition: str = ""  # German
    case: str = ""  # empty for a clause, an apposition (`ein Glas Wein`), and where the noun decides

    @property
    def clausal(self) -> bool:
        """Whether a clause fills the slot."""
        return self.english in CLAUSAL

    def prepositions(self, head: Head) -> tuple[str, str]:
        """The English and the German preposition in front of a head, which may ask for its own."""
        if self.english in PLACES:
            return head.places[self.english]
        return "to" if self.english == "iobj" else self.english, self.preposition


@dataclass(frozen=True, slots=True, eq=False)
class Sense:
    """A verb with its arguments in both languages."""

    verb: EnglishVerb
    particle: str
    subjects: tuple[Noun, ...]
    slots: tuple[Slot, ...]
    german: GermanVerb
    traits: frozenset[str]
    instruments: tuple[Noun, ...]

    @property
    def obj(self) -> Slot | None:
        """The direct object, if the verb has one."""
        return next((slot for slot in self.slots if slot.english == "obj"), None)


def marking(german: str) -> tuple[str, str]:
    """The German preposition and the case of `auf+acc`; without a preposition of `acc`.

    Raises:
        KeyError: there is no such case.
    """
    preposition, _, case = german.rpartition("+")
    if case not in CASES:
        raise KeyError(german)
    return preposition, case


def _slot(argument: str) -> Slot:
    english, _, rest = argument.partition(":")
    classes, _, german = rest.partition("=")
    if english in CLAUSAL:
        return Slot(english)
    if english in PLACES:
        return Slot(english, tuple(noun for noun in of_classes(classes) if english in noun.places))
    return Slot(english, of_classes(classes), *marking(german))


def _sense(english: str, subjects: str, arguments: str, german: str, traits: str, instruments: str) -> Sense:
    verb, _, particle = english.partition(" ")
    return Sense(
        verb=english_verb(verb),
        particle=particle,
        subjects=of_classes(subjects),
        slots=tuple(_slot(argument) for argument in arguments.split()),
        german=german_verb(german),
        traits=known(traits, TRAITS),
        instruments=of_classes(instruments) if instruments else (),
    )


SENSES = entries("senses", _sense)
