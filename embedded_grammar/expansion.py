"""Where a derivation grows, and how many English tokens there is still room for."""

from dataclasses import dataclass
from random import Random

from embedded_grammar.derivation import Clause, NounPhrase
from embedded_grammar.english import realization as english
from embedded_grammar.sampling import Sampler


@dataclass(slots=True)
class Site:
    """A noun phrase that can grow, the clause it is in, and how deep it is embedded."""

    phrase: NounPhrase
    clause: Clause
    depth: int
    argument: bool  # behind the verb, so adverbials of the clause may follow it
    bare: bool  # takes only adjectives
    parent: NounPhrase | None  # whose attribute it is


class Expansion:
    """A main clause, the places where it can grow, and the tokens that may still be spent on it."""

    def __init__(self, sampler: Sampler, main: Clause, target: int) -> None:
        self.sampler = sampler
        self.random: Random = sampler.random
        self.main = main
        self.remaining = target - 1 - len(english.clause_phrase(main))
        self.sites: list[Site] = []
        self.clauses: list[tuple[Clause, int]] = []
        self.enter_clause(main, 0)

    def affords(self, tokens: int) -> bool:
        """Spend tokens if there are that many left."""
        if tokens > self.remaining:
            return False
        self.remaining -= tokens
        return True

    def enter_clause(self, clause: Clause, depth: int, subject: bool = True) -> None:
        """Take a new clause, its noun phrases and the clauses inside it as places to grow."""
        self.clauses.append((clause, depth))
        if subject and isinstance(clause.subject, NounPhrase):
            self.enter_phrase(clause.subject, clause, depth, argument=False)
        for _, filler in clause.arguments:
            if isinstance(filler, NounPhrase):
                self.enter_phrase(filler, clause, depth, argument=True)
            elif isinstance(filler, Clause):
                self.enter_clause(filler, depth + 1, subject=filler.tense != "infinitive")
        if isinstance(clause.predicate, NounPhrase):
            self.enter_phrase(clause.predicate, clause, depth, argument=True)

    def enter_phrase(
        self,
        phrase: NounPhrase,
        clause: Clause,
        depth: int,
        argument: bool,
        bare: bool = False,
        parent: NounPhrase | None = None,
    ) -> None:
        """Take a noun phrase as a place to grow; pronouns and names do not."""
        if phrase.head.common:
            self.sites.append(Site(phrase, clause, depth, argument, bare, parent))
