"""The derivation of a sentence pair: what both languages express, before either orders or inflects it.

The grammar is synchronous in this sense: `sampling` and `pairs` build one derivation, and `english` and `german`
each linearise it. Its parts are mutable only while it grows.
"""

from dataclasses import dataclass, field

from embedded_grammar.modifiers import Adjective, Adverb, Subordinator
from embedded_grammar.nouns import Head, Pronoun
from embedded_grammar.senses import Sense, Slot


@dataclass(frozen=True, slots=True, eq=False)
class Determiner:
    """A determiner. `kind` names the German paradigm: der, dieser, ein, strong (adjectives carry the endings), none."""

    english: str
    german: str
    kind: str
    tag: str = "DT"


@dataclass(slots=True, eq=False)
class NounPhrase:
    """A noun or pronoun with what depends on it."""

    head: Head
    plural: bool = False
    determiner: Determiner | None = None
    adjectives: list[tuple[Adjective, Adverb | None]] = field(default_factory=list)  # with a degree
    attribute: "tuple[Slot, NounPhrase] | None" = None
    possessor: "NounPhrase | None" = None  # English 's
    relative: "Clause | None" = None
    conjunct: "NounPhrase | None" = None
    conjunction: tuple[str, str] = ("and", "und")
    wrong_article: tuple[str, str] | None = None  # the gender and case of the German one, where it is wrong on purpose

    @property
    def person(self) -> int:
        """Grammatical person."""
        return self.head.person if isinstance(self.head, Pronoun) else 3

    @property
    def agrees_as_plural(self) -> bool:
        """Number that a verb agrees with."""
        if self.conjunct is not None and self.conjunction[0] == "and":
            return True
        return self.head.plural if isinstance(self.head, Pronoun) else self.plural


@dataclass(slots=True, eq=False)
class Gap:
    """The place in a relative clause that its pronoun stands for."""

    antecedent: NounPhrase
    english: str  # the relative pronoun

    @property
    def agrees_as_plural(self) -> bool:
        """Number of the antecedent itself, coordination aside."""
        return self.antecedent.plural


@dataclass(slots=True, eq=False)
class Adverbial:
    """A prepositional adverbial of a clause; `kind` is place, time or instrument."""

    kind: str
    english: str
    german: str
    case: str
    phrase: NounPhrase


Predicate = tuple[Adjective, Adverb | None] | NounPhrase | Adverbial


@dataclass(slots=True, eq=False)
class Subordinate:
    """An adverbial clause."""

    conjunction: Subordinator
    clause: "Clause"


@dataclass(slots=True, eq=False)
class Clause:
    """A verb with its arguments and adverbials, or a copula with its predicate."""

    sense: Sense | None  # None: the copula
    subject: NounPhrase | Gap
    tense: str
    past_frame: bool
    arguments: list[tuple[Slot, "NounPhrase | Gap | Clause"]] = field(default_factory=list)
    predicate: Predicate | None = None  # what a copula says of its subject
    negated: bool = False
    far_particle: bool = False
    dative_shift: bool = False  # `gave the book to the man`
    extraposed: bool = False  # a relative clause of the subject stands behind the verb
    time: Adverb | None = None
    manner: Adverb | None = None
    sentence: Adverb | None = None
    adverbials: list[Adverbial] = field(default_factory=list)
    fronted: str = ""  # time, place, sentence: what stands in front of the subject
    before: Subordinate | None = None
    after: Subordinate | None = None
    conjunct: "Clause | None" = None
    conjunction: tuple[str, str] = ("and", "und")
    wrong_number: bool = False  # of the German finite verb, on purpose
    wrong_order: bool = False  # the German verb of a subordinate clause stands second, on purpose

    @property
    def english_order(self) -> "list[tuple[Slot, NounPhrase | Gap | Clause]]":
        """The arguments as English has them behind the verb."""
        if not self.dative_shift:
            return self.arguments
        return sorted(self.arguments, key=lambda argument: argument[0].english == "iobj")

    @property
    def gap(self) -> Gap:
        """Of a relative clause: the place that its pronoun stands for.

        Raises:
            StopIteration: it is none.
        """
        if isinstance(self.subject, Gap):
            return self.subject
        return next(filler for _, filler in self.arguments if isinstance(filler, Gap))

    @property
    def phrases(self) -> list[NounPhrase]:
        """The noun phrases among the arguments behind the verb."""
        return [filler for _, filler in self.arguments if isinstance(filler, NounPhrase)]

    @property
    def participants(self) -> list[NounPhrase]:
        """The subject, unless it is a gap, and `phrases`."""
        return [self.subject, *self.phrases] if isinstance(self.subject, NounPhrase) else self.phrases
