"""Which attachments are beyond doubt, the rules that keep gold trees recoverable from the words; and which are not."""

from collections.abc import Mapping

from embedded_grammar.derivation import Adverbial, Clause, NounPhrase, RelativeGap
from embedded_grammar.lexicon.entries import read_entries
from embedded_grammar.modifiers import ATTRIBUTE_SLOTS_BY_NOUN
from embedded_grammar.nouns import Noun, select_nouns
from embedded_grammar.phenomenon_detection import iterate_clauses, iterate_noun_phrases
from embedded_grammar.senses import SENSES, VerbSense

# `put the coat on the chair down`: where a verb can take a place, its object cannot have one of its own.
PLACE_PREPOSITIONS = frozenset(("on", "in", "under", "beside"))

# Only the place of an object without a preposition tells in German what belongs to it.
ACCUSATIVE_OBJECT = ("obj", "", "acc")

# The prepositions of all arguments that an English verb has in any of its senses.
_VERB_PREPOSITIONS = {
    verb: frozenset(slot.english_role for sense in SENSES if sense.english_verb == verb for slot in sense.slots)
    for verb in {sense.english_verb for sense in SENSES}
}


def _parse_ambiguous_with_entry(
    verb: str, objects: str, things: str
) -> tuple[list[VerbSense], tuple[Noun, ...], tuple[Noun, ...]]:
    base, _, particle = verb.partition(" ")
    senses = [sense for sense in SENSES if (sense.english_verb.base, sense.particle) == (base, particle)]
    senses = [
        s
        for s in senses
        if [(slot.english_role, slot.german_preposition, slot.german_case) for slot in s.slots] == [ACCUSATIVE_OBJECT]
    ]
    if not senses:
        raise KeyError(verb)
    return senses, select_nouns(objects), select_nouns(things)


AMBIGUOUS_WITH_NOUNS: Mapping[VerbSense, tuple[tuple[Noun, ...], tuple[Noun, ...]]] = {
    sense: (objects, things)
    for senses, objects, things in read_entries("open_attachments", _parse_ambiguous_with_entry)
    for sense in senses
}
"""The objects of a sense, and what `with` may put behind them that belongs to either the verb or the object."""


def count_ambiguous_attachments(main_clause: Clause) -> int:
    """How many places of a sentence have an attachment that the words leave open, whichever its reading.

    Where none is wanted, a rule may have decided such a place all the same: `the dog of the woman that slept` has the
    dog sleep, since a woman would be one `who slept`.
    """
    return sum(
        _has_ambiguous_with_phrase(clause) + sum(map(_has_ambiguous_relative, iterate_noun_phrases(clause)))
        for clause in iterate_clauses(main_clause)
    )


def _has_ambiguous_with_phrase(clause: Clause) -> bool:
    objects, things = AMBIGUOUS_WITH_NOUNS.get(clause.sense, ((), ())) if clause.sense is not None else ((), ())
    behind = [adverbial.phrase for adverbial in clause.adverbials if adverbial.english_preposition == "with"]
    obj = next((phrase for phrase in clause.argument_phrases if phrase.head in objects), None)
    if obj is not None and obj.attribute is not None and obj.attribute[0].english_role == "with":
        behind.append(obj.attribute[1])
    return obj is not None and any(phrase.head in things for phrase in behind)


def _has_ambiguous_relative(phrase: NounPhrase) -> bool:
    if phrase.attribute is None:
        return False
    relative = phrase.relative_clause or phrase.attribute[1].relative_clause
    return relative is not None and relative.gap.relative_pronoun == "that"


def has_ambiguous_antecedent(phrase: NounPhrase) -> bool:
    """Whether a relative clause could belong to another noun of the phrase as well."""
    others = [phrase.attribute[1]] if phrase.attribute else []
    others += [phrase.possessor] if phrase.possessor else []
    person = "person" in phrase.head.semantic_classes
    return any(
        ("person" in other.head.semantic_classes) == person
        or other.attribute is not None
        or other.relative_clause is not None
        for other in others
    )


def has_final_adverb(clause: Clause) -> bool:
    """Whether an adverb stands behind the arguments."""
    time = (
        clause.time_adverb is not None and clause.time_adverb.kind != "frequency" and clause.fronted_element != "time"
    )
    return time or clause.manner_adverb is not None


def has_final_adverbial(clause: Clause) -> bool:
    """Whether a prepositional adverbial stands behind the arguments."""
    return bool(clause.adverbials) and clause.fronted_element != "place"


def is_reserved_preposition(clause: Clause, preposition: str) -> bool:
    """Whether an attribute with this preposition could be taken for an argument or an instrument of the verb."""
    sense = clause.sense
    if sense is None:
        return True
    taken = (
        {slot.english_role for slot in sense.slots}
        | {sense.particle}
        | (_VERB_PREPOSITIONS[sense.english_verb] & PLACE_PREPOSITIONS)
    )
    if preposition == "place":
        return bool(taken & {"in", "on", "at", "place"})
    with_instrument = preposition == "with" and bool(sense.instrument_nouns)
    return preposition in taken or with_instrument or (preposition == "to" and bool(taken & {"iobj", "goal"}))


def can_attach_to_last_noun(clause: Clause, adverbial: Adverbial) -> bool:
    """Whether the last noun in front of the adverbial could have it as its attribute, or is in a clause."""
    fillers = [filler for _, filler in clause.english_arguments if isinstance(filler, NounPhrase)]
    if not fillers:
        return False
    last = fillers[-1]
    while True:
        if last.relative_clause is not None:
            return True
        if last.conjunct is not None:
            last = last.conjunct
        elif last.attribute is not None:
            last = last.attribute[1]
        else:
            break
    noun = adverbial.phrase.head
    return any(
        noun in attribute.fillers
        for attribute in ATTRIBUTE_SLOTS_BY_NOUN.get(last.head, ())
        if attribute.english_role in (adverbial.english_preposition, adverbial.kind)
    )


def has_clausal_argument(clause: Clause) -> bool:
    """Whether a clause is an argument of the verb."""
    return any(isinstance(filler, Clause) for _, filler in clause.arguments)


def ends_in_embedded_clause(clause: Clause) -> bool:
    """Whether the clause ends in another one, so that what is put behind it would belong there."""
    return has_clausal_argument(clause) or any(_has_relative(phrase) for phrase in clause.argument_phrases)


def _has_relative(phrase: NounPhrase) -> bool:
    inner = phrase.attribute[1] if phrase.attribute else None
    return phrase.relative_clause is not None or (inner is not None and _has_relative(inner))


def get_subject_classes(clause: Clause) -> frozenset[str]:
    """The semantic classes of the subject."""
    subject = clause.subject
    return (subject.antecedent if isinstance(subject, RelativeGap) else subject).head.semantic_classes
