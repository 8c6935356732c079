"""The German side of a derivation: verb second in main clauses, verb last in subordinate ones.

A clause is laid out by topological fields: Vorfeld, finite verb, Mittelfeld, right bracket (prefix, participle,
infinitive; in a subordinate clause all verbs), Nachfeld (subordinate clauses). Where German leaves a choice, one
order is taken throughout, so that a source sentence has one translation: in the Mittelfeld subject, pronouns, time,
dative, place, manner, instrument, accusative, negation, prepositional object or predicate. That order is what tells an
instrument (`schlägt mit dem Stock den Mann`) from an attribute (`schlägt den Mann mit dem Stock`).
"""

from dataclasses import dataclass

from pipeline_py.corpus.grammar.derivation import (
    PLACES,
    Adverbial,
    Clause,
    Determiner,
    Gap,
    NounPhrase,
    Predicate,
    Pronoun,
    Subordinate,
    place_prepositions,
)
from pipeline_py.corpus.grammar.german_bracket import bare_infinitive, verb_last, verb_second
from pipeline_py.corpus.grammar.german_words import (
    CONTRACTED,
    GOAL_CASE,
    RELATIVE,
    adjective_ending,
    article,
    column,
    noun_form,
)
from pipeline_py.corpus.grammar.senses import Slot

COMMA = ","
THE = Determiner("the", "der", "der")
KEIN = Determiner("no", "kein", "ein")


@dataclass(slots=True)
class Part:
    """A part of the Mittelfeld: fixed words, or a noun phrase in a case with or without a preposition."""

    words: tuple[str, ...] = ()
    preposition: str = ""
    phrase: NounPhrase | None = None
    case: str = ""
    negative: bool = False

    def tokens(self, without_relative: bool = False) -> list[str]:
        """The words; a relative clause at the end of the noun phrase can be left for later."""
        if self.phrase is None:
            return list(self.words)
        return prepositional(self.preposition, self.phrase, self.case, self.negative, without_relative)


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
        start = _subject(clause).tokens(clause.extraposed)
    subject_behind = clause.before is not None or bool(clause.fronted)
    tokens = start + _verb_second(clause, subject_behind)
    second = clause.conjunct
    if second is not None and second.subject is clause.subject:
        tokens += [clause.conjunction[1], *_verb_second(second, False)]
    return tokens


def _subject(clause: Clause) -> Part:
    assert isinstance(clause.subject, NounPhrase)
    return Part(phrase=clause.subject, case="nom")


def _fronted(clause: Clause) -> list[str]:
    if clause.fronted == "daytime" and clause.daytime is not None:
        return clause.daytime[2].split()
    if clause.fronted == "place":
        return next(_adverbial(adverbial) for adverbial in clause.adverbials if adverbial.kind == "place").tokens()
    adverb = clause.time if clause.fronted == "time" else clause.sentence
    return [adverb.german] if adverb is not None else []


def _verb_second(clause: Clause, with_subject: bool) -> list[str]:
    finite, bracket = verb_second(clause)
    middle, relative = _rendered(_middle(clause, with_subject), bool(bracket))
    return [finite, *middle, *bracket, *relative, *_behind(clause)]


def _verb_last(clause: Clause) -> list[str]:
    """Mittelfeld, all verbs, Nachfeld; a second predicate of the same subject follows its conjunction."""
    tokens: list[str] = []
    middle, relative = _rendered(_middle(clause, with_subject=True), has_bracket=True)
    tokens = [*middle, *verb_last(clause), *relative, *_behind(clause)]
    second = clause.conjunct
    if second is not None and second.subject is clause.subject:
        middle, relative = _rendered(_middle(second, with_subject=False), has_bracket=True)
        tokens += [clause.conjunction[1], *middle, *verb_last(second), *relative, *_behind(second)]
    return tokens


def _rendered(parts: list[Part], has_bracket: bool) -> tuple[list[str], list[str]]:
    """The words of the Mittelfeld, and the relative clause that moves from its end behind a right bracket."""
    relative: list[str] = []
    tokens: list[str] = []
    for number, part in enumerate(parts, start=1):
        moves = has_bracket and number == len(parts) and _ends_in_relative(part.phrase)
        tokens += part.tokens(without_relative=moves)
        if moves and part.phrase is not None and part.phrase.relative is not None:
            relative = relative_clause(part.phrase.relative)
    return tokens, relative


def _ends_in_relative(phrase: NounPhrase | None) -> bool:
    return phrase is not None and phrase.relative is not None and phrase.conjunct is None


