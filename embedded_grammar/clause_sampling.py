"""Random sampling of minimal clauses and noun phrases, which `phrase_expansion` and `clause_expansion` extend.

The lexical core of a clause (verb, heads of subject and object) is drawn first, so that cores outside the requested
share are rejected early.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from embedded_grammar import determiners, digit_expressions
from embedded_grammar.derivation import Adverbial, Clause, NounPhrase, Predicate, RelativeGap
from embedded_grammar.lexicon_choices import LexiconChoices
from embedded_grammar.modifiers import select_adverbs
from embedded_grammar.nouns import NominalHead, Noun, Pronoun
from embedded_grammar.senses import PLACE_ROLES, ArgumentSlot, VerbSense
from embedded_grammar.weighted_choice import WeightedChoice

Item = TypeVar("Item")

MAX_EMBEDDING_DEPTH = 2

DEGREE_ADVERBS = select_adverbs("degree")

PRESENT_TENSES = WeightedChoice(
    ("present", "perfect", "progressive", "future", "can", "must", "should"), (55, 14, 10, 9, 6, 5, 4)
)
PAST_TENSES = WeightedChoice(("past", "perfect", "progressive", "could"), (72, 11, 9, 8))


class ClauseSampler:
    """A sampler of the parts of derivations, with one random number generator."""

    def __init__(self, random: Random, choices: LexiconChoices) -> None:
        self.random = random
        self.choices = choices

    def draw_bool(self, probability: float) -> bool:
        """Return True with the given probability."""
        return self.random.random() < probability

    def draw_item(self, items: Sequence[Item]) -> Item:
        """Draw an item from a uniform distribution (`Random.choice` is slower)."""
        return items[int(self.random.random() * len(items))]

    def draw_clause(
        self,
        is_past_frame: bool,
        depth: int,
        *,
        senses: WeightedChoice[VerbSense] | None = None,
        accept_core: Callable[[str], bool] | None = None,
        is_simple: bool = False,
        is_perfect: bool = False,
    ) -> Clause | None:
        """Draw a finite clause; return None if `accept_core` rejects its lexical core (`subject verb object`)."""
        if senses is None and self.draw_bool(0.09):
            return self.draw_copula_clause(is_past_frame, accept_core)
        sense = (
            senses or (self.choices.senses if depth < MAX_EMBEDDING_DEPTH else self.choices.senses_without_clauses)
        ).draw_item(self.random)
        subject = self.draw_subject(sense)
        heads = [None if slot.is_clausal else self.draw_filler(slot, subject) for slot in sense.slots]
        if accept_core is not None:
            object_head = next(
                (head for slot, head in zip(sense.slots, heads, strict=True) if slot.english_role == "obj"), None
            )
            if not accept_core(format_lexical_core(subject, sense.english_verb.base, object_head)):
                return None
        return self.build_clause(sense, subject, heads, is_past_frame, depth, is_simple, is_perfect)

    def build_clause(
        self,
        sense: VerbSense,
        subject: NominalHead | RelativeGap,
        heads: Sequence[NominalHead | RelativeGap | None],
        is_past_frame: bool,
        depth: int,
        is_simple: bool = False,
        is_perfect: bool = False,
    ) -> Clause:
        """Build a clause from a sense and the heads of its arguments (None for a clausal argument)."""
        tense = (
            "perfect"
            if is_perfect and "modal" not in sense.traits
            else self.draw_tense(is_past_frame, is_simple, sense)
        )
        is_negated = self.draw_bool(0.08)
        filler = (
            subject
            if isinstance(subject, RelativeGap)
            else self.draw_noun_phrase(subject, is_plain=is_negated, is_definite=is_negated)
        )
        if isinstance(filler, NounPhrase) and filler.determiner is determiners.DETERMINER_A and self.draw_bool(0.06):
            filler.determiner = determiners.DETERMINER_NO
        clause = Clause(sense, filler, tense, is_past_frame, is_negated=is_negated)
        self.resolve_ambiguous_tense(clause)
        for slot, head in zip(sense.slots, heads, strict=True):
            if isinstance(head, RelativeGap):
                clause.arguments.append((slot, head))
            elif head is not None:
                clause.arguments.append((slot, self.draw_noun_phrase(head, is_plain=is_negated)))
            elif slot.english_role == "infinitive":
                controller = next((f for _, f in clause.arguments if isinstance(f, NounPhrase)), clause.subject)
                clause.arguments.append((slot, self.draw_infinitive_clause(controller)))
            else:
                inner = self.draw_clause(is_past_frame, depth + 1)
                assert inner is not None
                clause.arguments.append((slot, inner))
        self._draw_word_order(clause)
        return clause

    def resolve_ambiguous_tense(self, clause: Clause) -> None:
        """Set the progressive if the verb form does not show the tense: `they put` is present or past."""
        verb = clause.sense.english_verb if clause.sense is not None else None
        if verb is None or verb.past != verb.base or clause.is_negated or clause.tense not in ("present", "past"):
            return
        is_third_person = not isinstance(clause.subject, NounPhrase) or clause.subject.person == 3
        if clause.subject.has_plural_agreement or not is_third_person:
            clause.tense = "progressive"

    def _draw_word_order(self, clause: Clause) -> None:
        sense = clause.sense
        assert sense is not None
        fillers = {slot.english_role: filler for slot, filler in clause.arguments}
        direct_object = fillers.get("obj")
        is_pronominal = isinstance(direct_object, NounPhrase) and isinstance(direct_object.head, Pronoun)
        clause.has_separated_particle = (
            bool(sense.particle) and isinstance(direct_object, NounPhrase) and (is_pronominal or self.draw_bool(0.6))
        )
        if "iobj" in fillers:
            clause.has_dative_shift = is_pronominal or isinstance(fillers["iobj"], RelativeGap) or self.draw_bool(0.45)

    def draw_infinitive_clause(self, controller: "NounPhrase | RelativeGap") -> Clause:
        """Draw the complement of `to`, whose subject is `controller`, an argument of the higher clause."""
        sense = self.choices.infinitive_senses.draw_item(self.random)
        clause = Clause(sense, controller, "infinitive", is_past_frame=False)
        head = controller.head if isinstance(controller, NounPhrase) else None
        for slot in sense.slots:
            clause.arguments.append((slot, self.draw_noun_phrase(self.draw_filler(slot, head))))
        self._draw_word_order(clause)
        return clause

    def draw_copula_clause(self, is_past_frame: bool, accept_core: Callable[[str], bool] | None) -> Clause | None:
        """Draw a clause with `be` and an adjective, a noun with an adjective, or a place; None as in `draw_clause`."""
        subject = self.vary_person(self.choices.nouns_with_adjectives.draw_item(self.random))
        if accept_core is not None and not accept_core(format_lexical_core(subject, "be", None)):
            return None
        tense = self.draw_item(
            ("past", "past", "past", "perfect") if is_past_frame else ("present", "present", "perfect")
        )
        is_negated = self.draw_bool(0.1)
        phrase = self.draw_noun_phrase(subject, is_plain=is_negated, is_definite=is_negated)
        clause = Clause(None, phrase, tense, is_past_frame, is_negated=is_negated)
        clause.predicate = self._draw_predicate(clause)
        return clause

    def _draw_predicate(self, clause: Clause) -> Predicate:
        subject = clause.subject
        assert isinstance(subject, NounPhrase)
        head = subject.head
        if head.semantic_classes & {"person", "animal"} and self.draw_bool(0.25):
            return self.draw_place()
        gender = "" if head.is_common else head.gender
        if gender and self.draw_bool(0.3):
            noun = self.draw_item([noun for noun in self.choices.person_nouns.items if noun.gender == gender])
            phrase = NounPhrase(noun, False, determiners.DETERMINER_A)
            phrase.adjectives.append((self.draw_item(self.choices.adjectives[noun].items), None))
            return phrase
        degree = self.draw_item(DEGREE_ADVERBS) if self.draw_bool(0.3) else None
        return self.draw_item(self.choices.adjectives[head].items), degree

    def draw_place(self) -> Adverbial:
        """Draw a place adverbial."""
        noun = self.choices.place_nouns.draw_item(self.random)
        phrase = self.draw_noun_phrase(noun, is_plain=True)
        return Adverbial("place", *noun.place_prepositions["place"], "dat", phrase)

    def draw_tense(self, is_past_frame: bool, is_simple: bool, sense: VerbSense) -> str:
        """Draw a tense; with `is_simple` or a modal sense, return the simple present or past."""
        if is_simple or "modal" in sense.traits:
            return "past" if is_past_frame else "present"
        tense = (PAST_TENSES if is_past_frame else PRESENT_TENSES).draw_item(self.random)
        if tense == "progressive" and "stative" in sense.traits:
            return "past" if is_past_frame else "present"
        return tense

    def vary_person(self, noun: Noun) -> NominalHead:
        """Replace some nouns for persons by pronouns or names."""
        if "person" not in noun.semantic_classes:
            return noun
        value = self.random.random()
        if value < 0.3:
            return self.choices.pronouns.draw_item(self.random)
        return self.choices.person_names.draw_item(self.random) if value < 0.38 else noun

    def draw_subject(self, sense: VerbSense) -> NominalHead:
        """Draw the head of the subject of a sense."""
        return self.vary_person(self.choices.subject_nouns[sense].draw_item(self.random))

    def draw_similar_noun(self, noun: NominalHead) -> Noun:
        """Draw a noun of the same semantic classes, possibly the same noun."""
        return self.choices.similar_nouns[noun].draw_item(self.random)

    def draw_filler(self, slot: ArgumentSlot, subject_head: NominalHead | None) -> NominalHead:
        """Draw the head of an argument; a pronoun or name is never that of the subject."""
        noun = self.choices.slot_fillers[slot].draw_item(self.random)
        if "town" in noun.semantic_classes and slot.english_role in PLACE_ROLES and self.draw_bool(0.4):
            return self.choices.town_names.draw_item(self.random)
        if "person" not in noun.semantic_classes:
            return noun
        value = self.random.random()
        head: NominalHead = noun
        if value < 0.15:
            head = self.choices.pronouns.draw_item(self.random)
        elif value < 0.25:
            head = self.choices.person_names.draw_item(self.random)
        return noun if head is subject_head else head

    def draw_noun_phrase(self, head: NominalHead, is_plain: bool = False, is_definite: bool = False) -> NounPhrase:
        """Draw the number and determiner of a noun phrase without attributes.

        `is_plain` excludes quantifiers; `is_definite` also excludes indefinite singulars.
        """
        if not head.is_common:
            return NounPhrase(head)
        if head.is_mass:
            determiner = determiners.MASS_NOUN_DETERMINERS.draw_item(self.random)
            return NounPhrase(head, False, determiner or (determiners.DETERMINER_THE if is_definite else None))
        is_plural = self.draw_bool(0.3)
        if is_definite and not is_plural:
            return NounPhrase(head, False, determiners.DEFINITE_SINGULAR_DETERMINERS.draw_item(self.random))
        if is_plain:
            table = determiners.PLAIN_PLURAL_DETERMINERS if is_plural else determiners.PLAIN_SINGULAR_DETERMINERS
        else:
            table = self.choices.plural_determiners if is_plural else determiners.SINGULAR_DETERMINERS
        determiner = table.draw_item(self.random)
        if determiner is determiners.NUMBER_PLACEHOLDER:
            determiner = digit_expressions.draw_number(self.random)
        return NounPhrase(head, is_plural, determiner)


def format_lexical_core(subject_head: NominalHead, verb: str, object_head: NominalHead | None) -> str:
    """Format the lexical core of a main clause, which ignores particle, number and tense."""
    return f"{subject_head.english} {verb} {object_head.english if object_head is not None else '-'}"
