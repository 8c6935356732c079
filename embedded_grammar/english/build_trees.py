"""Construction of English trees from derivations: Penn Treebank constituents and Universal Dependencies."""

from embedded_grammar.derivation import Adverbial, Clause, NounPhrase, RelativeGap, SubordinateClause
from embedded_grammar.english.simple_phrases import (
    NEGATIVE_POLARITY,
    build_adjective_phrase,
    build_adverb_phrase,
    build_base_noun_phrase,
    build_coordinator,
    build_prepositional_phrase,
)
from embedded_grammar.english.word_leaves import VERB_BE, build_verb_chain
from embedded_grammar.senses import ArgumentSlot
from embedded_grammar.syntax_tree import Constituent, Leaf, SyntaxNode, set_relation


def build_sentence(clause: Clause) -> Constituent:
    """Build the tree of a sentence under `ROOT`, with positions, an initial capital and a full stop."""
    inner = _build_coordinated_clause(clause)
    stop = set_relation(Leaf(".", ".", "PUNCT"), "punct")
    # The full stop is a child of the topmost S, next to its subject and predicate.
    top = Constituent("S", inner, [*inner.children, stop])
    set_relation(top, "root")
    root = Constituent("ROOT", top, [top])
    for position, leaf in enumerate(root.iterate_leaves(), start=1):
        leaf.position = position
        if position == 1:
            leaf.form = leaf.form[0].upper() + leaf.form[1:]
    return root


def _build_coordinated_clause(clause: Clause) -> Constituent:
    first = build_clause(clause)
    second = clause.conjunct
    if second is None or second.subject is clause.subject:
        return first
    conjunct = set_relation(build_clause(second), "conj")
    comma: list[SyntaxNode] = []
    if clause.conjunction[0] == "but":
        comma = [set_relation(Leaf(",", ",", "PUNCT"), "punct", conjunct)]
    return Constituent("S", first, [first, *comma, build_coordinator(clause.conjunction[0], conjunct), conjunct])


def build_clause(clause: Clause) -> Constituent:
    """Build S → (SBAR ,) (adverbial) NP VP."""
    children: list[SyntaxNode] = []
    if clause.initial_subordinate is not None:
        adverbial = _build_subordinate_clause(clause.initial_subordinate)
        children += [adverbial, set_relation(Leaf(",", ",", "PUNCT"), "punct", adverbial)]
    match clause.fronted_element:
        case "time" if clause.time_adverb is not None:
            children.append(build_adverb_phrase(clause.time_adverb))
        case "sentence" if clause.sentence_adverb is not None:
            children.append(build_adverb_phrase(clause.sentence_adverb))
        case "place":
            children += [_build_adverbial(adverbial) for adverbial in clause.adverbials if adverbial.kind == "place"]
    assert isinstance(clause.subject, NounPhrase)
    subject = set_relation(
        build_noun_phrase(
            clause.subject, is_nominative=True, should_include_relative=not clause.has_extraposed_relative
        ),
        "nsubj",
    )
    predicate = _build_coordinated_verb_phrase(clause, None)
    children += [subject, predicate]
    if clause.has_extraposed_relative and clause.subject.relative_clause is not None:
        children.append(set_relation(build_relative_clause(clause.subject.relative_clause), "acl:relcl", subject))
    return Constituent("S", predicate, children)


def _build_coordinated_verb_phrase(clause: Clause, relative_pronoun: Leaf | None) -> Constituent:
    first = build_verb_phrase(clause, relative_pronoun)
    second = clause.conjunct
    if second is None or second.subject is not clause.subject:
        return first
    conjunct = set_relation(build_verb_phrase(second), "conj")
    return Constituent("VP", first, [first, build_coordinator(clause.conjunction[0], conjunct), conjunct])


