"""How many English tokens a part of a derivation has, without linearising it. The full stop is not counted."""

from pipeline_py.corpus.grammar.derivation import Clause, NounPhrase, Pronoun

WITH_AUXILIARY = ("perfect", "progressive", "future", "can", "could", "must", "should")


def of_phrase(phrase: NounPhrase) -> int:
    """Tokens of a noun phrase with all its attributes."""
    tokens = 1
    if not isinstance(phrase.head, Pronoun):
        tokens += sum(2 if degree else 1 for _, degree in phrase.adjectives)
        if phrase.possessor is not None:
            tokens += of_phrase(phrase.possessor) + 1
        elif phrase.determiner is not None:
            tokens += 1
        if phrase.attribute is not None:
            tokens += 1 + of_phrase(phrase.attribute[1])
        if phrase.relative is not None:
            tokens += 1 + of_clause(phrase.relative)
    return tokens + (1 + of_phrase(phrase.conjunct) if phrase.conjunct is not None else 0)


def of_clause(clause: Clause) -> int:
    """Tokens of a clause with its subordinate and coordinated clauses, without its own conjunction."""
    tokens = of_phrase(clause.subject) if isinstance(clause.subject, NounPhrase) else 0
    return tokens + of_predicate(clause)


def of_predicate(clause: Clause) -> int:
    """Tokens of a clause without its subject."""
    auxiliary = clause.tense in WITH_AUXILIARY
    tokens = 2 if auxiliary else 1
    if clause.negated:
        tokens += 1 if auxiliary or clause.sense is None else 2
    tokens += _of_arguments(clause)
    tokens += sum(adverb is not None for adverb in (clause.time, clause.manner, clause.sentence))
    tokens += clause.moment.tokens if clause.moment is not None else 0
    tokens += sum(1 + of_phrase(adverbial.phrase) for adverbial in clause.adverbials)
    if clause.before is not None:
        tokens += 2 + of_clause(clause.before.clause)
    if clause.after is not None:
        tokens += 1 + of_clause(clause.after.clause)
    if clause.conjunct is not None:
        shared = clause.conjunct.subject is clause.subject
        tokens += 1 + (of_predicate(clause.conjunct) if shared else of_clause(clause.conjunct))
        tokens += 1 if clause.conjunction[0] == "but" and not shared else 0
    return tokens


def _of_arguments(clause: Clause) -> int:
    predicate = clause.predicate
    if predicate is not None:
        if predicate.adjective is not None:
            return 2 if predicate.adjective[1] else 1
        if predicate.noun is not None:
            return of_phrase(predicate.noun)
        return 1 + of_phrase(predicate.place.phrase) if predicate.place is not None else 0
    assert clause.sense is not None
    tokens = 1 if clause.sense.particle else 0
    for slot, filler in clause.arguments:
        bare = slot.english == "obj" or (slot.english == "iobj" and not clause.dative_shift)
        tokens += 0 if bare else 1
        if isinstance(filler, Clause):
            tokens += of_predicate(filler) if slot.english == "infinitive" else of_clause(filler)
        elif isinstance(filler, NounPhrase):
            tokens += of_phrase(filler)
    return tokens
