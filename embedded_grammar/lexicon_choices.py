"""The words of a lexicon as weighted choices by syntactic function."""

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
"""The number of most frequent verb senses in the compact lexicon."""

COMPACT_NOUN_COUNT = 8
"""The number of most frequent nouns for each argument of these verbs."""

COMPACT_ADJECTIVE_COUNT = 3
"""The number of most frequent adjectives for each noun."""

(GUEST_NOUN,) = select_nouns("guest")
PERSON_NAMES_AND_PRONOUNS: Sequence[NominalHead] = (*PERSON_NAMES, *PERSONAL_PRONOUNS)
"""Nominals that take the adjectives of `GUEST_NOUN`."""


class LexiconChoices:
    """The words of a lexicon by their possible functions in a sentence.

    The rules of `attachment` always use the whole lexicon, so that they also hold for the compact one.

    Attributes:
        has_digits: Whether numbers, times and dates in digits occur.
    """

    def __init__(self, lexicon_size: LexiconSize, has_digits: bool) -> None:
        self.has_digits = has_digits
        is_compact = lexicon_size is LexiconSize.compact
        senses = SENSES[:COMPACT_SENSE_COUNT] if is_compact else SENSES
        self._nouns = _select_frequent_nouns(senses) if is_compact else NOUNS
        lexicon = {*self._nouns, *PERSON_NAMES, *TOWN_NAMES}
        nouns_by_fillers = {
            fillers: tuple(noun for noun in fillers if noun in lexicon)
            for fillers in (
                *(sense.subject_nouns for sense in senses),
                *(slot.fillers for sense in senses for slot in sense.slots),
                *(slot.fillers for _, slot in ATTRIBUTE_SLOTS),
            )
        }
        self.senses = WeightedChoice(senses)
        self.senses_without_clauses = WeightedChoice(
            [sense for sense in senses if not any(slot.is_clausal for slot in sense.slots)]
        )
        self.intransitive_senses = WeightedChoice([sense for sense in senses if not sense.slots])
        self.particle_senses = WeightedChoice([sense for sense in senses if sense.particle and sense.object_slot])
        self.infinitive_senses = WeightedChoice(
            [
                sense
                for sense in self.senses_without_clauses.items
                if "stative" not in sense.traits and sense.subject_nouns[0].english == "man"
            ]
        )
        self.subject_nouns = {sense: WeightedChoice(nouns_by_fillers[sense.subject_nouns]) for sense in senses}
        self.instrument_nouns = {
            sense: tuple(noun for noun in sense.instrument_nouns if noun in lexicon) for sense in senses
        }
        self.ambiguous_with_nouns = {
            sense: (AMBIGUOUS_WITH_NOUNS[sense][0], with_nouns)
            for sense in senses
            if sense in AMBIGUOUS_WITH_NOUNS
            and (with_nouns := tuple(noun for noun in AMBIGUOUS_WITH_NOUNS[sense][1] if noun in lexicon))
        }
        self.ambiguous_with_senses = WeightedChoice([*self.ambiguous_with_nouns])
        slots = [slot for sense in senses for slot in sense.slots if slot.fillers]
        self.attribute_slots: Mapping[NominalHead, Sequence[ArgumentSlot]] = {
            noun: tuple(slot for nouns, slot in ATTRIBUTE_SLOTS if noun in nouns and nouns_by_fillers[slot.fillers])
            for noun in lexicon
        }
        self.slot_fillers = {
            slot: WeightedChoice(nouns_by_fillers[slot.fillers])
            for slot in (*slots, *(slot for _, slot in ATTRIBUTE_SLOTS))
            if nouns_by_fillers[slot.fillers]
        }
        adjective_models: dict[NominalHead, Noun] = dict.fromkeys(PERSON_NAMES_AND_PRONOUNS, GUEST_NOUN)
        adjective_models.update((noun, noun) for noun in self._nouns)
        self.adjectives: Mapping[NominalHead, WeightedChoice[Adjective]] = {
            head: WeightedChoice(ADJECTIVES_BY_NOUN[noun][: COMPACT_ADJECTIVE_COUNT if is_compact else None])
            for head, noun in adjective_models.items()
        }
        self.similar_nouns: Mapping[NominalHead, WeightedChoice[Noun]] = {
            noun: WeightedChoice(
                [similar for similar in self._nouns if similar.semantic_classes == noun.semantic_classes]
            )
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
        # Slots that allow a pronoun for the noun; after a German preposition it would be `daran` instead of `an es`.
        self.senses_by_object: Mapping[NominalHead, WeightedChoice[tuple[VerbSense, ArgumentSlot]]] = {
            noun: WeightedChoice(
                [
                    (sense, slot)
                    for sense, slot in arguments.items
                    if slot.english_role == "obj" and not slot.german_preposition
                ]
            )
            for noun, arguments in self.senses_by_argument.items()
        }

    def _select_nouns(self, classes: str) -> tuple[Noun, ...]:
        """Select the common nouns of the lexicon in any of the comma-separated classes, frequent ones first."""
        lexicon = {*self._nouns}
        return tuple(noun for noun in select_nouns(classes) if noun in lexicon)


def _select_frequent_nouns(senses: Iterable[VerbSense]) -> tuple[Noun, ...]:
    """Select the most frequent nouns for each argument of some senses, in the order of the lexicon."""
    frequent_nouns = {
        noun
        for sense in senses
        for nouns in (sense.subject_nouns, sense.instrument_nouns, *(slot.fillers for slot in sense.slots))
        for noun in nouns[:COMPACT_NOUN_COUNT]
    }
    return tuple(noun for noun in NOUNS if noun in frequent_nouns)
