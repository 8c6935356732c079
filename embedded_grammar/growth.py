"""Grows a derivation: the phenomenon that is asked for first, then whatever fits."""

from collections.abc import Callable
from typing import TypeVar

from embedded_grammar import clause_expansion, phrase_expansion
from embedded_grammar.derivation import Clause
from embedded_grammar.expansion import Expansion, Site
from embedded_grammar.focus import Focus
from embedded_grammar.phenomena import phenomena
from embedded_grammar.weighted_choice import WeightedChoice

Added = TypeVar("Added")

# How often something is added at most, and how often to a noun phrase.
ATTEMPTS = 60
ON_PHRASES_SHARE = 0.6
# Tokens that a phenomenon asked for may take beyond the target.
ALLOWANCE = 14

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
    """Add modifiers, adverbials and clauses of every kind until the target is reached or nothing more fits.

    What is added never makes the gold attachment a matter of luck: an adverbial is not put behind a noun that could
    have it as its own attribute, nothing is added to an object in front of an adverbial that could belong to the
    addition, and clauses that could be read as part of an embedded clause belong to the main clause always.
    """
    for _ in range(ATTEMPTS):
        if expansion.remaining <= 0:
            break
        if expansion.sites and expansion.sampler.chance(ON_PHRASES_SHARE):
            _of_phrases.draw(expansion.random)(expansion, expansion.sampler.one_of(expansion.sites))
        else:
            clause, depth = expansion.sampler.one_of(expansion.clauses)
            _of_clauses.draw(expansion.random)(expansion, clause, depth)
    clause_expansion.extrapose(expansion)


def beyond_target(expansion: Expansion, add: Callable[[], Added]) -> Added:
    """What `add` adds may take some tokens more than there are left."""
    spare = expansion.remaining
    expansion.remaining = max(spare, ALLOWANCE)
    before = expansion.remaining
    added = add()
    expansion.remaining = spare - (before - expansion.remaining)
    return added


def add_phenomenon(focus: Focus, expansion: Expansion) -> bool:
    """Bring the phenomenon asked for into the main clause before anything else; False if that did not work."""
    main = expansion.main
    sites = [site for site in expansion.sites if site.clause is main]
    subjects = [site for site in sites if site.phrase is main.subject]
    objects = [site for site in sites if site.argument]
    if focus is Focus.particle_verb:
        obj = next((filler for slot, filler in main.arguments if slot.english == "obj"), None)
        main.far_particle = any(site.phrase is obj for site in objects)
        return main.far_particle
    if focus is Focus.relative_clause:
        return any(
            phrase_expansion.relative(expansion, site)
            for site in sorted(sites, key=lambda _: expansion.random.random())
        )
    if focus is Focus.attachment:
        adverbial = clause_expansion.instrument(expansion, main, 0) or clause_expansion.place(expansion, main, 0)
        return adverbial or any(phrase_expansion.attribute(expansion, site) for site in objects) or bool(objects)
    if focus is Focus.agreement:
        return any(
            phrase_expansion.attribute(expansion, site) or phrase_expansion.relative(expansion, site)
            for site in subjects
        )
    assert focus is Focus.verb_final
    return Focus.verb_final in phenomena(main) or any(
        clause_expansion.subordinate(expansion, main, 0) for _ in range(3)
    )
