"""Growth of a derivation: first the required phenomenon, then random additions."""

from collections.abc import Callable
from typing import TypeVar

from embedded_grammar import clause_expansion, phrase_expansion
from embedded_grammar.derivation import Clause
from embedded_grammar.expansion import GrowthSite, SentenceExpansion
from embedded_grammar.phenomenon_detection import find_phenomena
from embedded_grammar.syntactic_phenomena import Phenomenon
from embedded_grammar.weighted_choice import WeightedChoice

AdditionResult = TypeVar("AdditionResult")

MAX_ADDITION_ATTEMPTS = 60
PHRASE_ADDITION_SHARE = 0.6
# The number of tokens by which a required phenomenon may exceed the target.
EXTRA_TOKEN_ALLOWANCE = 14

_PHRASE_ADDITIONS: WeightedChoice[Callable[[SentenceExpansion, GrowthSite], bool]] = WeightedChoice(
    (
        phrase_expansion.add_adjective,
        phrase_expansion.add_attribute,
        phrase_expansion.add_relative_clause,
        phrase_expansion.add_possessor,
        phrase_expansion.add_conjunct,
    ),
    (34, 26, 22, 8, 10),
)
_CLAUSE_ADDITIONS: WeightedChoice[Callable[[SentenceExpansion, Clause, int], bool]] = WeightedChoice(
    (
        clause_expansion.add_time_adverb,
        clause_expansion.add_daytime,
        clause_expansion.add_clock_time,
        clause_expansion.add_date,
        clause_expansion.add_sentence_adverb,
        clause_expansion.add_manner_adverb,
        clause_expansion.add_place,
        clause_expansion.add_instrument,
        clause_expansion.add_event,
        clause_expansion.add_subordinate_clause,
        clause_expansion.add_coordinate_clause,
    ),
    (16, 6, 2.5, 2.5, 4, 12, 14, 16, 6, 26, 14),
)


def grow_sentence(expansion: SentenceExpansion) -> None:
    """Add modifiers, adverbials and clauses until the target length is reached or nothing more fits.

    No addition makes the gold attachment unpredictable. An adverbial never follows a noun that could have it as its
    attribute. An object before an adverbial is not extended if the adverbial could belong to the extension. A clause
    that could be read as part of an embedded clause always belongs to the main clause.
    """
    for _ in range(MAX_ADDITION_ATTEMPTS):
        if expansion.remaining_tokens <= 0:
            break
        if expansion.sites and expansion.sampler.draw_bool(PHRASE_ADDITION_SHARE):
            _PHRASE_ADDITIONS.draw_item(expansion.random)(expansion, expansion.sampler.draw_item(expansion.sites))
        else:
            clause, depth = expansion.sampler.draw_item(expansion.clauses)
            _CLAUSE_ADDITIONS.draw_item(expansion.random)(expansion, clause, depth)
    clause_expansion.extrapose_relative_clause(expansion)


def add_beyond_target(expansion: SentenceExpansion, add: Callable[[], AdditionResult]) -> AdditionResult:
    """Call `add` with at least `EXTRA_TOKEN_ALLOWANCE` remaining tokens."""
    extra_tokens = max(0, EXTRA_TOKEN_ALLOWANCE - expansion.remaining_tokens)
    expansion.remaining_tokens += extra_tokens
    result = add()
    expansion.remaining_tokens -= extra_tokens
    return result


def add_phenomenon(phenomenon: Phenomenon, expansion: SentenceExpansion) -> bool:
    """Add the required phenomenon to a main clause that has not grown yet; return False if that is impossible."""
    main = expansion.main_clause
    sites = [site for site in expansion.sites if site.clause is main]
    subjects = [site for site in sites if site.phrase is main.subject]
    objects = [site for site in sites if site.is_argument]
    if phenomenon is Phenomenon.particle_verb:
        object_filler = next((filler for slot, filler in main.arguments if slot.english_role == "obj"), None)
        main.has_separated_particle = any(site.phrase is object_filler for site in objects)
        return main.has_separated_particle
    if phenomenon is Phenomenon.relative_clause:
        return any(
            phrase_expansion.add_relative_clause(expansion, site)
            for site in sorted(sites, key=lambda _: expansion.random.random())
        )
    if phenomenon is Phenomenon.attachment:
        return (
            clause_expansion.add_instrument(expansion, main, 0)
            or clause_expansion.add_place(expansion, main, 0)
            or any(phrase_expansion.add_attribute(expansion, site) for site in objects)
            or bool(objects)
        )
    if phenomenon is Phenomenon.agreement:
        return any(
            phrase_expansion.add_attribute(expansion, site) or phrase_expansion.add_relative_clause(expansion, site)
            for site in subjects
        )
    assert phenomenon is Phenomenon.verb_final
    return Phenomenon.verb_final in find_phenomena(main) or any(
        clause_expansion.add_subordinate_clause(expansion, main, 0) for _ in range(3)
    )
