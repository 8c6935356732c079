"""Tests of reading slices of a tokenized text."""

from itertools import islice
from pathlib import Path

import pytest

from pipeline_py.run.errors import InputError
from pipeline_py.syntax.words.token_alignment import read_sentences

TEXT = "a  b \n\n \u00a0\u2028\x0b c\u200b\r\nd"
WORDS = [("a", "b"), (), ("\u00a0\u2028\x0b", "c\u200b"), ("d",)]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    (tmp_path / "t").write_bytes(TEXT.encode())
    return tmp_path / "t"


def test_slices_are_slices_of_the_text(text: Path) -> None:
    assert [*read_sentences(text)] == WORDS
    for first in range(6):
        assert [*read_sentences(text, first)] == WORDS[first:]
        for sentences in range(1, 6):
            assert [*read_sentences(text, first, sentences)] == WORDS[first : first + sentences]


@pytest.mark.parametrize("character", ["\t", "\r"])
def test_invalid_characters_are_rejected_in_their_slice_only(tmp_path: Path, character: str) -> None:
    (tmp_path / "t").write_bytes(f"a\nb{character}c\nd\n".encode())
    for first in (0, 1):
        with pytest.raises(InputError, match="t, line 2: a tab or a carriage return within the line"):
            list(read_sentences(tmp_path / "t", first))
    assert [*read_sentences(tmp_path / "t", 0, 1)] == [("a",)]
    assert [*read_sentences(tmp_path / "t", 2)] == [("d",)]


def test_lines_after_the_slice_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"a\nb\xff\n")
    assert [*islice(read_sentences(tmp_path / "t", 0, 1), 5)] == [("a",)]
