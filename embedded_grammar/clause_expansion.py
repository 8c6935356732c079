"""Functions that add adverbs, adverbials and clauses to a clause; each returns whether it added something."""

from embedded_grammar import digit_expressions
from embedded_grammar.attachment import (
    can_attach_to_last_noun,
    ends_in_embedded_clause,
    get_subject_classes,
    has_clausal_argument,
)
from embedded_grammar.clause_sampling import ClauseSampler
from embedded_grammar.derivation import Adverbial, Clause, NounPhrase, SubordinateClause
from embedded_grammar.determiners import DETERMINER_A, DETERMINER_NO, DETERMINER_SOME, DETERMINER_TWO
from embedded_grammar.english import build_trees as english
from embedded_grammar.expansion import SentenceExpansion
from embedded_grammar.modifiers import COORDINATORS, EVENT_PREPOSITIONS, Adverb, select_adverbs
from embedded_grammar.nouns import IT_BY_GENDER
from embedded_grammar.phrase_expansion import draw_definite_phrase

_DAYTIME_ADVERBS = select_adverbs("daytime")


def _can_front_element(expansion: SentenceExpansion, clause: Clause) -> bool:
    """Return whether an element can be fronted: once, and only in a main clause with an own subject."""
    if clause.fronted_element or clause.initial_subordinate is not None:
        return False
    main = expansion.main_clause
    return clause is main or (clause is main.conjunct and clause.subject is not main.subject)


def _has_closed_end(clause: Clause) -> bool:
    return ends_in_embedded_clause(clause) or clause.tense == "infinitive"


def add_time_adverb(expansion: SentenceExpansion, clause: Clause, _: int) -> bool:
    """Add a temporal adverb that fits the tense, at the start of a main clause or at the end."""
    adverb = expansion.sampler.choices.time_adverbs.draw_item(expansion.random)
    if clause.time_adverb is not None:
        return False
    if adverb.tenses and clause.tense not in adverb.tenses:
        return False
    subject = clause.subject
    if adverb.english == "never" and isinstance(subject, NounPhrase) and subject.determiner is DETERMINER_NO:
        return False
    is_movable = adverb.kind in ("noun", "adverb")
    if (clause.is_negated and not is_movable) or (clause.sense is None and adverb.kind == "late"):
        return False
    is_fronted = is_movable and _can_front_element(expansion, clause) and expansion.sampler.draw_bool(0.4)
    is_final = not is_fronted and adverb.kind != "frequency"
    if (is_final and _has_closed_end(clause)) or not expansion.spend_tokens(1):
        return False
    clause.time_adverb = adverb
    clause.fronted_element = "time" if is_fronted else clause.fronted_element
    return True


def add_daytime(expansion: SentenceExpansion, clause: Clause, _: int) -> bool:
    """Add a time of day: `in the morning`."""
    return _add_time_phrase(expansion, clause, expansion.sampler.draw_item(_DAYTIME_ADVERBS))


def add_clock_time(expansion: SentenceExpansion, clause: Clause, _: int) -> bool:
    """Add a time in digits: `at 14:30`."""
    return expansion.sampler.choices.has_digits and _add_time_phrase(
        expansion, clause, digit_expressions.draw_clock_time(expansion.random)
    )


def add_date(expansion: SentenceExpansion, clause: Clause, _: int) -> bool:
    """Add a date: `on 2019-05-03`, an earlier day in the past tense and a later day in the present."""
    if not expansion.sampler.choices.has_digits or (clause.tense == "perfect" and not clause.is_past_frame):
        return False
    return _add_time_phrase(expansion, clause, digit_expressions.draw_date(expansion.random, clause.is_past_frame))


def _add_time_phrase(expansion: SentenceExpansion, clause: Clause, time_phrase: Adverb) -> bool:
    if clause.time_adverb is not None or any(adverbial.kind == "time" for adverbial in clause.adverbials):
        return False
    is_fronted = _can_front_element(expansion, clause) and expansion.sampler.draw_bool(0.5)
    if (not is_fronted and _has_closed_end(clause)) or not expansion.spend_tokens(len(time_phrase.english.split())):
        return False
    clause.time_adverb = time_phrase
    clause.fronted_element = "time" if is_fronted else clause.fronted_element
    return True


