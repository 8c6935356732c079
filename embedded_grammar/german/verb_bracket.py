"""The verbs of a German clause: the finite verb and the right bracket."""

from embedded_grammar.derivation import Clause, NounPhrase
from embedded_grammar.german.verbs import GermanVerb, inflect_german_verb

VERB_SEIN = inflect_german_verb("sein")
VERB_HABEN = inflect_german_verb("haben")
MODAL_VERB_BY_TENSE = {
    "future": inflect_german_verb("werden"),
    "can": inflect_german_verb("können"),
    "could": inflect_german_verb("können"),
    "must": inflect_german_verb("müssen"),
    "should": inflect_german_verb("sollen"),
}


def split_main_clause_verbs(clause: Clause) -> tuple[str, list[str]]:
    """Return the finite verb of a main clause, and its right bracket: prefix, participle or infinitive."""
    verb = _get_lexical_verb(clause)
    auxiliary, nonfinite = _get_auxiliary(clause, verb)
    if auxiliary is None:
        prefix = [verb.prefix] if verb.prefix else []
        return _inflect_finite_verb(verb, clause), [*_get_modal_infinitive(clause), *prefix]
    return _inflect_finite_verb(auxiliary, clause), nonfinite


def list_subordinate_verbs(clause: Clause) -> list[str]:
    """Return the verbs of a subordinate clause, the finite one last, or the infinitive with `zu`."""
    verb = _get_lexical_verb(clause)
    if clause.tense == "infinitive":
        return list(verb.zu_infinitive)
    auxiliary, nonfinite = _get_auxiliary(clause, verb)
    if auxiliary is None:
        return [*_get_modal_infinitive(clause), verb.prefix + _inflect_finite_verb(verb, clause)]
    return [*nonfinite, _inflect_finite_verb(auxiliary, clause)]


def _get_lexical_verb(clause: Clause) -> GermanVerb:
    return clause.sense.german_verb if clause.sense else VERB_SEIN


def _get_auxiliary(clause: Clause, verb: GermanVerb) -> tuple[GermanVerb | None, list[str]]:
    """Return the auxiliary, if the tense has one, and the nonfinite verbs that depend on it."""
    if clause.tense == "perfect":
        return VERB_SEIN if clause.sense is None or "sein" in clause.sense.traits else VERB_HABEN, [verb.participle]
    if clause.tense in MODAL_VERB_BY_TENSE:
        return MODAL_VERB_BY_TENSE[clause.tense], [*_get_modal_infinitive(clause), verb.infinitive]
    return None, []


def get_modal_complement(clause: Clause) -> Clause | None:
    """Return the complement of a modal sense (`want to`), which shares the verb bracket in German (`wollen`)."""
    if clause.sense is None or "modal" not in clause.sense.traits:
        return None
    return next(filler for slot, filler in clause.arguments if isinstance(filler, Clause))


def _get_modal_infinitive(clause: Clause) -> list[str]:
    inner = get_modal_complement(clause)
    return [_get_lexical_verb(inner).infinitive] if inner is not None else []


def _inflect_finite_verb(verb: GermanVerb, clause: Clause) -> str:
    forms = verb.past if clause.is_past_frame else verb.present
    subject = clause.subject
    person = subject.person if isinstance(subject, NounPhrase) else 3
    if subject.has_plural_agreement != clause.has_wrong_number or person == 2:
        return forms[2]
    return forms[0 if person == 1 else 1]
