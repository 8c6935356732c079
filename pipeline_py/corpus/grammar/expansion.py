"""Makes a clause longer: modifiers of its noun phrases, adverbials, and clauses of every kind, up to a target length.

What is added never makes the gold attachment a matter of luck: an adverbial is not put behind a noun that could have it
as its own attribute, nothing is added to an object in front of an adverbial that could belong to the addition, and
clauses that could be read as part of an embedded clause belong to the main clause always.
"""

from collections.abc import Callable

from pipeline_py.corpus.grammar import clause_expansion, phrase_expansion
from pipeline_py.corpus.grammar.derivation import Clause
from pipeline_py.corpus.grammar.site import Expansion, Site
from pipeline_py.corpus.grammar.weighted_choice import WeightedChoice

ATTEMPTS = 60
ON_PHRASES_SHARE = 0.6

_of_phrases: WeightedChoice[Callable[[Expansion, Site], bool]] = WeightedChoice(
    (
        phrase_expansion.adjective,
        phrase_expansion.attribute,
        phrase_expansion.relative,
        phrase_expansion.possessor,
        phrase_expansion.conjunct,
    ),
    (34, 26, 22, 8, 10),
)
_of_clauses: WeightedChoice[Callable[[Expansion, Clause, int], bool]] = WeightedChoice(
    (
        clause_expansion.time,
        clause_expansion.daytime,
        clause_expansion.clock,
        clause_expansion.date,
        clause_expansion.sentence_adverb,
        clause_expansion.manner,
        clause_expansion.place,
        clause_expansion.instrument,
        clause_expansion.event,
        clause_expansion.subordinate,
        clause_expansion.coordinate,
    ),
    (16, 6, 2.5, 2.5, 4, 12, 14, 16, 6, 26, 14),
)


def expand(expansion: Expansion) -> None:
    """Add until the target is reached or nothing more fits."""
    _add(expansion)
    clause_expansion.extrapose(expansion)


def _add(expansion: Expansion) -> None:
    sampler = expansion.sampler
    for _ in range(ATTEMPTS):
        if expansion.remaining <= 0:
            return
        if expansion.sites and sampler.chance(ON_PHRASES_SHARE):
            _of_phrases.draw(expansion.random)(expansion, sampler.one_of(expansion.sites))
        else:
            clause, depth = sampler.one_of(expansion.clauses)
            _of_clauses.draw(expansion.random)(expansion, clause, depth)