def build_verb_phrase(clause: Clause, relative_pronoun: Leaf | None = None) -> Constituent:
    """Build VP → auxiliary (not) (adverb) VP; `relative_pronoun` fills the gap of a relative clause."""
    verb = clause.sense.english_verb if clause.sense else VERB_BE
    person = clause.subject.person if isinstance(clause.subject, NounPhrase) else 3
    is_plural = clause.subject.has_plural_agreement
    *auxiliaries, verb_leaf = build_verb_chain(
        verb, clause.tense, clause.is_past_frame, person, is_plural, clause.is_negated
    )
    adverbs = _build_negation_and_adverb(clause)
    inner_adverbs = [] if auxiliaries else adverbs
    if clause.sense is None:
        predicate = _build_predicate(clause)
        children = [set_relation(verb_leaf, "cop"), *inner_adverbs, predicate, *_build_adjuncts(clause)]
        phrase = Constituent("VP", predicate, children)
    else:
        # Without an auxiliary, the adverb precedes the verb: `often reads`.
        complements = _build_complements(clause, relative_pronoun, verb_leaf)
        phrase = Constituent("VP", verb_leaf, [*inner_adverbs, verb_leaf, *complements])
    for auxiliary in reversed(auxiliaries):
        outer_adverbs = adverbs if auxiliary is auxiliaries[0] else []
        phrase = Constituent("VP", phrase, [set_relation(auxiliary, "aux"), *outer_adverbs, phrase])
    return phrase


def _build_negation_and_adverb(clause: Clause) -> list[SyntaxNode]:
    """Build the negation and the adverb of frequency, which follow the first auxiliary."""
    adverbs: list[SyntaxNode] = []
    if clause.is_negated:
        adverbs.append(set_relation(Leaf("not", "RB", "PART", feats=NEGATIVE_POLARITY), "advmod"))
    if clause.time_adverb is not None and clause.time_adverb.kind == "frequency" and clause.fronted_element != "time":
        adverbs.append(build_adverb_phrase(clause.time_adverb))
    return adverbs


def _build_complements(clause: Clause, relative_pronoun: Leaf | None, verb: Leaf) -> list[SyntaxNode]:
    """Build the nodes after the verb: particle, arguments, adjuncts and clauses."""
    sense = clause.sense
    assert sense is not None
    particle: list[SyntaxNode] = []
    if sense.particle:
        leaf = set_relation(Leaf(sense.particle, "RP", "ADP"), "compound:prt")
        particle = [Constituent("PRT", leaf, [leaf])]
    children: list[SyntaxNode] = [] if clause.has_separated_particle else [*particle]
    clauses: list[SyntaxNode] = []
    for slot, filler in clause.english_arguments:
        if isinstance(filler, Clause):
            clauses.append(_build_clausal_argument(slot, filler))
        elif isinstance(filler, RelativeGap):
            assert relative_pronoun is not None
            children += _attach_relative_pronoun(slot, relative_pronoun, verb)
        else:
            children.append(_build_argument(slot, filler, clause.has_dative_shift))
        if clause.has_separated_particle and slot.english_role == "obj":
            children += particle
    return [*children, *_build_adjuncts(clause), *clauses]


def _build_argument(slot: ArgumentSlot, filler: NounPhrase, has_dative_shift: bool) -> SyntaxNode:
    phrase = build_noun_phrase(filler)
    if slot.english_role in ("obj", "iobj") and not (slot.english_role == "iobj" and has_dative_shift):
        return set_relation(phrase, slot.english_role)
    return build_prepositional_phrase(slot.get_prepositions(filler.head)[0], phrase, "obl")


def _attach_relative_pronoun(slot: ArgumentSlot, relative_pronoun: Leaf, verb: Leaf) -> list[SyntaxNode]:
    """Attach the relative pronoun as an argument, and build the stranded preposition if there is one."""
    if slot.english_role == "obj":
        set_relation(relative_pronoun, "obj", verb)
        return []
    set_relation(relative_pronoun, "obl", verb)
    preposition = "to" if slot.english_role == "iobj" else slot.english_role
    case = set_relation(Leaf(preposition, "TO" if preposition == "to" else "IN", "ADP"), "case", relative_pronoun)
    return [Constituent("PP", case, [case])]


def _build_clausal_argument(slot: ArgumentSlot, clause: Clause) -> SyntaxNode:
    if slot.english_role == "infinitive":
        inner = build_verb_phrase(clause)
        marked = Constituent("VP", inner, [set_relation(Leaf("to", "TO", "PART"), "mark"), inner])
        return set_relation(Constituent("S", marked, [marked]), "xcomp")
    inner = build_clause(clause)
    return set_relation(
        Constituent("SBAR", inner, [set_relation(Leaf(slot.english_role, "IN", "SCONJ"), "mark"), inner]), "ccomp"
    )


