"""Attachments that the words leave open: one English sentence with two trees and a German translation of each.

The whole sentence is drawn before its reading, so that nothing in it tells which one it has. While it grows, a relative
clause belongs to the nearer noun and a phrase to the verb, which lets nothing come behind that would decide between
the readings; what decides all the same is found by `is_ambiguous`.
"""

from dataclasses import dataclass
from typing import Protocol

from embedded_grammar import phrase_expansion
from embedded_grammar.clause_expansion import add_adverbial
from embedded_grammar.clause_sampling import MAX_EMBEDDING_DEPTH
from embedded_grammar.derivation import Adverbial, Clause, NounPhrase, RelativeGap
from embedded_grammar.english import build_trees as english
from embedded_grammar.expansion import GrowthSite, SentenceExpansion
from embedded_grammar.german import realize_sentences as german
from embedded_grammar.german.inflection import RELATIVE_PRONOUNS
from embedded_grammar.senses import ArgumentSlot
from embedded_grammar.syntactic_phenomena import AttachmentKind

WITH_SLOT = ArgumentSlot("with", (), "mit", "dat")

RELATIVE_PRONOUN_FORMS = {*RELATIVE_PRONOUNS.values()}
# Words of German that may differ: a relative pronoun, and a verb where the nouns differ in number.
MAX_CHANGED_WORDS = 2


class AttachmentAmbiguity(Protocol):
    """What can be attached high or low in a derivation."""

    @property
    def is_attached_high(self) -> bool:
        """Which reading the derivation has."""

    def set_attachment(self, is_high: bool) -> None:
        """Give the derivation one of its readings."""

    def has_minimal_difference(self, low_tokens: list[str], high_tokens: list[str]) -> bool:
        """Whether German shows the attachment, and nothing else differs between the readings."""


@dataclass(slots=True)
class AmbiguousRelativeClause:
    """`the dog of the woman that slept`: a relative clause belongs to the noun (high) or to its attribute."""

    outer_phrase: NounPhrase
    inner_phrase: NounPhrase
    clause: Clause

    @property
    def is_attached_high(self) -> bool:
        """See `AttachmentAmbiguity`."""
        return self.outer_phrase.relative_clause is not None

    def set_attachment(self, is_high: bool) -> None:
        """See `AttachmentAmbiguity`."""
        antecedent, other = (
            (self.outer_phrase, self.inner_phrase) if is_high else (self.inner_phrase, self.outer_phrase)
        )
        antecedent.relative_clause, other.relative_clause = self.clause, None
        self.clause.gap.antecedent = antecedent

    def has_minimal_difference(self, low_tokens: list[str], high_tokens: list[str]) -> bool:
        """In the pronoun, and where the number differs in the verb, while the clause has the same place."""
        changed = [word for word, other in zip(low_tokens, high_tokens, strict=False) if word != other]
        return (
            len(low_tokens) == len(high_tokens)
            and len(changed) <= MAX_CHANGED_WORDS
            and bool(changed)
            and changed[0] in RELATIVE_PRONOUN_FORMS
        )


@dataclass(slots=True)
class AmbiguousWithPhrase:
    """`he saw the girl with the telescope`: the instrument of the verb (high), or an attribute of its object."""

    clause: Clause
    object_phrase: NounPhrase
    instrument: Adverbial

    @property
    def is_attached_high(self) -> bool:
        """See `AttachmentAmbiguity`."""
        return self.object_phrase.attribute is None

    def set_attachment(self, is_high: bool) -> None:
        """See `AttachmentAmbiguity`."""
        self.clause.adverbials = [self.instrument] if is_high else []
        self.object_phrase.attribute = None if is_high else (WITH_SLOT, self.instrument.phrase)

    def has_minimal_difference(self, low_tokens: list[str], high_tokens: list[str]) -> bool:
        """In order."""
        return low_tokens != high_tokens and sorted(low_tokens) == sorted(high_tokens)


def add_ambiguity(expansion: SentenceExpansion, attachment: AttachmentKind) -> AttachmentAmbiguity | None:
    """Bring something into a clause, before anything else, whose attachment is left open; None if that did not work."""
    if attachment is AttachmentKind.phrase_attachment:
        return _add_ambiguous_with_phrase(expansion)
    for site in sorted(expansion.sites, key=lambda _: expansion.random.random()):
        if phrase_expansion.add_attribute(expansion, site):
            return _add_ambiguous_relative(expansion, site)
    return None


def _add_ambiguous_relative(expansion: SentenceExpansion, site: GrowthSite) -> AmbiguousRelativeClause | None:
    outer = site.phrase
    assert outer.attribute is not None
    slot, inner = outer.attribute
    clause = phrase_expansion.draw_relative_clause(expansion.sampler, site)
    if not slot.german_case or site.depth >= MAX_EMBEDDING_DEPTH or clause is None or clause.sense is None:
        return None
    fitting = next(
        (slot.fillers for slot, filler in clause.arguments if isinstance(filler, RelativeGap)),
        clause.sense.subject_nouns,
    )
    if inner.head not in fitting or {inner.head, outer.head} & {phrase.head for phrase in clause.participants}:
        return None
    clause.gap.relative_pronoun = "that"
    clause.gap.antecedent = inner if inner.is_plural else outer
    expansion.sampler.resolve_ambiguous_tense(clause)
    if not expansion.spend_tokens(len(english.build_relative_clause(clause))):
        return None
    found = AmbiguousRelativeClause(outer, inner, clause)
    found.set_attachment(is_high=False)
    expansion.register_clause(clause, site.depth + 1)
    return found


def _add_ambiguous_with_phrase(expansion: SentenceExpansion) -> AmbiguousWithPhrase | None:
    main, sampler = expansion.main_clause, expansion.sampler
    objects, things = (
        sampler.choices.ambiguous_with_nouns.get(main.sense, ((), ())) if main.sense is not None else ((), ())
    )
    obj = next((phrase for phrase in main.argument_phrases if phrase.head in objects), None)
    if obj is None or main.is_negated:
        return None
    thing = sampler.draw_item(things)
    if thing in [phrase.head for phrase in main.participants]:
        return None
    instrument = Adverbial(
        "instrument",
        WITH_SLOT.english_role,
        WITH_SLOT.german_preposition,
        WITH_SLOT.german_case,
        sampler.draw_noun_phrase(thing, is_plain=True),
    )
    return AmbiguousWithPhrase(main, obj, instrument) if add_adverbial(expansion, main, 0, instrument) else None


def is_ambiguous(main_clause: Clause, ambiguity: AttachmentAmbiguity) -> bool:
    """Whether the readings of a derivation have the same English words, and German that differs in just that."""
    sides = []
    for high in (False, True):
        ambiguity.set_attachment(high)
        sides.append(
            (
                [leaf.form for leaf in english.build_sentence(main_clause).iterate_leaves()],
                german.realize_sentence(main_clause),
            )
        )
    (words_low, low), (words_high, high_german) = sides
    return words_low == words_high and ambiguity.has_minimal_difference(low, high_german)
