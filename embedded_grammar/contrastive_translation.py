"""Incorrect German translations that differ from the correct one in one feature of the derivation.

Each function changes the derivation, realizes the German sentence again, and restores the derivation.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from embedded_grammar.ambiguity import AmbiguousRelativeClause, AmbiguousWithPhrase, AttachmentAmbiguity
from embedded_grammar.clause_sampling import ClauseSampler
from embedded_grammar.derivation import Clause, NounPhrase
from embedded_grammar.determiners import DETERMINER_NO
from embedded_grammar.german import realize_sentences as german
from embedded_grammar.german.inflection import (
    ENDINGS_BY_PARADIGM,
    get_paradigm_column,
    inflect_determiner,
    inflect_noun,
)
from embedded_grammar.german.middle_field import get_preposition_and_case
from embedded_grammar.german.verbs import GermanVerb
from embedded_grammar.nouns import Noun
from embedded_grammar.phenomenon_detection import has_agreement_attractor
from embedded_grammar.senses import CASES, SENSES
from embedded_grammar.syntactic_phenomena import AttachmentKind, ContrastiveErrorKind, Phenomenon

Item = TypeVar("Item")

# A placeholder that occurs in no word; it replaces a word whose position is needed.
POSITION_MARK = "§"

GENDERS = ("m", "f", "n")
# Without the genitive, which is a rare confusion, and `während` also takes a dative in speech.
CONFUSABLE_CASES = CASES[:3]

SEPARABLE_PREFIXES = sorted({sense.german_verb.prefix for sense in SENSES if sense.german_verb.prefix})
ACCEPTABLE_PREFIXES = {
    "auf heben": "ab",
    "auf geben": "ab",
    "zurück geben": "ab",
    "ab geben": "auf zurück",
    "weg räumen": "auf ab aus ein hin zurück",
    "auf räumen": "weg ab aus ein",
    "hin legen": "ab weg auf zurück",
    "ab stellen": "hin weg zurück auf",
    "weg nehmen": "mit",
    "nach schlagen": "auf",
    "weg laufen": "hinaus aus",
    "aus gehen": "weg",
    "kaputt gehen": "aus",
    "zurück bringen": "mit",
    "weg schicken": "zurück",
    "weg werfen": "hinaus",
    "hinaus werfen": "weg",
    "ab reißen": "ein weg",
    "auf schreiben": "hin mit nach an",
    "vor lesen": "ab",
    "aus teilen": "auf ein zu",
    "ab schließen": "ein weg an zu",
    "hin fallen": "ab",
    "zurück zahlen": "ab aus nach",
    "auf essen": "weg aus",
    "aus trinken": "weg",
    "auf hängen": "hin an aus ein weg",
    "aus führen": "vor auf",
}
"""Other prefixes that also translate the same English verb, by German verb."""

# Within a group, prefixes can be synonyms with some verbs.
SYNONYMOUS_PREFIXES = ({"ab", "aus", "hin", "hinaus", "weg"}, {"an", "auf", "ein", "herein"})

PHENOMENON_BY_CONTRAST: Mapping[ContrastiveErrorKind, Phenomenon] = {
    ContrastiveErrorKind.agreement: Phenomenon.agreement,
    ContrastiveErrorKind.particle: Phenomenon.particle_verb,
    ContrastiveErrorKind.verb_final: Phenomenon.verb_final,
}
"""The phenomenon that a sentence must contain for an error kind; other kinds need none."""

ATTACHMENT_BY_CONTRAST: Mapping[ContrastiveErrorKind, AttachmentKind] = {
    ContrastiveErrorKind.relative_attachment: AttachmentKind.relative_attachment,
    ContrastiveErrorKind.phrase_attachment: AttachmentKind.phrase_attachment,
}
"""The attachment ambiguity that a sentence must contain for an error kind."""


@dataclass(frozen=True, slots=True)
class ContrastiveTranslations:
    """A correct and an incorrect German sentence.

    `distance` is the number of words of the correct sentence between the two words that depend on each other.
    """

    correct_tokens: list[str]
    contrastive_tokens: list[str]
    distance: int


def translate_contrastively(
    contrast_kind: ContrastiveErrorKind,
    main_clause: Clause,
    ambiguity: AttachmentAmbiguity | None,
    sampler: ClauseSampler,
) -> ContrastiveTranslations | None:
    """Translate a sentence correctly and incorrectly; return None if it cannot contain this kind of error.

    Args:
        contrast_kind: The kind of error.
        main_clause: The derivation, which is restored.
        ambiguity: The attachment ambiguity of the sentence, for the kinds in `ATTACHMENT_BY_CONTRAST`.
        sampler: Chooses among several possible errors.
    """
    correct = german.realize_sentence(main_clause)
    if contrast_kind in ATTACHMENT_BY_CONTRAST:
        return _switch_attachment(main_clause, ambiguity, correct) if ambiguity is not None else None
    return _CONTRAST_FUNCTIONS[contrast_kind](main_clause, correct, sampler)


def _realize_with_changes(main_clause: Clause, part: Clause | NounPhrase, **changed_fields: object) -> list[str]:
    """Realize the German sentence with other values of some fields of `part`."""
    original_fields = {name: getattr(part, name) for name in changed_fields}
    for name, value in changed_fields.items():
        setattr(part, name, value)
    tokens = german.realize_sentence(main_clause)
    for name, value in original_fields.items():
        setattr(part, name, value)
    return tokens


def _find_differing_positions(first_tokens: list[str], second_tokens: list[str]) -> list[int]:
    """List the positions in which two sentences differ; empty if their lengths differ."""
    if len(first_tokens) != len(second_tokens):
        return []
    return [position for position, (a, b) in enumerate(zip(first_tokens, second_tokens, strict=True)) if a != b]


def _find_first_difference(first_tokens: list[str], second_tokens: list[str]) -> int:
    pairs = zip(first_tokens, second_tokens, strict=False)
    return next(position for position, (a, b) in enumerate(pairs) if a != b)


def _find_noun_position(main_clause: Clause, phrase: NounPhrase) -> int:
    assert isinstance(phrase.head, Noun)
    marked = replace(phrase.head, german=POSITION_MARK, german_plural=POSITION_MARK, german_genitive=POSITION_MARK)
    return _find_marked_position(_realize_with_changes(main_clause, phrase, head=marked))


def _find_verb_position(main_clause: Clause, clause: Clause) -> int:
    """Return the position of the lexical verb, finite or not."""
    assert clause.sense is not None
    forms = (POSITION_MARK, POSITION_MARK, POSITION_MARK)
    marked = replace(
        clause.sense.german_verb, base=POSITION_MARK, present=forms, past=forms, base_participle=POSITION_MARK
    )
    return _find_marked_position(
        _realize_with_changes(main_clause, clause, sense=replace(clause.sense, german_verb=marked))
    )


def _find_marked_position(tokens: list[str]) -> int:
    return next(position for position, token in enumerate(tokens) if POSITION_MARK in token)


def _count_words_between(first_position: int, second_position: int) -> int:
    return abs(first_position - second_position) - 1


def _shuffle_items(items: list[Item], sampler: ClauseSampler) -> list[Item]:
    return sorted(items, key=lambda _: sampler.random.random())


def _break_agreement(
    main_clause: Clause, correct_tokens: list[str], _: ClauseSampler
) -> ContrastiveTranslations | None:
    """Give the finite verb the number of the noun before it instead of that of its subject."""
    subject = main_clause.subject
    if (
        not isinstance(subject, NounPhrase)
        or not has_agreement_attractor(main_clause, subject)
        or subject.possessor is not None
    ):
        return None
    wrong = _realize_with_changes(main_clause, main_clause, has_wrong_number=True)
    positions = _find_differing_positions(correct_tokens, wrong)
    if len(positions) != 1:
        return None
    distance = _count_words_between(positions[0], _find_noun_position(main_clause, subject))
    return ContrastiveTranslations(correct_tokens, wrong, distance)


def list_wrong_prefixes(verb: GermanVerb) -> list[str]:
    """List incorrect prefixes for a verb: those that form another verb of the lexicon, or else all."""
    acceptable = {verb.prefix, *ACCEPTABLE_PREFIXES.get(f"{verb.prefix} {verb.base}", "").split()}
    wrong = [
        prefix
        for prefix in SEPARABLE_PREFIXES
        if prefix not in acceptable and not any({prefix, verb.prefix} <= group for group in SYNONYMOUS_PREFIXES)
    ]
    prefixes_of_base = {sense.german_verb.prefix for sense in SENSES if sense.german_verb.base == verb.base}
    return [prefix for prefix in wrong if prefix in prefixes_of_base] or wrong


def _replace_particle(
    main_clause: Clause, correct_tokens: list[str], sampler: ClauseSampler
) -> ContrastiveTranslations | None:
    """Replace the separable prefix of the main verb by one from `list_wrong_prefixes`."""
    sense = main_clause.sense
    if sense is None or sense.german_verb.prefix not in correct_tokens:
        return None
    verb = sense.german_verb
    prefix = sampler.draw_item(list_wrong_prefixes(verb))
    wrong = _realize_with_changes(
        main_clause, main_clause, sense=replace(sense, german_verb=replace(verb, prefix=prefix))
    )
    positions = _find_differing_positions(correct_tokens, wrong)
    if len(positions) != 1 or correct_tokens[positions[0]] != verb.prefix:
        return None
    distance = _count_words_between(positions[0], _find_verb_position(main_clause, main_clause))
    return ContrastiveTranslations(correct_tokens, wrong, distance)


def _change_case(
    main_clause: Clause, correct_tokens: list[str], sampler: ClauseSampler
) -> ContrastiveTranslations | None:
    """Give the article of a subject or object another case, if the noun has the same form in both cases."""
    if main_clause.sense is None:
        return None
    for phrase, correct_case in _shuffle_items([*_iterate_bare_arguments(main_clause)], sampler):
        column = get_paradigm_column(phrase.head, phrase.is_plural) if isinstance(phrase.head, Noun) else ""
        for case in _shuffle_items([case for case in CONFUSABLE_CASES if case != correct_case], sampler):
            replacement = _replace_article(main_clause, correct_tokens, phrase, (column, case))
            if replacement is not None:
                wrong, position = replacement
                distance = _count_words_between(position, _find_verb_position(main_clause, main_clause))
                return ContrastiveTranslations(correct_tokens, wrong, distance)
    return None


def _change_gender(
    main_clause: Clause, correct_tokens: list[str], sampler: ClauseSampler
) -> ContrastiveTranslations | None:
    """Give the article of a singular noun a form that exists in no case of the gender of the noun."""
    adverbials = [(adverbial.phrase, adverbial.german_case) for adverbial in main_clause.adverbials]
    for phrase, case in _shuffle_items([*_iterate_bare_arguments(main_clause), *adverbials], sampler):
        if phrase.is_plural or not isinstance(phrase.head, Noun):
            continue
        correct_gender = phrase.head.gender
        correct_forms = {inflect_determiner(phrase.determiner, (correct_gender, any_case)) for any_case in CASES}
        for gender in _shuffle_items([gender for gender in GENDERS if gender != correct_gender], sampler):
            if inflect_determiner(phrase.determiner, (gender, case)) in correct_forms:
                continue
            replacement = _replace_article(main_clause, correct_tokens, phrase, (gender, case))
            if replacement is not None:
                wrong, position = replacement
                distance = _count_words_between(position, _find_noun_position(main_clause, phrase))
                return ContrastiveTranslations(correct_tokens, wrong, distance)
    return None


def _iterate_bare_arguments(main_clause: Clause) -> Iterator[tuple[NounPhrase, str]]:
    """Yield the subject and the objects without a preposition, each with its case."""
    if isinstance(main_clause.subject, NounPhrase):
        yield main_clause.subject, "nom"
    for slot, filler in main_clause.arguments:
        if isinstance(filler, NounPhrase) and not get_preposition_and_case(slot, filler.head)[0]:
            yield filler, slot.german_case


def _replace_article(
    main_clause: Clause, correct_tokens: list[str], phrase: NounPhrase, wrong_article: tuple[str, str]
) -> tuple[list[str], int] | None:
    """Return the sentence with another form of an article, and the position of the article.

    Return None if the result is no error, or an error of another kind.
    """
    head, determiner = phrase.head, phrase.determiner
    inflects = determiner is not None and (
        determiner.german_paradigm == "der" or determiner.german_paradigm in ENDINGS_BY_PARADIGM
    )
    if not isinstance(head, Noun) or not inflects or phrase.possessor is not None:
        return None
    # The wrong article could be that of the plural if the noun has equal forms: `der Lehrer`, `die Lehrer`.
    if any(inflect_noun(head, False, case) == inflect_noun(head, True, case) for case in CASES):
        return None
    wrong = _realize_with_changes(main_clause, phrase, wrong_article=wrong_article)
    positions = _find_differing_positions(correct_tokens, wrong)
    return (wrong, positions[0]) if len(positions) == 1 else None


def _move_verb_forward(
    main_clause: Clause, correct_tokens: list[str], sampler: ClauseSampler
) -> ContrastiveTranslations | None:
    """Move the verb of a subordinate clause to second position; the distance is the number of words it crosses."""
    clauses = [
        subordinate.clause
        for subordinate in (main_clause.initial_subordinate, main_clause.final_subordinate)
        if subordinate is not None
    ]
    clauses += [
        filler
        for slot, filler in main_clause.arguments
        if isinstance(filler, Clause) and slot.english_role != "infinitive"
    ]
    for clause in _shuffle_items(clauses, sampler):
        wrong = _realize_with_changes(main_clause, clause, has_wrong_order=True)
        if wrong == correct_tokens:
            continue
        start = _find_first_difference(correct_tokens, wrong)
        suffix_length = _find_first_difference(correct_tokens[::-1], wrong[::-1])
        return ContrastiveTranslations(correct_tokens, wrong, len(correct_tokens) - suffix_length - start - 1)
    return None


def _change_negation(
    main_clause: Clause, correct_tokens: list[str], is_dropped: bool
) -> ContrastiveTranslations | None:
    """Drop or add `nicht` or `kein`."""
    has_negative_determiner = any(phrase.determiner is DETERMINER_NO for phrase in main_clause.participants)
    has_fixed_adverb = main_clause.time_adverb is not None and main_clause.time_adverb.kind in ("frequency", "late")
    if main_clause.sense is None or main_clause.is_negated != is_dropped:
        return None
    if has_negative_determiner or has_fixed_adverb:
        return None
    if main_clause.manner_adverb is not None or main_clause.adverbials or main_clause.conjunct is not None:
        return None
    wrong = _realize_with_changes(main_clause, main_clause, is_negated=not is_dropped)
    start = _find_first_difference(correct_tokens, wrong)
    shorter, longer = sorted((correct_tokens, wrong), key=len)
    if len(_find_differing_positions(correct_tokens, wrong)) != 1 and longer[:start] + longer[start + 1 :] != shorter:
        return None  # A relative clause has moved as well.
    distance = _count_words_between(start, _find_verb_position(main_clause, main_clause))
    return ContrastiveTranslations(correct_tokens, wrong, max(distance, 0))


def _switch_attachment(
    main_clause: Clause, ambiguity: AttachmentAmbiguity, correct_tokens: list[str]
) -> ContrastiveTranslations:
    """Translate the other reading; the distance is that between the attached phrase and its correct governor."""
    is_high = ambiguity.is_attached_high
    ambiguity.set_attachment(not is_high)
    wrong = german.realize_sentence(main_clause)
    ambiguity.set_attachment(is_high)
    if isinstance(ambiguity, AmbiguousRelativeClause):
        attached = _find_differing_positions(correct_tokens, wrong)[0]
        governor = _find_noun_position(main_clause, ambiguity.clause.gap.antecedent)
    else:
        assert isinstance(ambiguity, AmbiguousWithPhrase)
        attached = _find_noun_position(main_clause, ambiguity.instrument.phrase)
        governor = (
            _find_verb_position(main_clause, main_clause)
            if is_high
            else _find_noun_position(main_clause, ambiguity.object_phrase)
        )
    return ContrastiveTranslations(correct_tokens, wrong, _count_words_between(attached, governor))


_CONTRAST_FUNCTIONS: Mapping[
    ContrastiveErrorKind, Callable[[Clause, list[str], ClauseSampler], ContrastiveTranslations | None]
] = {
    ContrastiveErrorKind.agreement: _break_agreement,
    ContrastiveErrorKind.particle: _replace_particle,
    ContrastiveErrorKind.case: _change_case,
    ContrastiveErrorKind.gender: _change_gender,
    ContrastiveErrorKind.verb_final: _move_verb_forward,
    ContrastiveErrorKind.negation_dropped: lambda main, correct, _: _change_negation(main, correct, is_dropped=True),
    ContrastiveErrorKind.negation_added: lambda main, correct, _: _change_negation(main, correct, is_dropped=False),
}
