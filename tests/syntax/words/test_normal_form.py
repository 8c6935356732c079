"""Tests of NFC composition with offsets."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.syntax.words.token_alignment import compose_with_offsets


@pytest.mark.parametrize("text", ["", "année", "chủ tịch", "한국어", "क़", "a\u0323\u0307b"])
@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_text_is_composed_with_offsets(text: str, form: str) -> None:
    normalized = unicodedata.normalize(form, text)  # type: ignore[arg-type]
    composed, starts = compose_with_offsets(normalized)
    assert composed == unicodedata.normalize("NFC", text)
    assert len(starts) == len(composed) + 1 and starts[-1] == len(normalized)


def test_letter_with_marks_is_one_character() -> None:
    decomposed = unicodedata.normalize("NFD", "né là")
    composed, starts = compose_with_offsets(decomposed)
    assert (composed, list(starts)) == ("né là", [0, 1, 3, 4, 5, 7])


@given(st.text(alphabet="ae\u0301\u0323\u0307e\u0302 한\u1112\u1161\u11abक\u093c\u0644\u0627\u064e\u0654", max_size=12))
def test_any_text_has_monotonic_offsets(text: str) -> None:
    composed, starts = compose_with_offsets(text)
    assert composed == unicodedata.normalize("NFC", text)
    assert list(starts) == sorted(starts) and starts[-1] == len(text)
