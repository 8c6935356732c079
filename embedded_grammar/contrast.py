"""Contrastive pairs: the German of a derivation, and the German of the same with one feature changed.

Nothing is cut out of a sentence: each function changes the derivation, has the German realized again, and puts the
derivation back.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from embedded_grammar.ambiguity import Ambiguity, OpenPhrase, OpenRelative
from embedded_grammar.derivation import Clause, NounPhrase
from embedded_grammar.determiners import NO
from embedded_grammar.focus import Attachment, Contrast, Focus
from embedded_grammar.german import realization as german
from embedded_grammar.german.fields import governed
from embedded_grammar.german.verbs import GermanVerb
from embedded_grammar.german.words import ARTICLES, article, column, noun_form
from embedded_grammar.nouns import Noun
from embedded_grammar.phenomena import attracted
from embedded_grammar.sampling import Sampler
from embedded_grammar.senses import CASES, SENSES

Item = TypeVar("Item")

# Stands for a word whose place is looked for; no word has it.
MARK = "§"

GENDERS = ("m", "f", "n")
# A genitive in the place of another case is rare, and `während` takes a dative in speech.
CONFUSED = CASES[:3]

PREFIXES = sorted({sense.german.prefix for sense in SENSES if sense.german.prefix})
# With some verbs, prefixes of a group mean the same.
ACCEPTABLE = {
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

ALIKE = ({"ab", "aus", "hin", "hinaus", "weg"}, {"an", "auf", "ein", "herein"})

FOCUS: Mapping[Contrast, Focus] = {
    Contrast.agreement: Focus.agreement,
    Contrast.particle: Focus.particle_verb,
    Contrast.verb_final: Focus.verb_final,
}
"""The phenomenon that a sentence needs for a contrast, where it is one that can be asked for."""

OPENED: Mapping[Contrast, Attachment] = {
    Contrast.relative_attachment: Attachment.relative_attachment,
    Contrast.phrase_attachment: Attachment.phrase_attachment,
}
"""What a sentence has to leave open for a contrast."""


@dataclass(frozen=True, slots=True)
class Translations:
    """Two German sentences; `distance` counts the correct one's words between the two that depend on each other."""

    correct: list[str]
    contrastive: list[str]
    distance: int


def contrast(kind: Contrast, main: Clause, ambiguity: Ambiguity | None, sampler: Sampler) -> Translations | None:
    """The German of a sentence, right and wrong; None if it has no place for such a mistake.

    Args:
        kind: what is to be wrong.
        main: the derivation, which is as before in the end.
        ambiguity: what it leaves open, for the contrasts in `OPENED`.
        sampler: chooses where there are several possibilities.
    """
    correct = german.sentence(main)
    if kind in OPENED:
        return _attachment(main, ambiguity, correct) if ambiguity is not None else None
    return _BY_KIND[kind](main, correct, sampler)


def _instead(main: Clause, part: Clause | NounPhrase, **fields: object) -> list[str]:
    """The German with some fields of a part of the derivation changed."""
    before = {name: getattr(part, name) for name in fields}
    for name, value in fields.items():
        setattr(part, name, value)
    tokens = german.sentence(main)
    for name, value in before.items():
        setattr(part, name, value)
    return tokens


def _changed(one: list[str], other: list[str]) -> list[int]:
    """Where two sentences of one length differ; nowhere if their lengths do."""
    if len(one) != len(other):
        return []
    return [place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]


def _place_of_noun(main: Clause, phrase: NounPhrase) -> int:
    assert isinstance(phrase.head, Noun)
    marked = replace(phrase.head, german=MARK, german_plural=MARK, genitive=MARK)
    return _marked(_instead(main, phrase, head=marked))


def _place_of_verb(main: Clause, clause: Clause) -> int:
    """Of the verb that has the meaning, finite or not."""
    assert clause.sense is not None
    forms = (MARK, MARK, MARK)
    marked = replace(clause.sense.german, base=MARK, present=forms, past=forms, base_participle=MARK)
    return _marked(_instead(main, clause, sense=replace(clause.sense, german=marked)))


