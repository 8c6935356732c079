"""What sentences are drawn from: the words of a lexicon, frequent ones more often."""

from collections.abc import Iterable, Mapping, Sequence

from embedded_grammar import determiners
from embedded_grammar.attachment import AMBIGUOUS_WITH_NOUNS
from embedded_grammar.derivation import Determiner
from embedded_grammar.lexicon.lexicon_size import LexiconSize
from embedded_grammar.modifiers import (
    ADJECTIVES_BY_NOUN,
    ATTRIBUTE_SLOTS,
    SUBORDINATORS,
    TIME_ADVERB_KINDS,
    Adjective,
    select_adverbs,
)
from embedded_grammar.nouns import NOUNS, PERSON_NAMES, PERSONAL_PRONOUNS, TOWN_NAMES, NominalHead, Noun, select_nouns
from embedded_grammar.senses import PLACE_ROLES, SENSES, ArgumentSlot, VerbSense
from embedded_grammar.weighted_choice import WeightedChoice

COMPACT_SENSE_COUNT = 70
"""So many of the most frequent senses of verbs are in the compact lexicon."""

COMPACT_NOUN_COUNT = 8
"""And so many of the most frequent nouns of each place that these verbs have."""

COMPACT_ADJECTIVE_COUNT = 3
"""And so many of the most frequent adjectives that fit a noun."""

(GUEST_NOUN,) = select_nouns("guest")
PERSON_NAMES_AND_PRONOUNS: Sequence[NominalHead] = (*PERSON_NAMES, *PERSONAL_PRONOUNS)
"""Those of whom is said what may be said of a guest."""


