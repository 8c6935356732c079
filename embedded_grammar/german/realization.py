"""The German side of a derivation: verb second in main clauses, verb last in subordinate ones.

A clause is laid out by topological fields: Vorfeld, finite verb, Mittelfeld, right bracket (prefix, participle,
infinitive; in a subordinate clause all verbs), Nachfeld (subordinate clauses).
"""

from embedded_grammar.derivation import Clause, Gap, NounPhrase, Subordinate
from embedded_grammar.determiners import NO, THE
from embedded_grammar.german.bracket import bare_infinitive, verb_last, verb_second
from embedded_grammar.german.fields import Part, adverbial_part, governed, middle, subject
from embedded_grammar.german.words import (
    CONTRACTED,
    RELATIVE,
    adjective_ending,
    article,
    column,
    noun_form,
)
from embedded_grammar.nouns import Pronoun

COMMA = ","


def sentence(clause: Clause) -> list[str]:
    """The tokens of a whole sentence, with an initial capital and a full stop."""
    tokens = _main(clause)
    second = clause.conjunct
    if second is not None and second.subject is not clause.subject:
        tokens += [COMMA] if clause.conjunction[1] == "aber" else []
        tokens += [clause.conjunction[1], *_main(second)]
    tokens = _tidy([*tokens, "."])
    tokens[0] = tokens[0][0].upper() + tokens[0][1:]
    return tokens


def _tidy(tokens: list[str]) -> list[str]:
    """A subordinate clause brings a comma for both its ends: one is enough where two meet, none before a full stop."""
    tidied: list[str] = []
    for token in tokens:
        if tidied and tidied[-1] == COMMA and token in (COMMA, "."):
            tidied.pop()
        if tidied or token != COMMA:
            tidied.append(token)
    return tidied


def _main(clause: Clause) -> list[str]:
    """Vorfeld, finite verb, Mittelfeld, right bracket, Nachfeld."""
    if clause.before is not None:
        start = _subordinate(clause.before)
    elif clause.fronted:
        start = _fronted(clause)
    else:
        start = _tokens(subject(clause), without_relative=clause.extraposed)
    subject_behind = clause.before is not None or bool(clause.fronted)
    tokens = start + _verb_second(clause, subject_behind)
    second = clause.conjunct
    if second is not None and second.subject is clause.subject:
        tokens += [clause.conjunction[1], *_verb_second(second, False)]
    return tokens


def _fronted(clause: Clause) -> list[str]:
    if clause.fronted == "place":
        place = next(adverbial for adverbial in clause.adverbials if adverbial.kind == "place")
        return _tokens(adverbial_part(place))
    adverb = clause.time if clause.fronted == "time" else clause.sentence
    return adverb.german.split() if adverb is not None else []


def _verb_second(clause: Clause, with_subject: bool) -> list[str]:
    finite, bracket = verb_second(clause)
    field, relative = _rendered(middle(clause, with_subject), bool(bracket))
    return [finite, *field, *bracket, *relative, *_behind(clause)]


def _verb_last(clause: Clause) -> list[str]:
    """Mittelfeld, all verbs, Nachfeld; a second predicate of the same subject follows its conjunction."""
    if clause.wrong_order:
        return [*_tokens(subject(clause)), *_verb_second(clause, with_subject=False)]
    field, relative = _rendered(middle(clause, with_subject=True), has_bracket=True)
    tokens = [*field, *verb_last(clause), *relative, *_behind(clause)]
    second = clause.conjunct
    if second is not None and second.subject is clause.subject:
        field, relative = _rendered(middle(second, with_subject=False), has_bracket=True)
        tokens += [clause.conjunction[1], *field, *verb_last(second), *relative, *_behind(second)]
    return tokens


def _rendered(parts: list[Part], has_bracket: bool) -> tuple[list[str], list[str]]:
    """The words of the Mittelfeld, and the relative clause that moves from its end behind a right bracket."""
    relative: list[str] = []
    tokens: list[str] = []
    for number, part in enumerate(parts, start=1):
        moves = has_bracket and number == len(parts) and _ends_in_relative(part.phrase)
        tokens += _tokens(part, without_relative=moves)
        if moves and part.phrase is not None and part.phrase.relative is not None:
            relative = relative_clause(part.phrase.relative)
    return tokens, relative


