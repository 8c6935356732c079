"""What sentences are drawn from: the words of a lexicon, frequent ones more often."""

from collections.abc import Iterable, Mapping, Sequence

from embedded_grammar import determiners
from embedded_grammar.attachment import OPEN_WITH
from embedded_grammar.derivation import Determiner
from embedded_grammar.lexicon.size import Lexicon
from embedded_grammar.modifiers import ADJECTIVES_OF, ATTRIBUTES, SUBORDINATORS, TIMES, Adjective, adverbs
from embedded_grammar.nouns import NOUNS, PEOPLE, PERSONAL, TOWNS, Head, Noun, of_classes
from embedded_grammar.senses import PLACES, SENSES, Sense, Slot
from embedded_grammar.weighted_choice import WeightedChoice

COMPACT_SENSES = 70
"""So many of the most frequent senses of verbs are in the compact lexicon."""

COMPACT_NOUNS = 8
"""And so many of the most frequent nouns of each place that these verbs have."""

COMPACT_ADJECTIVES = 3
"""And so many of the most frequent adjectives that fit a noun."""

(GUEST,) = of_classes("guest")
NAMED: Sequence[Head] = (*PEOPLE, *PERSONAL)
"""Those of whom is said what may be said of a guest."""


class Choices:
    """The words of a lexicon, by what they can be in a sentence.

    What is in doubt is decided by the whole lexicon (`attachment`), so a smaller one has no doubtful attachment.

    Attributes:
        digits: whether numbers, times of day and dates in digits occur.
    """

    def __init__(self, lexicon: Lexicon, digits: bool) -> None:
        self.digits = digits
        compact = lexicon is Lexicon.compact
        senses = SENSES[:COMPACT_SENSES] if compact else SENSES
        self._nouns = _nouns_of(senses) if compact else NOUNS
        known = {*self._nouns, *PEOPLE, *TOWNS}
        of = {
            fillers: tuple(noun for noun in fillers if noun in known)
            for fillers in (
                *(sense.subjects for sense in senses),
                *(slot.fillers for sense in senses for slot in sense.slots),
                *(slot.fillers for _, slot in ATTRIBUTES),
            )
        }
        self.senses = WeightedChoice(senses)
        self.unembedding = WeightedChoice([s for s in senses if not any(slot.clausal for slot in s.slots)])
        self.intransitive = WeightedChoice([s for s in senses if not s.slots])
        self.with_particle = WeightedChoice([s for s in senses if s.particle and s.obj is not None])
        self.infinitives = WeightedChoice(
            [s for s in self.unembedding.items if "stative" not in s.traits and s.subjects[0].english == "man"]
        )
        self.subjects = {sense: WeightedChoice(of[sense.subjects]) for sense in senses}
        self.instruments = {s: tuple(noun for noun in s.instruments if noun in known) for s in senses}
        self.open_with = {
            sense: (OPEN_WITH[sense][0], things)
            for sense in senses
            if sense in OPEN_WITH and (things := tuple(noun for noun in OPEN_WITH[sense][1] if noun in known))
        }
        self.opening = WeightedChoice([*self.open_with])
        slots = [slot for sense in senses for slot in sense.slots if slot.fillers]
        self.attributes: Mapping[Head, Sequence[Slot]] = {
            noun: tuple(slot for nouns, slot in ATTRIBUTES if noun in nouns and of[slot.fillers]) for noun in known
        }
        self.fillers = {
            slot: WeightedChoice(of[slot.fillers])
            for slot in (*slots, *(slot for _, slot in ATTRIBUTES))
            if of[slot.fillers]
        }
        like: dict[Head, Noun] = dict.fromkeys(NAMED, GUEST)
        like.update((noun, noun) for noun in self._nouns)
        self.adjectives: Mapping[Head, WeightedChoice[Adjective]] = {
            head: WeightedChoice(ADJECTIVES_OF[noun][: COMPACT_ADJECTIVES if compact else None])
            for head, noun in like.items()
        }
        self.alike: Mapping[Head, WeightedChoice[Noun]] = {
            noun: WeightedChoice([other for other in self._nouns if other.classes == noun.classes])
            for noun in self._nouns
        }
        self.people = WeightedChoice(PEOPLE)
        self.towns = WeightedChoice(TOWNS)
        self.pronouns = WeightedChoice(PERSONAL, [6, 5, 5, 3, 4, 2])
        self.persons = WeightedChoice(self._of_classes("person"))
        self.events = WeightedChoice(self._of_classes("event"))
        self.places = WeightedChoice([noun for noun in self._of_classes("place") if "place" in noun.places])
        self.with_adjectives = WeightedChoice([noun for noun in self._nouns if self.adjectives[noun]])
        self.times = WeightedChoice(adverbs(*TIMES))
        self.manners = WeightedChoice(adverbs("manner"))
        self.sentence_adverbs = WeightedChoice(adverbs("sentence"))
        self.subordinators = WeightedChoice(SUBORDINATORS)
        self.plural_determiners: WeightedChoice[Determiner | None] = (
            determiners.PLURAL if digits else determiners.PLURAL_IN_WORDS
        )
        self.as_subject: Mapping[Head, WeightedChoice[Sense]] = {
            noun: WeightedChoice([sense for sense in senses if noun in sense.subjects]) for noun in self._nouns
        }
        self.as_argument: Mapping[Head, WeightedChoice[tuple[Sense, Slot]]] = {
            noun: WeightedChoice(
                [
                    (sense, slot)
                    for sense in self.unembedding.items
                    for slot in sense.slots
                    if noun in slot.fillers and slot.english not in PLACES
                ]
            )
            for noun in self._nouns
        }
        # Where a pronoun can stand for the noun: behind a German preposition it would be `daran` instead of `an es`.
        self.as_object: Mapping[Head, WeightedChoice[tuple[Sense, Slot]]] = {
            noun: WeightedChoice(
                [(sense, slot) for sense, slot in places.items if slot.english == "obj" and not slot.preposition]
            )
            for noun, places in self.as_argument.items()
        }

    def _of_classes(self, classes: str) -> tuple[Noun, ...]:
        """The common nouns of the lexicon in any of the comma-separated classes, frequent ones first."""
        known = {*self._nouns}
        return tuple(noun for noun in of_classes(classes) if noun in known)


def _nouns_of(senses: Iterable[Sense]) -> tuple[Noun, ...]:
    """The most frequent nouns of each place of some senses, in the order of the lexicon."""
    places = [place for s in senses for place in (s.subjects, s.instruments, *(slot.fillers for slot in s.slots))]
    kept = {noun for place in places for noun in place[:COMPACT_NOUNS]}
    return tuple(noun for noun in NOUNS if noun in kept)