def _build_adjuncts(clause: Clause) -> list[SyntaxNode]:
    """Build the manner, instrument, place, time and adverbial clause at the end of a clause."""
    nodes: list[SyntaxNode] = []
    if clause.manner_adverb is not None:
        nodes.append(build_adverb_phrase(clause.manner_adverb))
    for adverbial in clause.adverbials:
        if not (clause.fronted_element == "place" and adverbial.kind == "place"):
            nodes.append(_build_adverbial(adverbial))
    if clause.time_adverb is not None and clause.time_adverb.kind != "frequency" and clause.fronted_element != "time":
        nodes.append(build_adverb_phrase(clause.time_adverb))
    if clause.final_subordinate is not None:
        nodes.append(_build_subordinate_clause(clause.final_subordinate))
    return nodes


def _build_adverbial(adverbial: Adverbial) -> Constituent:
    return build_prepositional_phrase(adverbial.english_preposition, build_noun_phrase(adverbial.phrase), "obl")


def _build_subordinate_clause(subordinate: SubordinateClause) -> Constituent:
    inner = build_clause(subordinate.clause)
    word = subordinate.conjunction.english
    if word == "when":
        leaf = set_relation(Leaf(word, "WRB", "ADV", feats="PronType=Int"), "advmod")
        mark: SyntaxNode = Constituent("WHADVP", leaf, [leaf])
    else:
        mark = set_relation(Leaf(word, "IN", "SCONJ"), "mark")
    result = Constituent("SBAR", inner, [mark, inner])
    set_relation(result, "advcl")
    return result


def _build_predicate(clause: Clause) -> Constituent:
    match clause.predicate:
        case NounPhrase() as noun:
            return build_noun_phrase(noun, is_nominative=True)
        case Adverbial() as place:
            return _build_adverbial(place)
        case predicate:
            assert predicate is not None
            return build_adjective_phrase(*predicate)


def build_noun_phrase(
    phrase: NounPhrase, is_nominative: bool = False, should_include_relative: bool = True
) -> Constituent:
    """Build an NP with its attributes: (NP (NP base) (PP …) (SBAR …)), coordinated if it has a conjunct."""
    base = build_base_noun_phrase(phrase, is_nominative)
    children: list[SyntaxNode] = [base]
    if phrase.attribute is not None:
        slot, inner = phrase.attribute
        preposition, _ = slot.get_prepositions(inner.head)
        children.append(build_prepositional_phrase(preposition, build_noun_phrase(inner), "nmod"))
    if phrase.relative_clause is not None and should_include_relative:
        children.append(set_relation(build_relative_clause(phrase.relative_clause), "acl:relcl"))
    first = base if len(children) == 1 else Constituent("NP", base, children)
    if phrase.conjunct is None:
        return first
    conjunct = set_relation(build_noun_phrase(phrase.conjunct, is_nominative), "conj")
    return Constituent("NP", first, [first, build_coordinator(phrase.conjunction[0], conjunct), conjunct])


def build_relative_clause(clause: Clause) -> Constituent:
    """Build SBAR → WHNP S, in which the pronoun fills the gap of the S."""
    gap = clause.gap
    tag = "WP" if gap.relative_pronoun in ("who", "whom") else "WDT"
    pronoun_leaf = Leaf(
        gap.relative_pronoun, tag, "PRON", "who" if tag == "WP" else gap.relative_pronoun, "PronType=Rel"
    )
    pronoun_phrase = Constituent("WHNP", pronoun_leaf, [pronoun_leaf])
    predicate = _build_coordinated_verb_phrase(clause, pronoun_leaf)
    subject: list[SyntaxNode] = []
    if isinstance(clause.subject, RelativeGap):
        set_relation(pronoun_leaf, "nsubj")
    else:
        subject = [set_relation(build_noun_phrase(clause.subject, is_nominative=True), "nsubj")]
    body = Constituent("S", predicate, [*subject, predicate])
    return Constituent("SBAR", body, [pronoun_phrase, body])
