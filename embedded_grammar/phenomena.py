"""The syntactic phenomena in a derivation that make structure matter for its translation."""

from collections.abc import Iterator

from embedded_grammar.derivation import Clause, NounPhrase
from embedded_grammar.focus import Focus
from embedded_grammar.nouns import Pronoun


def phenomena(main: Clause) -> set[Focus]:
    """The phenomena that a sentence contains.

    `particle_verb`: a noun phrase stands between verb and particle. `relative_clause`: there is one.
    `attachment`: a prepositional phrase behind an object could in its form belong to the verb or to the object.
    `agreement`: the verb shows a number that its subject has and the nearest noun before it has not.
    `verb_final`: an adverbial or complement clause, whose German verb stands last.
    """
    found: set[Focus] = set()
    for clause in clauses(main):
        arguments = [(slot, filler) for slot, filler in clause.arguments if isinstance(filler, NounPhrase)]
        obj = next((filler for slot, filler in arguments if slot.english == "obj"), None)
        if obj is not None and not isinstance(obj.head, Pronoun):
            if clause.far_particle:
                found.add(Focus.particle_verb)
            if _followed_by_preposition(clause, obj):
                found.add(Focus.attachment)
        if clause.before or clause.after or any(slot.english in ("that", "whether") for slot, _ in clause.arguments):
            found.add(Focus.verb_final)
        if any(phrase.relative for phrase in noun_phrases(clause)):
            found.add(Focus.relative_clause)
        if isinstance(clause.subject, NounPhrase) and attracted(clause, clause.subject):
            found.add(Focus.agreement)
    return found


def clauses(clause: Clause) -> Iterator[Clause]:
    """The clause and all clauses inside it."""
    yield clause
    inner = [filler for _, filler in clause.arguments if isinstance(filler, Clause)]
    inner += [phrase.relative for phrase in noun_phrases(clause) if phrase.relative is not None]
    inner += [subordinate.clause for subordinate in (clause.before, clause.after) if subordinate is not None]
    if clause.conjunct is not None:
        inner.append(clause.conjunct)
    for each in inner:
        yield from clauses(each)


def noun_phrases(clause: Clause) -> Iterator[NounPhrase]:
    """The noun phrases of a clause with their attributes and conjuncts, relative clauses aside."""
    phrases = clause.phrases if clause.tense == "infinitive" else clause.participants
    phrases += [adverbial.phrase for adverbial in clause.adverbials]
    phrases += [clause.predicate] if isinstance(clause.predicate, NounPhrase) else []
    while phrases:
        phrase = phrases.pop()
        yield phrase
        phrases += [phrase.attribute[1]] if phrase.attribute is not None else []
        phrases += [phrase.conjunct] if phrase.conjunct is not None else []


def _followed_by_preposition(clause: Clause, obj: NounPhrase) -> bool:
    if obj.attribute is not None and obj.attribute[0].english != "of":
        return True
    if any(adverbial.kind != clause.fronted for adverbial in clause.adverbials):
        return True
    return any(slot.english not in ("obj", "iobj") and not slot.clausal for slot, _ in clause.arguments)


def attracted(clause: Clause, subject: NounPhrase) -> bool:
    """Whether the finite verb shows its number, and the noun right before it has another."""
    if clause.tense not in ("present", "perfect", "progressive") or isinstance(subject.head, Pronoun):
        return False
    if clause.past_frame and clause.tense == "perfect":
        return False
    if subject.conjunct is not None or clause.extraposed:
        return False
    return _last_is_plural(subject) != subject.plural


def _last_is_plural(phrase: NounPhrase) -> bool:
    """The number of the last noun of a phrase."""
    if phrase.conjunct is not None:
        return _last_is_plural(phrase.conjunct)
    if phrase.relative is not None:
        inside = phrase.relative.phrases or phrase.relative.participants
        return _last_is_plural(inside[-1]) if inside else phrase.plural
    if phrase.attribute is not None:
        return _last_is_plural(phrase.attribute[1])
    return phrase.head.plural if isinstance(phrase.head, Pronoun) else phrase.plural
