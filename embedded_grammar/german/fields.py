"""The Mittelfeld of a German clause: its parts in one fixed order, as phrases with their cases.

Where German leaves a choice, one order is taken throughout, so that a source sentence has one translation: subject,
pronouns, time, dative, place, manner, instrument, accusative, negation, prepositional object or predicate. That order
is what tells an instrument (`schlägt mit dem Stock den Mann`) from an attribute (`schlägt den Mann mit dem Stock`).
"""

from dataclasses import dataclass

from embedded_grammar.derivation import Adverbial, Clause, NounPhrase, Predicate
from embedded_grammar.german.bracket import bare_infinitive
from embedded_grammar.german.words import GOAL_CASE
from embedded_grammar.nouns import Head, Pronoun
from embedded_grammar.senses import PLACES, Slot


@dataclass(slots=True)
class Part:
    """A part of the Mittelfeld: fixed words, or a noun phrase in a case with or without a preposition."""

    words: tuple[str, ...] = ()
    preposition: str = ""
    phrase: NounPhrase | None = None
    case: str = ""
    negative: bool = False


def subject(clause: Clause) -> Part:
    """The nominative."""
    assert isinstance(clause.subject, NounPhrase)
    return Part(phrase=clause.subject, case="nom")


def middle(clause: Clause, with_subject: bool) -> list[Part]:
    """The parts of the Mittelfeld in the order of the module's docstring."""
    parts: list[Part] = []
    reflexive = [Part((_reflexive(clause),))] if clause.sense is not None and clause.sense.german.reflexive else []
    if with_subject and isinstance(clause.subject, NounPhrase) and clause.tense != "infinitive":
        # `weil er sich erinnert`, but `weil sich der Mann erinnert`.
        pronominal = isinstance(clause.subject.head, Pronoun)
        parts += [subject(clause), *reflexive] if pronominal else [*reflexive, subject(clause)]
    else:
        parts += reflexive
    pronouns: list[Part] = []
    datives: list[Part] = []
    accusatives: list[Part] = []
    objects: list[Part] = []
    negative = _negated_object(clause)
    for slot, filler in clause.arguments:
        if not isinstance(filler, NounPhrase):
            continue
        preposition, case = governed(slot, filler.head)
        part = Part(preposition=preposition, phrase=filler, case=case, negative=filler is negative)
        if preposition:
            objects.append(part)
        elif isinstance(filler.head, Pronoun) and filler.conjunct is None:
            pronouns.append(part)
        elif case == "dat":
            datives.append(part)
        else:
            accusatives.append(part)
    parts += sorted(pronouns, key=lambda part: part.case)
    late: list[Part] = []
    if clause.time is not None and clause.fronted != "time":
        (late if clause.time.kind == "late" else parts).append(Part(tuple(clause.time.german.split())))
    parts += datives
    parts += [adverbial_part(a) for a in clause.adverbials if a.kind == "time"]
    parts += [adverbial_part(a) for a in clause.adverbials if a.kind == "place" and clause.fronted != "place"]
    if clause.manner is not None:
        parts.append(Part((clause.manner.german,)))
    parts += [adverbial_part(a) for a in clause.adverbials if a.kind == "instrument"]
    parts += [*accusatives, *late]
    if clause.negated and negative is None:
        parts.append(Part(("nicht",)))
    parts += objects
    if clause.predicate is not None:
        parts.append(_predicate(clause.predicate, clause.negated))
    inner = bare_infinitive(clause)
    return parts + middle(inner, False) if inner is not None else parts


def _negated_object(clause: Clause) -> NounPhrase | None:
    """The indefinite noun phrase that `kein` negates instead of `nicht`."""
    if not clause.negated:
        return None
    candidates = [filler for slot, filler in clause.arguments if slot.case and not slot.preposition]
    candidates += [clause.predicate] if isinstance(clause.predicate, NounPhrase) else []
    for candidate in reversed(candidates):
        if isinstance(candidate, NounPhrase) and _indefinite(candidate):
            return candidate
    return None


def _indefinite(phrase: NounPhrase) -> bool:
    if not phrase.head.common or phrase.possessor is not None:
        return False
    return phrase.determiner is None or phrase.determiner.english == "a"


def governed(slot: Slot, head: Head) -> tuple[str, str]:
    """The German preposition and the case of what fills a slot."""
    _, preposition = slot.prepositions(head)
    if slot.english not in PLACES:
        return preposition, slot.case
    return preposition, GOAL_CASE[preposition] if slot.english == "goal" else "dat"


def _reflexive(clause: Clause) -> str:
    subject = clause.subject
    if isinstance(subject, NounPhrase) and isinstance(subject.head, Pronoun):
        return subject.head.reflexive
    return "sich"


def adverbial_part(adverbial: Adverbial) -> Part:
    """A prepositional adverbial."""
    return Part(preposition=adverbial.german, phrase=adverbial.phrase, case=adverbial.case)


def _predicate(predicate: Predicate, negated: bool) -> Part:
    if isinstance(predicate, NounPhrase):
        return Part(phrase=predicate, case="nom", negative=negated and _indefinite(predicate))
    if isinstance(predicate, Adverbial):
        return adverbial_part(predicate)
    adjective, degree = predicate
    return Part((*((degree.german,) if degree else ()), adjective.german))
