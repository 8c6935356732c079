"""Tests of word counts and invisible characters against the character names of Unicode."""

import sys
import unicodedata

import pytest

from pipeline_py.corpus.characters import (
    count_words,
    is_ascii_word_char,
    is_visible_token,
    remove_invisible_characters,
    replace_control_characters,
)

UNSPACED = (
    "CJK UNIFIED IDEOGRAPH",
    "CJK COMPATIBILITY IDEOGRAPH",
    "HIRAGANA LETTER",
    "KATAKANA LETTER",
    "HALFWIDTH KATAKANA LETTER",
)
SPACED = ("LATIN", "GREEK", "CYRILLIC", "HEBREW", "DEVANAGARI", "HANGUL SYLLABLE", "BOPOMOFO")


def test_only_han_and_kana_letters_are_words_of_their_own() -> None:
    for code in range(sys.maxunicode + 1):
        name = unicodedata.name(chr(code), "")
        if name.startswith(UNSPACED) and "MINNAN" not in name:  # Minnan tone marks are no syllables
            assert count_words(chr(code) * 2) == 2, name
        elif name.startswith(SPACED):
            assert count_words(chr(code) * 2) == 1, name


@pytest.mark.parametrize(
    ("text", "count", "tokenized_count"),
    [
        ("", 0, 0),
        (" \u3000\u00a0", 0, 0),
        ("two words", 2, 2),
        ("don't stop-it.", 2, 2),
        ("我喜欢Python 3", 5, 2),
        ("私 は 学生 です", 6, 4),
        ("한국어 문장", 2, 2),
        ("ฉันชอบอ่านหนังสือ ที่บ้าน", 6, 2),
        ("ខ្ញុំចូលចិត្តអានសៀវភៅ abc", 6, 2),
        ("a\u00a0b\u3000c\u2028d", 4, 4),
        ("a\u200bb", 2, 2),
        ("Schiff\u00adfahrt", 1, 1),
        ("\ufeff\u200b\u2060", 0, 0),
        ("👨\u200d👩\u200d👧", 1, 1),
    ],
)
def test_words_are_counted(text: str, count: int, tokenized_count: int) -> None:
    assert count_words(text) == count
    assert count_words(text, is_tokenized=True) == tokenized_count


def test_control_characters_and_line_separators_become_spaces() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        is_control = unicodedata.category(character) in ("Cc", "Zl", "Zp")
        assert replace_control_characters(character) == (" " if is_control else character)


def test_invisible_characters_are_removed_and_joiners_stay_inside_a_word() -> None:
    assert remove_invisible_characters("\ufeffa\u200bb\u00adc \u200fd\u2066") == "a bc d"
    persian = "می\u200cخواهم"
    assert remove_invisible_characters(persian) == persian
    assert is_visible_token(persian)
    assert not is_visible_token("\u200d")
    assert not is_visible_token("\ufe0f\u200d")


def test_ascii_word_characters_are_letters_digits_and_underscores() -> None:
    assert all(map(is_ascii_word_char, "aZ09_"))
    assert not any(map(is_ascii_word_char, "é中９ -.Ａ"))