def _tokens(part: Part, without_relative: bool = False) -> list[str]:
    """The words of a part; a relative clause at the end of its noun phrase can be left for later."""
    if part.phrase is None:
        return list(part.words)
    return prepositional(part.preposition, part.phrase, part.case, part.negative, without_relative)


def _ends_in_relative(phrase: NounPhrase | None) -> bool:
    return phrase is not None and phrase.relative is not None and phrase.conjunct is None


def _behind(clause: Clause) -> list[str]:
    """The Nachfeld: an extraposed relative clause of the subject, clausal arguments, an adverbial clause."""
    tokens: list[str] = []
    if clause.extraposed and isinstance(clause.subject, NounPhrase) and clause.subject.relative is not None:
        tokens += relative_clause(clause.subject.relative)
    bare = bare_infinitive(clause)
    for slot, filler in clause.arguments:
        if filler is bare and bare is not None:
            tokens += _behind(bare)
        elif isinstance(filler, Clause):
            word = {"that": ("dass",), "whether": ("ob",)}.get(slot.english, ())
            tokens += [COMMA, *word, *_verb_last(filler), COMMA]
    if clause.after is not None:
        tokens += _subordinate(clause.after)
    return tokens


def _subordinate(subordinate: Subordinate) -> list[str]:
    conjunction = subordinate.conjunction
    word = conjunction.past if subordinate.clause.past_frame else ""
    return [COMMA, word or conjunction.german, *_verb_last(subordinate.clause), COMMA]


def relative_clause(clause: Clause) -> list[str]:
    """The relative pronoun agrees with its antecedent in gender and number; its case is that of the gap."""
    gap, preposition, case = _gap(clause)
    antecedent = gap.antecedent
    assert not isinstance(antecedent.head, Pronoun)
    pronoun = RELATIVE[column(antecedent.head, antecedent.plural), case]
    start = [preposition, pronoun] if preposition else [pronoun]
    return [COMMA, *start, *_verb_last(clause), COMMA]


def _gap(clause: Clause) -> tuple[Gap, str, str]:
    if isinstance(clause.subject, Gap):
        return clause.subject, "", "nom"
    for slot, filler in clause.arguments:
        if isinstance(filler, Gap):
            return filler, slot.preposition, slot.case
    raise ValueError("a relative clause without a gap")


def prepositional(
    preposition: str, phrase: NounPhrase, case: str, negative: bool = False, without_relative: bool = False
) -> list[str]:
    """A noun phrase behind its preposition, contracted with an article that no relative clause needs."""
    tokens = noun_phrase(phrase, case, negative, without_relative)
    if not preposition:
        return tokens
    definite = phrase.possessor is not None or (phrase.determiner is not None and phrase.determiner.kind == "der")
    contracted = CONTRACTED.get((preposition, tokens[0])) if definite and phrase.relative is None else None
    return [contracted, *tokens[1:]] if contracted else [preposition, *tokens]


def noun_phrase(phrase: NounPhrase, case: str, negative: bool = False, without_relative: bool = False) -> list[str]:
    """A noun phrase in a case; `negative` puts `kein` in the place of its article."""
    head = phrase.head
    if isinstance(head, Pronoun):
        tokens = [head.in_case(case)]
    else:
        place = column(head, phrase.plural), case
        tokens = []
        determiner = NO if negative else phrase.determiner
        owner = phrase.possessor
        if owner is not None:
            # A name stands in front and no article does; whoever else owns it stands behind.
            determiner = THE if owner.head.common else None
            tokens += [] if owner.head.common else noun_phrase(owner, "gen")
        word = article(determiner, phrase.wrong_article or place)
        tokens += [word] if word else []
        for adjective, degree in phrase.adjectives:
            tokens += [degree.german] if degree else []
            tokens.append(adjective.stem.removesuffix("e") + adjective_ending(determiner, place))
        tokens.append(noun_form(head, phrase.plural, case))
        if owner is not None and owner.head.common:
            tokens += noun_phrase(owner, "gen")
        if phrase.attribute is not None:
            tokens += _attribute(phrase)
        if phrase.relative is not None and not without_relative:
            tokens += relative_clause(phrase.relative)
    if phrase.conjunct is not None:
        tokens += [phrase.conjunction[1], *noun_phrase(phrase.conjunct, case)]
    return tokens


def _attribute(phrase: NounPhrase) -> list[str]:
    assert phrase.attribute is not None
    slot, inner = phrase.attribute
    preposition, case = governed(slot, inner.head)
    return prepositional(preposition, inner, case or "nom")
