"""What can be added to a noun phrase. Each function tells whether it added something."""

from embedded_grammar import determiners
from embedded_grammar.attachment import antecedent_in_doubt, reserved, sealed, trailing
from embedded_grammar.derivation import Clause, Gap, NounPhrase
from embedded_grammar.english import realization as english
from embedded_grammar.expansion import Expansion, Site
from embedded_grammar.modifiers import COORDINATORS, adverbs, clash
from embedded_grammar.nouns import Head, Noun
from embedded_grammar.sampling import DEEPEST, Sampler
from embedded_grammar.senses import Slot

# What is too much is no attribute.
_degrees = adverbs("degree")[:2]


def adjective(expansion: Expansion, site: Site) -> bool:
    """An attributive adjective that fits the noun, now and then with a degree."""
    phrase = site.phrase
    table = expansion.sampler.choices.adjectives.get(phrase.head)
    if not table or len(phrase.adjectives) == 2:
        return False
    word = table.draw(expansion.random)
    if any(clash(word, other) for other, _ in phrase.adjectives):
        return False
    degree = expansion.sampler.one_of(_degrees) if expansion.sampler.chance(0.15) else None
    if not expansion.affords(2 if degree else 1):
        return False
    phrase.adjectives.append((word, degree))
    return True


def attribute(expansion: Expansion, site: Site) -> bool:
    """A prepositional attribute, if the clause has no use of its own for the preposition."""
    phrase = site.phrase
    if site.bare or site.depth > DEEPEST:
        return False
    if phrase.attribute is not None or phrase.relative is not None or phrase.conjunct is not None:
        return False
    attributes = expansion.sampler.choices.attributes[phrase.head]
    if not attributes or (site.argument and sealed(site.clause)):
        return False
    drawn = expansion.sampler.one_of(attributes)
    if site.argument and reserved(site.clause, drawn.english):
        return False
    if drawn.case == "gen" and phrase.determiner is not determiners.THE:
        return False
    inner = _inner(expansion.sampler, drawn)
    if inner.head is phrase.head or not expansion.affords(1 + len(english.noun_phrase(inner))):
        return False
    phrase.attribute = drawn, inner
    expansion.enter_phrase(inner, site.clause, site.depth + 1, site.argument, not drawn.case, phrase)
    return True


def _inner(sampler: Sampler, drawn: Slot) -> NounPhrase:
    noun = sampler.choices.fillers[drawn].draw(sampler.random)
    if not drawn.case:  # an apposition
        return NounPhrase(noun)
    return definite(sampler, noun) if drawn.case == "gen" else sampler.phrase(noun)


def definite(sampler: Sampler, noun: Noun) -> NounPhrase:
    """A noun phrase that German can put into the genitive."""
    plural = not noun.mass and sampler.chance(0.25)
    table = determiners.PLAIN_PLURAL if plural else determiners.DEFINITE_SINGULAR
    return NounPhrase(noun, plural, table.draw(sampler.random))


def possessor(expansion: Expansion, site: Site) -> bool:
    """`the teacher 's book` instead of `the book`."""
    phrase = site.phrase
    if site.bare or phrase.possessor is not None or phrase.determiner is not determiners.THE:
        return False
    if phrase.relative is not None or phrase.attribute is not None or "person" in phrase.head.classes:
        return False
    if expansion.sampler.chance(0.5):
        owner = NounPhrase(expansion.sampler.choices.people.draw(expansion.random))
    else:
        owner = definite(expansion.sampler, expansion.sampler.choices.persons.draw(expansion.random))
    if not expansion.affords(len(english.noun_phrase(owner))):
        return False
    phrase.possessor = owner
    return True


def relative(expansion: Expansion, site: Site) -> bool:
    """A relative clause whose pronoun is the subject, an object, or a prepositional object of its verb."""
    phrase = site.phrase
    if site.bare or site.depth >= DEEPEST or antecedent_in_doubt(phrase):
        return False
    if phrase.relative is not None or phrase.conjunct is not None:
        return False
    if site.parent is not None and site.parent.relative is not None:
        return False
    if site.argument and (sealed(site.clause) or trailing(site.clause)):
        return False
    clause = relative_clause(expansion.sampler, site)
    if clause is None or not expansion.affords(len(english.relative_clause(clause))):
        return False
    phrase.relative = clause
    expansion.enter_clause(clause, site.depth + 1)
    return True


def relative_clause(sampler: Sampler, site: Site) -> Clause | None:
    """A relative clause that fits the noun of a site, which does not get it yet."""
    phrase, noun = site.phrase, site.phrase.head
    past, depth = site.clause.past_frame, site.depth + 1
    as_subject, as_argument = sampler.choices.as_subject[noun], sampler.choices.as_argument[noun]
    if as_subject and (not as_argument or sampler.chance(0.5)):
        sense = as_subject.draw(sampler.random)
        if depth >= DEEPEST and any(slot.clausal for slot in sense.slots):
            return None
        gap = Gap(phrase, _pronoun(sampler, noun, subject=True))
        heads = [None if slot.clausal else sampler.filler(slot, noun) for slot in sense.slots]
        return sampler.finish(sense, gap, [*heads], past, depth)
    if not as_argument:
        return None
    sense, place = as_argument.draw(sampler.random)
    subject = sampler.subject_of(sense)
    if subject is noun:
        return None
    gap = Gap(phrase, _pronoun(sampler, noun, subject=False))
    fillers = [gap if slot is place else sampler.filler(slot, subject) for slot in sense.slots]
    return sampler.finish(sense, subject, fillers, past, depth)


def _pronoun(sampler: Sampler, noun: Head, subject: bool) -> str:
    if "person" not in noun.classes:
        return "that" if sampler.chance(0.65) else "which"
    return "who" if subject else sampler.one_of(("that", "that", "who", "whom"))


def conjunct(expansion: Expansion, site: Site) -> bool:
    """A second noun phrase of the same kind behind `and` (objects: also `or`)."""
    phrase, clause = site.phrase, site.clause
    if site.bare or phrase.conjunct is not None or phrase.attribute is not None or phrase.relative is not None:
        return False
    if site.depth > DEEPEST or clause.negated or clause.predicate is not None:
        return False
    if site.argument and sealed(clause):
        return False
    if phrase is not clause.subject and all(phrase is not filler for _, filler in clause.arguments):
        return False
    noun = expansion.sampler.like(phrase.head)
    if noun is phrase.head:
        return False
    second = expansion.sampler.phrase(noun)
    if not expansion.affords(1 + len(english.noun_phrase(second))):
        return False
    phrase.conjunct = second
    phrase.conjunction = COORDINATORS["or" if site.argument and expansion.sampler.chance(0.15) else "and"]
    expansion.enter_phrase(second, clause, site.depth, site.argument, bare=True)
    return True
