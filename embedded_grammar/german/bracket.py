"""The verbs of a German clause: which one is finite, and what stands in the right bracket."""

from embedded_grammar.derivation import Clause, NounPhrase
from embedded_grammar.german.verbs import GermanVerb, german_verb

SEIN = german_verb("sein")
HABEN = german_verb("haben")
MODALS = {
    "future": german_verb("werden"),
    "can": german_verb("können"),
    "could": german_verb("können"),
    "must": german_verb("müssen"),
    "should": german_verb("sollen"),
}


def verb_second(clause: Clause) -> tuple[str, list[str]]:
    """The finite verb, and the right bracket behind the Mittelfeld: prefix, participle or infinitive."""
    verb = _lexical(clause)
    auxiliary, nonfinite = _auxiliary(clause, verb)
    if auxiliary is None:
        return _finite(verb, clause), [*_under_modal(clause), *([verb.prefix] if verb.prefix else [])]
    return _finite(auxiliary, clause), nonfinite


def verb_last(clause: Clause) -> list[str]:
    """The right bracket of a subordinate clause: all verbs, the finite one last; of an infinitive clause, with `zu`."""
    verb = _lexical(clause)
    if clause.tense == "infinitive":
        return list(verb.zu_infinitive)
    auxiliary, nonfinite = _auxiliary(clause, verb)
    if auxiliary is None:
        return [*_under_modal(clause), verb.prefix + _finite(verb, clause)]
    return [*nonfinite, _finite(auxiliary, clause)]


def _lexical(clause: Clause) -> GermanVerb:
    return clause.sense.german if clause.sense else SEIN


def _auxiliary(clause: Clause, verb: GermanVerb) -> tuple[GermanVerb | None, list[str]]:
    """The auxiliary, if the tense has one, and the verbs that depend on it."""
    if clause.tense == "perfect":
        return SEIN if clause.sense is None or "sein" in clause.sense.traits else HABEN, [verb.participle]
    if clause.tense in MODALS:
        return MODALS[clause.tense], [*_under_modal(clause), verb.infinitive]
    return None, []


def bare_infinitive(clause: Clause) -> Clause | None:
    """The complement of `want to`, which German puts under the modal `wollen`, in the same pair of brackets."""
    if clause.sense is None or "modal" not in clause.sense.traits:
        return None
    return next(filler for slot, filler in clause.arguments if isinstance(filler, Clause))


def _under_modal(clause: Clause) -> list[str]:
    inner = bare_infinitive(clause)
    return [_lexical(inner).infinitive] if inner is not None else []


def _finite(verb: GermanVerb, clause: Clause) -> str:
    forms = verb.past if clause.past_frame else verb.present
    subject = clause.subject
    person = subject.person if isinstance(subject, NounPhrase) else 3
    if subject.agrees_as_plural != clause.wrong_number or person == 2:
        return forms[2]
    return forms[0 if person == 1 else 1]
