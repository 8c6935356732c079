"""Tests of attachment ambiguities: independence from the words, gold trees, and German translations."""

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
from embedded_grammar.pair_generation import DerivedSentence, PairGenerator, SentencePair
from embedded_grammar.sentence_limits import LengthDistribution, SentenceLimits
from embedded_grammar.syntactic_phenomena import AttachmentKind, Phenomenon
from embedded_grammar.syntax_tree import Leaf
from pipeline_py.files.artifacts import SentenceCounts

SENTENCES = 1200
RELATIVE = {"m": {"der", "den", "dem"}, "f": {"die", "der"}, "n": {"das", "dem"}, "p": {"die", "denen"}}
GERMAN = {noun.english: noun for noun in NOUNS}
# Objects of a verb, and nouns in a `with` phrase that can be attached to the verb or to these objects.
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
MAX_P_VALUE = 0.001


class Reading(NamedTuple):
    """The gold reading of an ambiguous attachment: `far … near … attached`."""

    word: str  # that, with
    is_high: bool
    position: int
    near: Leaf
    far: Leaf
    attached: Leaf


ReadingsWithPairs = list[tuple[Reading, SentencePair]]


def find_readings(leaves: Sequence[Leaf]) -> Iterator[Reading]:
    """Yield the readings of `NOUN preposition NOUN that …`, and of `VERB … NOUN with NOUN` if it is ambiguous."""
    dependents = {id(leaf): [child for child in leaves if child.governor is leaf] for leaf in leaves}
    for leaf in leaves:
        if leaf.form == "that" and leaf.feats == "PronType=Rel":
            clause = leaf
            while clause.relation != "acl:relcl":
                assert clause.governor is not None
                clause = clause.governor
            antecedent = clause.governor
            assert antecedent is not None
            attributes = [n for n in dependents[id(antecedent)] if n.relation == "nmod" and n.position < leaf.position]
            if attributes:
                yield Reading("that", True, leaf.position, attributes[-1], antecedent, leaf)
            elif antecedent.relation == "nmod":
                assert antecedent.governor is not None
                yield Reading("that", False, leaf.position, antecedent, antecedent.governor, leaf)
        if leaf.form == "with" and leaf.governor is not None and leaf.governor.relation in ("nmod", "obl"):
            noun, head = leaf.governor, leaf.governor.governor
            assert head is not None
            is_high = noun.relation == "obl"
            for child in dependents[id(head)] if is_high else [head]:
                verb = child.governor
                if child.relation == "obj" and verb is not None and child.position < leaf.position < noun.position:
                    object_nouns, with_nouns = WITH.get(verb.lemma, ((), ()))
                    if child.lemma in object_nouns and noun.lemma in with_nouns:
                        yield Reading("with", is_high, leaf.position, child, verb, noun)


def find_cues(readings: ReadingsWithPairs) -> dict[str, float]:
    """Return features that correlate with the reading, with their Bonferroni-corrected p-values."""
    counts: dict[str, list[int]] = {}
    for reading, pair in readings:
        words = pair.english.lower().split()
        features = {f"word {word}" for word in words} | {f"{a} {b}" for a, b in pairwise(words)}
        features |= {f"length {len(words)}", f"position {reading.position}", f"construction {reading.word}", "any"}
        features |= {f"first {words[0]}", f"near {reading.near.lemma}", f"far {reading.far.lemma}"}
        features |= {f"German length {len(pair.german.split())}", f"pair {reading.attached.lemma} {reading.near.lemma}"}
        for feature in features:
            counts.setdefault(feature, [0, 0])[reading.is_high] += 1
    tests = {feature: (low, high) for feature, (low, high) in counts.items() if low + high >= 12}
    p_values = {feature: binomtest(high, low + high).pvalue * len(tests) for feature, (low, high) in tests.items()}
    return {feature: value for feature, value in p_values.items() if value < MAX_P_VALUE}


def generate_readings(sentence_count: int, phenomenon: Phenomenon, ambiguous_share: float = 0.0) -> ReadingsWithPairs:
    limits = SentenceLimits(
        0, 1, 3, 30, LengthDistribution.natural, phenomenon, LexiconSize.compact, False, ambiguous_share
    )
    pairs = PairGenerator(4, limits).generate_distinct_pairs(sentence_count, SentenceCounts())
    return [(reading, pair) for pair in pairs for reading in find_readings(pair.leaves)]


