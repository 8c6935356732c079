"""Tests of sentence hashes: sentences with equal tokens have equal hashes."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline_py.corpus.normalize_punctuation import build_punctuation_normalizer
from pipeline_py.corpus.shared_sentences import build_sentence_hasher
from pipeline_py.corpus.tokenize import load, tokenize

load_once = cache(load)

PARTS = ["a", "Ü", "Σ", "ς", "3", ",", ".", "...", ":", "'", '"', "„", "–", " ", "\u00a0", "\u00ad", "\u200b", "\u200d"]
SENTENCES = st.lists(st.sampled_from([*PARTS, "❤\ufe0f", "语", "EU:n", "@-@", "&amp;", "\ufeff"]), max_size=12).map(
    "".join
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(SENTENCES, min_size=1, max_size=20),
    st.sampled_from([("en", "moses"), ("fi", "moses"), ("fr", "moses"), ("zh", "jieba"), ("en", "none")]),
    st.booleans(),
    st.booleans(),
)
def test_a_sentence_has_the_hash_of_its_tokens(
    tmp_path: Path, sentences: list[str], side: tuple[str, str], lowercase: bool, normalizes: bool
) -> None:
    language, tokenizer = side
    sentences[0] = sentences[0].removeprefix("\ufeff")  # A file that begins with it is read without it.
    punctuation_language = language if normalizes and tokenizer != "none" else None
    normalize = build_punctuation_normalizer(language) if punctuation_language else str
    (tmp_path / "in").write_text("".join(f"{normalize(sentence)}\n" for sentence in sentences), encoding="utf-8")
    options = {"language": language, "tokenizer": tokenizer, "lowercase": lowercase}
    tokenize(input=tmp_path / "in", output=tmp_path / "out", segment=load_once(tokenizer, language), **options)
    tokens = (tmp_path / "out").read_text(encoding="utf-8").split("\n")[:-1]
    hash_sentence = build_sentence_hasher(tokenizer == "none", lowercase, punctuation_language)
    hash_tokens = build_sentence_hasher(tokenizer == "none", lowercase)
    assert [*map(hash_sentence, sentences)] == [*map(hash_tokens, tokens)]


@pytest.mark.parametrize(
    ("first", "second", "options"),
    [
        ("Haus", "haus", {}),
        ("Maße", "Masse", {"ignores_case": True}),
        ("any one", "anyone", {"is_tokenized": True}),
        ("a\u00ad", "a", {"is_tokenized": True}),
        ("„a“", '"a"', {}),
        ("", "a", {}),
    ],
)
def test_different_sentences_have_different_hashes(first: str, second: str, options: dict[str, bool]) -> None:
    hash_sentence = build_sentence_hasher(**options)
    assert hash_sentence(first) != hash_sentence(second)
