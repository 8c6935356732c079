"""What can be added to a clause. Each function tells whether it added something."""

from pipeline_py.corpus.grammar import digits, length
from pipeline_py.corpus.grammar.attachment import (
    classes_of_subject,
    could_attach,
    embeds,
    has_clausal_argument,
    heads_of,
    noun_of,
    phrases_of,
)
from pipeline_py.corpus.grammar.choice import Weighted
from pipeline_py.corpus.grammar.derivation import IT, Adverbial, Clause, NounPhrase, Pronoun, Subordinate
from pipeline_py.corpus.grammar.determiners import NO, SOME, TWO, A
from pipeline_py.corpus.grammar.modifiers import (
    COORDINATORS,
    DAYTIMES,
    EVENTS,
    MANNER_ADVERBS,
    SENTENCE_ADVERBS,
    SUBORDINATORS,
    TIME_ADVERBS,
    Moment,
)
from pipeline_py.corpus.grammar.nouns import Noun, of_classes
from pipeline_py.corpus.grammar.on_phrases import definite
from pipeline_py.corpus.grammar.sampling import AS_OBJECT, Sampler
from pipeline_py.corpus.grammar.site import Growing

_times = Weighted(TIME_ADVERBS)
_manners = Weighted(MANNER_ADVERBS)
_sentence_adverbs = Weighted(SENTENCE_ADVERBS)
_events = Weighted(of_classes("event"))
_subordinators = Weighted(SUBORDINATORS)


def _can_front(growth: Growing, clause: Clause) -> bool:
    """Whether something may stand in front of the subject: of a main clause that has one of its own, once."""
    if clause.fronted or clause.before is not None:
        return False
    main = growth.main
    return clause is main or (clause is main.conjunct and clause.subject is not main.subject)


def _no_room_behind(clause: Clause) -> bool:
    return embeds(clause) or clause.tense == "infinitive"


def time(growth: Growing, clause: Clause, _: int) -> bool:
    """A temporal adverb that goes with the tense, in front of a main clause or behind."""
    adverb = _times.draw(growth.random)
    if clause.time is not None or clause.moment is not None:
        return False
    if adverb.tenses and clause.tense not in adverb.tenses:
        return False
    subject = clause.subject
    if adverb.english == "never" and isinstance(subject, NounPhrase) and subject.determiner is NO:
        return False
    movable = adverb.kind in ("noun", "adverb")
    if (clause.negated and not movable) or (clause.sense is None and adverb.kind == "late"):
        return False
    front = movable and _can_front(growth, clause) and growth.sampler.chance(0.4)
    behind = not front and adverb.kind != "frequency"
    if (behind and _no_room_behind(clause)) or not growth.affords(1):
        return False
    clause.time = adverb
    clause.fronted = "time" if front else clause.fronted
    return True


def daytime(growth: Growing, clause: Clause, _: int) -> bool:
    """`in the morning`."""
    return _moment(growth, clause, growth.sampler.one_of(DAYTIMES))


def clock(growth: Growing, clause: Clause, _: int) -> bool:
    """`at 14:30`."""
    return _moment(growth, clause, digits.clock(growth.random))


def date(growth: Growing, clause: Clause, _: int) -> bool:
    """`on 2019-05-03`: a day gone by in the past, one to come in the present."""
    if clause.tense == "perfect" and not clause.past_frame:
        return False
    return _moment(growth, clause, digits.date(growth.random, clause.past_frame))


def _moment(growth: Growing, clause: Clause, moment: Moment) -> bool:
    """A phrase of time for a clause that has none, in front of a main clause or behind."""
    if clause.moment is not None or clause.time is not None or any(a.kind == "time" for a in clause.adverbials):
        return False
    front = _can_front(growth, clause) and growth.sampler.chance(0.5)
    if (not front and _no_room_behind(clause)) or not growth.affords(moment.tokens):
        return False
    clause.moment = moment
    clause.fronted = "moment" if front else clause.fronted
    return True


def sentence_adverb(growth: Growing, clause: Clause, _: int) -> bool:
    """`perhaps`, in front of a main clause."""
    if not _can_front(growth, clause) or not growth.affords(1):
        return False
    clause.sentence = _sentence_adverbs.draw(growth.random)
    clause.fronted = "sentence"
    return True


def manner(growth: Growing, clause: Clause, _: int) -> bool:
    """A manner adverb."""
    sense = clause.sense
    if sense is None or sense.stative or clause.manner is not None or clause.negated or embeds(clause):
        return False
    if "person" not in classes_of_subject(clause) or not growth.affords(1):
        return False
    clause.manner = _manners.draw(growth.random)
    return True


def place(growth: Growing, clause: Clause, depth: int) -> bool:
    """Where it happens: behind the arguments, or in front of a main clause."""
    sense = clause.sense
    if sense is None or not sense.place or clause.negated or clause.adverbials:
        return False
    adverbial = growth.sampler.place()
    front = _can_front(growth, clause) and growth.sampler.chance(0.3)
    if not front and (embeds(clause) or could_attach(clause, adverbial)):
        return False
    if not _adverbial(growth, clause, depth, adverbial):
        return False
    clause.fronted = "place" if front else clause.fronted
    return True


