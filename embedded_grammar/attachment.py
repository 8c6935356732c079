"""Rules that decide whether an attachment is unambiguous, so that gold trees can be recovered from the words."""

from collections.abc import Mapping

from embedded_grammar.derivation import Adverbial, Clause, NounPhrase, RelativeGap
from embedded_grammar.lexicon.entries import read_entries
from embedded_grammar.modifiers import ATTRIBUTE_SLOTS_BY_NOUN
from embedded_grammar.nouns import Noun, select_nouns
from embedded_grammar.phenomenon_detection import iterate_clauses, iterate_noun_phrases
from embedded_grammar.senses import SENSES, VerbSense

# If a verb can take a place, its object cannot have one as its attribute: `put the coat on the chair down`.
PLACE_PREPOSITIONS = frozenset(("on", "in", "under", "beside"))

# In German, only the position of an object without a preposition shows what is attached to it.
ACCUSATIVE_OBJECT = ("obj", "", "acc")

# The prepositions that introduce arguments of an English verb in any of its senses.
_VERB_PREPOSITIONS = {
    verb: frozenset(slot.english_role for sense in SENSES if sense.english_verb == verb for slot in sense.slots)
    for verb in {sense.english_verb for sense in SENSES}
}


def _parse_ambiguous_with_entry(
    verb: str, objects: str, things: str
) -> tuple[list[VerbSense], tuple[Noun, ...], tuple[Noun, ...]]:
    base, _, particle = verb.partition(" ")
    senses = [
        sense
        for sense in SENSES
        if (sense.english_verb.base, sense.particle) == (base, particle)
        and [(slot.english_role, slot.german_preposition, slot.german_case) for slot in sense.slots]
        == [ACCUSATIVE_OBJECT]
    ]
    if not senses:
        raise KeyError(verb)
    return senses, select_nouns(objects), select_nouns(things)


AMBIGUOUS_WITH_NOUNS: Mapping[VerbSense, tuple[tuple[Noun, ...], tuple[Noun, ...]]] = {
    sense: (object_nouns, with_nouns)
    for senses, object_nouns, with_nouns in read_entries("open_attachments", _parse_ambiguous_with_entry)
    for sense in senses
}
"""For each sense: objects, and nouns after `with` that can be attached to the verb or to the object."""


def count_ambiguous_attachments(main_clause: Clause) -> int:
    """Count the ambiguous attachments of a sentence, whichever reading its derivation has.

    The count includes attachments that the grammar decides by a rule: in `the dog of the woman that slept` the dog
    sleeps, since the grammar prefers `who` for a person.
    """
    return sum(
        _has_ambiguous_with_phrase(clause) + sum(map(_has_ambiguous_relative, iterate_noun_phrases(clause)))
        for clause in iterate_clauses(main_clause)
    )


def _has_ambiguous_with_phrase(clause: Clause) -> bool:
    if clause.sense is None or clause.sense not in AMBIGUOUS_WITH_NOUNS:
        return False
    object_nouns, with_nouns = AMBIGUOUS_WITH_NOUNS[clause.sense]
    object_phrase = next((phrase for phrase in clause.argument_phrases if phrase.head in object_nouns), None)
    if object_phrase is None:
        return False
    with_phrases = [adverbial.phrase for adverbial in clause.adverbials if adverbial.english_preposition == "with"]
    if object_phrase.attribute is not None and object_phrase.attribute[0].english_role == "with":
        with_phrases.append(object_phrase.attribute[1])
    return any(phrase.head in with_nouns for phrase in with_phrases)


def _has_ambiguous_relative(phrase: NounPhrase) -> bool:
    if phrase.attribute is None:
        return False
    relative = phrase.relative_clause or phrase.attribute[1].relative_clause
    return relative is not None and relative.gap.relative_pronoun == "that"


def has_ambiguous_antecedent(phrase: NounPhrase) -> bool:
    """Return whether a relative clause of the phrase could also be attached to a noun inside the phrase."""
    inner_phrases = [phrase.attribute[1]] if phrase.attribute else []
    inner_phrases += [phrase.possessor] if phrase.possessor else []
    is_person = "person" in phrase.head.semantic_classes
    return any(
        ("person" in inner.head.semantic_classes) == is_person
        or inner.attribute is not None
        or inner.relative_clause is not None
        for inner in inner_phrases
    )


def has_final_adverb(clause: Clause) -> bool:
    """Return whether an adverb follows the arguments."""
    has_final_time = (
        clause.time_adverb is not None and clause.time_adverb.kind != "frequency" and clause.fronted_element != "time"
    )
    return has_final_time or clause.manner_adverb is not None


def has_final_adverbial(clause: Clause) -> bool:
    """Return whether a prepositional adverbial follows the arguments."""
    return bool(clause.adverbials) and clause.fronted_element != "place"


def is_reserved_preposition(clause: Clause, preposition: str) -> bool:
    """Return whether an attribute with this preposition could be read as an argument or instrument of the verb."""
    sense = clause.sense
    if sense is None:
        return True
    verb_prepositions = (
        {slot.english_role for slot in sense.slots}
        | {sense.particle}
        | (_VERB_PREPOSITIONS[sense.english_verb] & PLACE_PREPOSITIONS)
    )
    if preposition == "place":
        return bool(verb_prepositions & {"in", "on", "at", "place"})
    if preposition == "with" and sense.instrument_nouns:
        return True
    return preposition in verb_prepositions or (preposition == "to" and bool(verb_prepositions & {"iobj", "goal"}))


def can_attach_to_last_noun(clause: Clause, adverbial: Adverbial) -> bool:
    """Return whether the adverbial could be an attribute of the noun before it, or follows a relative clause."""
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
    """Return whether a clause is an argument of the verb."""
    return any(isinstance(filler, Clause) for _, filler in clause.arguments)


def ends_in_embedded_clause(clause: Clause) -> bool:
    """Return whether the clause ends in an embedded clause, which would absorb anything added at the end."""
    return has_clausal_argument(clause) or any(_has_relative(phrase) for phrase in clause.argument_phrases)


def _has_relative(phrase: NounPhrase) -> bool:
    inner = phrase.attribute[1] if phrase.attribute else None
    return phrase.relative_clause is not None or (inner is not None and _has_relative(inner))


def get_subject_classes(clause: Clause) -> frozenset[str]:
    """Return the semantic classes of the subject."""
    subject = clause.subject
    return (subject.antecedent if isinstance(subject, RelativeGap) else subject).head.semantic_classes
