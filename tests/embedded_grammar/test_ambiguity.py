"""Attachments that the words leave open: read off the gold trees, counted against every word, and seen in German."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import pytest
from nltk import Tree
from scipy.stats import binomtest

from embedded_grammar.ambiguity import add_ambiguity, is_ambiguous
from embedded_grammar.expansion import SentenceExpansion
from embedded_grammar.lexicon.lexicon_size import LexiconSize
from embedded_grammar.nouns import NOUNS
from embedded_grammar.pair_generation import PairGenerator, SentencePair
from embedded_grammar.sentence_limits import LengthDistribution, SentenceLimits
from embedded_grammar.syntactic_phenomena import AttachmentKind, Phenomenon
from embedded_grammar.syntax_tree import Leaf
from pipeline_py.files.artifacts import SentenceCounts

SENTENCES = 2000
RELATIVE = {"m": {"der", "den", "dem"}, "f": {"die", "der"}, "n": {"das", "dem"}, "p": {"die", "denen"}}
GERMAN = {noun.english: noun for noun in NOUNS}
# What both a verb and its object (of these verbs, a person or a container) can have `with` them.
PERSONS = {noun.english for noun in NOUNS if "person" in noun.semantic_classes}
CONTAINERS = {"bag", "box", "suitcase", "basket"}
WITH = {
    "see": (PERSONS, {"telescope", "camera"}),
    "watch": (PERSONS, {"telescope", "camera"}),
    "find": (PERSONS | CONTAINERS, {"dog", "lamp", "camera"}),
    "visit": (PERSONS, {"child", "dog", "daughter", "son"}),
    "meet": (PERSONS, {"child", "dog", "daughter", "son"}),
    "hit": (PERSONS, {"stick", "shovel", "umbrella", "bag"}),
    "buy": (CONTAINERS, {"coin", "money"}),
    "open": (CONTAINERS, {"key", "knife"}),
    "pick": (CONTAINERS, {"stick", "shovel", "umbrella"}),
}
# A cue is as improbable as this among all that are looked for.
SIGNIFICANT = 0.001


class Reading(NamedTuple):
    """An attachment of the form of those that are left open, as the gold tree has it."""

    what: str
    high: bool
    position: int
    near: Leaf
    far: Leaf
    behind: Leaf


def readings(leaves: Sequence[Leaf]) -> Iterator[Reading]:
    """`NOUN preposition NOUN that …`, and `VERB … NOUN with NOUN` where verb and object both take it."""
    below = {id(leaf): [other for other in leaves if other.governor is leaf] for leaf in leaves}
    for leaf in leaves:
        if leaf.form == "that" and leaf.feats == "PronType=Rel":
            clause = leaf
            while clause.relation != "acl:relcl":
                assert clause.governor is not None
                clause = clause.governor
            antecedent = clause.governor
            assert antecedent is not None
            inside = [n for n in below[id(antecedent)] if n.relation == "nmod" and n.position < leaf.position]
            if inside:
                yield Reading("that", True, leaf.position, inside[-1], antecedent, leaf)
            elif antecedent.relation == "nmod":
                assert antecedent.governor is not None
                yield Reading("that", False, leaf.position, antecedent, antecedent.governor, leaf)
        if leaf.form == "with" and leaf.governor is not None and leaf.governor.relation in ("nmod", "obl"):
            noun, head = leaf.governor, leaf.governor.governor
            assert head is not None
            high = noun.relation == "obl"
            for obj in below[id(head)] if high else [head]:
                verb = obj.governor
                if obj.relation == "obj" and verb is not None and obj.position < leaf.position < noun.position:
                    objects, things = WITH.get(verb.lemma, ((), ()))
                    if obj.lemma in objects and noun.lemma in things:
                        yield Reading("with", high, leaf.position, obj, verb, noun)


def cues(found: Sequence[tuple[Reading, SentencePair]]) -> list[tuple[str, float]]:
    """What comes with one reading more often than with the other, and how improbable that is of a fair coin."""
    counts: dict[str, list[int]] = {}
    for reading, pair in found:
        words = pair.english.lower().split()
        about = {f"word {word}" for word in words} | {f"{a} {b}" for a, b in pairwise(words)}
        about |= {f"length {len(words)}", f"position {reading.position}", f"construction {reading.what}", "any"}
        about |= {f"first {words[0]}", f"near {reading.near.lemma}", f"far {reading.far.lemma}"}
        about |= {f"German length {len(pair.german.split())}", f"behind {reading.behind.lemma} {reading.near.lemma}"}
        for what in about:
            counts.setdefault(what, [0, 0])[reading.high] += 1
    tried = {what: (low, high) for what, (low, high) in counts.items() if low + high >= 12}
    values = [(what, binomtest(high, low + high).pvalue * len(tried)) for what, (low, high) in tried.items()]
    return [(what, value) for what, value in values if value < SIGNIFICANT]


def drawn(
    sentences: int, focus: Phenomenon, ambiguous: float = 0.0, seed: int = 4
) -> list[tuple[Reading, SentencePair]]:
    limits = SentenceLimits(0, 1, 3, 30, LengthDistribution.natural, focus, LexiconSize.compact, False, ambiguous)
    pairs = PairGenerator(seed, limits).generate_distinct_pairs(sentences, SentenceCounts())
    return [(reading, pair) for pair in pairs for reading in readings(pair.leaves)]


@pytest.fixture(scope="module")
def found() -> list[tuple[Reading, SentencePair]]:
    return drawn(SENTENCES, Phenomenon.ambiguous)


def test_nothing_tells_the_reading(found: list[tuple[Reading, SentencePair]]) -> None:
    assert len(found) == len({pair.english for _, pair in found}) == SENTENCES
    assert cues(found) == []
    for what in ("that", "with"):
        assert sum(reading.what == what for reading, _ in found) > 0.4 * SENTENCES


def test_a_cue_would_be_seen(found: list[tuple[Reading, SentencePair]]) -> None:
    """A noun whose relative clauses are its own three times in four."""
    often = Counter(reading.near.lemma for reading, _ in found).most_common(1)[0][0]
    skewed = [each for n, each in enumerate(found) if not each[0].high or each[0].near.lemma != often or n % 3 == 0]
    assert f"near {often}" in dict(cues(skewed))


def test_nothing_tells_the_reading_among_other_sentences() -> None:
    """Where some sentences leave an attachment open, no others have one of that form."""
    mixed = drawn(1500, Phenomenon.any, ambiguous=0.25)
    assert cues(mixed) == []
    assert all(Phenomenon.ambiguous in pair.phenomena for _, pair in mixed)
    assert 0.22 < len(mixed) / 1500 < 0.28


def test_brackets_follow_the_reading(found: list[tuple[Reading, SentencePair]]) -> None:
    for reading, pair in found[:800]:
        tree = Tree.fromstring(pair.tree.to_bracket_string())
        place = tree.leaf_treeposition(reading.position - 1)
        label = "SBAR" if reading.what == "that" else "PP"
        phrase = next(place[:end] for end in range(len(place) - 1, 0, -1) if tree[place[:end]].label() == label)
        sisters = tree[phrase[:-1]]
        assert sisters.label() == ("VP" if reading.what == "with" and reading.high else "NP")
        first = sisters[0].leaves() if isinstance(sisters[0], Tree) else [sisters[0]]
        owner = reading.far if reading.high else reading.near
        assert first[-1] == owner.form or (reading.high and reading.what == "with"), pair.tree.to_bracket_string()


def test_german_shows_the_reading(found: list[tuple[Reading, SentencePair]]) -> None:
    for reading, pair in found:
        tokens = pair.german.split()
        if reading.what == "that":
            owner = reading.far if reading.high else reading.near
            allowed = RELATIVE["p" if owner.xpos == "NNS" else GERMAN[owner.lemma].gender]
            pronouns = [word for comma, word in pairwise(tokens) if comma == ","]
            pronouns += [tokens[at + 2] for at, word in enumerate(tokens[:-2]) if word == ","]
            assert allowed & set(pronouns), pair
            continue
        thing, near = GERMAN[reading.behind.lemma], GERMAN[reading.near.lemma]
        things = {thing.german, thing.german_plural, thing.german_plural + "n", thing.german_genitive}
        objects = {near.german, near.german_plural, near.german_genitive}
        places = [
            (first, second)
            for first, a in enumerate(tokens)
            if a in things
            for second, b in enumerate(tokens)
            if b in objects
        ]
        assert any(first < second if reading.high else first > second for first, second in places), pair


@pytest.mark.parametrize("what", [*AttachmentKind])
def test_either_reading_has_the_same_words_and_another_german(what: AttachmentKind) -> None:
    pairs = PairGenerator(
        2, SentenceLimits(0, 1, 3, 20, LengthDistribution.natural, Phenomenon.any, LexiconSize.full, True)
    )
    opened = 0
    for _ in range(600):
        derived = pairs.derive_sentence(what)
        if derived is None or isinstance(derived, str):
            continue
        assert derived.ambiguity is not None and is_ambiguous(derived.main_clause, derived.ambiguity)
        opened += 1
    assert opened > 20


def test_what_has_no_place_for_it_stays_as_it_is() -> None:
    pairs = PairGenerator(
        1, SentenceLimits(0, 1, 3, 20, LengthDistribution.natural, Phenomenon.any, LexiconSize.full, True)
    )
    main = pairs.sampler.draw_clause(False, 0, senses=pairs.sampler.choices.intransitive_senses)
    assert main is not None
    assert add_ambiguity(SentenceExpansion(pairs.sampler, main, 20), AttachmentKind.phrase_attachment) is None
    assert not main.adverbials
