"""Tests of the stage `generate_contrastive_pairs`: independent checks of each kind of error."""

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
    FINITE_FORMS,
    NOUN_AGREEMENTS,
    SUBJUNCTIONS,
    find_disagreements,
    get_agreements,
    get_ending,
)

PAIRS = 540
NAMES = ("pairs", "conllu", "ptb", "counts")
VERBS = [inflect_german_verb(name) for name in ("sein", "haben", "werden", "können", "müssen", "sollen", "wollen")] + [
    sense.german_verb for sense in SENSES
]
READINGS = ("relative_attachment", "phrase_attachment")
PairsWithTrees = list[tuple[ContrastivePair, conllu.TokenList]]


def run(directory: Path, **options: Any) -> dict[str, Path]:
    paths = {name: directory / f"pairs.{name if name != 'pairs' else 'tsv'}" for name in NAMES}
    generate_contrastive_pairs(**{f"{name}_output": path for name, path in paths.items()}, **options)
    return paths


@pytest.fixture(scope="module", params=[*LexiconSize])
def outputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("contrast")
    return run(directory, sentences=PAIRS, kinds=[*ContrastiveErrorKind], seed=3, max_length=25, lexicon=request.param)


@pytest.fixture(scope="module")
def pairs_by_kind(outputs: dict[str, Path]) -> dict[str, PairsWithTrees]:
    trees = conllu.parse(outputs["conllu"].read_text(encoding="utf-8"))
    pairs: dict[str, PairsWithTrees] = {}
    for pair, tree in zip(read_contrastive_pairs(outputs["pairs"]), trees, strict=True):
        pairs.setdefault(pair.kind, []).append((pair, tree))
    return pairs


def find_changed_word(pair: ContrastivePair) -> tuple[int, str, str]:
    """Return the position, the correct form and the wrong form of the only word that differs."""
    correct, wrong = pair.correct.split(), pair.contrastive.split()
    ((position, form, wrong_form),) = [
        (position, a, b) for position, (a, b) in enumerate(zip(correct, wrong, strict=True)) if a != b
    ]
    return position, form, wrong_form


def count_words_between(tokens: list[str], position: int, forms: set[str]) -> set[int]:
    """Return the number of words between a position and each occurrence of one of the forms."""
    return {abs(position - end) - 1 for end, token in enumerate(tokens) if token in forms}


