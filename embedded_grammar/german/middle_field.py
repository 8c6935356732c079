"""The Mittelfeld of a German clause as a list of parts in a fixed order.

The order is subject, pronouns, time, dative, place, manner, instrument, accusative, negation, prepositional object or
predicate. A fixed order gives a source sentence only one translation, and distinguishes an instrument (`schlägt mit dem
Stock den Mann`) from an attribute (`schlägt den Mann mit dem Stock`).
"""

from dataclasses import dataclass

from embedded_grammar.derivation import Adverbial, Clause, NounPhrase, Predicate
from embedded_grammar.german.inflection import GOAL_CASE_BY_PREPOSITION
from embedded_grammar.german.verb_bracket import get_modal_complement
from embedded_grammar.nouns import NominalHead, Pronoun
from embedded_grammar.senses import PLACE_ROLES, ArgumentSlot


@dataclass(slots=True)
class FieldPart:
    """A part of the Mittelfeld: fixed words, or a noun phrase in a case with or without a preposition."""

    words: tuple[str, ...] = ()
    preposition: str = ""
    phrase: NounPhrase | None = None
    case: str = ""
    is_negated: bool = False


def build_subject_part(clause: Clause) -> FieldPart:
    """Build the subject in the nominative."""
    assert isinstance(clause.subject, NounPhrase)
    return FieldPart(phrase=clause.subject, case="nom")


def build_middle_field(clause: Clause, should_include_subject: bool) -> list[FieldPart]:
    """Build the parts of the Mittelfeld in the order of the module docstring."""
    parts: list[FieldPart] = []
    reflexive = (
        [FieldPart((_get_reflexive_pronoun(clause),))]
        if clause.sense is not None and clause.sense.german_verb.is_reflexive
        else []
    )
    if should_include_subject and isinstance(clause.subject, NounPhrase) and clause.tense != "infinitive":
        # `weil er sich erinnert`, but `weil sich der Mann erinnert`.
        subject = build_subject_part(clause)
        parts += [subject, *reflexive] if isinstance(clause.subject.head, Pronoun) else [*reflexive, subject]
    else:
        parts += reflexive
    pronouns: list[FieldPart] = []
    datives: list[FieldPart] = []
    accusatives: list[FieldPart] = []
    objects: list[FieldPart] = []
    negative = _find_negated_object(clause)
    for slot, filler in clause.arguments:
        if not isinstance(filler, NounPhrase):
            continue
        preposition, case = get_preposition_and_case(slot, filler.head)
        part = FieldPart(preposition=preposition, phrase=filler, case=case, is_negated=filler is negative)
        if preposition:
            objects.append(part)
        elif isinstance(filler.head, Pronoun) and filler.conjunct is None:
            pronouns.append(part)
        elif case == "dat":
            datives.append(part)
        else:
            accusatives.append(part)
    parts += sorted(pronouns, key=lambda part: part.case)
    late: list[FieldPart] = []
    if clause.time_adverb is not None and clause.fronted_element != "time":
        (late if clause.time_adverb.kind == "late" else parts).append(
            FieldPart(tuple(clause.time_adverb.german.split()))
        )
    parts += datives
    parts += _build_adverbial_parts(clause, "time")
    parts += _build_adverbial_parts(clause, "place") if clause.fronted_element != "place" else []
    if clause.manner_adverb is not None:
        parts.append(FieldPart((clause.manner_adverb.german,)))
    parts += _build_adverbial_parts(clause, "instrument")
    parts += [*accusatives, *late]
    if clause.is_negated and negative is None:
        parts.append(FieldPart(("nicht",)))
    parts += objects
    if clause.predicate is not None:
        parts.append(_build_predicate_part(clause.predicate, clause.is_negated))
    inner = get_modal_complement(clause)
    return parts + build_middle_field(inner, False) if inner is not None else parts


def _find_negated_object(clause: Clause) -> NounPhrase | None:
    """Return the indefinite noun phrase that takes `kein`; None if the clause takes `nicht`."""
    if not clause.is_negated:
        return None
    candidates = [filler for slot, filler in clause.arguments if slot.german_case and not slot.german_preposition]
    candidates += [clause.predicate] if isinstance(clause.predicate, NounPhrase) else []
    for candidate in reversed(candidates):
        if isinstance(candidate, NounPhrase) and _is_indefinite(candidate):
            return candidate
    return None


def _is_indefinite(phrase: NounPhrase) -> bool:
    if not phrase.head.is_common or phrase.possessor is not None:
        return False
    return phrase.determiner is None or phrase.determiner.english == "a"


def get_preposition_and_case(slot: ArgumentSlot, head: NominalHead) -> tuple[str, str]:
    """Return the German preposition and case of a filler with this head."""
    _, preposition = slot.get_prepositions(head)
    if slot.english_role not in PLACE_ROLES:
        return preposition, slot.german_case
    return preposition, GOAL_CASE_BY_PREPOSITION[preposition] if slot.english_role == "goal" else "dat"


def _get_reflexive_pronoun(clause: Clause) -> str:
    subject = clause.subject
    if isinstance(subject, NounPhrase) and isinstance(subject.head, Pronoun):
        return subject.head.reflexive
    return "sich"


def build_adverbial_part(adverbial: Adverbial) -> FieldPart:
    """Build a prepositional adverbial."""
    return FieldPart(preposition=adverbial.german_preposition, phrase=adverbial.phrase, case=adverbial.german_case)


def _build_adverbial_parts(clause: Clause, kind: str) -> list[FieldPart]:
    return [build_adverbial_part(adverbial) for adverbial in clause.adverbials if adverbial.kind == kind]


def _build_predicate_part(predicate: Predicate, is_negated: bool) -> FieldPart:
    if isinstance(predicate, NounPhrase):
        return FieldPart(phrase=predicate, case="nom", is_negated=is_negated and _is_indefinite(predicate))
    if isinstance(predicate, Adverbial):
        return build_adverbial_part(predicate)
    adjective, degree = predicate
    return FieldPart((*((degree.german,) if degree else ()), adjective.german))
