"""What can be added to a noun phrase. Each function tells whether it added something."""

from embedded_grammar import determiners
from embedded_grammar.attachment import (
    has_ambiguous_antecedent,
    has_final_adverb,
    has_final_adverbial,
    is_reserved_preposition,
)
from embedded_grammar.clause_sampling import MAX_EMBEDDING_DEPTH, ClauseSampler
from embedded_grammar.derivation import Clause, NounPhrase, RelativeGap
from embedded_grammar.english import build_trees as english
from embedded_grammar.expansion import GrowthSite, SentenceExpansion
from embedded_grammar.modifiers import COORDINATORS, is_incompatible, select_adverbs
from embedded_grammar.nouns import NominalHead, Noun
from embedded_grammar.senses import ArgumentSlot

# What is too much is no attribute.
_DEGREE_ADVERBS = select_adverbs("degree")[:2]


def add_adjective(expansion: SentenceExpansion, site: GrowthSite) -> bool:
    """An attributive adjective that fits the noun, now and then with a degree."""
    phrase = site.phrase
    table = expansion.sampler.choices.adjectives.get(phrase.head)
    if not table or len(phrase.adjectives) == 2:
        return False
    word = table.draw_item(expansion.random)
    if any(is_incompatible(word, other) for other, _ in phrase.adjectives):
        return False
    degree = expansion.sampler.draw_item(_DEGREE_ADVERBS) if expansion.sampler.draw_bool(0.15) else None
    if not expansion.spend_tokens(2 if degree else 1):
        return False
    phrase.adjectives.append((word, degree))
    return True


def add_attribute(expansion: SentenceExpansion, site: GrowthSite) -> bool:
    """A prepositional attribute, if the clause has no use of its own for the preposition."""
    phrase = site.phrase
    if site.allows_only_adjectives or site.depth > MAX_EMBEDDING_DEPTH:
        return False
    if phrase.attribute is not None or phrase.relative_clause is not None or phrase.conjunct is not None:
        return False
    attributes = expansion.sampler.choices.attribute_slots[phrase.head]
    if not attributes or (site.is_argument and has_final_adverbial(site.clause)):
        return False
    drawn = expansion.sampler.draw_item(attributes)
    if site.is_argument and is_reserved_preposition(site.clause, drawn.english_role):
        return False
    if drawn.german_case == "gen" and phrase.determiner is not determiners.DETERMINER_THE:
        return False
    inner = _draw_attribute_phrase(expansion.sampler, drawn)
    if inner.head is phrase.head or not expansion.spend_tokens(1 + len(english.build_noun_phrase(inner))):
        return False
    phrase.attribute = drawn, inner
    expansion.register_phrase(inner, site.clause, site.depth + 1, site.is_argument, not drawn.german_case, phrase)
    return True


def _draw_attribute_phrase(sampler: ClauseSampler, slot: ArgumentSlot) -> NounPhrase:
    noun = sampler.choices.slot_fillers[slot].draw_item(sampler.random)
    if not slot.german_case:  # an apposition
        return NounPhrase(noun)
    return draw_definite_phrase(sampler, noun) if slot.german_case == "gen" else sampler.draw_noun_phrase(noun)


def draw_definite_phrase(sampler: ClauseSampler, noun: Noun) -> NounPhrase:
    """A noun phrase that German can put into the genitive."""
    plural = not noun.is_mass and sampler.draw_bool(0.25)
    table = determiners.PLAIN_PLURAL_DETERMINERS if plural else determiners.DEFINITE_SINGULAR_DETERMINERS
    return NounPhrase(noun, plural, table.draw_item(sampler.random))


def add_possessor(expansion: SentenceExpansion, site: GrowthSite) -> bool:
    """`the teacher 's book` instead of `the book`."""
    phrase = site.phrase
    if (
        site.allows_only_adjectives
        or phrase.possessor is not None
        or phrase.determiner is not determiners.DETERMINER_THE
    ):
        return False
    if phrase.relative_clause is not None or phrase.attribute is not None or "person" in phrase.head.semantic_classes:
        return False
    if expansion.sampler.draw_bool(0.5):
        owner = NounPhrase(expansion.sampler.choices.person_names.draw_item(expansion.random))
    else:
        owner = draw_definite_phrase(
            expansion.sampler, expansion.sampler.choices.person_nouns.draw_item(expansion.random)
        )
    if not expansion.spend_tokens(len(english.build_noun_phrase(owner))):
        return False
    phrase.possessor = owner
    return True


