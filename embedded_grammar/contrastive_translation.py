"""Contrastive pairs: the German of a derivation, and the German of the same with one feature changed.

Nothing is cut out of a sentence: each function changes the derivation, has the German realized again, and puts the
derivation back.
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

# Stands for a word whose place is looked for; no word has it.
POSITION_MARK = "§"

GENDERS = ("m", "f", "n")
# A genitive in the place of another case is rare, and `während` takes a dative in speech.
CONFUSABLE_CASES = CASES[:3]

SEPARABLE_PREFIXES = sorted({sense.german_verb.prefix for sense in SENSES if sense.german_verb.prefix})
# With some verbs, prefixes of a group mean the same.
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
"""Prefixes that make another acceptable translation of the same English verb, by German verb."""

SYNONYMOUS_PREFIXES = ({"ab", "aus", "hin", "hinaus", "weg"}, {"an", "auf", "ein", "herein"})

PHENOMENON_BY_CONTRAST: Mapping[ContrastiveErrorKind, Phenomenon] = {
    ContrastiveErrorKind.agreement: Phenomenon.agreement,
    ContrastiveErrorKind.particle: Phenomenon.particle_verb,
    ContrastiveErrorKind.verb_final: Phenomenon.verb_final,
}
"""The phenomenon that a sentence needs for a contrast, where it is one that can be asked for."""

ATTACHMENT_BY_CONTRAST: Mapping[ContrastiveErrorKind, AttachmentKind] = {
    ContrastiveErrorKind.relative_attachment: AttachmentKind.relative_attachment,
    ContrastiveErrorKind.phrase_attachment: AttachmentKind.phrase_attachment,
}
"""What a sentence has to leave open for a contrast."""


@dataclass(frozen=True, slots=True)
class ContrastiveTranslations:
    """Two German sentences; `distance` counts the correct one's words between the two that depend on each other."""

    correct_tokens: list[str]
    contrastive_tokens: list[str]
    distance: int


def translate_contrastively(
    contrast_kind: ContrastiveErrorKind,
    main_clause: Clause,
    ambiguity: AttachmentAmbiguity | None,
    sampler: ClauseSampler,
) -> ContrastiveTranslations | None:
    """The German of a sentence, right and wrong; None if it has no place for such a mistake.

    Args:
        contrast_kind: what is to be wrong.
        main_clause: the derivation, which is as before in the end.
        ambiguity: what it leaves open, for the contrasts in `ATTACHMENT_BY_CONTRAST`.
        sampler: chooses where there are several possibilities.
    """
    correct = german.realize_sentence(main_clause)
    if contrast_kind in ATTACHMENT_BY_CONTRAST:
        return _switch_attachment(main_clause, ambiguity, correct) if ambiguity is not None else None
    return _CONTRAST_FUNCTIONS[contrast_kind](main_clause, correct, sampler)


def _realize_with_changes(main_clause: Clause, part: Clause | NounPhrase, **changed_fields: object) -> list[str]:
    """The German with some fields of a part of the derivation changed."""
    before = {name: getattr(part, name) for name in changed_fields}
    for name, value in changed_fields.items():
        setattr(part, name, value)
    tokens = german.realize_sentence(main_clause)
    for name, value in before.items():
        setattr(part, name, value)
    return tokens


def _find_differing_positions(first_tokens: list[str], second_tokens: list[str]) -> list[int]:
    """Where two sentences of one length differ; nowhere if their lengths do."""
    if len(first_tokens) != len(second_tokens):
        return []
    return [place for place, (a, b) in enumerate(zip(first_tokens, second_tokens, strict=True)) if a != b]


def _find_noun_position(main_clause: Clause, phrase: NounPhrase) -> int:
    assert isinstance(phrase.head, Noun)
    marked = replace(phrase.head, german=POSITION_MARK, german_plural=POSITION_MARK, german_genitive=POSITION_MARK)
    return _find_marked_position(_realize_with_changes(main_clause, phrase, head=marked))


def _find_verb_position(main_clause: Clause, clause: Clause) -> int:
    """Of the verb that has the meaning, finite or not."""
    assert clause.sense is not None
    forms = (POSITION_MARK, POSITION_MARK, POSITION_MARK)
    marked = replace(
        clause.sense.german_verb, base=POSITION_MARK, present=forms, past=forms, base_participle=POSITION_MARK
    )
    return _find_marked_position(
        _realize_with_changes(main_clause, clause, sense=replace(clause.sense, german_verb=marked))
    )


