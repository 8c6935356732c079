"""Realization of derivations as German sentences, with topological fields.

The fields are Vorfeld, finite verb, Mittelfeld, right bracket (prefix, participle or infinitive; in a subordinate
clause all verbs) and Nachfeld (subordinate clauses).
"""

from embedded_grammar.derivation import Clause, NounPhrase, RelativeGap, SubordinateClause
from embedded_grammar.determiners import DETERMINER_NO, DETERMINER_THE
from embedded_grammar.german.inflection import (
    CONTRACTIONS,
    RELATIVE_PRONOUNS,
    get_adjective_ending,
    get_paradigm_column,
    inflect_determiner,
    inflect_noun,
)
from embedded_grammar.german.middle_field import (
    FieldPart,
    build_adverbial_part,
    build_middle_field,
    build_subject_part,
    get_preposition_and_case,
)
from embedded_grammar.german.verb_bracket import get_modal_complement, list_subordinate_verbs, split_main_clause_verbs
from embedded_grammar.nouns import Pronoun

COMMA = ","


def realize_sentence(clause: Clause) -> list[str]:
    """Return the tokens of a sentence, with an initial capital and a full stop."""
    tokens = _realize_main_clause(clause)
    second = clause.conjunct
    if second is not None and second.subject is not clause.subject:
        tokens += [COMMA] if clause.conjunction[1] == "aber" else []
        tokens += [clause.conjunction[1], *_realize_main_clause(second)]
    tokens = _remove_redundant_commas([*tokens, "."])
    tokens[0] = tokens[0][0].upper() + tokens[0][1:]
    return tokens


def _remove_redundant_commas(tokens: list[str]) -> list[str]:
    """Merge adjacent commas, and remove commas at the start and before the full stop."""
    tidy_tokens: list[str] = []
    for token in tokens:
        if tidy_tokens and tidy_tokens[-1] == COMMA and token in (COMMA, "."):
            tidy_tokens.pop()
        if tidy_tokens or token != COMMA:
            tidy_tokens.append(token)
    return tidy_tokens


def _realize_main_clause(clause: Clause) -> list[str]:
    """Realize Vorfeld, finite verb, Mittelfeld, right bracket and Nachfeld."""
    if clause.initial_subordinate is not None:
        start = _realize_subordinate_clause(clause.initial_subordinate)
    elif clause.fronted_element:
        start = _realize_fronted_element(clause)
    else:
        start = _realize_part(build_subject_part(clause), should_omit_relative=clause.has_extraposed_relative)
    has_inversion = clause.initial_subordinate is not None or bool(clause.fronted_element)
    tokens = start + _realize_verb_second(clause, should_include_subject=has_inversion)
    second = clause.conjunct
    if second is not None and second.subject is clause.subject:
        tokens += [clause.conjunction[1], *_realize_verb_second(second, False)]
    return tokens


def _realize_fronted_element(clause: Clause) -> list[str]:
    if clause.fronted_element == "place":
        place = next(adverbial for adverbial in clause.adverbials if adverbial.kind == "place")
        return _realize_part(build_adverbial_part(place))
    adverb = clause.time_adverb if clause.fronted_element == "time" else clause.sentence_adverb
    return adverb.german.split() if adverb is not None else []


def _realize_verb_second(clause: Clause, should_include_subject: bool) -> list[str]:
    finite, bracket = split_main_clause_verbs(clause)
    field, relative = _realize_middle_field(build_middle_field(clause, should_include_subject), bool(bracket))
    return [finite, *field, *bracket, *relative, *_realize_final_field(clause)]


def _realize_verb_last(clause: Clause) -> list[str]:
    """Realize a subordinate clause, with the second predicate if there is one."""
    if clause.has_wrong_order:
        return [*_realize_part(build_subject_part(clause)), *_realize_verb_second(clause, should_include_subject=False)]
    tokens = _realize_verb_last_predicate(clause, should_include_subject=True)
    second = clause.conjunct
    if second is not None and second.subject is clause.subject:
        tokens += [clause.conjunction[1], *_realize_verb_last_predicate(second, should_include_subject=False)]
    return tokens


def _realize_verb_last_predicate(clause: Clause, should_include_subject: bool) -> list[str]:
    field, relative = _realize_middle_field(build_middle_field(clause, should_include_subject), has_bracket=True)
    return [*field, *list_subordinate_verbs(clause), *relative, *_realize_final_field(clause)]


def _realize_middle_field(parts: list[FieldPart], has_bracket: bool) -> tuple[list[str], list[str]]:
    """Return the words of the Mittelfeld, and the final relative clause, which moves behind a right bracket."""
    relative: list[str] = []
    tokens: list[str] = []
    for number, part in enumerate(parts, start=1):
        moves = has_bracket and number == len(parts) and _has_final_relative(part.phrase)
        tokens += _realize_part(part, should_omit_relative=moves)
        if moves and part.phrase is not None and part.phrase.relative_clause is not None:
            relative = realize_relative_clause(part.phrase.relative_clause)
    return tokens, relative


