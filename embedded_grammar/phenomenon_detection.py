"""Detection of syntactic phenomena in a derivation."""

from collections.abc import Iterator

from embedded_grammar.derivation import Clause, NounPhrase
from embedded_grammar.nouns import Pronoun
from embedded_grammar.syntactic_phenomena import Phenomenon


def find_phenomena(main_clause: Clause) -> set[Phenomenon]:
    """Return the phenomena that a sentence contains.

    `particle_verb`: a noun phrase between verb and particle.
    `relative_clause`: a relative clause.
    `attachment`: a prepositional phrase after an object, in a form that could belong to the verb or to the object.
    `agreement`: a verb that shows the number of its subject, after a noun of the other number.
    `verb_final`: an adverbial or complement clause, in which the German verb is last.
    """
    phenomena: set[Phenomenon] = set()
    for clause in iterate_clauses(main_clause):
        arguments = [(slot, filler) for slot, filler in clause.arguments if isinstance(filler, NounPhrase)]
        object_phrase = next((filler for slot, filler in arguments if slot.english_role == "obj"), None)
        if object_phrase is not None and not isinstance(object_phrase.head, Pronoun):
            if clause.has_separated_particle:
                phenomena.add(Phenomenon.particle_verb)
            if _has_following_preposition(clause, object_phrase):
                phenomena.add(Phenomenon.attachment)
        if (
            clause.initial_subordinate
            or clause.final_subordinate
            or any(slot.english_role in ("that", "whether") for slot, _ in clause.arguments)
        ):
            phenomena.add(Phenomenon.verb_final)
        if any(phrase.relative_clause for phrase in iterate_noun_phrases(clause)):
            phenomena.add(Phenomenon.relative_clause)
        if isinstance(clause.subject, NounPhrase) and has_agreement_attractor(clause, clause.subject):
            phenomena.add(Phenomenon.agreement)
    return phenomena


def iterate_clauses(clause: Clause) -> Iterator[Clause]:
    """Yield the clause and all clauses inside it."""
    yield clause
    inner_clauses = [
        *(filler for _, filler in clause.arguments if isinstance(filler, Clause)),
        *(phrase.relative_clause for phrase in iterate_noun_phrases(clause)),
        *(part.clause for part in (clause.initial_subordinate, clause.final_subordinate) if part is not None),
        clause.conjunct,
    ]
    for inner in inner_clauses:
        if inner is not None:
            yield from iterate_clauses(inner)


def iterate_noun_phrases(clause: Clause) -> Iterator[NounPhrase]:
    """Yield the noun phrases of a clause with their attributes and conjuncts, but not those in relative clauses."""
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
    """Return whether the finite verb shows its number and follows a noun of the other number."""
    if clause.tense not in ("present", "perfect", "progressive") or isinstance(subject.head, Pronoun):
        return False
    if clause.is_past_frame and clause.tense == "perfect":
        return False
    if subject.conjunct is not None or clause.has_extraposed_relative:
        return False
    return _has_plural_last_noun(subject) != subject.is_plural


def _has_plural_last_noun(phrase: NounPhrase) -> bool:
    """Return whether the last noun of a phrase is plural."""
    if phrase.conjunct is not None:
        return _has_plural_last_noun(phrase.conjunct)
    if phrase.relative_clause is not None:
        phrases = phrase.relative_clause.participants
        return _has_plural_last_noun(phrases[-1]) if phrases else phrase.is_plural
    if phrase.attribute is not None:
        return _has_plural_last_noun(phrase.attribute[1])
    return phrase.head.is_plural if isinstance(phrase.head, Pronoun) else phrase.is_plural