@pytest.fixture(scope="module")
def readings() -> ReadingsWithPairs:
    return generate_readings(SENTENCES, Phenomenon.ambiguous)


def test_words_contain_no_cue_to_the_reading(readings: ReadingsWithPairs) -> None:
    assert len(readings) == len({pair.english for _, pair in readings}) == SENTENCES
    assert find_cues(readings) == {}
    for word in ("that", "with"):
        assert sum(reading.word == word for reading, _ in readings) > 0.4 * SENTENCES


def test_cues_are_found_in_a_biased_sample(readings: ReadingsWithPairs) -> None:
    noun = Counter(reading.near.lemma for reading, _ in readings).most_common(1)[0][0]
    biased_readings = [
        (reading, pair)
        for number, (reading, pair) in enumerate(readings)
        if not reading.is_high or reading.near.lemma != noun or number % 3 == 0
    ]
    assert f"near {noun}" in find_cues(biased_readings)


def test_other_sentences_have_no_ambiguity_if_a_share_is_ambiguous() -> None:
    readings = generate_readings(1500, Phenomenon.any, ambiguous_share=0.25)
    assert find_cues(readings) == {}
    assert all(Phenomenon.ambiguous in pair.phenomena for _, pair in readings)
    assert 0.22 < len(readings) / 1500 < 0.28


def test_constituents_follow_the_reading(readings: ReadingsWithPairs) -> None:
    for reading, pair in readings[:800]:
        tree = Tree.fromstring(pair.tree.to_bracket_string())
        path = tree.leaf_treeposition(reading.position - 1)
        label = "SBAR" if reading.word == "that" else "PP"
        phrase = next(path[:end] for end in range(len(path) - 1, 0, -1) if tree[path[:end]].label() == label)
        parent = tree[phrase[:-1]]
        assert parent.label() == ("VP" if reading.word == "with" and reading.is_high else "NP")
        first = parent[0].leaves() if isinstance(parent[0], Tree) else [parent[0]]
        governor = reading.far if reading.is_high else reading.near
        assert first[-1] == governor.form or (reading.is_high and reading.word == "with"), str(tree)


def test_german_follows_the_reading(readings: ReadingsWithPairs) -> None:
    for reading, pair in readings:
        tokens = pair.german.split()
        if reading.word == "that":
            antecedent = reading.far if reading.is_high else reading.near
            pronouns = RELATIVE["p" if antecedent.xpos == "NNS" else GERMAN[antecedent.lemma].gender]
            words = {word for comma, word in pairwise(tokens) if comma == ","}
            words |= {word for comma, _, word in zip(tokens, tokens[1:], tokens[2:], strict=False) if comma == ","}
            assert pronouns & words, pair
            continue
        attached, near = GERMAN[reading.attached.lemma], GERMAN[reading.near.lemma]
        attached_forms = {
            attached.german,
            attached.german_plural,
            attached.german_plural + "n",
            attached.german_genitive,
        }
        object_forms = {near.german, near.german_plural, near.german_genitive}
        assert any(
            attached_position < object_position if reading.is_high else attached_position > object_position
            for attached_position, attached_token in enumerate(tokens)
            if attached_token in attached_forms
            for object_position, object_token in enumerate(tokens)
            if object_token in object_forms
        ), pair


@pytest.fixture
def generator() -> PairGenerator:
    return PairGenerator(
        2, SentenceLimits(0, 1, 3, 20, LengthDistribution.natural, Phenomenon.any, LexiconSize.full, True)
    )


@pytest.mark.parametrize("attachment", [*AttachmentKind])
def test_readings_have_the_same_english_and_different_german(
    generator: PairGenerator, attachment: AttachmentKind
) -> None:
    sentences = [generator.derive_sentence(attachment) for _ in range(600)]
    ambiguous_sentences = [sentence for sentence in sentences if isinstance(sentence, DerivedSentence)]
    assert len(ambiguous_sentences) > 20
    for sentence in ambiguous_sentences:
        assert sentence.ambiguity is not None and is_ambiguous(sentence.main_clause, sentence.ambiguity)


def test_an_intransitive_clause_cannot_have_an_ambiguous_phrase(generator: PairGenerator) -> None:
    sampler = generator.sampler
    main = sampler.draw_clause(False, 0, senses=sampler.choices.intransitive_senses)
    assert main is not None
    assert add_ambiguity(SentenceExpansion(sampler, main, 20), AttachmentKind.phrase_attachment) is None
    assert not main.adverbials
