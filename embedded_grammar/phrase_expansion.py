"""Functions that add modifiers to a noun phrase; each returns whether it added something."""

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

# Without `too`, which modifies only predicates.
_DEGREE_ADVERBS = select_adverbs("degree")[:2]


def add_adjective(expansion: SentenceExpansion, site: GrowthSite) -> bool:
    """Add an attributive adjective that fits the noun, sometimes with a degree."""
    phrase = site.phrase
    table = expansion.sampler.choices.adjectives.get(phrase.head)
    if not table or len(phrase.adjectives) == 2:
        return False
    adjective = table.draw_item(expansion.random)
    if any(is_incompatible(adjective, present_adjective) for present_adjective, _ in phrase.adjectives):
        return False
    degree = expansion.sampler.draw_item(_DEGREE_ADVERBS) if expansion.sampler.draw_bool(0.15) else None
    if not expansion.spend_tokens(2 if degree else 1):
        return False
    phrase.adjectives.append((adjective, degree))
    return True


def add_attribute(expansion: SentenceExpansion, site: GrowthSite) -> bool:
    """Add a prepositional attribute, unless the preposition could belong to the verb."""
    phrase = site.phrase
    if site.allows_only_adjectives or site.depth > MAX_EMBEDDING_DEPTH:
        return False
    if phrase.attribute is not None or phrase.relative_clause is not None or phrase.conjunct is not None:
        return False
    attributes = expansion.sampler.choices.attribute_slots[phrase.head]
    if not attributes or (site.is_argument and has_final_adverbial(site.clause)):
        return False
    slot = expansion.sampler.draw_item(attributes)
    if site.is_argument and is_reserved_preposition(site.clause, slot.english_role):
        return False
    if slot.german_case == "gen" and phrase.determiner is not determiners.DETERMINER_THE:
        return False
    inner = _draw_attribute_phrase(expansion.sampler, slot)
    if inner.head is phrase.head or not expansion.spend_tokens(1 + len(english.build_noun_phrase(inner))):
        return False
    phrase.attribute = slot, inner
    expansion.register_phrase(inner, site.clause, site.depth + 1, site.is_argument, not slot.german_case, phrase)
    return True


def _draw_attribute_phrase(sampler: ClauseSampler, slot: ArgumentSlot) -> NounPhrase:
    noun = sampler.choices.slot_fillers[slot].draw_item(sampler.random)
    if not slot.german_case:  # an apposition
        return NounPhrase(noun)
    return draw_definite_phrase(sampler, noun) if slot.german_case == "gen" else sampler.draw_noun_phrase(noun)


def draw_definite_phrase(sampler: ClauseSampler, noun: Noun) -> NounPhrase:
    """Draw a definite noun phrase, which German can put into the genitive."""
    is_plural = not noun.is_mass and sampler.draw_bool(0.25)
    table = determiners.PLAIN_PLURAL_DETERMINERS if is_plural else determiners.DEFINITE_SINGULAR_DETERMINERS
    return NounPhrase(noun, is_plural, table.draw_item(sampler.random))


def add_possessor(expansion: SentenceExpansion, site: GrowthSite) -> bool:
    """Replace the definite article by a possessor: `the teacher 's book`."""
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
    """Add a relative clause whose pronoun is the subject, an object or a prepositional object of its verb."""
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
    """Draw a relative clause for the noun phrase of a site, without attaching it."""
    phrase, noun = site.phrase, site.phrase.head
    is_past, depth = site.clause.is_past_frame, site.depth + 1
    subject_senses, argument_senses = sampler.choices.senses_by_subject[noun], sampler.choices.senses_by_argument[noun]
    if subject_senses and (not argument_senses or sampler.draw_bool(0.5)):
        sense = subject_senses.draw_item(sampler.random)
        if depth >= MAX_EMBEDDING_DEPTH and any(slot.is_clausal for slot in sense.slots):
            return None
        gap = RelativeGap(phrase, _draw_relative_pronoun(sampler, noun, is_subject=True))
        heads = [None if slot.is_clausal else sampler.draw_filler(slot, noun) for slot in sense.slots]
        return sampler.build_clause(sense, gap, [*heads], is_past, depth)
    if not argument_senses:
        return None
    sense, gap_slot = argument_senses.draw_item(sampler.random)
    subject = sampler.draw_subject(sense)
    if subject is noun:
        return None
    gap = RelativeGap(phrase, _draw_relative_pronoun(sampler, noun, is_subject=False))
    fillers = [gap if slot is gap_slot else sampler.draw_filler(slot, subject) for slot in sense.slots]
    return sampler.build_clause(sense, subject, fillers, is_past, depth)


def _draw_relative_pronoun(sampler: ClauseSampler, noun: NominalHead, is_subject: bool) -> str:
    if "person" not in noun.semantic_classes:
        return "that" if sampler.draw_bool(0.65) else "which"
    return "who" if is_subject else sampler.draw_item(("that", "that", "who", "whom"))


def add_conjunct(expansion: SentenceExpansion, site: GrowthSite) -> bool:
    """Add a coordinated noun phrase of the same semantic classes with `and`, or for objects also `or`."""
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