def test_kinds_take_turns_and_sentences_are_distinct(
    outputs: dict[str, Path], pairs_by_kind: dict[str, PairsWithTrees]
) -> None:
    kind_counts = dict.fromkeys(map(str, ContrastiveErrorKind), PAIRS // 9)
    assert {kind: len(pairs) for kind, pairs in pairs_by_kind.items()} == kind_counts
    pairs = [*read_contrastive_pairs(outputs["pairs"])]
    assert [pair.kind for pair in pairs[:10]] == [*ContrastiveErrorKind, "agreement"]
    ambiguous_count = sum(len(pairs_by_kind[kind]) for kind in READINGS)
    assert len({pair.source for pair in pairs}) == PAIRS - ambiguous_count / 2
    assert all(pair.correct != pair.contrastive and pair.distance.isdigit() for pair in pairs)
    counts = json.loads(outputs["counts"].read_text(encoding="utf-8"))
    assert counts["kept"] == PAIRS and counts["in"] == PAIRS + sum(counts["dropped"].values())
    assert counts["noted"] == kind_counts


def test_trees_have_the_words_of_the_sources(
    outputs: dict[str, Path], pairs_by_kind: dict[str, PairsWithTrees]
) -> None:
    sources = [pair.source for pair in read_contrastive_pairs(outputs["pairs"])]
    brackets = outputs["ptb"].read_text(encoding="utf-8").splitlines()
    assert [" ".join(Tree.fromstring(line).leaves()) for line in brackets] == sources
    for pairs in pairs_by_kind.values():
        assert all(pair.source == " ".join(token["form"] for token in tree) for pair, tree in pairs)


def test_correct_translations_agree(pairs_by_kind: dict[str, PairsWithTrees]) -> None:
    correct = [pair.correct for pairs in pairs_by_kind.values() for pair, _ in pairs]
    assert [error for text in correct for error in find_disagreements(text)] == []


def is_third_person_form(form: str, verb: GermanVerb, is_plural: bool) -> bool:
    return form.lower() in ((verb.present[2], verb.past[2]) if is_plural else (verb.present[1], verb.past[1]))


def test_agreement_is_wrong_in_number(pairs_by_kind: dict[str, PairsWithTrees]) -> None:
    for pair, tree in pairs_by_kind["agreement"]:
        position, form, wrong_form = find_changed_word(pair)
        root = next(token for token in tree if token["head"] == 0)
        subject = next(token for token in tree if token["deprel"] == "nsubj" and token["head"] == root["id"])
        number = subject["feats"]["Number"]
        is_plural = number == "Plur"
        assert any(
            is_third_person_form(form, verb, is_plural) and is_third_person_form(wrong_form, verb, not is_plural)
            for verb in VERBS
        ), pair
        attractors = [
            token
            for token in tree[subject["id"] : root["id"]]
            if token["upos"] in ("NOUN", "PROPN", "PRON") and token["feats"].get("Number", number) != number
        ]
        assert attractors, pair
        noun = next(noun for noun in NOUNS if noun.english == subject["lemma"])
        assert int(pair.distance) in count_words_between(
            pair.correct.split(), position, {noun.german, noun.german_plural}
        ), pair


def test_wrong_particles_are_prefixes_of_other_verbs(pairs_by_kind: dict[str, PairsWithTrees]) -> None:
    verbs = [sense.german_verb for sense in SENSES]
    prefixes = {verb.prefix for verb in verbs}
    same_base_count = 0
    for pair, _ in pairs_by_kind["particle"]:
        position, form, wrong_form = find_changed_word(pair)
        tokens = pair.correct.split()
        assert {form, wrong_form} <= prefixes and tokens[position + 1] in (".", ",", "und", "aber", "oder")
        bases = {verb.base for verb in verbs if verb.prefix == form}
        same_base_count += any(verb.prefix == wrong_form and verb.base in bases for verb in verbs)
        finite_forms = {finite for verb in verbs if verb.prefix == form for finite in (*verb.present, *verb.past)}
        assert int(pair.distance) in count_words_between(tokens, position, finite_forms), pair
    assert same_base_count > 10


def test_wrong_prefixes_are_no_acceptable_translations(pairs_by_kind: dict[str, PairsWithTrees]) -> None:
    """*Räumte das Hemd auf* also translates *put away the shirt*."""
    verbs = {
        f"{sense.german_verb.prefix} {sense.german_verb.base}": sense.german_verb
        for sense in SENSES
        if sense.german_verb.prefix
    }
    assert {*ACCEPTABLE_PREFIXES} <= {*verbs}
    for name, verb in verbs.items():
        prefixes = list_wrong_prefixes(verb)
        assert prefixes and not {*prefixes} & {verb.prefix, *ACCEPTABLE_PREFIXES.get(name, "").split()}
    assert "auf" not in list_wrong_prefixes(verbs["weg räumen"]) and list_wrong_prefixes(verbs["an ziehen"]) == ["aus"]
    for pair, _ in pairs_by_kind["particle"]:
        _, form, wrong_form = find_changed_word(pair)
        assert any(verb.prefix == form and wrong_form in list_wrong_prefixes(verb) for verb in verbs.values()), pair


def find_noun_and_endings(tokens: list[str], position: int) -> tuple[str, list[str | None]]:
    """Return the noun of an article, and the endings of the adjectives between them."""
    end = next(n for n in range(position + 1, len(tokens)) if tokens[n] in NOUN_AGREEMENTS)
    return tokens[end], [get_ending(word) for word in tokens[position + 1 : end] if get_ending(word)]


def lower_first_letter(form: str) -> str:
    return form[0].lower() + form[1:]


@pytest.mark.parametrize("kind", ["case", "gender"])
def test_an_article_is_wrong_only_in_case_or_gender(pairs_by_kind: dict[str, PairsWithTrees], kind: str) -> None:
    detected_count = 0
    for pair, _ in pairs_by_kind[kind]:
        position, form, wrong_form = find_changed_word(pair)
        form, wrong_form = lower_first_letter(form), lower_first_letter(wrong_form)
        tokens = pair.correct.split()
        noun, endings = find_noun_and_endings(tokens, position)
        if form not in ARTICLES:  # `viele`, `einige`
            assert kind == "case" and re.match("viel|einig|mehrer", form), pair
            continue
        correct = get_agreements(noun, form, endings)
        wrong = {*ARTICLES[wrong_form].split()}
        assert correct and not correct & wrong, pair
        if kind == "gender":
            detected_count += bool(find_disagreements(pair.contrastive))
            assert not get_agreements(noun, wrong_form, []), pair
            assert int(pair.distance) in count_words_between(tokens, position, {noun}), pair
        else:
            assert {gender for gender, _ in wrong} & {gender for gender, _ in correct}, pair
    # After a comma, the checker cannot distinguish an article from a relative pronoun.
    assert kind == "case" or detected_count > 0.9 * len(pairs_by_kind[kind])


def test_the_verb_is_second_instead_of_last(pairs_by_kind: dict[str, PairsWithTrees]) -> None:
    subjunction_count = 0
    for pair, _ in pairs_by_kind["verb_final"]:
        correct, wrong = pair.correct.split(), pair.contrastive.split()
        start = next(n for n, (a, b) in enumerate(zip(correct, wrong, strict=False)) if a != b)
        verb = wrong[start].lower()
        assert verb in FINITE_FORMS, pair
        # The same words, except for a separated prefix.
        assert sorted("".join(correct)) == sorted("".join(wrong)), pair
        last = start + int(pair.distance)
        assert correct[last].endswith(verb) and correct[last + 1] in (",", ".", "und", "oder", "aber"), pair
        subjunction_count += any(word.lower() in SUBJUNCTIONS for word in correct[max(start - 4, 0) : start])
    assert subjunction_count > 30


NEGATIVE = re.compile("nicht|kein(e|en|em|er|es)?")


@pytest.mark.parametrize(("kind", "is_dropped"), [("negation_dropped", True), ("negation_added", False)])
def test_only_one_translation_is_negated(pairs_by_kind: dict[str, PairsWithTrees], kind: str, is_dropped: bool) -> None:
    for pair, tree in pairs_by_kind[kind]:
        negated, affirmative = (
            Counter(map(lower_first_letter, text.split()))
            for text in ((pair.correct, pair.contrastive) if is_dropped else (pair.contrastive, pair.correct))
        )
        (negative,) = negated - affirmative
        assert NEGATIVE.fullmatch(negative) and {*(affirmative - negated)} <= {negative.removeprefix("k")}, pair
        root = next(token for token in tree if token["head"] == 0)
        is_negated = any(token["form"] == "not" and token["head"] == root["id"] for token in tree)
        assert is_negated == is_dropped, pair


@pytest.mark.parametrize("kind", READINGS)
def test_an_ambiguous_sentence_occurs_with_both_readings(pairs_by_kind: dict[str, PairsWithTrees], kind: str) -> None:
    pairs = pairs_by_kind[kind]
    for (first, first_tree), (second, second_tree) in zip(pairs[::2], pairs[1::2], strict=True):
        assert first.source == second.source
        assert (first.correct, first.contrastive) == (second.contrastive, second.correct)
        assert [token["head"] for token in first_tree] != [token["head"] for token in second_tree]


def test_the_correct_translation_follows_the_tree_and_the_first_reading_is_random(
    pairs_by_kind: dict[str, PairsWithTrees],
) -> None:
    high_flags: dict[str, list[bool]] = {"that": [], "with": []}
    for pair, tree in pairs_by_kind["relative_attachment"]:
        pronouns = [(a, b) for a, b in zip(pair.correct.split(), pair.contrastive.split(), strict=True) if a != b]
        assert 1 <= len(pronouns) <= 2 and {*pronouns[0]} <= {"der", "die", "das", "den", "dem", "denen"}, pair
        pronoun = next(token for token in tree if token["form"] == "that" and token["xpos"] == "WDT")
        verb = next(token for token in tree if token["deprel"] == "acl:relcl" and token["id"] > pronoun["id"])
        high_flags["that"].append(pronoun["id"] - verb["head"] > 1)
    for pair, tree in pairs_by_kind["phrase_attachment"]:
        correct, wrong = pair.correct.split(), pair.contrastive.split()
        assert sorted(correct) == sorted(wrong) and correct != wrong and "mit" in correct, pair
        start = next(n for n, (a, b) in enumerate(zip(correct, wrong, strict=True)) if a != b)
        # The phrase comes first if it is attached to the verb.
        is_high = correct[start] == "mit"
        assert is_high != (wrong[start] == "mit"), pair
        relations = {tree[token["head"] - 1]["deprel"] for token in tree if token["form"] == "with"}
        assert ("obl" if is_high else "nmod") in relations, pair
        high_flags["with"].append(is_high)
    for word, flags in high_flags.items():
        assert binomtest(sum(flags[::2]), len(flags) // 2).pvalue > 0.001, word


def test_some_kinds_are_generated_from_a_share_reproducibly(tmp_path: Path) -> None:
    kinds = [ContrastiveErrorKind.case, ContrastiveErrorKind.agreement]
    options = {"kinds": kinds, "share_from": 0.5, "share_to": 0.6, "lexicon": LexiconSize.compact, "digits": False}
    paths = run(tmp_path, sentences=21, **options)
    assert Counter(pair.kind for pair in read_contrastive_pairs(paths["pairs"])) == {"case": 11, "agreement": 10}
    second_paths = run(tmp_path / "second", sentences=21, **options)
    assert all(paths[name].read_bytes() == second_paths[name].read_bytes() for name in NAMES)


def test_sources_and_both_translations_have_only_frequent_words_of_texts(tmp_path: Path) -> None:
    options = {"kinds": [ContrastiveErrorKind.phrase_attachment], "max_length": 9, "digits": False}
    pairs = [*read_contrastive_pairs(run(tmp_path / "all", sentences=400, **options)["pairs"])]
    sides = ("source", "correct")
    for side in sides:
        (tmp_path / side).write_text("".join(f"{getattr(pair, side)}\n" for pair in pairs), encoding="utf-8")
    texts = {"source_texts": [tmp_path / "source"], "target_texts": [tmp_path / "correct"], "min_count": 9}
    paths = run(tmp_path / "some", sentences=40, seed=2, **options, **texts)
    counts = [Counter(re.findall(r"\w+", (tmp_path / side).read_text(encoding="utf-8").lower())) for side in sides]
    for pair in read_contrastive_pairs(paths["pairs"]):
        assert min(counts[0][word] for word in re.findall(r"\w+", pair.source.lower())) >= 9
        translations = f"{pair.correct} {pair.contrastive}"
        assert min(counts[1][word] for word in re.findall(r"\w+", translations.lower())) >= 9
    assert json.loads(paths["counts"].read_text())["dropped"]["with a rare word"] > 40


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sentences": 5, "share_to": 1.5}, "share_to"),
        ({"sentences": 50, "max_length": 4}, "ask for fewer sentences"),
    ],
)
def test_impossible_options_raise_an_error_and_write_no_file(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        run(tmp_path, kinds=[ContrastiveErrorKind.phrase_attachment], **options)
    assert not list(tmp_path.iterdir())
