"""Attachment ambiguities: English sentences with two trees and a German translation of each.

The reading is drawn after the sentence, so that the words contain no cue to it. While the sentence grows, a relative
clause is attached low and a `with` phrase high, since these readings allow the fewest additions after them.
`is_ambiguous` rejects sentences that are disambiguated nevertheless.
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
# A relative pronoun, and a verb if the nouns differ in number.
MAX_CHANGED_WORDS = 2


class AttachmentAmbiguity(Protocol):
    """A part of a derivation that can be attached high or low."""

    @property
    def is_attached_high(self) -> bool:
        """True if the derivation has the high reading."""

    def set_attachment(self, is_high: bool) -> None:
        """Change the derivation to one of its two readings."""

    def has_minimal_difference(self, low_tokens: list[str], high_tokens: list[str]) -> bool:
        """Return whether the two German sentences differ only where they show the attachment."""


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
        self.outer_phrase.relative_clause = self.clause if is_high else None
        self.inner_phrase.relative_clause = None if is_high else self.clause
        self.clause.gap.antecedent = self.outer_phrase if is_high else self.inner_phrase

    def has_minimal_difference(self, low_tokens: list[str], high_tokens: list[str]) -> bool:
        """Return whether only the relative pronoun, and possibly the number of its verb, differ."""
        changed_words = [low for low, high in zip(low_tokens, high_tokens, strict=False) if low != high]
        return (
            len(low_tokens) == len(high_tokens)
            and 1 <= len(changed_words) <= MAX_CHANGED_WORDS
            and changed_words[0] in RELATIVE_PRONOUN_FORMS
        )


@dataclass(slots=True)
class AmbiguousWithPhrase:
    """`he saw the girl with the telescope`: an instrument of the verb (high) or an attribute of its object."""

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
        """Return whether only the word order differs."""
        return low_tokens != high_tokens and sorted(low_tokens) == sorted(high_tokens)


def add_ambiguity(expansion: SentenceExpansion, attachment: AttachmentKind) -> AttachmentAmbiguity | None:
    """Add an attachment ambiguity to a main clause that has not grown yet; return None if that is impossible."""
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
    possible_antecedents = next(
        (slot.fillers for slot, filler in clause.arguments if isinstance(filler, RelativeGap)),
        clause.sense.subject_nouns,
    )
    if inner.head not in possible_antecedents:
        return None
    if {inner.head, outer.head} & {phrase.head for phrase in clause.participants}:
        return None
    clause.gap.relative_pronoun = "that"
    clause.gap.antecedent = inner if inner.is_plural else outer
    expansion.sampler.resolve_ambiguous_tense(clause)
    if not expansion.spend_tokens(len(english.build_relative_clause(clause))):
        return None
    ambiguity = AmbiguousRelativeClause(outer, inner, clause)
    ambiguity.set_attachment(is_high=False)
    expansion.register_clause(clause, site.depth + 1)
    return ambiguity


def _add_ambiguous_with_phrase(expansion: SentenceExpansion) -> AmbiguousWithPhrase | None:
    main, sampler = expansion.main_clause, expansion.sampler
    object_nouns, instrument_nouns = (
        sampler.choices.ambiguous_with_nouns.get(main.sense, ((), ())) if main.sense is not None else ((), ())
    )
    object_phrase = next((phrase for phrase in main.argument_phrases if phrase.head in object_nouns), None)
    if object_phrase is None or main.is_negated:
        return None
    noun = sampler.draw_item(instrument_nouns)
    if noun in [phrase.head for phrase in main.participants]:
        return None
    instrument = Adverbial(
        "instrument",
        WITH_SLOT.english_role,
        WITH_SLOT.german_preposition,
        WITH_SLOT.german_case,
        sampler.draw_noun_phrase(noun, is_plain=True),
    )
    if not add_adverbial(expansion, main, 0, instrument):
        return None
    return AmbiguousWithPhrase(main, object_phrase, instrument)


def is_ambiguous(main_clause: Clause, ambiguity: AttachmentAmbiguity) -> bool:
    """Return whether both readings have the same English words and minimally different German ones."""
    english_readings, german_readings = [], []
    for is_high in (False, True):
        ambiguity.set_attachment(is_high)
        english_readings.append([leaf.form for leaf in english.build_sentence(main_clause).iterate_leaves()])
        german_readings.append(german.realize_sentence(main_clause))
    return english_readings[0] == english_readings[1] and ambiguity.has_minimal_difference(*german_readings)
