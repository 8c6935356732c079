"""Makes a clause longer: modifiers of its noun phrases, adverbials, and clauses of every kind, up to a target length.

What is added never makes the gold attachment a matter of luck: an adverbial is not put behind a noun that could have it
as its own attribute, nothing is added to an object in front of an adverbial that could belong to the addition, and
clauses that could be read as part of an embedded clause belong to the main clause always.
"""

from collections.abc import Callable

from pipeline_py.corpus.grammar import on_clauses, on_phrases
from pipeline_py.corpus.grammar.choice import Weighted
from pipeline_py.corpus.grammar.derivation import Clause
from pipeline_py.corpus.grammar.site import Growing, Site

ATTEMPTS = 60
ON_PHRASES_SHARE = 0.6

_on_phrases: Weighted[Callable[[Growing, Site], bool]] = Weighted(
    (on_phrases.adjective, on_phrases.attribute, on_phrases.relative, on_phrases.possessor, on_phrases.conjunct),
    (34, 26, 22, 8, 10),
)
_on_clauses: Weighted[Callable[[Growing, Clause, int], bool]] = Weighted(
    (
        on_clauses.time,
        on_clauses.daytime,
        on_clauses.clock,
        on_clauses.date,
        on_clauses.sentence_adverb,
        on_clauses.manner,
        on_clauses.place,
        on_clauses.instrument,
        on_clauses.event,
        on_clauses.subordinate,
        on_clauses.coordinate,
    ),
    (16, 6, 2.5, 2.5, 4, 12, 14, 16, 6, 26, 14),
)


def grow(growing: Growing) -> None:
    """Add until the target is reached or nothing more fits."""
    _add(growing)
    on_clauses.extrapose(growing)


def _add(growing: Growing) -> None:
    sampler = growing.sampler
    for _ in range(ATTEMPTS):
        if growing.remaining <= 0:
            return
        if growing.sites and sampler.chance(ON_PHRASES_SHARE):
            _on_phrases.draw(growing.random)(growing, sampler.one_of(growing.sites))
        else:
            clause, depth = sampler.one_of(growing.clauses)
            _on_clauses.draw(growing.random)(growing, clause, depth)