def _middle(clause: Clause, with_subject: bool) -> list[Part]:
    """The Mittelfeld in the order of the module's docstring."""
    parts: list[Part] = []
    reflexive = [Part((_reflexive(clause),))] if clause.sense is not None and clause.sense.german.reflexive else []
    if with_subject and isinstance(clause.subject, NounPhrase) and clause.tense != "infinitive":
        # `weil er sich erinnert`, but `weil sich der Mann erinnert`.
        pronominal = isinstance(clause.subject.head, Pronoun)
        parts += [_subject(clause), *reflexive] if pronominal else [*reflexive, _subject(clause)]
    else:
        parts += reflexive
    pronouns: list[Part] = []
    datives: list[Part] = []
    accusatives: list[Part] = []
    objects: list[Part] = []
    negative = _negated_object(clause)
    for slot, filler in clause.arguments:
        if not isinstance(filler, NounPhrase):
            continue
        preposition, case = _marking(slot, filler)
        part = Part(preposition=preposition, phrase=filler, case=case, negative=filler is negative)
        if preposition:
            objects.append(part)
        elif isinstance(filler.head, Pronoun) and filler.conjunct is None:
            pronouns.append(part)
        elif case == "dat":
            datives.append(part)
        else:
            accusatives.append(part)
    parts += sorted(pronouns, key=lambda part: part.case)
    late: list[Part] = []
    if clause.time is not None and clause.fronted != "time":
        (late if clause.time.kind == "late" else parts).append(Part((clause.time.german,)))
    if clause.daytime is not None and clause.fronted != "daytime":
        parts.append(Part(tuple(clause.daytime[2].split())))
    parts += datives
    parts += [_adverbial(a) for a in clause.adverbials if a.kind == "time"]
    parts += [_adverbial(a) for a in clause.adverbials if a.kind == "place" and clause.fronted != "place"]
    if clause.manner is not None:
        parts.append(Part((clause.manner.german,)))
    parts += [_adverbial(a) for a in clause.adverbials if a.kind == "instrument"]
    parts += [*accusatives, *late]
    if clause.negated and negative is None:
        parts.append(Part(("nicht",)))
    parts += objects
    if clause.predicate is not None:
        parts.append(_predicate(clause.predicate, clause.negated))
    inner = bare_infinitive(clause)
    return parts + _middle(inner, False) if inner is not None else parts


def _negated_object(clause: Clause) -> NounPhrase | None:
    """The indefinite noun phrase that `kein` negates instead of `nicht`."""
    if not clause.negated:
        return None
    candidates = [filler for slot, filler in clause.arguments if slot.case and not slot.preposition]
    if clause.predicate is not None and clause.predicate.noun is not None:
        candidates.append(clause.predicate.noun)
    for candidate in reversed(candidates):
        if isinstance(candidate, NounPhrase) and _indefinite(candidate):
            return candidate
    return None


def _indefinite(phrase: NounPhrase) -> bool:
    if isinstance(phrase.head, Pronoun) or phrase.head.proper or phrase.possessor is not None:
        return False
    return phrase.determiner is None or phrase.determiner.english == "a"


def _marking(slot: Slot, phrase: NounPhrase) -> tuple[str, str]:
    """The German preposition and case of an argument."""
    if slot.english not in PLACES:
        return slot.preposition, slot.case
    preposition = place_prepositions(phrase, slot.english)[1]
    return preposition, GOAL_CASE[preposition] if slot.english == "goal" else "dat"


def _reflexive(clause: Clause) -> str:
    subject = clause.subject
    if isinstance(subject, NounPhrase) and isinstance(subject.head, Pronoun):
        return subject.head.reflexive
    return "sich"


def _adverbial(adverbial: Adverbial) -> Part:
    return Part(preposition=adverbial.german, phrase=adverbial.phrase, case=adverbial.case)


def _predicate(predicate: Predicate, negated: bool) -> Part:
    if predicate.noun is not None:
        return Part(phrase=predicate.noun, case="nom", negative=negated and _indefinite(predicate.noun))
    if predicate.place is not None:
        return _adverbial(predicate.place)
    assert predicate.adjective is not None
    adjective, degree = predicate.adjective
    return Part((*((degree[1],) if degree else ()), adjective.german))


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
    word = conjunction.past if subordinate.clause.past_frame else conjunction.present
    return [COMMA, word, *_verb_last(subordinate.clause), COMMA]


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
        determiner = KEIN if negative else phrase.determiner
        owner = phrase.possessor
        if owner is not None and not isinstance(owner.head, Pronoun) and owner.head.proper:
            determiner = None
            tokens.append(owner.head.genitive)
        elif owner is not None:
            determiner = THE
        word = article(determiner, place)
        tokens += [word] if word else []
        for adjective, degree in phrase.adjectives:
            tokens += [degree[1]] if degree else []
            tokens.append(adjective.stem.removesuffix("e") + adjective_ending(determiner, place))
        tokens.append(noun_form(head, phrase.plural, case))
        if owner is not None and not (not isinstance(owner.head, Pronoun) and owner.head.proper):
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
    attribute, inner = phrase.attribute
    if not attribute.preposition and not attribute.case:
        return noun_phrase(inner, "nom")
    preposition = attribute.preposition
    if attribute.english == "place":
        preposition = place_prepositions(inner, attribute.english)[1]
    return prepositional(preposition, inner, attribute.case)
