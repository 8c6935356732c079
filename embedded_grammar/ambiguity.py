"""Attachments that the words leave open: one English sentence with two trees and a German translation of each.

The whole sentence is drawn before its reading, so that nothing in it tells which one it has. While it grows, a relative
clause belongs to the nearer noun and a phrase to the verb, which lets nothing come behind that would decide between
the readings; what decides all the same is found by `is_open`.
"""

from dataclasses import dataclass
from typing import Protocol

from embedded_grammar import phrase_expansion
from embedded_grammar.clause_expansion import add_adverbial
from embedded_grammar.derivation import Adverbial, Clause, Gap, NounPhrase
from embedded_grammar.english import realization as english
from embedded_grammar.expansion import Expansion, Site
from embedded_grammar.focus import Attachment
from embedded_grammar.german import realization as german
from embedded_grammar.german.words import RELATIVE
from embedded_grammar.sampling import DEEPEST
from embedded_grammar.senses import Slot

WITH = Slot("with", (), "mit", "dat")

PRONOUNS = {*RELATIVE.values()}
# Words of German that may differ: a relative pronoun, and a verb where the nouns differ in number.
PRONOUN_AND_VERB = 2


class Ambiguity(Protocol):
    """What can be attached high or low in a derivation."""

    @property
    def high(self) -> bool:
        """Which reading the derivation has."""

    def attach(self, high: bool) -> None:
        """Give the derivation one of its readings."""

    def differs_in_just_that(self, low: list[str], high: list[str]) -> bool:
        """Whether German shows the attachment, and nothing else differs between the readings."""


@dataclass(slots=True)
class OpenRelative:
    """`the dog of the woman that slept`: a relative clause belongs to the noun (high) or to its attribute."""

    outer: NounPhrase
    inner: NounPhrase
    clause: Clause

    @property
    def high(self) -> bool:
        """See `Ambiguity`."""
        return self.outer.relative is not None

    def attach(self, high: bool) -> None:
        """See `Ambiguity`."""
        antecedent, other = (self.outer, self.inner) if high else (self.inner, self.outer)
        antecedent.relative, other.relative = self.clause, None
        self.clause.gap.antecedent = antecedent

    def differs_in_just_that(self, low: list[str], high: list[str]) -> bool:
        """In the pronoun, and where the number differs in the verb, while the clause has the same place."""
        changed = [word for word, other in zip(low, high, strict=False) if word != other]
        return len(low) == len(high) and len(changed) <= PRONOUN_AND_VERB and bool(changed) and changed[0] in PRONOUNS


@dataclass(slots=True)
class OpenPhrase:
    """`he saw the girl with the telescope`: the instrument of the verb (high), or an attribute of its object."""

    clause: Clause
    obj: NounPhrase
    instrument: Adverbial

    @property
    def high(self) -> bool:
        """See `Ambiguity`."""
        return self.obj.attribute is None

    def attach(self, high: bool) -> None:
        """See `Ambiguity`."""
        self.clause.adverbials = [self.instrument] if high else []
        self.obj.attribute = None if high else (WITH, self.instrument.phrase)

    def differs_in_just_that(self, low: list[str], high: list[str]) -> bool:
        """In order."""
        return low != high and sorted(low) == sorted(high)


def leave_open(expansion: Expansion, what: Attachment) -> Ambiguity | None:
    """Bring something into a clause, before anything else, whose attachment is left open; None if that did not work."""
    if what is Attachment.phrase_attachment:
        return _leave_phrase_open(expansion)
    for site in sorted(expansion.sites, key=lambda _: expansion.random.random()):
        if phrase_expansion.attribute(expansion, site):
            return _leave_relative_open(expansion, site)
    return None


def _leave_relative_open(expansion: Expansion, site: Site) -> OpenRelative | None:
    outer = site.phrase
    assert outer.attribute is not None
    slot, inner = outer.attribute
    clause = phrase_expansion.relative_clause(expansion.sampler, site)
    if not slot.case or site.depth >= DEEPEST or clause is None or clause.sense is None:
        return None
    fitting = next(
        (slot.fillers for slot, filler in clause.arguments if isinstance(filler, Gap)), clause.sense.subjects
    )
    if inner.head not in fitting or {inner.head, outer.head} & {phrase.head for phrase in clause.participants}:
        return None
    clause.gap.english = "that"
    clause.gap.antecedent = inner if inner.plural else outer
    expansion.sampler.settle_tense(clause)
    if not expansion.affords(len(english.relative_clause(clause))):
        return None
    found = OpenRelative(outer, inner, clause)
    found.attach(high=False)
    expansion.enter_clause(clause, site.depth + 1)
    return found


def _leave_phrase_open(expansion: Expansion) -> OpenPhrase | None:
    main, sampler = expansion.main, expansion.sampler
    objects, things = sampler.choices.open_with.get(main.sense, ((), ())) if main.sense is not None else ((), ())
    obj = next((phrase for phrase in main.phrases if phrase.head in objects), None)
    if obj is None or main.negated:
        return None
    thing = sampler.one_of(things)
    if thing in [phrase.head for phrase in main.participants]:
        return None
    instrument = Adverbial("instrument", WITH.english, WITH.preposition, WITH.case, sampler.phrase(thing, plain=True))
    return OpenPhrase(main, obj, instrument) if add_adverbial(expansion, main, 0, instrument) else None


def is_open(main: Clause, ambiguity: Ambiguity) -> bool:
    """Whether the readings of a derivation have the same English words, and German that differs in just that."""
    sides = []
    for high in (False, True):
        ambiguity.attach(high)
        sides.append(([leaf.form for leaf in english.sentence(main).leaves()], german.sentence(main)))
    (words_low, low), (words_high, high_german) = sides
    return words_low == words_high and ambiguity.differs_in_just_that(low, high_german)
