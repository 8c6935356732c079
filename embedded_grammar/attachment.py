"""Which attachments are beyond doubt, the rules that keep gold trees recoverable from the words; and which are not."""

from collections.abc import Mapping

from embedded_grammar.derivation import Adverbial, Clause, Gap, NounPhrase
from embedded_grammar.lexicon.entries import entries
from embedded_grammar.modifiers import ATTRIBUTES_OF
from embedded_grammar.nouns import Noun, of_classes
from embedded_grammar.phenomena import clauses, noun_phrases
from embedded_grammar.senses import SENSES, Sense

# `put the coat on the chair down`: where a verb can take a place, its object cannot have one of its own.
WHERE = frozenset(("on", "in", "under", "beside"))

# Only the place of an object without a preposition tells in German what belongs to it.
ACCUSATIVE = ("obj", "", "acc")

# The prepositions of all arguments that an English verb has in any of its senses.
_PREPOSITIONS = {
    verb: frozenset(slot.english for sense in SENSES if sense.verb == verb for slot in sense.slots)
    for verb in {sense.verb for sense in SENSES}
}


def _open_with(verb: str, objects: str, things: str) -> tuple[list[Sense], tuple[Noun, ...], tuple[Noun, ...]]:
    base, _, particle = verb.partition(" ")
    senses = [sense for sense in SENSES if (sense.verb.base, sense.particle) == (base, particle)]
    senses = [s for s in senses if [(slot.english, slot.preposition, slot.case) for slot in s.slots] == [ACCUSATIVE]]
    if not senses:
        raise KeyError(verb)
    return senses, of_classes(objects), of_classes(things)


OPEN_WITH: Mapping[Sense, tuple[tuple[Noun, ...], tuple[Noun, ...]]] = {
    sense: (objects, things) for senses, objects, things in entries("open_attachments", _open_with) for sense in senses
}
"""The objects of a sense, and what `with` may put behind them that belongs to either the verb or the object."""


def left_open(main: Clause) -> int:
    """How many places of a sentence have an attachment that the words leave open, whichever its reading.

    Where none is wanted, a rule may have decided such a place all the same: `the dog of the woman that slept` has the
    dog sleep, since a woman would be one `who slept`.
    """
    return sum(_with_left_open(clause) + sum(map(_that_left_open, noun_phrases(clause))) for clause in clauses(main))


def _with_left_open(clause: Clause) -> bool:
    objects, things = OPEN_WITH.get(clause.sense, ((), ())) if clause.sense is not None else ((), ())
    behind = [adverbial.phrase for adverbial in clause.adverbials if adverbial.english == "with"]
    obj = next((phrase for phrase in clause.phrases if phrase.head in objects), None)
    if obj is not None and obj.attribute is not None and obj.attribute[0].english == "with":
        behind.append(obj.attribute[1])
    return obj is not None and any(phrase.head in things for phrase in behind)


def _that_left_open(phrase: NounPhrase) -> bool:
    if phrase.attribute is None:
        return False
    relative = phrase.relative or phrase.attribute[1].relative
    return relative is not None and relative.gap.english == "that"


def antecedent_in_doubt(phrase: NounPhrase) -> bool:
    """Whether a relative clause could belong to another noun of the phrase as well."""
    others = [phrase.attribute[1]] if phrase.attribute else []
    others += [phrase.possessor] if phrase.possessor else []
    person = "person" in phrase.head.classes
    return any(
        ("person" in other.head.classes) == person or other.attribute is not None or other.relative is not None
        for other in others
    )


def trailing(clause: Clause) -> bool:
    """Whether an adverb stands behind the arguments."""
    time = clause.time is not None and clause.time.kind != "frequency" and clause.fronted != "time"
    return time or clause.manner is not None


def sealed(clause: Clause) -> bool:
    """Whether a prepositional adverbial stands behind the arguments."""
    return bool(clause.adverbials) and clause.fronted != "place"


def reserved(clause: Clause, preposition: str) -> bool:
    """Whether an attribute with this preposition could be taken for an argument or an instrument of the verb."""
    sense = clause.sense
    if sense is None:
        return True
    taken = {slot.english for slot in sense.slots} | {sense.particle} | (_PREPOSITIONS[sense.verb] & WHERE)
    if preposition == "place":
        return bool(taken & {"in", "on", "at", "place"})
    with_instrument = preposition == "with" and bool(sense.instruments)
    return preposition in taken or with_instrument or (preposition == "to" and bool(taken & {"iobj", "goal"}))


def could_attach(clause: Clause, adverbial: Adverbial) -> bool:
    """Whether the last noun in front of the adverbial could have it as its attribute, or is in a clause."""
    fillers = [filler for _, filler in clause.english_order if isinstance(filler, NounPhrase)]
    if not fillers:
        return False
    last = fillers[-1]
    while True:
        if last.relative is not None:
            return True
        if last.conjunct is not None:
            last = last.conjunct
        elif last.attribute is not None:
            last = last.attribute[1]
        else:
            break
    noun = adverbial.phrase.head
    return any(
        noun in attribute.fillers
        for attribute in ATTRIBUTES_OF.get(last.head, ())
        if attribute.english in (adverbial.english, adverbial.kind)
    )


def has_clausal_argument(clause: Clause) -> bool:
    """Whether a clause is an argument of the verb."""
    return any(isinstance(filler, Clause) for _, filler in clause.arguments)


def embeds(clause: Clause) -> bool:
    """Whether the clause ends in another one, so that what is put behind it would belong there."""
    return has_clausal_argument(clause) or any(_has_relative(phrase) for phrase in clause.phrases)


def _has_relative(phrase: NounPhrase) -> bool:
    inner = phrase.attribute[1] if phrase.attribute else None
    return phrase.relative is not None or (inner is not None and _has_relative(inner))


def classes_of_subject(clause: Clause) -> frozenset[str]:
    """The semantic classes of the subject."""
    subject = clause.subject
    return (subject.antecedent if isinstance(subject, Gap) else subject).head.classes