def _find_marked_position(tokens: list[str]) -> int:
    return next(place for place, token in enumerate(tokens) if POSITION_MARK in token)


def _count_words_between(first_position: int, second_position: int) -> int:
    return abs(first_position - second_position) - 1


def _shuffle_items(items: list[Item], sampler: ClauseSampler) -> list[Item]:
    return sorted(items, key=lambda _: sampler.random.random())


def _break_agreement(
    main_clause: Clause, correct_tokens: list[str], _: ClauseSampler
) -> ContrastiveTranslations | None:
    """The finite verb has the number of the noun before it instead of its subject's."""
    subject = main_clause.subject
    if (
        not isinstance(subject, NounPhrase)
        or not has_agreement_attractor(main_clause, subject)
        or subject.possessor is not None
    ):
        return None
    wrong = _realize_with_changes(main_clause, main_clause, has_wrong_number=True)
    verb, *others = _find_differing_positions(correct_tokens, wrong)
    return (
        None
        if others
        else ContrastiveTranslations(
            correct_tokens, wrong, _count_words_between(verb, _find_noun_position(main_clause, subject))
        )
    )


def list_wrong_prefixes(verb: GermanVerb) -> list[str]:
    """List prefixes that make no acceptable translation with a verb: those of known verbs, or else all."""
    acceptable = {verb.prefix, *ACCEPTABLE_PREFIXES.get(f"{verb.prefix} {verb.base}", "").split()}
    wrong = [
        p
        for p in SEPARABLE_PREFIXES
        if not any({p, verb.prefix} <= group for group in SYNONYMOUS_PREFIXES) and p not in acceptable
    ]
    known_prefixes = [
        p for p in wrong if any((s.german_verb.prefix, s.german_verb.base) == (p, verb.base) for s in SENSES)
    ]
    return known_prefixes or wrong


def _replace_particle(
    main_clause: Clause, correct_tokens: list[str], sampler: ClauseSampler
) -> ContrastiveTranslations | None:
    """Another verb's prefix, which goes with the same base if there is one; otherwise a wrong one."""
    sense = main_clause.sense
    if sense is None or sense.german_verb.prefix not in correct_tokens:
        return None
    verb = sense.german_verb
    prefix = sampler.draw_item(list_wrong_prefixes(verb))
    wrong = _realize_with_changes(
        main_clause, main_clause, sense=replace(sense, german_verb=replace(verb, prefix=prefix))
    )
    places = _find_differing_positions(correct_tokens, wrong)
    if len(places) != 1 or correct_tokens[places[0]] != verb.prefix:
        return None
    return ContrastiveTranslations(
        correct_tokens, wrong, _count_words_between(places[0], _find_verb_position(main_clause, main_clause))
    )


def _change_case(
    main_clause: Clause, correct_tokens: list[str], sampler: ClauseSampler
) -> ContrastiveTranslations | None:
    """The article of a subject or object has another case; its noun has the form of both."""
    if main_clause.sense is None:
        return None
    for phrase, case in _shuffle_items([*_iterate_bare_arguments(main_clause)], sampler):
        own = get_paradigm_column(phrase.head, phrase.is_plural) if isinstance(phrase.head, Noun) else ""
        for wrong_case in _shuffle_items([other for other in CONFUSABLE_CASES if other != case], sampler):
            found = _replace_article(main_clause, correct_tokens, phrase, (own, wrong_case))
            if found is not None:
                wrong, place = found
                return ContrastiveTranslations(
                    correct_tokens, wrong, _count_words_between(place, _find_verb_position(main_clause, main_clause))
                )
    return None


def _change_gender(
    main_clause: Clause, correct_tokens: list[str], sampler: ClauseSampler
) -> ContrastiveTranslations | None:
    """The article of a singular noun has another gender, and none of its forms in that of the noun."""
    adverbial = [(adverbial.phrase, adverbial.german_case) for adverbial in main_clause.adverbials]
    for phrase, case in _shuffle_items([*_iterate_bare_arguments(main_clause), *adverbial], sampler):
        if phrase.is_plural or not isinstance(phrase.head, Noun):
            continue
        own = {inflect_determiner(phrase.determiner, (phrase.head.gender, any_case)) for any_case in CASES}
        for gender in _shuffle_items([other for other in GENDERS if other != phrase.head.gender], sampler):
            if inflect_determiner(phrase.determiner, (gender, case)) in own:
                continue
            found = _replace_article(main_clause, correct_tokens, phrase, (gender, case))
            if found is not None:
                wrong, place = found
                return ContrastiveTranslations(
                    correct_tokens, wrong, _count_words_between(place, _find_noun_position(main_clause, phrase))
                )
    return None