def add_relative_clause(expansion: SentenceExpansion, site: GrowthSite) -> bool:
    """A relative clause whose pronoun is the subject, an object, or a prepositional object of its verb."""
    phrase = site.phrase
    if site.allows_only_adjectives or site.depth >= MAX_EMBEDDING_DEPTH or has_ambiguous_antecedent(phrase):
        return False
    if phrase.relative_clause is not None or phrase.conjunct is not None:
        return False
    if site.parent_phrase is not None and site.parent_phrase.relative_clause is not None:
        return False
    if site.is_argument and (has_final_adverbial(site.clause) or has_final_adverb(site.clause)):
        return False
    clause = draw_relative_clause(expansion.sampler, site)
    if clause is None or not expansion.spend_tokens(len(english.build_relative_clause(clause))):
        return False
    phrase.relative_clause = clause
    expansion.register_clause(clause, site.depth + 1)
    return True


def draw_relative_clause(sampler: ClauseSampler, site: GrowthSite) -> Clause | None:
    """A relative clause that fits the noun of a site, which does not get it yet."""
    phrase, noun = site.phrase, site.phrase.head
    past, depth = site.clause.is_past_frame, site.depth + 1
    as_subject, as_argument = sampler.choices.senses_by_subject[noun], sampler.choices.senses_by_argument[noun]
    if as_subject and (not as_argument or sampler.draw_bool(0.5)):
        sense = as_subject.draw_item(sampler.random)
        if depth >= MAX_EMBEDDING_DEPTH and any(slot.is_clausal for slot in sense.slots):
            return None
        gap = RelativeGap(phrase, _draw_relative_pronoun(sampler, noun, is_subject=True))
        heads = [None if slot.is_clausal else sampler.draw_filler(slot, noun) for slot in sense.slots]
        return sampler.build_clause(sense, gap, [*heads], past, depth)
    if not as_argument:
        return None
    sense, place = as_argument.draw_item(sampler.random)
    subject = sampler.draw_subject(sense)
    if subject is noun:
        return None
    gap = RelativeGap(phrase, _draw_relative_pronoun(sampler, noun, is_subject=False))
    fillers = [gap if slot is place else sampler.draw_filler(slot, subject) for slot in sense.slots]
    return sampler.build_clause(sense, subject, fillers, past, depth)


def _draw_relative_pronoun(sampler: ClauseSampler, noun: NominalHead, is_subject: bool) -> str:
    if "person" not in noun.semantic_classes:
        return "that" if sampler.draw_bool(0.65) else "which"
    return "who" if is_subject else sampler.draw_item(("that", "that", "who", "whom"))


def add_conjunct(expansion: SentenceExpansion, site: GrowthSite) -> bool:
    """A second noun phrase of the same kind behind `and` (objects: also `or`)."""
    phrase, clause = site.phrase, site.clause
    if (
        site.allows_only_adjectives
        or phrase.conjunct is not None
        or phrase.attribute is not None
        or phrase.relative_clause is not None
    ):
        return False
    if site.depth > MAX_EMBEDDING_DEPTH or clause.is_negated or clause.predicate is not None:
        return False
    if site.is_argument and has_final_adverbial(clause):
        return False
    if phrase is not clause.subject and all(phrase is not filler for _, filler in clause.arguments):
        return False
    noun = expansion.sampler.draw_similar_noun(phrase.head)
    if noun is phrase.head:
        return False
    second = expansion.sampler.draw_noun_phrase(noun)
    if not expansion.spend_tokens(1 + len(english.build_noun_phrase(second))):
        return False
    phrase.conjunct = second
    phrase.conjunction = COORDINATORS["or" if site.is_argument and expansion.sampler.draw_bool(0.15) else "and"]
    expansion.register_phrase(second, clause, site.depth, site.is_argument, allows_only_adjectives=True)
    return True
