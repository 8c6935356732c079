"""The state of a growing derivation: sites for additions and the remaining number of tokens."""

from dataclasses import dataclass
from random import Random

from embedded_grammar.clause_sampling import ClauseSampler
from embedded_grammar.derivation import Clause, NounPhrase
from embedded_grammar.english import build_trees as english


@dataclass(slots=True)
class GrowthSite:
    """A noun phrase that can be extended, with its clause and embedding depth."""

    phrase: NounPhrase
    clause: Clause
    depth: int
    is_argument: bool  # follows the verb, so adverbials of the clause may follow the phrase
    allows_only_adjectives: bool
    parent_phrase: NounPhrase | None  # the phrase of which this one is the attribute


class SentenceExpansion:
    """A main clause with its growth sites and the number of tokens that can still be added."""

    def __init__(self, sampler: ClauseSampler, main_clause: Clause, target_length: int) -> None:
        self.sampler = sampler
        self.random: Random = sampler.random
        self.main_clause = main_clause
        self.remaining_tokens = target_length - 1 - len(english.build_clause(main_clause))
        self.sites: list[GrowthSite] = []
        self.clauses: list[tuple[Clause, int]] = []
        self.register_clause(main_clause, 0)

    def spend_tokens(self, token_count: int) -> bool:
        """Subtract from the remaining tokens and return True, or return False if too few remain."""
        if token_count > self.remaining_tokens:
            return False
        self.remaining_tokens -= token_count
        return True

    def register_clause(self, clause: Clause, depth: int, should_register_subject: bool = True) -> None:
        """Register a new clause, its noun phrases and its embedded clauses as growth sites."""
        self.clauses.append((clause, depth))
        if should_register_subject and isinstance(clause.subject, NounPhrase):
            self.register_phrase(clause.subject, clause, depth, is_argument=False)
        for _, filler in clause.arguments:
            if isinstance(filler, NounPhrase):
                self.register_phrase(filler, clause, depth, is_argument=True)
            elif isinstance(filler, Clause):
                self.register_clause(filler, depth + 1, should_register_subject=filler.tense != "infinitive")
        if isinstance(clause.predicate, NounPhrase):
            self.register_phrase(clause.predicate, clause, depth, is_argument=True)

    def register_phrase(
        self,
        phrase: NounPhrase,
        clause: Clause,
        depth: int,
        is_argument: bool,
        allows_only_adjectives: bool = False,
        parent_phrase: NounPhrase | None = None,
    ) -> None:
        """Register a noun phrase as a growth site, unless it is a pronoun or name."""
        if phrase.head.is_common:
            self.sites.append(GrowthSite(phrase, clause, depth, is_argument, allows_only_adjectives, parent_phrase))