def _iterate_bare_arguments(main_clause: Clause) -> Iterator[tuple[NounPhrase, str]]:
    """The subject and the objects without a preposition, with their cases."""
    if isinstance(main_clause.subject, NounPhrase):
        yield main_clause.subject, "nom"
    for slot, filler in main_clause.arguments:
        if isinstance(filler, NounPhrase) and not get_preposition_and_case(slot, filler.head)[0]:
            yield filler, slot.german_case


def _replace_article(
    main_clause: Clause, correct_tokens: list[str], phrase: NounPhrase, wrong_article: tuple[str, str]
) -> tuple[list[str], int] | None:
    """A sentence in which just an article differs, and its place; None where that is no mistake, or not that one."""
    head, determiner = phrase.head, phrase.determiner
    inflects = determiner is not None and (
        determiner.german_paradigm == "der" or determiner.german_paradigm in ENDINGS_BY_PARADIGM
    )
    if not isinstance(head, Noun) or not inflects or phrase.possessor is not None:
        return None
    # `der Lehrer`, `die Lehrer`: another article could be that of the other number.
    if any(inflect_noun(head, False, case) == inflect_noun(head, True, case) for case in CASES):
        return None
    wrong = _realize_with_changes(main_clause, phrase, wrong_article=wrong_article)
    places = _find_differing_positions(correct_tokens, wrong)
    return (wrong, places[0]) if len(places) == 1 else None


def _move_verb_forward(
    main_clause: Clause, correct_tokens: list[str], sampler: ClauseSampler
) -> ContrastiveTranslations | None:
    """The verb of a subordinate clause stands second; the distance is what it passes."""
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
        start = next(place for place, (a, b) in enumerate(zip(correct_tokens, wrong, strict=False)) if a != b)
        behind = next(
            place for place, (a, b) in enumerate(zip(correct_tokens[::-1], wrong[::-1], strict=False)) if a != b
        )
        return ContrastiveTranslations(correct_tokens, wrong, len(correct_tokens) - behind - start - 1)
    return None


def _change_negation(
    main_clause: Clause, correct_tokens: list[str], is_dropped: bool
) -> ContrastiveTranslations | None:
    """`nicht` or `kein` too little or too much, where a clause can be negated at all."""
    negated_otherwise = any(phrase.determiner is DETERMINER_NO for phrase in main_clause.participants)
    fixed = main_clause.time_adverb is not None and main_clause.time_adverb.kind in ("frequency", "late")
    if main_clause.sense is None or main_clause.is_negated != is_dropped or negated_otherwise or fixed:
        return None
    if main_clause.manner_adverb is not None or main_clause.adverbials or main_clause.conjunct is not None:
        return None
    wrong = _realize_with_changes(main_clause, main_clause, is_negated=not is_dropped)
    place = next(place for place, (a, b) in enumerate(zip(correct_tokens, wrong, strict=False)) if a != b)
    shorter, longer = sorted((correct_tokens, wrong), key=len)
    if len(_find_differing_positions(correct_tokens, wrong)) != 1 and longer[:place] + longer[place + 1 :] != shorter:
        return None  # A relative clause has moved as well.
    return ContrastiveTranslations(
        correct_tokens, wrong, max(_count_words_between(place, _find_verb_position(main_clause, main_clause)), 0)
    )


def _switch_attachment(
    main_clause: Clause, ambiguity: AttachmentAmbiguity, correct_tokens: list[str]
) -> ContrastiveTranslations:
    """The other reading; the distance is that of what is attached to what the tree attaches it to."""
    high = ambiguity.is_attached_high
    ambiguity.set_attachment(not high)
    wrong = german.realize_sentence(main_clause)
    ambiguity.set_attachment(high)
    if isinstance(ambiguity, AmbiguousRelativeClause):
        attached = _find_differing_positions(correct_tokens, wrong)[0]
        governor = _find_noun_position(main_clause, ambiguity.clause.gap.antecedent)
    else:
        assert isinstance(ambiguity, AmbiguousWithPhrase)
        attached = _find_noun_position(main_clause, ambiguity.instrument.phrase)
        governor = (
            _find_verb_position(main_clause, main_clause)
            if high
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