def add_sentence_adverb(expansion: SentenceExpansion, clause: Clause, _: int) -> bool:
    """Add a sentence adverb at the start of a main clause: `perhaps`."""
    if not _can_front_element(expansion, clause) or not expansion.spend_tokens(1):
        return False
    clause.sentence_adverb = expansion.sampler.choices.sentence_adverbs.draw_item(expansion.random)
    clause.fronted_element = "sentence"
    return True


def add_manner_adverb(expansion: SentenceExpansion, clause: Clause, _: int) -> bool:
    """Add a manner adverb to a clause with a person as its subject."""
    sense = clause.sense
    if (
        sense is None
        or "stative" in sense.traits
        or clause.manner_adverb is not None
        or clause.is_negated
        or ends_in_embedded_clause(clause)
    ):
        return False
    if "person" not in get_subject_classes(clause) or not expansion.spend_tokens(1):
        return False
    clause.manner_adverb = expansion.sampler.choices.manner_adverbs.draw_item(expansion.random)
    return True


def add_place(expansion: SentenceExpansion, clause: Clause, depth: int) -> bool:
    """Add a place after the arguments or at the start of a main clause."""
    sense = clause.sense
    if sense is None or "place" not in sense.traits or clause.is_negated or clause.adverbials:
        return False
    adverbial = expansion.sampler.draw_place()
    is_fronted = _can_front_element(expansion, clause) and expansion.sampler.draw_bool(0.3)
    if not is_fronted and (ends_in_embedded_clause(clause) or can_attach_to_last_noun(clause, adverbial)):
        return False
    if not add_adverbial(expansion, clause, depth, adverbial):
        return False
    clause.fronted_element = "place" if is_fronted else clause.fronted_element
    return True


def add_instrument(expansion: SentenceExpansion, clause: Clause, depth: int) -> bool:
    """Add an instrument, if the verb takes one."""
    sense = clause.sense
    if sense is None or clause.is_negated or clause.adverbials or ends_in_embedded_clause(clause):
        return False
    tools = expansion.sampler.choices.instrument_nouns[sense]
    if not tools:
        return False
    tool = expansion.sampler.draw_noun_phrase(expansion.sampler.draw_item(tools), is_plain=True)
    adverbial = Adverbial("instrument", "with", "mit", "dat", tool)
    return not can_attach_to_last_noun(clause, adverbial) and add_adverbial(expansion, clause, depth, adverbial)


def add_event(expansion: SentenceExpansion, clause: Clause, depth: int) -> bool:
    """Add an event as a time: `after the meeting`."""
    if clause.adverbials or clause.is_negated or clause.time_adverb is not None:
        return False
    if clause.sense is None or _has_closed_end(clause):
        return False
    preposition = expansion.sampler.draw_item(EVENT_PREPOSITIONS)
    noun = expansion.sampler.choices.event_nouns.draw_item(expansion.random)
    adverbial = Adverbial("time", *preposition, draw_definite_phrase(expansion.sampler, noun))
    if adverbial.phrase.head in [phrase.head for phrase in clause.participants] or can_attach_to_last_noun(
        clause, adverbial
    ):
        return False
    return add_adverbial(expansion, clause, depth, adverbial)


def add_adverbial(expansion: SentenceExpansion, clause: Clause, depth: int, adverbial: Adverbial) -> bool:
    """Add an adverbial to a clause, and register its noun phrase for adjectives."""
    if not expansion.spend_tokens(1 + len(english.build_noun_phrase(adverbial.phrase))):
        return False
    clause.adverbials.append(adverbial)
    expansion.register_phrase(adverbial.phrase, clause, depth, is_argument=True, allows_only_adjectives=True)
    return True


def add_subordinate_clause(expansion: SentenceExpansion, clause: Clause, _: int) -> bool:
    """Add an adverbial clause before or after the main clause."""
    if clause is not expansion.main_clause:
        return False
    is_initial = expansion.sampler.draw_bool(0.4)
    if is_initial and (clause.initial_subordinate is not None or clause.fronted_element):
        return False
    if not is_initial and (
        clause.final_subordinate is not None or clause.conjunct is not None or has_clausal_argument(clause)
    ):
        return False
    conjunction = expansion.sampler.choices.subordinators.draw_item(expansion.random)
    if (conjunction.english == "if" and clause.is_past_frame) or (conjunction.english == "until" and is_initial):
        return False
    is_simple, is_perfect = conjunction.required_tense == "simple", conjunction.required_tense == "perfect"
    inner = None
    if not is_initial and expansion.sampler.draw_bool(0.35):
        inner = _draw_clause_with_it(expansion.sampler, clause, is_simple, is_perfect)
    inner = inner or expansion.sampler.draw_clause(clause.is_past_frame, 1, is_simple=is_simple, is_perfect=is_perfect)
    if inner is None or not expansion.spend_tokens((2 if is_initial else 1) + len(english.build_clause(inner))):
        return False
    if is_initial:
        clause.initial_subordinate = SubordinateClause(conjunction, inner)
    else:
        clause.final_subordinate = SubordinateClause(conjunction, inner)
    expansion.register_clause(inner, 1)
    return True


