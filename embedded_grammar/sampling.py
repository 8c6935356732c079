"""Draws clauses and noun phrases at random: senses, heads that fit them, number, determiners, tense.

Everything is drawn at its smallest; `phrase_expansion` and `clause_expansion` add to it. A clause's lexical core (verb,
heads of subject and object) is drawn before anything else, so that a share of the space of sentences can be refused
before any work is done.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from embedded_grammar import determiners, digits
from embedded_grammar.choices import Choices
from embedded_grammar.derivation import Adverbial, Clause, Gap, NounPhrase, Predicate
from embedded_grammar.modifiers import adverbs
from embedded_grammar.nouns import Head, Noun, Pronoun
from embedded_grammar.senses import PLACES, Sense, Slot
from embedded_grammar.weighted_choice import WeightedChoice

Item = TypeVar("Item")

DEEPEST = 2

DEGREES = adverbs("degree")

PRESENT = WeightedChoice(
    ("present", "perfect", "progressive", "future", "can", "must", "should"), (55, 14, 10, 9, 6, 5, 4)
)
PAST = WeightedChoice(("past", "perfect", "progressive", "could"), (72, 11, 9, 8))


class Sampler:
    """Draws parts of derivations from one source of randomness."""

    def __init__(self, random: Random, choices: Choices) -> None:
        self.random = random
        self.choices = choices

    def chance(self, probability: float) -> bool:
        """Whether something of this probability happens."""
        return self.random.random() < probability

    def one_of(self, items: Sequence[Item]) -> Item:
        """One item, all equally likely (`Random.choice` is slower)."""
        return items[int(self.random.random() * len(items))]

    def clause(
        self,
        past_frame: bool,
        depth: int,
        *,
        senses: WeightedChoice[Sense] | None = None,
        accept: Callable[[str], bool] | None = None,
        simple: bool = False,
        perfect: bool = False,
    ) -> Clause | None:
        """A finite clause; None if `accept` refuses its lexical core (`subject verb object`)."""
        if senses is None and self.chance(0.09):
            return self.copula(past_frame, accept)
        sense = (senses or (self.choices.senses if depth < DEEPEST else self.choices.unembedding)).draw(self.random)
        subject = self.subject_of(sense)
        heads: list[Head | None] = []
        for slot in sense.slots:
            heads.append(None if slot.clausal else self.filler(slot, subject))
        if accept is not None:
            obj = next((head for slot, head in zip(sense.slots, heads, strict=True) if slot.english == "obj"), None)
            if not accept(core(subject, sense.verb.base, obj)):
                return None
        return self.finish(sense, subject, heads, past_frame, depth, simple, perfect)

    def finish(
        self,
        sense: Sense,
        subject: Head | Gap,
        heads: Sequence[Head | Gap | None],
        past_frame: bool,
        depth: int,
        simple: bool = False,
        perfect: bool = False,
    ) -> Clause:
        """Make a clause of a sense and the heads of its arguments (None where a clause belongs)."""
        tense = "perfect" if perfect and "modal" not in sense.traits else self.tense(past_frame, simple, sense)
        negated = self.chance(0.08)
        filled = subject if isinstance(subject, Gap) else self.phrase(subject, plain=negated, definite=negated)
        if isinstance(filled, NounPhrase) and filled.determiner is determiners.A and self.chance(0.06):
            filled.determiner = determiners.NO
        clause = Clause(sense, filled, tense, past_frame, negated=negated)
        self.settle_tense(clause)
        for slot, head in zip(sense.slots, heads, strict=True):
            if isinstance(head, Gap):
                clause.arguments.append((slot, head))
            elif head is not None:
                clause.arguments.append((slot, self.phrase(head, plain=negated)))
            elif slot.english == "infinitive":
                controller = next((f for _, f in clause.arguments if isinstance(f, NounPhrase)), clause.subject)
                clause.arguments.append((slot, self.infinitive(controller)))
            else:
                inner = self.clause(past_frame, depth + 1)
                assert inner is not None
                clause.arguments.append((slot, inner))
        self._choose_order(clause)
        return clause

    def settle_tense(self, clause: Clause) -> None:
        """`They put` may be present or past: where the form does not tell, English takes the progressive."""
        verb = clause.sense.verb if clause.sense is not None else None
        if verb is None or verb.past != verb.base or clause.negated or clause.tense not in ("present", "past"):
            return
        third = not isinstance(clause.subject, NounPhrase) or clause.subject.person == 3
        if clause.subject.agrees_as_plural or not third:
            clause.tense = "progressive"

    def _choose_order(self, clause: Clause) -> None:
        sense = clause.sense
        assert sense is not None
        by_position = {slot.english: filler for slot, filler in clause.arguments}
        obj = by_position.get("obj")
        pronominal = isinstance(obj, NounPhrase) and isinstance(obj.head, Pronoun)
        clause.far_particle = bool(sense.particle) and isinstance(obj, NounPhrase) and (pronominal or self.chance(0.6))
        if "iobj" in by_position:
            clause.dative_shift = pronominal or isinstance(by_position["iobj"], Gap) or self.chance(0.45)

    def infinitive(self, controller: "NounPhrase | Gap") -> Clause:
        """The complement of `to`; its subject is an argument of the clause above."""
        sense = self.choices.infinitives.draw(self.random)
        clause = Clause(sense, controller, "infinitive", past_frame=False)
        head = controller.head if isinstance(controller, NounPhrase) else None
        for slot in sense.slots:
            clause.arguments.append((slot, self.phrase(self.filler(slot, head))))
        self._choose_order(clause)
        return clause

    def copula(self, past_frame: bool, accept: Callable[[str], bool] | None) -> Clause | None:
        """A clause with a form of `be`: an adjective, a noun with an adjective, or a place."""
        subject = self.person_or(self.choices.with_adjectives.draw(self.random))
        if accept is not None and not accept(core(subject, "be", None)):
            return None
        tense = self.one_of(("past", "past", "past", "perfect") if past_frame else ("present", "present", "perfect"))
        negated = self.chance(0.1)
        clause = Clause(None, self.phrase(subject, plain=negated, definite=negated), tense, past_frame, negated=negated)
        clause.predicate = self._predicate(clause)
        return clause

    def _predicate(self, clause: Clause) -> Predicate:
        subject = clause.subject
        assert isinstance(subject, NounPhrase)
        head = subject.head
        if head.classes & {"person", "animal"} and self.chance(0.25):
            return self.place()
        gender = "" if head.common else head.gender
        if gender and self.chance(0.3):
            noun = self.one_of([noun for noun in self.choices.persons.items if noun.gender == gender])
            phrase = NounPhrase(noun, False, determiners.A)
            phrase.adjectives.append((self.one_of(self.choices.adjectives[noun].items), None))
            return phrase
        degree = self.one_of(DEGREES) if self.chance(0.3) else None
        return self.one_of(self.choices.adjectives[head].items), degree

    def place(self) -> Adverbial:
        """A place where something is."""
        noun = self.choices.places.draw(self.random)
        phrase = self.phrase(noun, plain=True)
        return Adverbial("place", *noun.places["place"], "dat", phrase)

    def tense(self, past_frame: bool, simple: bool, sense: Sense) -> str:
        """A tense of the frame; `simple` and modals allow no other than the simple one."""
        if simple or "modal" in sense.traits:
            return "past" if past_frame else "present"
        tense = (PAST if past_frame else PRESENT).draw(self.random)
        if tense == "progressive" and "stative" in sense.traits:
            return "past" if past_frame else "present"
        return tense

    def person_or(self, noun: Noun) -> Head:
        """A person may be a pronoun or a name instead."""
        if "person" not in noun.classes:
            return noun
        value = self.random.random()
        if value < 0.3:
            return self.choices.pronouns.draw(self.random)
        return self.choices.people.draw(self.random) if value < 0.38 else noun

    def subject_of(self, sense: Sense) -> Head:
        """A head for the subject of a sense."""
        return self.person_or(self.choices.subjects[sense].draw(self.random))

    def like(self, noun: Head) -> Noun:
        """Another noun that shares its classes with the noun."""
        return self.choices.alike[noun].draw(self.random)

    def filler(self, slot: Slot, subject: Head | None) -> Head:
        """The head of an argument, never the subject itself again."""
        noun = self.choices.fillers[slot].draw(self.random)
        if "town" in noun.classes and slot.english in PLACES and self.chance(0.4):
            return self.choices.towns.draw(self.random)
        if "person" not in noun.classes:
            return noun
        value = self.random.random()
        head: Head = noun
        if value < 0.15:
            head = self.choices.pronouns.draw(self.random)
        elif value < 0.25:
            head = self.choices.people.draw(self.random)
        return noun if head is subject else head

    def phrase(self, head: Head, plain: bool = False, definite: bool = False) -> NounPhrase:
        """A noun phrase without attributes; `plain` keeps quantifiers out, `definite` indefinite articles too."""
        if not head.common:
            return NounPhrase(head)
        if head.mass:
            drawn = determiners.MASS.draw(self.random)
            return NounPhrase(head, False, drawn or (determiners.THE if definite else None))
        plural = self.chance(0.3)
        if definite and not plural:
            return NounPhrase(head, False, determiners.DEFINITE_SINGULAR.draw(self.random))
        if plain:
            table = determiners.PLAIN_PLURAL if plural else determiners.PLAIN_SINGULAR
        else:
            table = self.choices.plural_determiners if plural else determiners.SINGULAR
        drawn = table.draw(self.random)
        return NounPhrase(head, plural, digits.number(self.random) if drawn is determiners.NUMBER else drawn)


def core(subject: Head, verb: str, obj: Head | None) -> str:
    """The lexical core of a main clause. It can be read off the English sentence, particle, number and tense aside."""
    return f"{subject.english} {verb} {obj.english if obj is not None else '-'}"
