"""Vocabularies: their order, their size, their identifiers."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from pipeline_py.run.errors import InputError
from pipeline_py.subword.vocabulary import EOS, UNK, Vocabulary, read_token_counts, vocabulary

TEXT = "b a b </s> c\n\n<unk> <unk> é Z z\u00a0z c\n"


def build(tmp_path: Path, text: str, **options: int) -> list[str]:
    (tmp_path / "text").write_bytes(text.encode())
    vocabulary(input=[tmp_path / "text"], output=tmp_path / "vocabulary", **options)
    return (tmp_path / "vocabulary").read_bytes().decode().split("\n")[:-1]


def test_most_frequent_first_and_ties_by_codepoint(tmp_path: Path) -> None:
    lines = build(tmp_path, TEXT)
    assert lines == ["</s> 0", "<unk> 0", "b 2", "c 2", "Z 1", "a 1", "z\u00a0z 1", "é 1"]


def test_of_two_texts_are_their_words_together(tmp_path):
    (tmp_path / "en").write_text("a b b\n")
    (tmp_path / "de").write_text("a c\na\n")
    vocabulary(input=[tmp_path / "en", tmp_path / "de"], output=tmp_path / "vocabulary")
    assert [*read_token_counts(tmp_path / "vocabulary")][2:] == [("a", 3), ("b", 2), ("c", 1)]


def test_cut_offs_count_the_special_tokens(tmp_path: Path) -> None:
    assert build(tmp_path, TEXT, max_size=3) == ["</s> 0", "<unk> 0", "b 2"]
    assert build(tmp_path, TEXT, min_count=2) == ["</s> 0", "<unk> 0", "b 2", "c 2"]
    with pytest.raises(InputError, match="no token occurs 9 times; lower min_count"):
        build(tmp_path, TEXT, min_count=9)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text("abé\U0001f600\ue000", min_size=1, max_size=2), min_size=1), st.integers(3, 9), st.integers(1, 3)
)
def test_against_a_naive_count(tmp_path: Path, tokens: list[str], size: int, least: int) -> None:
    assume(max(Counter(tokens).values()) >= least)
    lines = build(tmp_path, " ".join(tokens) + "\n", max_size=size, min_count=least)
    expected = [f"{token} {count}" for token, count in sorted(Counter(tokens).items()) if count >= least]
    expected.sort(key=lambda line: -int(line.split()[1]))
    assert lines == ["</s> 0", "<unk> 0", *expected][:size]


def test_encoding_and_decoding(tmp_path: Path) -> None:
    build(tmp_path, TEXT)
    loaded = Vocabulary.load(tmp_path / "vocabulary")
    assert len(loaded) == 8
    assert loaded.tokens[EOS] == "</s>"
    assert loaded.counts == [0, 0, 2, 2, 1, 1, 1, 1]
    ids = loaded.encode(["b", "z\u00a0z", "never seen", "</s>", "<unk>"])
    assert ids == [2, 6, UNK, UNK, UNK]
    assert loaded.decode([*ids[:3], EOS]) == ["b", "z\u00a0z", "<unk>", "</s>"]


@pytest.mark.parametrize("text", ["</s> 0\n<unk> 0\na\n", "a 3\nb 2\n", "", "a b\n"])
def test_a_file_that_is_no_vocabulary_is_named(tmp_path: Path, text: str) -> None:
    """It may be an argument of `force_decode`."""
    (tmp_path / "vocabulary").write_text(text)
    with pytest.raises(InputError, match=r"vocabulary: not a vocabulary; give a file that subword\.vocabulary wrote"):
        Vocabulary.load(tmp_path / "vocabulary")


def test_a_size_without_room_for_a_token(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="max_size must be 0"):
        build(tmp_path, TEXT, max_size=2)


def test_a_text_without_words_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="text: no token in the file"):
        build(tmp_path, "\n \n")