def _marked(tokens: list[str]) -> int:
    return next(place for place, token in enumerate(tokens) if MARK in token)


def _between(one: int, other: int) -> int:
    return abs(one - other) - 1


def _shuffled(items: list[Item], sampler: Sampler) -> list[Item]:
    return sorted(items, key=lambda _: sampler.random.random())


def _agreement(main: Clause, correct: list[str], _: Sampler) -> Translations | None:
    """The finite verb has the number of the noun before it instead of its subject's."""
    subject = main.subject
    if not isinstance(subject, NounPhrase) or not attracted(main, subject) or subject.possessor is not None:
        return None
    wrong = _instead(main, main, wrong_number=True)
    verb, *others = _changed(correct, wrong)
    return None if others else Translations(correct, wrong, _between(verb, _place_of_noun(main, subject)))


def wrong_prefixes(verb: GermanVerb) -> list[str]:
    """List prefixes that make no acceptable translation with a verb: those of known verbs, or else all."""
    acceptable = {verb.prefix, *ACCEPTABLE.get(f"{verb.prefix} {verb.base}", "").split()}
    wrong = [p for p in PREFIXES if not any({p, verb.prefix} <= group for group in ALIKE) and p not in acceptable]
    known_prefixes = [p for p in wrong if any((s.german.prefix, s.german.base) == (p, verb.base) for s in SENSES)]
    return known_prefixes or wrong


def _particle(main: Clause, correct: list[str], sampler: Sampler) -> Translations | None:
    """Another verb's prefix, which goes with the same base if there is one; otherwise a wrong one."""
    sense = main.sense
    if sense is None or sense.german.prefix not in correct:
        return None
    verb = sense.german
    prefix = sampler.one_of(wrong_prefixes(verb))
    wrong = _instead(main, main, sense=replace(sense, german=replace(verb, prefix=prefix)))
    places = _changed(correct, wrong)
    if len(places) != 1 or correct[places[0]] != verb.prefix:
        return None
    return Translations(correct, wrong, _between(places[0], _place_of_verb(main, main)))


def _case(main: Clause, correct: list[str], sampler: Sampler) -> Translations | None:
    """The article of a subject or object has another case; its noun has the form of both."""
    if main.sense is None:
        return None
    for phrase, case in _shuffled([*_governed(main)], sampler):
        own = column(phrase.head, phrase.plural) if isinstance(phrase.head, Noun) else ""
        for wrong_case in _shuffled([other for other in CONFUSED if other != case], sampler):
            found = _wrong_article(main, correct, phrase, (own, wrong_case))
            if found is not None:
                wrong, place = found
                return Translations(correct, wrong, _between(place, _place_of_verb(main, main)))
    return None


def _gender(main: Clause, correct: list[str], sampler: Sampler) -> Translations | None:
    """The article of a singular noun has another gender, and none of its forms in that of the noun."""
    adverbial = [(adverbial.phrase, adverbial.case) for adverbial in main.adverbials]
    for phrase, case in _shuffled([*_governed(main), *adverbial], sampler):
        if phrase.plural or not isinstance(phrase.head, Noun):
            continue
        own = {article(phrase.determiner, (phrase.head.gender, any_case)) for any_case in CASES}
        for gender in _shuffled([other for other in GENDERS if other != phrase.head.gender], sampler):
            if article(phrase.determiner, (gender, case)) in own:
                continue
            found = _wrong_article(main, correct, phrase, (gender, case))
            if found is not None:
                wrong, place = found
                return Translations(correct, wrong, _between(place, _place_of_noun(main, phrase)))
    return None


def _governed(main: Clause) -> Iterator[tuple[NounPhrase, str]]:
    """The subject and the objects without a preposition, with their cases."""
    if isinstance(main.subject, NounPhrase):
        yield main.subject, "nom"
    for slot, filler in main.arguments:
        if isinstance(filler, NounPhrase) and not governed(slot, filler.head)[0]:
            yield filler, slot.case