def _realize_part(part: FieldPart, should_omit_relative: bool = False) -> list[str]:
    """Realize a part of the Mittelfeld, optionally without the relative clause at its end."""
    if part.phrase is None:
        return list(part.words)
    return realize_prepositional_phrase(part.preposition, part.phrase, part.case, part.is_negated, should_omit_relative)


def _has_final_relative(phrase: NounPhrase | None) -> bool:
    return phrase is not None and phrase.relative_clause is not None and phrase.conjunct is None


def _realize_final_field(clause: Clause) -> list[str]:
    """Realize the Nachfeld: extraposed relative clause of the subject, clausal arguments, adverbial clause."""
    tokens: list[str] = []
    if (
        clause.has_extraposed_relative
        and isinstance(clause.subject, NounPhrase)
        and clause.subject.relative_clause is not None
    ):
        tokens += realize_relative_clause(clause.subject.relative_clause)
    modal_complement = get_modal_complement(clause)
    for slot, filler in clause.arguments:
        if modal_complement is not None and filler is modal_complement:
            tokens += _realize_final_field(modal_complement)
        elif isinstance(filler, Clause):
            word = {"that": ("dass",), "whether": ("ob",)}.get(slot.english_role, ())
            tokens += [COMMA, *word, *_realize_verb_last(filler), COMMA]
    if clause.final_subordinate is not None:
        tokens += _realize_subordinate_clause(clause.final_subordinate)
    return tokens


def _realize_subordinate_clause(subordinate: SubordinateClause) -> list[str]:
    conjunction = subordinate.conjunction
    word = conjunction.german_past if subordinate.clause.is_past_frame else ""
    return [COMMA, word or conjunction.german, *_realize_verb_last(subordinate.clause), COMMA]


def realize_relative_clause(clause: Clause) -> list[str]:
    """Realize a relative clause; its pronoun has the gender and number of the antecedent and the case of the gap."""
    gap, preposition, case = _find_gap(clause)
    antecedent = gap.antecedent
    assert not isinstance(antecedent.head, Pronoun)
    pronoun = RELATIVE_PRONOUNS[get_paradigm_column(antecedent.head, antecedent.is_plural), case]
    start = [preposition, pronoun] if preposition else [pronoun]
    return [COMMA, *start, *_realize_verb_last(clause), COMMA]


def _find_gap(clause: Clause) -> tuple[RelativeGap, str, str]:
    if isinstance(clause.subject, RelativeGap):
        return clause.subject, "", "nom"
    for slot, filler in clause.arguments:
        if isinstance(filler, RelativeGap):
            return filler, slot.german_preposition, slot.german_case
    raise ValueError("a relative clause without a gap")


def realize_prepositional_phrase(
    preposition: str, phrase: NounPhrase, case: str, is_negated: bool = False, should_omit_relative: bool = False
) -> list[str]:
    """Realize a prepositional phrase; the article contracts with the preposition unless a relative clause follows."""
    tokens = realize_noun_phrase(phrase, case, is_negated, should_omit_relative)
    if not preposition:
        return tokens
    is_definite = phrase.possessor is not None or (
        phrase.determiner is not None and phrase.determiner.german_paradigm == "der"
    )
    if is_definite and phrase.relative_clause is None and (preposition, tokens[0]) in CONTRACTIONS:
        return [CONTRACTIONS[preposition, tokens[0]], *tokens[1:]]
    return [preposition, *tokens]


def realize_noun_phrase(
    phrase: NounPhrase, case: str, is_negated: bool = False, should_omit_relative: bool = False
) -> list[str]:
    """Realize a noun phrase in a case; `is_negated` replaces its article by `kein`."""
    head = phrase.head
    if isinstance(head, Pronoun):
        tokens = [head.get_case_form(case)]
    else:
        column_and_case = get_paradigm_column(head, phrase.is_plural), case
        tokens = []
        determiner = DETERMINER_NO if is_negated else phrase.determiner
        owner = phrase.possessor
        if owner is not None:
            # A name precedes the noun and replaces its article; any other possessor follows the noun.
            determiner = DETERMINER_THE if owner.head.is_common else None
            tokens += [] if owner.head.is_common else realize_noun_phrase(owner, "gen")
        article = inflect_determiner(determiner, phrase.wrong_article or column_and_case)
        tokens += [article] if article else []
        for adjective, degree in phrase.adjectives:
            tokens += [degree.german] if degree else []
            tokens.append(adjective.german_stem.removesuffix("e") + get_adjective_ending(determiner, column_and_case))
        tokens.append(inflect_noun(head, phrase.is_plural, case))
        if owner is not None and owner.head.is_common:
            tokens += realize_noun_phrase(owner, "gen")
        if phrase.attribute is not None:
            tokens += _realize_attribute(phrase)
        if phrase.relative_clause is not None and not should_omit_relative:
            tokens += realize_relative_clause(phrase.relative_clause)
    if phrase.conjunct is not None:
        tokens += [phrase.conjunction[1], *realize_noun_phrase(phrase.conjunct, case)]
    return tokens


def _realize_attribute(phrase: NounPhrase) -> list[str]:
    assert phrase.attribute is not None
    slot, inner = phrase.attribute
    preposition, case = get_preposition_and_case(slot, inner.head)
    return realize_prepositional_phrase(preposition, inner, case or "nom")
