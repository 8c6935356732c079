"""Control characters and invisible characters, from the Unicode Character Database, and counting of words."""

import re

from pipeline_py.files.language_properties import (
    HAN_KANA_RANGES,
    UNSPACED_CHARACTER_RANGES,
    UNSPACED_LANGUAGES,
    UNSPACED_LETTER_RANGES,
    get_base_language,
)

_CONTROL_CHARACTERS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""Category Cc, with tab and carriage return, and two separators that some tools treat as line ends."""

_INVISIBLE_CHARACTERS = re.compile("[\u00ad\u061c\u180e\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
"""Soft hyphen, byte order mark, word joiner, invisible operators, marks of writing direction."""

_JOINER_CHARACTERS = re.compile("[\u200c\u200d\ufe00-\ufe0f]+")
"""ZWNJ, ZWJ and variation selectors, which change the shape of adjacent letters or emoji."""

LETTERS_PER_WORD = 5
"""Assumed length of a word of Thai, Lao, Tibetan, Burmese or Khmer, vowel signs and tone marks included."""

_WORD_PATTERN = re.compile(
    rf"[{HAN_KANA_RANGES}]|[{UNSPACED_LETTER_RANGES}]{{1,{LETTERS_PER_WORD}}}|[^\s{UNSPACED_CHARACTER_RANGES}]+"
)


def replace_control_characters(text: str) -> str:
    """Return `text` with each control character or line separator replaced by a space."""
    return _CONTROL_CHARACTERS.sub(" ", text)


def remove_invisible_characters(text: str) -> str:
    """Return `text` without invisible characters; a zero-width space, which separates words, becomes a space.

    ZWJ, ZWNJ and variation selectors stay, since they are distinctive inside a word.
    """
    return _INVISIBLE_CHARACTERS.sub("", text.replace("\u200b", " "))


def remove_joiners(text: str) -> str:
    """Return `text` without ZWJ, ZWNJ and variation selectors."""
    return _JOINER_CHARACTERS.sub("", text)


def is_visible_token(token: str) -> bool:
    """Return whether a token has a visible character, after `remove_invisible_characters`."""
    return _JOINER_CHARACTERS.fullmatch(token) is None


def is_ascii_word_char(character: str) -> bool:
    """Return whether a character is an ASCII letter, an ASCII digit or `_`."""
    return character.isascii() and (character.isalnum() or character == "_")


def has_word_spaces(language: str) -> bool:
    """Return whether a language (ISO 639 code) is written with spaces between words."""
    return get_base_language(language) not in UNSPACED_LANGUAGES


def count_words(text: str, is_tokenized: bool = False) -> int:
    """Count the words between whitespace.

    In untokenized text, each Han or Kana character is also a word, and so are five letters of Thai, Lao, Tibetan,
    Burmese or Khmer.
    """
    text = remove_invisible_characters(text)
    return len(text.split()) if is_tokenized else len(_WORD_PATTERN.findall(text))
