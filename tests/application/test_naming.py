"""Names and paths of systems, argument checks, and splitting of long lines."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pipeline_py
from pipeline_py.application.system import (
    MAX_SENTENCE_CHARACTERS,
    System,
    Translation,
    _join_n_best_parts,
    _parse_system_path,
    split_long_text,
)
from pipeline_py.run.errors import InputError


@pytest.mark.parametrize(
    ("name_or_path", "parts"),
    [
        ("SDAtt [gold]", (None, "SDAtt [gold]", None)),
        ("results/nmt/SDAtt/seed2", (Path("results"), "SDAtt", "seed2")),
        ("results/nmt/SDAtt/seed2/model.safetensors", (Path("results"), "SDAtt", "seed2")),
        ("/a/results/x/smt/PBSMT", (Path("/a/results/x"), "PBSMT", None)),
    ],
)
def test_a_system_is_a_name_or_a_folder(name_or_path, parts):
    assert _parse_system_path(name_or_path) == parts
    assert _parse_system_path(Path(name_or_path)) == parts


def test_another_folder_is_rejected():
    with pytest.raises(InputError, match="write SDAtt or results/nmt/SDAtt/seed1"):
        _parse_system_path("results/table1.tsv")


@given(st.text(st.sampled_from("ab \t語"), max_size=12).map(lambda text: text * (MAX_SENTENCE_CHARACTERS // 6)))
def test_parts_hold_all_words(sentence):
    parts = split_long_text(sentence)
    assert parts and all(len(part) <= MAX_SENTENCE_CHARACTERS for part in parts)
    assert "".join("".join(parts).split()) == "".join(sentence.split())
    if len(sentence) <= MAX_SENTENCE_CHARACTERS:
        assert parts == [sentence]


def test_words_stay_whole_where_there_are_spaces():
    parts = split_long_text("well-known word " * MAX_SENTENCE_CHARACTERS)
    assert {*" ".join(parts).split()} == {"well-known", "word"}


def test_the_translations_of_parts_are_joined():
    parts = [[Translation("a", -1.0), Translation("b", -2.0)], [Translation("c", -0.5)], [Translation("", -0.1)]]
    assert _join_n_best_parts(parts) == [("a c", pytest.approx(-1.6)), ("b c", pytest.approx(-2.6))]


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ("A man sleeps .", "give a list of sentences, not one text"),
        (5, "give a list of sentences, not one text"),
        (["A man sleeps .", 5], "sentence 2 is a int; give a text"),
    ],
)
def test_arguments_that_are_not_lists_of_texts_are_rejected(sentences, message):
    with pytest.raises(TypeError, match=message):
        System.translate(object.__new__(System), sentences)


@pytest.mark.parametrize("pairs", [["abc"], [("a", "b"), ("c",)], [("a", 1)], [["a", "b", "c"]]])
def test_arguments_that_are_not_pairs_of_texts_are_rejected(monkeypatch, pairs):
    monkeypatch.setattr(System, "_check_is_neural", lambda self, feature: None)
    with pytest.raises(TypeError, match=f"pair {len(pairs)}: give a source and its translation, two texts"):
        System.score(object.__new__(System), pairs)


def test_the_package_exports_its_public_names():
    assert pipeline_py.load is not None
    with pytest.raises(AttributeError, match="no attribute 'laod'"):
        pipeline_py.laod  # noqa: B018