def instrument(growth: Growing, clause: Clause, depth: int) -> bool:
    """What it is done with, if the verb takes an instrument."""
    sense = clause.sense
    if sense is None or not sense.instruments or clause.negated or clause.adverbials or embeds(clause):
        return False
    tool = growth.sampler.phrase(growth.sampler.one_of(sense.instruments), plain=True)
    adverbial = Adverbial("instrument", "with", "mit", "dat", tool)
    return not could_attach(clause, adverbial) and _adverbial(growth, clause, depth, adverbial)


def event(growth: Growing, clause: Clause, depth: int) -> bool:
    """`after the meeting`."""
    if clause.adverbials or clause.negated or clause.moment is not None or clause.time is not None:
        return False
    if clause.sense is None or _no_room_behind(clause):
        return False
    english, german, case = growth.sampler.one_of(EVENTS)
    adverbial = Adverbial("time", english, german, case, definite(growth.sampler, _events.draw(growth.random)))
    if adverbial.phrase.head in heads_of(clause) or could_attach(clause, adverbial):
        return False
    return _adverbial(growth, clause, depth, adverbial)


def _adverbial(growth: Growing, clause: Clause, depth: int, adverbial: Adverbial) -> bool:
    if not growth.affords(1 + length.of_phrase(adverbial.phrase)):
        return False
    clause.adverbials.append(adverbial)
    growth.enter_phrase(adverbial.phrase, clause, depth, argument=True, bare=True)
    return True


def subordinate(growth: Growing, clause: Clause, _: int) -> bool:
    """An adverbial clause in front of the main clause or behind it."""
    if clause is not growth.main:
        return False
    front = growth.sampler.chance(0.4)
    if front and (clause.before is not None or clause.fronted):
        return False
    if not front and (clause.after is not None or clause.conjunct is not None or has_clausal_argument(clause)):
        return False
    conjunction = _subordinators.draw(growth.random)
    if (conjunction.english == "if" and clause.past_frame) or (conjunction.english == "until" and front):
        return False
    simple, perfect = conjunction.tense == "simple", conjunction.tense == "perfect"
    inner = None
    if not front and growth.sampler.chance(0.35):
        inner = _with_it(growth.sampler, clause, simple, perfect)
    inner = inner or growth.sampler.clause(clause.past_frame, 1, simple=simple, perfect=perfect)
    if inner is None or not growth.affords((2 if front else 1) + length.of_clause(inner)):
        return False
    if front:
        clause.before = Subordinate(conjunction, inner)
    else:
        clause.after = Subordinate(conjunction, inner)
    growth.enter_clause(inner, 1)
    return True


def coordinate(growth: Growing, clause: Clause, _: int) -> bool:
    """A second main clause, or a second predicate of the same subject."""
    if clause is not growth.main or clause.conjunct is not None or clause.after is not None:
        return False
    simple = clause.tense in ("present", "past")
    shared = simple and growth.sampler.chance(0.5)
    inner = _with_it(growth.sampler, clause, simple, False) if growth.sampler.chance(0.35) else None
    inner = inner or growth.sampler.clause(clause.past_frame, 1, simple=simple)
    if inner is None or (shared and not _shareable(clause, inner)):
        return False
    conjunction = COORDINATORS["and" if shared or growth.sampler.chance(0.6) else "but"]
    cost = length.of_predicate(inner) if shared else length.of_clause(inner)
    if not growth.affords(1 + (conjunction[0] == "but") + cost):
        return False
    clause.conjunct, clause.conjunction = inner, conjunction
    if shared:
        inner.subject = clause.subject
        growth.sampler.settle_tense(inner)
    growth.enter_clause(inner, 0, subject=not shared)
    return True


def extrapose(growth: Growing) -> bool:
    """`A man came in who …`: an indefinite subject leaves its relative clause behind a verb that has nothing else."""
    main, subject = growth.main, growth.main.subject
    if not isinstance(subject, NounPhrase) or subject.relative is None or subject.determiner not in (A, SOME, TWO):
        return False
    if main.sense is None or main.arguments or main.negated or main.fronted or main.conjunct is not None:
        return False
    if main.before or main.after or main.time or main.moment or main.manner or main.adverbials:
        return False
    main.extraposed = growth.sampler.chance(0.5)
    return main.extraposed


def _with_it(sampler: Sampler, clause: Clause, simple: bool, perfect: bool) -> Clause | None:
    """A clause whose object `it` is the one thing that the clause before it speaks of."""
    things = [phrase for phrase in phrases_of(clause) if not isinstance(phrase.head, Pronoun)]
    things = [phrase for phrase in things if "person" not in noun_of(phrase).classes]
    if len(things) != 1 or things[0].plural or things[0].conjunct is not None:
        return None
    noun = noun_of(things[0])
    if noun.proper or noun.mass or not AS_OBJECT[noun]:
        return None
    sense, object_slot = AS_OBJECT[noun].draw(sampler.random)
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
    if isinstance(head, Noun) and not head.proper:
        fits = head in inner.sense.subjects
    else:
        fits = "person" in inner.sense.subjects[0].classes
    return fits and all(phrase.head is not head for _, phrase in inner.arguments if isinstance(phrase, NounPhrase))
