"""The English side of a derivation: a constituency tree (PTB) that carries the dependency tree (UD)."""

from embedded_grammar.derivation import Adverbial, Clause, Gap, NounPhrase, Subordinate
from embedded_grammar.english.phrases import (
    NEGATION,
    adjective_phrase,
    adverb_phrase,
    base,
    coordinator,
    prepositional,
)
from embedded_grammar.english.words import BE, verb_chain
from embedded_grammar.senses import Slot
from embedded_grammar.tree import Leaf, Node, Phrase, attach


def sentence(clause: Clause) -> Phrase:
    """The tree of a whole sentence under `ROOT`, positions counted, with an initial capital and a full stop."""
    inner = _coordinated(clause)
    stop = attach(Leaf(".", ".", "PUNCT"), "punct")
    # The full stop belongs to the topmost S, beside its subject and predicate.
    top = Phrase("S", inner, [*inner.children, stop])
    attach(top, "root")
    root = Phrase("ROOT", top, [top])
    first = None
    for position, leaf in enumerate(root.leaves(), start=1):
        leaf.position = position
        first = first or leaf
    if first is not None:
        first.form = first.form[0].upper() + first.form[1:]
    return root


def _coordinated(clause: Clause) -> Phrase:
    """An S, or two joined by a conjunction."""
    first = clause_phrase(clause)
    second = clause.conjunct
    if second is None or second.subject is clause.subject:
        return first
    conjunct = attach(clause_phrase(second), "conj")
    comma: list[Node] = []
    if clause.conjunction[0] == "but":
        comma = [attach(Leaf(",", ",", "PUNCT"), "punct", conjunct)]
    return Phrase("S", first, [first, *comma, coordinator(clause.conjunction[0], conjunct), conjunct])


def clause_phrase(clause: Clause) -> Phrase:
    """S → (SBAR ,) (adverbial) NP VP."""
    children: list[Node] = []
    if clause.before is not None:
        adverbial = _subordinate(clause.before)
        children += [adverbial, attach(Leaf(",", ",", "PUNCT"), "punct", adverbial)]
    match clause.fronted:
        case "time" if clause.time is not None:
            children.append(adverb_phrase(clause.time))
        case "sentence" if clause.sentence is not None:
            children.append(adverb_phrase(clause.sentence))
        case "place":
            children += [_adverbial(a) for a in clause.adverbials if a.kind == "place"]
    assert isinstance(clause.subject, NounPhrase)
    subject = attach(noun_phrase(clause.subject, nominative=True, with_relative=not clause.extraposed), "nsubj")
    predicate = _coordinated_verb_phrases(clause, None)
    children += [subject, predicate]
    if clause.extraposed and clause.subject.relative is not None:
        children.append(attach(relative_clause(clause.subject.relative), "acl:relcl", subject))
    return Phrase("S", predicate, children)


def _coordinated_verb_phrases(clause: Clause, relative: Leaf | None) -> Phrase:
    first = verb_phrase(clause, relative)
    second = clause.conjunct
    if second is None or second.subject is not clause.subject:
        return first
    conjunct = attach(verb_phrase(second), "conj")
    return Phrase("VP", first, [first, coordinator(clause.conjunction[0], conjunct), conjunct])


def verb_phrase(clause: Clause, relative: Leaf | None = None) -> Phrase:
    """VP → auxiliaries (not) (adverb) VP, from the inside out; `relative` is the pronoun that fills a gap."""
    verb = clause.sense.verb if clause.sense else BE
    person = clause.subject.person if isinstance(clause.subject, NounPhrase) else 3
    plural = clause.subject.agrees_as_plural
    chain = verb_chain(verb, clause.tense, clause.past_frame, person, plural, clause.negated)
    *auxiliaries, last = chain
    middle = _middle(clause)
    inner = [] if auxiliaries else middle
    if clause.sense is None:
        predicate = _predicate(clause)
        children = [attach(last, "cop"), *inner, predicate, *_adjuncts(clause)]
        phrase = Phrase("VP", predicate, children)
    elif inner and last.upos != "AUX":
        # `often reads`: without an auxiliary the adverb precedes the verb.
        phrase = Phrase("VP", last, [*inner, last, *_complements(clause, relative, last)])
    else:
        phrase = Phrase("VP", last, [last, *_complements(clause, relative, last)])
    for place, auxiliary in enumerate(reversed(auxiliaries)):
        outermost = place == len(auxiliaries) - 1
        phrase = Phrase("VP", phrase, [attach(auxiliary, "aux"), *(middle if outermost else []), phrase])
    return phrase


def _middle(clause: Clause) -> list[Node]:
    """Negation and adverbs of frequency, which follow the first auxiliary."""
    middle: list[Node] = []
    if clause.negated:
        middle.append(attach(Leaf("not", "RB", "PART", feats=NEGATION), "advmod"))
    if clause.time is not None and clause.time.kind == "frequency" and clause.fronted != "time":
        middle.append(adverb_phrase(clause.time))
    return middle


