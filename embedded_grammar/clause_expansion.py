"""What can be added to a clause. Each function tells whether it added something."""

from embedded_grammar import digits
from embedded_grammar.attachment import (
    classes_of_subject,
    could_attach,
    embeds,
    has_clausal_argument,
)
from embedded_grammar.derivation import Adverbial, Clause, NounPhrase, Subordinate
from embedded_grammar.determiners import NO, SOME, TWO, A
from embedded_grammar.english import realization as english
from embedded_grammar.expansion import Expansion
from embedded_grammar.modifiers import COORDINATORS, EVENTS, Adverb, adverbs
from embedded_grammar.nouns import IT
from embedded_grammar.phrase_expansion import definite
from embedded_grammar.sampling import Sampler

_daytimes = adverbs("daytime")


def _can_front(expansion: Expansion, clause: Clause) -> bool:
    """Whether something may stand in front of the subject: of a main clause that has one of its own, once."""
    if clause.fronted or clause.before is not None:
        return False
    main = expansion.main
    return clause is main or (clause is main.conjunct and clause.subject is not main.subject)


def _no_room_behind(clause: Clause) -> bool:
    return embeds(clause) or clause.tense == "infinitive"


def time(expansion: Expansion, clause: Clause, _: int) -> bool:
    """A temporal adverb that goes with the tense, in front of a main clause or behind."""
    adverb = expansion.sampler.choices.times.draw(expansion.random)
    if clause.time is not None:
        return False
    if adverb.tenses and clause.tense not in adverb.tenses:
        return False
    subject = clause.subject
    if adverb.english == "never" and isinstance(subject, NounPhrase) and subject.determiner is NO:
        return False
    movable = adverb.kind in ("noun", "adverb")
    if (clause.negated and not movable) or (clause.sense is None and adverb.kind == "late"):
        return False
    front = movable and _can_front(expansion, clause) and expansion.sampler.chance(0.4)
    behind = not front and adverb.kind != "frequency"
    if (behind and _no_room_behind(clause)) or not expansion.affords(1):
        return False
    clause.time = adverb
    clause.fronted = "time" if front else clause.fronted
    return True


def daytime(expansion: Expansion, clause: Clause, _: int) -> bool:
    """`in the morning`."""
    return _moment(expansion, clause, expansion.sampler.one_of(_daytimes))


def clock(expansion: Expansion, clause: Clause, _: int) -> bool:
    """`at 14:30`."""
    return expansion.sampler.choices.digits and _moment(expansion, clause, digits.clock(expansion.random))


def date(expansion: Expansion, clause: Clause, _: int) -> bool:
    """`on 2019-05-03`: a day gone by in the past, one to come in the present."""
    if not expansion.sampler.choices.digits or (clause.tense == "perfect" and not clause.past_frame):
        return False
    return _moment(expansion, clause, digits.date(expansion.random, clause.past_frame))


def _moment(expansion: Expansion, clause: Clause, moment: Adverb) -> bool:
    """A phrase of time for a clause that has none, in front of a main clause or behind."""
    if clause.time is not None or any(a.kind == "time" for a in clause.adverbials):
        return False
    front = _can_front(expansion, clause) and expansion.sampler.chance(0.5)
    if (not front and _no_room_behind(clause)) or not expansion.affords(len(moment.english.split())):
        return False
    clause.time = moment
    clause.fronted = "time" if front else clause.fronted
    return True


def sentence_adverb(expansion: Expansion, clause: Clause, _: int) -> bool:
    """`perhaps`, in front of a main clause."""
    if not _can_front(expansion, clause) or not expansion.affords(1):
        return False
    clause.sentence = expansion.sampler.choices.sentence_adverbs.draw(expansion.random)
    clause.fronted = "sentence"
    return True


def manner(expansion: Expansion, clause: Clause, _: int) -> bool:
    """A manner adverb."""
    sense = clause.sense
    if sense is None or "stative" in sense.traits or clause.manner is not None or clause.negated or embeds(clause):
        return False
    if "person" not in classes_of_subject(clause) or not expansion.affords(1):
        return False
    clause.manner = expansion.sampler.choices.manners.draw(expansion.random)
    return True


def place(expansion: Expansion, clause: Clause, depth: int) -> bool:
    """Where it happens: behind the arguments, or in front of a main clause."""
    sense = clause.sense
    if sense is None or "place" not in sense.traits or clause.negated or clause.adverbials:
        return False
    adverbial = expansion.sampler.place()
    front = _can_front(expansion, clause) and expansion.sampler.chance(0.3)
    if not front and (embeds(clause) or could_attach(clause, adverbial)):
        return False
    if not add_adverbial(expansion, clause, depth, adverbial):
        return False
    clause.fronted = "place" if front else clause.fronted
    return True


def instrument(expansion: Expansion, clause: Clause, depth: int) -> bool:
    """What it is done with, if the verb takes an instrument."""
    sense = clause.sense
    if sense is None or clause.negated or clause.adverbials or embeds(clause):
        return False
    tools = expansion.sampler.choices.instruments[sense]
    if not tools:
        return False
    tool = expansion.sampler.phrase(expansion.sampler.one_of(tools), plain=True)
    adverbial = Adverbial("instrument", "with", "mit", "dat", tool)
    return not could_attach(clause, adverbial) and add_adverbial(expansion, clause, depth, adverbial)