def _wrong_article(
    main: Clause, correct: list[str], phrase: NounPhrase, instead: tuple[str, str]
) -> tuple[list[str], int] | None:
    """A sentence in which just an article differs, and its place; None where that is no mistake, or not that one."""
    head, determiner = phrase.head, phrase.determiner
    inflects = determiner is not None and (determiner.kind == "der" or determiner.kind in ARTICLES)
    if not isinstance(head, Noun) or not inflects or phrase.possessor is not None:
        return None
    # `der Lehrer`, `die Lehrer`: another article could be that of the other number.
    if any(noun_form(head, False, case) == noun_form(head, True, case) for case in CASES):
        return None
    wrong = _instead(main, phrase, wrong_article=instead)
    places = _changed(correct, wrong)
    return (wrong, places[0]) if len(places) == 1 else None


def _verb_final(main: Clause, correct: list[str], sampler: Sampler) -> Translations | None:
    """The verb of a subordinate clause stands second; the distance is what it passes."""
    clauses = [subordinate.clause for subordinate in (main.before, main.after) if subordinate is not None]
    clauses += [
        filler for slot, filler in main.arguments if isinstance(filler, Clause) and slot.english != "infinitive"
    ]
    for clause in _shuffled(clauses, sampler):
        wrong = _instead(main, clause, wrong_order=True)
        if wrong == correct:
            continue
        start = next(place for place, (a, b) in enumerate(zip(correct, wrong, strict=False)) if a != b)
        behind = next(place for place, (a, b) in enumerate(zip(correct[::-1], wrong[::-1], strict=False)) if a != b)
        return Translations(correct, wrong, len(correct) - behind - start - 1)
    return None


def _negation(main: Clause, correct: list[str], dropped: bool) -> Translations | None:
    """`nicht` or `kein` too little or too much, where a clause can be negated at all."""
    negated_otherwise = any(phrase.determiner is NO for phrase in main.participants)
    fixed = main.time is not None and main.time.kind in ("frequency", "late")
    if main.sense is None or main.negated != dropped or negated_otherwise or fixed:
        return None
    if main.manner is not None or main.adverbials or main.conjunct is not None:
        return None
    wrong = _instead(main, main, negated=not dropped)
    place = next(place for place, (a, b) in enumerate(zip(correct, wrong, strict=False)) if a != b)
    shorter, longer = sorted((correct, wrong), key=len)
    if len(_changed(correct, wrong)) != 1 and longer[:place] + longer[place + 1 :] != shorter:
        return None  # A relative clause has moved as well.
    return Translations(correct, wrong, max(_between(place, _place_of_verb(main, main)), 0))


def _attachment(main: Clause, ambiguity: Ambiguity, correct: list[str]) -> Translations:
    """The other reading; the distance is that of what is attached to what the tree attaches it to."""
    high = ambiguity.high
    ambiguity.attach(not high)
    wrong = german.sentence(main)
    ambiguity.attach(high)
    if isinstance(ambiguity, OpenRelative):
        attached = _changed(correct, wrong)[0]
        governor = _place_of_noun(main, ambiguity.clause.gap.antecedent)
    else:
        assert isinstance(ambiguity, OpenPhrase)
        attached = _place_of_noun(main, ambiguity.instrument.phrase)
        governor = _place_of_verb(main, main) if high else _place_of_noun(main, ambiguity.obj)
    return Translations(correct, wrong, _between(attached, governor))


_BY_KIND: Mapping[Contrast, Callable[[Clause, list[str], Sampler], Translations | None]] = {
    Contrast.agreement: _agreement,
    Contrast.particle: _particle,
    Contrast.case: _case,
    Contrast.gender: _gender,
    Contrast.verb_final: _verb_final,
    Contrast.negation_dropped: lambda main, correct, _: _negation(main, correct, dropped=True),
    Contrast.negation_added: lambda main, correct, _: _negation(main, correct, dropped=False),
}
