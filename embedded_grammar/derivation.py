"""The abstract tree of a sentence pair, from which `english` and `german` each build a sentence.

Its parts are modified while the sentence grows.
"""

from dataclasses import dataclass, field

from embedded_grammar.modifiers import Adjective, Adverb, Subordinator
from embedded_grammar.nouns import NominalHead, Pronoun
from embedded_grammar.senses import ArgumentSlot, VerbSense


@dataclass(frozen=True, slots=True, eq=False)
class Determiner:
    """A determiner; `german_paradigm` is der, dieser, ein, strong (adjectives carry the endings) or numeral."""

    english: str
    german: str
    german_paradigm: str
    pos_tag: str = "DT"


@dataclass(slots=True, eq=False)
class NounPhrase:
    """A noun or pronoun with its dependents."""

    head: NominalHead
    is_plural: bool = False
    determiner: Determiner | None = None
    adjectives: list[tuple[Adjective, Adverb | None]] = field(default_factory=list)  # with a degree
    attribute: "tuple[ArgumentSlot, NounPhrase] | None" = None
    possessor: "NounPhrase | None" = None  # English 's
    relative_clause: "Clause | None" = None
    conjunct: "NounPhrase | None" = None
    conjunction: tuple[str, str] = ("and", "und")
    wrong_article: tuple[str, str] | None = None  # gender and case of the German article in a contrastive translation

    @property
    def person(self) -> int:
        """The grammatical person, 1 to 3."""
        return self.head.person if isinstance(self.head, Pronoun) else 3

    @property
    def has_plural_agreement(self) -> bool:
        """True if a verb with this subject is plural."""
        if self.conjunct is not None and self.conjunction[0] == "and":
            return True
        return self.head.is_plural if isinstance(self.head, Pronoun) else self.is_plural


@dataclass(slots=True, eq=False)
class RelativeGap:
    """The subject or argument of a relative clause that its pronoun replaces."""

    antecedent: NounPhrase
    relative_pronoun: str  # English

    @property
    def has_plural_agreement(self) -> bool:
        """True if the antecedent without its conjunct is plural."""
        return self.antecedent.is_plural


@dataclass(slots=True, eq=False)
class Adverbial:
    """A prepositional adverbial of a clause; `kind` is place, time or instrument."""

    kind: str
    english_preposition: str
    german_preposition: str
    german_case: str
    phrase: NounPhrase


Predicate = tuple[Adjective, Adverb | None] | NounPhrase | Adverbial


@dataclass(slots=True, eq=False)
class SubordinateClause:
    """An adverbial clause."""

    conjunction: Subordinator
    clause: "Clause"


@dataclass(slots=True, eq=False)
class Clause:
    """A verb with its arguments and adverbials, or a copula with its predicate."""

    sense: VerbSense | None  # None: the copula
    subject: NounPhrase | RelativeGap
    tense: str
    is_past_frame: bool
    arguments: list[tuple[ArgumentSlot, "NounPhrase | RelativeGap | Clause"]] = field(default_factory=list)
    predicate: Predicate | None = None  # of a copula
    is_negated: bool = False
    has_separated_particle: bool = False
    has_dative_shift: bool = False  # `gave the book to the man`
    has_extraposed_relative: bool = False  # the relative clause of the subject follows the verb
    time_adverb: Adverb | None = None
    manner_adverb: Adverb | None = None
    sentence_adverb: Adverb | None = None
    adverbials: list[Adverbial] = field(default_factory=list)
    fronted_element: str = ""  # time, place or sentence: the adverbial before the subject
    initial_subordinate: SubordinateClause | None = None
    final_subordinate: SubordinateClause | None = None
    conjunct: "Clause | None" = None
    conjunction: tuple[str, str] = ("and", "und")
    has_wrong_number: bool = False  # of the German finite verb, for contrastive translations
    has_wrong_order: bool = False  # verb second in a German subordinate clause, for contrastive translations

    @property
    def english_arguments(self) -> "list[tuple[ArgumentSlot, NounPhrase | RelativeGap | Clause]]":
        """The arguments in English word order."""
        if not self.has_dative_shift:
            return self.arguments
        return sorted(self.arguments, key=lambda argument: argument[0].english_role == "iobj")

    @property
    def gap(self) -> RelativeGap:
        """The gap of a relative clause.

        Raises:
            StopIteration: the clause is no relative clause.
        """
        if isinstance(self.subject, RelativeGap):
            return self.subject
        return next(filler for _, filler in self.arguments if isinstance(filler, RelativeGap))

    @property
    def argument_phrases(self) -> list[NounPhrase]:
        """The noun phrases among the arguments, without the subject."""
        return [filler for _, filler in self.arguments if isinstance(filler, NounPhrase)]

    @property
    def participants(self) -> list[NounPhrase]:
        """The subject, unless it is a gap, and `argument_phrases`."""
        return [self.subject, *self.argument_phrases] if isinstance(self.subject, NounPhrase) else self.argument_phrases