def event(expansion: Expansion, clause: Clause, depth: int) -> bool:
    """`after the meeting`."""
    if clause.adverbials or clause.negated or clause.time is not None:
        return False
    if clause.sense is None or _no_room_behind(clause):
        return False
    preposition = expansion.sampler.one_of(EVENTS)
    noun = expansion.sampler.choices.events.draw(expansion.random)
    adverbial = Adverbial("time", *preposition, definite(expansion.sampler, noun))
    if adverbial.phrase.head in [phrase.head for phrase in clause.participants] or could_attach(clause, adverbial):
        return False
    return add_adverbial(expansion, clause, depth, adverbial)


def add_adverbial(expansion: Expansion, clause: Clause, depth: int, adverbial: Adverbial) -> bool:
    """Give an adverbial to a clause, whose noun then takes adjectives."""
    if not expansion.affords(1 + len(english.noun_phrase(adverbial.phrase))):
        return False
    clause.adverbials.append(adverbial)
    expansion.enter_phrase(adverbial.phrase, clause, depth, argument=True, bare=True)
    return True


def subordinate(expansion: Expansion, clause: Clause, _: int) -> bool:
    """An adverbial clause in front of the main clause or behind it."""
    if clause is not expansion.main:
        return False
    front = expansion.sampler.chance(0.4)
    if front and (clause.before is not None or clause.fronted):
        return False
    if not front and (clause.after is not None or clause.conjunct is not None or has_clausal_argument(clause)):
        return False
    conjunction = expansion.sampler.choices.subordinators.draw(expansion.random)
    if (conjunction.english == "if" and clause.past_frame) or (conjunction.english == "until" and front):
        return False
    simple, perfect = conjunction.tense == "simple", conjunction.tense == "perfect"
    inner = None
    if not front and expansion.sampler.chance(0.35):
        inner = _with_it(expansion.sampler, clause, simple, perfect)
    inner = inner or expansion.sampler.clause(clause.past_frame, 1, simple=simple, perfect=perfect)
    if inner is None or not expansion.affords((2 if front else 1) + len(english.clause_phrase(inner))):
        return False
    if front:
        clause.before = Subordinate(conjunction, inner)
    else:
        clause.after = Subordinate(conjunction, inner)
    expansion.enter_clause(inner, 1)
    return True


def coordinate(expansion: Expansion, clause: Clause, _: int) -> bool:
    """A second main clause, or a second predicate of the same subject."""
    if clause is not expansion.main or clause.conjunct is not None or clause.after is not None:
        return False
    simple = clause.tense in ("present", "past")
    shared = simple and expansion.sampler.chance(0.5)
    inner = _with_it(expansion.sampler, clause, simple, False) if expansion.sampler.chance(0.35) else None
    inner = inner or expansion.sampler.clause(clause.past_frame, 1, simple=simple)
    if inner is None or (shared and not _shareable(clause, inner)):
        return False
    conjunction = COORDINATORS["and" if shared or expansion.sampler.chance(0.6) else "but"]
    cost = len(english.verb_phrase(inner)) if shared else len(english.clause_phrase(inner))
    if not expansion.affords(1 + (conjunction[0] == "but") + cost):
        return False
    clause.conjunct, clause.conjunction = inner, conjunction
    if shared:
        inner.subject = clause.subject
        expansion.sampler.settle_tense(inner)
    expansion.enter_clause(inner, 0, subject=not shared)
    return True


def extrapose(expansion: Expansion) -> bool:
    """`A man came in who …`: an indefinite subject leaves its relative clause behind a verb that has nothing else."""
    main, subject = expansion.main, expansion.main.subject
    if not isinstance(subject, NounPhrase) or subject.relative is None or subject.determiner not in (A, SOME, TWO):
        return False
    if main.sense is None or main.arguments or main.negated or main.fronted or main.conjunct is not None:
        return False
    if main.before or main.after or main.time or main.manner or main.adverbials:
        return False
    main.extraposed = expansion.sampler.chance(0.5)
    return main.extraposed


def _with_it(sampler: Sampler, clause: Clause, simple: bool, perfect: bool) -> Clause | None:
    """A clause whose object `it` is the one thing that the clause before it speaks of."""
    things = [phrase for phrase in clause.participants if "person" not in phrase.head.classes]
    if len(things) != 1 or things[0].plural or things[0].conjunct is not None:
        return None
    noun = things[0].head
    if not noun.common or noun.mass or not sampler.choices.as_object[noun]:
        return None
    sense, object_slot = sampler.choices.as_object[noun].draw(sampler.random)
    subject = sampler.subject_of(sense)
    heads = [IT[noun.gender] if slot is object_slot else sampler.filler(slot, subject) for slot in sense.slots]
    return sampler.finish(sense, subject, [*heads], clause.past_frame, 1, simple, perfect)


def _shareable(clause: Clause, inner: Clause) -> bool:
    """Whether the subject of `clause` can be that of `inner`, which was drawn with a subject of its own."""
    if inner.sense is None or clause.sense is None or not isinstance(clause.subject, NounPhrase):
        return False
    if has_clausal_argument(inner):
        return False
    head = clause.subject.head
    fits = head in inner.sense.subjects if head.common else "person" in inner.sense.subjects[0].classes
    return fits and all(phrase.head is not head for phrase in inner.phrases)