def add_coordinate_clause(expansion: SentenceExpansion, clause: Clause, _: int) -> bool:
    """Add a second main clause, or a second predicate of the same subject."""
    if clause is not expansion.main_clause or clause.conjunct is not None or clause.final_subordinate is not None:
        return False
    is_simple = clause.tense in ("present", "past")
    shares_subject = is_simple and expansion.sampler.draw_bool(0.5)
    second = None
    if expansion.sampler.draw_bool(0.35):
        second = _draw_clause_with_it(expansion.sampler, clause, is_simple, is_perfect=False)
    second = second or expansion.sampler.draw_clause(clause.is_past_frame, 1, is_simple=is_simple)
    if second is None or (shares_subject and not _can_share_subject(clause, second)):
        return False
    conjunction = COORDINATORS["and" if shares_subject or expansion.sampler.draw_bool(0.6) else "but"]
    length = len(english.build_verb_phrase(second)) if shares_subject else len(english.build_clause(second))
    if not expansion.spend_tokens(1 + (conjunction[0] == "but") + length):
        return False
    clause.conjunct, clause.conjunction = second, conjunction
    if shares_subject:
        second.subject = clause.subject
        expansion.sampler.resolve_ambiguous_tense(second)
    expansion.register_clause(second, 0, should_register_subject=not shares_subject)
    return True


def extrapose_relative_clause(expansion: SentenceExpansion) -> bool:
    """Move the relative clause of an indefinite subject to the end of a short clause: `A man came in who …`."""
    main, subject = expansion.main_clause, expansion.main_clause.subject
    if (
        not isinstance(subject, NounPhrase)
        or subject.relative_clause is None
        or subject.determiner not in (DETERMINER_A, DETERMINER_SOME, DETERMINER_TWO)
    ):
        return False
    if main.sense is None or main.arguments or main.is_negated or main.fronted_element or main.conjunct is not None:
        return False
    if main.initial_subordinate or main.final_subordinate or main.time_adverb or main.manner_adverb or main.adverbials:
        return False
    main.has_extraposed_relative = expansion.sampler.draw_bool(0.5)
    return main.has_extraposed_relative


def _draw_clause_with_it(sampler: ClauseSampler, clause: Clause, is_simple: bool, is_perfect: bool) -> Clause | None:
    """Draw a clause whose object `it` refers to the only inanimate participant of `clause`."""
    antecedents = [phrase for phrase in clause.participants if "person" not in phrase.head.semantic_classes]
    if len(antecedents) != 1 or antecedents[0].is_plural or antecedents[0].conjunct is not None:
        return None
    noun = antecedents[0].head
    if not noun.is_common or noun.is_mass or not sampler.choices.senses_by_object[noun]:
        return None
    sense, object_slot = sampler.choices.senses_by_object[noun].draw_item(sampler.random)
    subject = sampler.draw_subject(sense)
    heads = [
        IT_BY_GENDER[noun.gender] if slot is object_slot else sampler.draw_filler(slot, subject) for slot in sense.slots
    ]
    return sampler.build_clause(sense, subject, [*heads], clause.is_past_frame, 1, is_simple, is_perfect)


def _can_share_subject(clause: Clause, second_clause: Clause) -> bool:
    """Return whether the subject of `clause` can replace that of `second_clause`."""
    if second_clause.sense is None or clause.sense is None or not isinstance(clause.subject, NounPhrase):
        return False
    if has_clausal_argument(second_clause):
        return False
    head = clause.subject.head
    fits_sense = (
        head in second_clause.sense.subject_nouns
        if head.is_common
        else "person" in second_clause.sense.subject_nouns[0].semantic_classes
    )
    return fits_sense and all(phrase.head is not head for phrase in second_clause.argument_phrases)