class LexiconChoices:
    """The words of a lexicon, by what they can be in a sentence.

    What is in doubt is decided by the whole lexicon (`attachment`), so a smaller one has no doubtful attachment.

    Attributes:
        has_digits: whether numbers, times of day and dates in digits occur.
    """

    def __init__(self, lexicon_size: LexiconSize, has_digits: bool) -> None:
        self.has_digits = has_digits
        compact = lexicon_size is LexiconSize.compact
        senses = SENSES[:COMPACT_SENSE_COUNT] if compact else SENSES
        self._nouns = _select_frequent_nouns(senses) if compact else NOUNS
        known = {*self._nouns, *PERSON_NAMES, *TOWN_NAMES}
        of = {
            fillers: tuple(noun for noun in fillers if noun in known)
            for fillers in (
                *(sense.subject_nouns for sense in senses),
                *(slot.fillers for sense in senses for slot in sense.slots),
                *(slot.fillers for _, slot in ATTRIBUTE_SLOTS),
            )
        }
        self.senses = WeightedChoice(senses)
        self.senses_without_clauses = WeightedChoice(
            [s for s in senses if not any(slot.is_clausal for slot in s.slots)]
        )
        self.intransitive_senses = WeightedChoice([s for s in senses if not s.slots])
        self.particle_senses = WeightedChoice([s for s in senses if s.particle and s.object_slot is not None])
        self.infinitive_senses = WeightedChoice(
            [
                s
                for s in self.senses_without_clauses.items
                if "stative" not in s.traits and s.subject_nouns[0].english == "man"
            ]
        )
        self.subject_nouns = {sense: WeightedChoice(of[sense.subject_nouns]) for sense in senses}
        self.instrument_nouns = {s: tuple(noun for noun in s.instrument_nouns if noun in known) for s in senses}
        self.ambiguous_with_nouns = {
            sense: (AMBIGUOUS_WITH_NOUNS[sense][0], things)
            for sense in senses
            if sense in AMBIGUOUS_WITH_NOUNS
            and (things := tuple(noun for noun in AMBIGUOUS_WITH_NOUNS[sense][1] if noun in known))
        }
        self.ambiguous_with_senses = WeightedChoice([*self.ambiguous_with_nouns])
        slots = [slot for sense in senses for slot in sense.slots if slot.fillers]
        self.attribute_slots: Mapping[NominalHead, Sequence[ArgumentSlot]] = {
            noun: tuple(slot for nouns, slot in ATTRIBUTE_SLOTS if noun in nouns and of[slot.fillers]) for noun in known
        }
        self.slot_fillers = {
            slot: WeightedChoice(of[slot.fillers])
            for slot in (*slots, *(slot for _, slot in ATTRIBUTE_SLOTS))
            if of[slot.fillers]
        }
        like: dict[NominalHead, Noun] = dict.fromkeys(PERSON_NAMES_AND_PRONOUNS, GUEST_NOUN)
        like.update((noun, noun) for noun in self._nouns)
        self.adjectives: Mapping[NominalHead, WeightedChoice[Adjective]] = {
            head: WeightedChoice(ADJECTIVES_BY_NOUN[noun][: COMPACT_ADJECTIVE_COUNT if compact else None])
            for head, noun in like.items()
        }
        self.similar_nouns: Mapping[NominalHead, WeightedChoice[Noun]] = {
            noun: WeightedChoice([other for other in self._nouns if other.semantic_classes == noun.semantic_classes])
            for noun in self._nouns
        }
        self.person_names = WeightedChoice(PERSON_NAMES)
        self.town_names = WeightedChoice(TOWN_NAMES)
        self.pronouns = WeightedChoice(PERSONAL_PRONOUNS, [6, 5, 5, 3, 4, 2])
        self.person_nouns = WeightedChoice(self._select_nouns("person"))
        self.event_nouns = WeightedChoice(self._select_nouns("event"))
        self.place_nouns = WeightedChoice(
            [noun for noun in self._select_nouns("place") if "place" in noun.place_prepositions]
        )
        self.nouns_with_adjectives = WeightedChoice([noun for noun in self._nouns if self.adjectives[noun]])
        self.time_adverbs = WeightedChoice(select_adverbs(*TIME_ADVERB_KINDS))
        self.manner_adverbs = WeightedChoice(select_adverbs("manner"))
        self.sentence_adverbs = WeightedChoice(select_adverbs("sentence"))
        self.subordinators = WeightedChoice(SUBORDINATORS)
        self.plural_determiners: WeightedChoice[Determiner | None] = (
            determiners.PLURAL_DETERMINERS if has_digits else determiners.PLURAL_WORD_DETERMINERS
        )
        self.senses_by_subject: Mapping[NominalHead, WeightedChoice[VerbSense]] = {
            noun: WeightedChoice([sense for sense in senses if noun in sense.subject_nouns]) for noun in self._nouns
        }
        self.senses_by_argument: Mapping[NominalHead, WeightedChoice[tuple[VerbSense, ArgumentSlot]]] = {
            noun: WeightedChoice(
                [
                    (sense, slot)
                    for sense in self.senses_without_clauses.items
                    for slot in sense.slots
                    if noun in slot.fillers and slot.english_role not in PLACE_ROLES
                ]
            )
            for noun in self._nouns
        }
        # Where a pronoun can stand for the noun: behind a German preposition it would be `daran` instead of `an es`.
        self.senses_by_object: Mapping[NominalHead, WeightedChoice[tuple[VerbSense, ArgumentSlot]]] = {
            noun: WeightedChoice(
                [
                    (sense, slot)
                    for sense, slot in places.items
                    if slot.english_role == "obj" and not slot.german_preposition
                ]
            )
            for noun, places in self.senses_by_argument.items()
        }

    def _select_nouns(self, classes: str) -> tuple[Noun, ...]:
        """The common nouns of the lexicon in any of the comma-separated classes, frequent ones first."""
        known = {*self._nouns}
        return tuple(noun for noun in select_nouns(classes) if noun in known)


def _select_frequent_nouns(senses: Iterable[VerbSense]) -> tuple[Noun, ...]:
    """The most frequent nouns of each place of some senses, in the order of the lexicon."""
    places = [
        place for s in senses for place in (s.subject_nouns, s.instrument_nouns, *(slot.fillers for slot in s.slots))
    ]
    kept = {noun for place in places for noun in place[:COMPACT_NOUN_COUNT]}
    return tuple(noun for noun in NOUNS if noun in kept)