def _complements(clause: Clause, relative: Leaf | None, verb: Leaf) -> list[Node]:
    """Everything behind the verb: particle, arguments, adjuncts and clauses."""
    sense = clause.sense
    assert sense is not None
    particle: list[Node] = []
    if sense.particle:
        leaf = attach(Leaf(sense.particle, "RP", "ADP"), "compound:prt")
        particle = [Phrase("PRT", leaf, [leaf])]
    children: list[Node] = [] if clause.far_particle else [*particle]
    clausal: list[Node] = []
    for slot, filler in clause.english_order:
        if isinstance(filler, Clause):
            clausal.append(_clausal_argument(slot, filler))
        elif isinstance(filler, Gap):
            assert relative is not None
            children += _gap(slot, relative, verb)
        else:
            children.append(_argument(slot, filler, clause.dative_shift))
        if clause.far_particle and slot.english == "obj":
            children += particle
    return [*children, *_adjuncts(clause), *clausal]


def _argument(slot: Slot, filler: NounPhrase, dative_shift: bool) -> Node:
    phrase = noun_phrase(filler)
    if slot.english in ("obj", "iobj") and not (slot.english == "iobj" and dative_shift):
        return attach(phrase, slot.english)
    return prepositional(slot.prepositions(filler.head)[0], phrase, "obl")


def _gap(slot: Slot, relative: Leaf, verb: Leaf) -> list[Node]:
    """The relative pronoun is the argument; of a prepositional one the preposition stays behind."""
    if slot.english == "obj":
        attach(relative, "obj", verb)
        return []
    attach(relative, "obl", verb)
    preposition = "to" if slot.english == "iobj" else slot.english
    case = attach(Leaf(preposition, "TO" if preposition == "to" else "IN", "ADP"), "case", relative)
    return [Phrase("PP", case, [case])]


def _clausal_argument(slot: Slot, clause: Clause) -> Node:
    if slot.english == "infinitive":
        inner = verb_phrase(clause)
        marked = Phrase("VP", inner, [attach(Leaf("to", "TO", "PART"), "mark"), inner])
        return attach(Phrase("S", marked, [marked]), "xcomp")
    inner = clause_phrase(clause)
    return attach(Phrase("SBAR", inner, [attach(Leaf(slot.english, "IN", "SCONJ"), "mark"), inner]), "ccomp")


def _adjuncts(clause: Clause) -> list[Node]:
    """Manner, instrument, place, time, an extraposed relative clause and an adverbial clause."""
    nodes: list[Node] = []
    if clause.manner is not None:
        nodes.append(adverb_phrase(clause.manner))
    for adverbial in clause.adverbials:
        if not (clause.fronted == "place" and adverbial.kind == "place"):
            nodes.append(_adverbial(adverbial))
    if clause.time is not None and clause.time.kind != "frequency" and clause.fronted != "time":
        nodes.append(adverb_phrase(clause.time))
    if clause.after is not None:
        nodes.append(_subordinate(clause.after))
    return nodes


def _adverbial(adverbial: Adverbial) -> Phrase:
    return prepositional(adverbial.english, noun_phrase(adverbial.phrase), "obl")


def _subordinate(subordinate: Subordinate) -> Phrase:
    inner = clause_phrase(subordinate.clause)
    word = subordinate.conjunction.english
    if word == "when":
        leaf = attach(Leaf(word, "WRB", "ADV", feats="PronType=Int"), "advmod")
        mark: Node = Phrase("WHADVP", leaf, [leaf])
    else:
        mark = attach(Leaf(word, "IN", "SCONJ"), "mark")
    result = Phrase("SBAR", inner, [mark, inner])
    attach(result, "advcl")
    return result


def _predicate(clause: Clause) -> Phrase:
    match clause.predicate:
        case NounPhrase() as noun:
            return noun_phrase(noun, nominative=True)
        case Adverbial() as place:
            return _adverbial(place)
        case predicate:
            assert predicate is not None
            return adjective_phrase(*predicate)


def noun_phrase(phrase: NounPhrase, nominative: bool = False, with_relative: bool = True) -> Phrase:
    """NP with its attributes: (NP (NP base) (PP …) (SBAR …)), coordinated if it has a conjunct."""
    core = base(phrase, nominative)
    children: list[Node] = [core]
    if phrase.attribute is not None:
        slot, inner = phrase.attribute
        preposition, _ = slot.prepositions(inner.head)
        children.append(prepositional(preposition, noun_phrase(inner), "nmod"))
    if phrase.relative is not None and with_relative:
        children.append(attach(relative_clause(phrase.relative), "acl:relcl"))
    whole = core if len(children) == 1 else Phrase("NP", core, children)
    if phrase.conjunct is None:
        return whole
    conjunct = attach(noun_phrase(phrase.conjunct, nominative), "conj")
    return Phrase("NP", whole, [whole, coordinator(phrase.conjunction[0], conjunct), conjunct])


def relative_clause(clause: Clause) -> Phrase:
    """SBAR → WHNP S; the pronoun is the subject or the argument that is missing in the S."""
    gap = clause.gap
    tag = "WP" if gap.english in ("who", "whom") else "WDT"
    pronoun_leaf = Leaf(gap.english, tag, "PRON", "who" if tag == "WP" else gap.english, "PronType=Rel")
    moved = Phrase("WHNP", pronoun_leaf, [pronoun_leaf])
    predicate = _coordinated_verb_phrases(clause, pronoun_leaf)
    subject: list[Node] = []
    if isinstance(clause.subject, Gap):
        attach(pronoun_leaf, "nsubj")
    else:
        subject = [attach(noun_phrase(clause.subject, nominative=True), "nsubj")]
    body = Phrase("S", predicate, [*subject, predicate])
    return Phrase("SBAR", body, [moved, body])
