"""The syntactic phenomena in a derivation that make structure matter for its translation."""

from collections.abc import Iterator

from embedded_grammar.derivation import Clause, NounPhrase
from embedded_grammar.nouns import Pronoun
from embedded_grammar.syntactic_phenomena import Phenomenon


def find_phenomena(main_clause: Clause) -> set[Phenomenon]:
    """The phenomena that a sentence contains.

    `particle_verb`: a noun phrase stands between verb and particle. `relative_clause`: there is one.
    `attachment`: a prepositional phrase behind an object could in its form belong to the verb or to the object.
    `agreement`: the verb shows a number that its subject has and the nearest noun before it has not.
    `verb_final`: an adverbial or complement clause, whose German verb stands last.
    """
    found: set[Phenomenon] = set()
    for clause in iterate_clauses(main_clause):
        arguments = [(slot, filler) for slot, filler in clause.arguments if isinstance(filler, NounPhrase)]
        obj = next((filler for slot, filler in arguments if slot.english_role == "obj"), None)
        if obj is not None and not isinstance(obj.head, Pronoun):
            if clause.has_separated_particle:
                found.add(Phenomenon.particle_verb)
            if _has_following_preposition(clause, obj):
                found.add(Phenomenon.attachment)
        if (
            clause.initial_subordinate
            or clause.final_subordinate
            or any(slot.english_role in ("that", "whether") for slot, _ in clause.arguments)
        ):
            found.add(Phenomenon.verb_final)
        if any(phrase.relative_clause for phrase in iterate_noun_phrases(clause)):
            found.add(Phenomenon.relative_clause)
        if isinstance(clause.subject, NounPhrase) and has_agreement_attractor(clause, clause.subject):
            found.add(Phenomenon.agreement)
    return found


def iterate_clauses(clause: Clause) -> Iterator[Clause]:
    """The clause and all clauses inside it."""
    yield clause
    inner = [filler for _, filler in clause.arguments if isinstance(filler, Clause)]
    inner += [phrase.relative_clause for phrase in iterate_noun_phrases(clause) if phrase.relative_clause is not None]
    inner += [
        subordinate.clause
        for subordinate in (clause.initial_subordinate, clause.final_subordinate)
        if subordinate is not None
    ]
    if clause.conjunct is not None:
        inner.append(clause.conjunct)
    for each in inner:
        yield from iterate_clauses(each)


def iterate_noun_phrases(clause: Clause) -> Iterator[NounPhrase]:
    """The noun phrases of a clause with their attributes and conjuncts, relative clauses aside."""
    phrases = clause.argument_phrases if clause.tense == "infinitive" else clause.participants
    phrases += [adverbial.phrase for adverbial in clause.adverbials]
    phrases += [clause.predicate] if isinstance(clause.predicate, NounPhrase) else []
    while phrases:
        phrase = phrases.pop()
        yield phrase
        phrases += [phrase.attribute[1]] if phrase.attribute is not None else []
        phrases += [phrase.conjunct] if phrase.conjunct is not None else []


def _has_following_preposition(clause: Clause, object_phrase: NounPhrase) -> bool:
    if object_phrase.attribute is not None and object_phrase.attribute[0].english_role != "of":
        return True
    if any(adverbial.kind != clause.fronted_element for adverbial in clause.adverbials):
        return True
    return any(slot.english_role not in ("obj", "iobj") and not slot.is_clausal for slot, _ in clause.arguments)


def has_agreement_attractor(clause: Clause, subject: NounPhrase) -> bool:
    """Whether the finite verb shows its number, and the noun right before it has another."""
    if clause.tense not in ("present", "perfect", "progressive") or isinstance(subject.head, Pronoun):
        return False
    if clause.is_past_frame and clause.tense == "perfect":
        return False
    if subject.conjunct is not None or clause.has_extraposed_relative:
        return False
    return _has_plural_last_noun(subject) != subject.is_plural


def _has_plural_last_noun(phrase: NounPhrase) -> bool:
    """The number of the last noun of a phrase."""
    if phrase.conjunct is not None:
        return _has_plural_last_noun(phrase.conjunct)
    if phrase.relative_clause is not None:
        inside = phrase.relative_clause.argument_phrases or phrase.relative_clause.participants
        return _has_plural_last_noun(inside[-1]) if inside else phrase.is_plural
    if phrase.attribute is not None:
        return _has_plural_last_noun(phrase.attribute[1])
    return phrase.head.is_plural if isinstance(phrase.head, Pronoun) else phrase.is_plural
