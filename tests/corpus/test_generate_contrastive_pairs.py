"""The stage `generate_contrast`: each kind of pair, held to checks that know nothing of how it was made."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import conllu
import pytest
from nltk import Tree
from scipy.stats import binomtest

from embedded_grammar.contrastive_translation import ACCEPTABLE_PREFIXES, list_wrong_prefixes
from embedded_grammar.german.verbs import GermanVerb, inflect_german_verb
from embedded_grammar.lexicon.lexicon_size import LexiconSize
from embedded_grammar.nouns import NOUNS
from embedded_grammar.senses import SENSES
from pipeline_py.corpus.generate_contrastive_pairs import ContrastiveErrorKind, generate_contrastive_pairs
from pipeline_py.files.contrastive_pair_files import ContrastivePair, read_contrastive_pairs
from pipeline_py.run.errors import InputError
from tests.embedded_grammar.german.test_realize_sentences import (
    ARTICLES,
    FINITE,
    NOUN_PLACES,
    SUBJUNCTIONS,
    disagreeing,
    ending_of,
    readings,
)

PAIRS = 900
NAMES = ("pairs", "conllu", "ptb", "counts")
VERBS = [inflect_german_verb(name) for name in ("sein", "haben", "werden", "können", "müssen", "sollen", "wollen")] + [
    sense.german_verb for sense in SENSES
]
READINGS = ("relative_attachment", "phrase_attachment")
Found = list[tuple[ContrastivePair, conllu.TokenList]]


def run(directory: Path, **options: Any) -> dict[str, Path]:
    paths = {name: directory / f"pairs.{name if name != 'pairs' else 'tsv'}" for name in NAMES}
    generate_contrastive_pairs(**{f"{name}_output": path for name, path in paths.items()}, **options)
    return paths


@pytest.fixture(scope="module", params=[*LexiconSize])
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("contrast")
    return run(directory, sentences=PAIRS, kinds=[*ContrastiveErrorKind], seed=3, max_length=25, lexicon=request.param)


@pytest.fixture(scope="module")
def by_kind(made: dict[str, Path]) -> dict[str, Found]:
    trees = conllu.parse(made["conllu"].read_text(encoding="utf-8"))
    found: dict[str, Found] = {}
    for pair, tree in zip(read_contrastive_pairs(made["pairs"]), trees, strict=True):
        found.setdefault(pair.kind, []).append((pair, tree))
    return found


def changed(pair: ContrastivePair) -> tuple[int, str, str]:
    """The one word in which the translations of a pair differ: its place, and its forms."""
    correct, wrong = pair.correct.split(), pair.contrastive.split()
    assert len(correct) == len(wrong), pair
    ((place, form, instead),) = [(n, a, b) for n, (a, b) in enumerate(zip(correct, wrong, strict=True)) if a != b]
    return place, form, instead


def between(tokens: list[str], place: int, forms: set[str]) -> set[int]:
    """How many words stand between a place and each of some forms."""
    return {abs(place - other) - 1 for other, token in enumerate(tokens) if token in forms}


def test_kinds_take_turns_and_sentences_are_distinct(made: dict[str, Path], by_kind: dict[str, Found]) -> None:
    assert {kind: len(found) for kind, found in by_kind.items()} == dict.fromkeys(
        map(str, ContrastiveErrorKind), PAIRS // 9
    )
    pairs = [*read_contrastive_pairs(made["pairs"])]
    assert [pair.kind for pair in pairs[:10]] == [*ContrastiveErrorKind, "agreement"]
    ambiguous = sum(len(by_kind[kind]) for kind in READINGS)
    assert len({pair.source for pair in pairs}) == PAIRS - ambiguous / 2
    assert all(pair.correct != pair.contrastive and pair.distance.isdigit() for pair in pairs)
    counts = json.loads(made["counts"].read_text(encoding="utf-8"))
    assert counts["kept"] == PAIRS and counts["in"] == PAIRS + sum(counts["dropped"].values())
    assert counts["noted"] == dict.fromkeys(map(str, ContrastiveErrorKind), PAIRS // 9)


def test_trees_are_of_the_sources(made: dict[str, Path], by_kind: dict[str, Found]) -> None:
    sources = [pair.source for pair in read_contrastive_pairs(made["pairs"])]
    brackets = made["ptb"].read_text(encoding="utf-8").splitlines()
    assert [" ".join(Tree.fromstring(line).leaves()) for line in brackets] == sources
    for found in by_kind.values():
        assert all(pair.source == " ".join(token["form"] for token in tree) for pair, tree in found)


def test_correct_translations_agree(by_kind: dict[str, Found]) -> None:
    assert [bad for found in by_kind.values() for pair, _ in found for bad in disagreeing(pair.correct)] == []


def is_form(form: str, verb: GermanVerb, plural: bool) -> bool:
    """Whether it is a finite form of the third person, with or without its prefix."""
    return form.lower() in ((verb.present[2], verb.past[2]) if plural else (verb.present[1], verb.past[1]))


def test_agreement_is_wrong_in_number(by_kind: dict[str, Found]) -> None:
    for pair, tree in by_kind["agreement"]:
        place, form, instead = changed(pair)
        root = next(token for token in tree if token["head"] == 0)
        subject = next(token for token in tree if token["deprel"] == "nsubj" and token["head"] == root["id"])
        number = subject["feats"]["Number"]
        plural = number == "Plur"
        verbs = [verb for verb in VERBS if is_form(form, verb, plural) and is_form(instead, verb, not plural)]
        assert verbs, pair
        attractors = [
            token
            for token in tree[subject["id"] : root["id"]]
            if token["upos"] in ("NOUN", "PROPN", "PRON") and token["feats"].get("Number", number) != number
        ]
        assert attractors, pair
        noun = next(noun for noun in NOUNS if noun.english == subject["lemma"])
        assert int(pair.distance) in between(pair.correct.split(), place, {noun.german, noun.german_plural}), pair


def test_particles_are_those_of_other_verbs(by_kind: dict[str, Found]) -> None:
    prefixes = {sense.german_verb.prefix for sense in SENSES}
    with_others = 0
    for pair, _ in by_kind["particle"]:
        place, form, instead = changed(pair)
        assert {form, instead} <= prefixes and pair.correct.split()[place + 1] in (".", ",", "und", "aber", "oder")
        bases = {sense.german_verb.base for sense in SENSES if sense.german_verb.prefix == form}
        with_others += any(s.german_verb.prefix == instead and s.german_verb.base in bases for s in SENSES)
        finite = {
            f for s in SENSES if s.german_verb.prefix == form for f in (*s.german_verb.present, *s.german_verb.past)
        }
        assert int(pair.distance) in between(pair.correct.split(), place, finite), pair
    assert with_others > 20


def test_a_wrong_prefix_makes_no_acceptable_translation(by_kind: dict[str, Found]) -> None:
    """*Räumte das Hemd auf* is German for *put away the shirt* too."""
    verbs = {
        f"{sense.german_verb.prefix} {sense.german_verb.base}": sense.german_verb
        for sense in SENSES
        if sense.german_verb.prefix
    }
    assert {*ACCEPTABLE_PREFIXES} <= {*verbs}
    for name, verb in verbs.items():
        found = list_wrong_prefixes(verb)
        assert found and not {*found} & {verb.prefix, *ACCEPTABLE_PREFIXES.get(name, "").split()}
    assert "auf" not in list_wrong_prefixes(verbs["weg räumen"]) and list_wrong_prefixes(verbs["an ziehen"]) == ["aus"]
    for pair, _ in by_kind["particle"]:
        _, form, instead = changed(pair)
        bases = [name for name in verbs if name.split()[0] == form and instead in list_wrong_prefixes(verbs[name])]
        assert bases, pair


def noun_behind(tokens: list[str], place: int) -> tuple[str, list[str | None]]:
    """The noun of an article, and the endings of the adjectives between them."""
    end = next(n for n in range(place + 1, len(tokens)) if tokens[n] in NOUN_PLACES)
    return tokens[end], [ending_of(word) for word in tokens[place + 1 : end] if ending_of(word)]


def lowered(form: str) -> str:
    return form[0].lower() + form[1:]


@pytest.mark.parametrize("kind", ["case", "gender"])
def test_an_article_is_wrong_in_case_or_gender_alone(by_kind: dict[str, Found], kind: str) -> None:
    """What the noun phrase can stand for has nothing in common with what the other article can."""
    seen = 0
    for pair, _ in by_kind[kind]:
        place, form, instead = changed(pair)
        tokens = pair.correct.split()
        noun, endings = noun_behind(tokens, place)
        if lowered(form) not in ARTICLES:  # `viele`, `einige`
            assert kind == "case" and re.match("viel|einig|mehrer", lowered(form)), pair
            continue
        right = readings(noun, lowered(form), endings)
        wrong = {*ARTICLES[lowered(instead)].split()}
        assert right and not right & wrong, pair
        if kind == "gender":
            seen += bool(disagreeing(pair.contrastive))
            assert not readings(noun, lowered(instead), []), pair
            assert int(pair.distance) in between(tokens, place, {noun}), pair
        else:
            assert {gender for gender, _ in wrong} & {gender for gender, _ in right}, pair
    # Behind a comma the checker cannot tell an article from a relative pronoun.
    assert kind == "case" or seen > 0.9 * len(by_kind[kind])


def test_the_verb_stands_second_instead_of_last(by_kind: dict[str, Found]) -> None:
    checked = 0
    for pair, _ in by_kind["verb_final"]:
        correct, wrong = pair.correct.split(), pair.contrastive.split()
        place = next(n for n, (a, b) in enumerate(zip(correct, wrong, strict=False)) if a != b)
        moved = wrong[place].lower()
        assert moved in FINITE, pair
        # The same words, but for a prefix that has come off.
        assert "".join(sorted("".join(correct))) == "".join(sorted("".join(wrong))), pair
        last = place + int(pair.distance)
        assert correct[last].endswith(moved) and correct[last + 1] in (",", ".", "und", "oder", "aber"), pair
        if any(word.lower() in SUBJUNCTIONS for word in correct[max(place - 4, 0) : place]):
            checked += 1
    assert checked > 50


NEGATIVE = re.compile("nicht|kein(e|en|em|er|es)?")


@pytest.mark.parametrize(("kind", "dropped"), [("negation_dropped", True), ("negation_added", False)])
def test_polarity_differs(by_kind: dict[str, Found], kind: str, dropped: bool) -> None:
    """`kein` for `ein`, or a word more or less; English says which is right."""
    for pair, tree in by_kind[kind]:
        with_it, without = (pair.correct, pair.contrastive) if dropped else (pair.contrastive, pair.correct)
        more = Counter(map(lowered, with_it.split())) - Counter(map(lowered, without.split()))
        less = Counter(map(lowered, without.split())) - Counter(map(lowered, with_it.split()))
        (negative,) = more
        assert NEGATIVE.fullmatch(negative) and {*less} <= {negative.removeprefix("k")}, pair
        root = next(token for token in tree if token["head"] == 0)
        said = any(token["form"] == "not" and token["head"] == root["id"] for token in tree)
        assert said == dropped, pair


@pytest.mark.parametrize("kind", READINGS)
def test_an_ambiguous_sentence_comes_in_both_readings(by_kind: dict[str, Found], kind: str) -> None:
    """So that what gives both the same probabilities, as it sees no tree, is right in just half of the pairs."""
    pairs = by_kind[kind]
    assert len(pairs) == PAIRS // 9
    for (one, tree), (other, other_tree) in zip(pairs[::2], pairs[1::2], strict=True):
        assert one.source == other.source
        assert (one.correct, one.contrastive) == (other.contrastive, other.correct)
        assert [token["head"] for token in tree] != [token["head"] for token in other_tree]


def test_attachments_are_told_by_the_tree_alone(made: dict[str, Path], by_kind: dict[str, Found]) -> None:
    high_first: dict[str, list[bool]] = {}
    for pair, tree in by_kind["relative_attachment"]:
        pronouns = [(a, b) for a, b in zip(pair.correct.split(), pair.contrastive.split(), strict=True) if a != b]
        assert 1 <= len(pronouns) <= 2 and {*pronouns[0]} <= {"der", "die", "das", "den", "dem", "denen"}, pair
        that = [token for token in tree if token["form"] == "that" and token["xpos"] == "WDT"]
        assert that
        clause = next(t for t in tree if t["deprel"] == "acl:relcl" and t["id"] > that[0]["id"])
        high_first.setdefault("that", []).append(that[0]["id"] - clause["head"] > 1)
    for pair, tree in by_kind["phrase_attachment"]:
        correct, wrong = pair.correct.split(), pair.contrastive.split()
        assert sorted(correct) == sorted(wrong) and correct != wrong and "mit" in correct, pair
        first = next(n for n, (a, b) in enumerate(zip(correct, wrong, strict=True)) if a != b)
        # In one of them the phrase comes first, which is the one that belongs to the verb.
        high = correct[first] == "mit"
        assert high != (wrong[first] == "mit"), pair
        relations = {tree[token["head"] - 1]["deprel"] for token in tree if token["form"] == "with"}
        assert ("obl" if high else "nmod") in relations, pair
        high_first.setdefault("with", []).append(high)
    for what, high in high_first.items():
        assert binomtest(sum(high[::2]), len(high) // 2).pvalue > 0.001, what


def test_some_kinds_alone_from_a_share(tmp_path: Path) -> None:
    kinds = [ContrastiveErrorKind.case, ContrastiveErrorKind.agreement]
    options = {"kinds": kinds, "share_from": 0.5, "share_to": 0.6, "lexicon": LexiconSize.compact, "digits": False}
    paths = run(tmp_path, sentences=21, **options)
    assert Counter(pair.kind for pair in read_contrastive_pairs(paths["pairs"])) == {"case": 11, "agreement": 10}
    again = run(tmp_path / "again", sentences=21, **options)
    assert all(paths[name].read_bytes() == again[name].read_bytes() for name in NAMES)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sentences": 5, "share_to": 1.5}, "share_to"),
        ({"sentences": 50, "max_length": 4}, "ask for fewer sentences"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_no_file(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        run(tmp_path, kinds=[ContrastiveErrorKind.phrase_attachment], **options)
    assert not list(tmp_path.iterdir())
