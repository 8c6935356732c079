"""Restriction of generated sentences to the frequent words of a parallel text."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pipeline_py.files.text_files import read_lines

WORD_PATTERN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class BilingualVocabulary:
    """Lower-cased words of both languages."""

    english: frozenset[str]
    german: frozenset[str]

    def has_words(self, english: str, *german: str) -> bool:
        """Return whether the vocabulary has all words of an English sentence and its translations."""
        return self.english.issuperset(split_words(english)) and all(
            self.german.issuperset(split_words(translation)) for translation in german
        )


def read_vocabulary(
    source_texts: Iterable[Path], target_texts: Iterable[Path], min_count: int
) -> BilingualVocabulary | None:
    """Return the words that occur at least `min_count` times in English and German texts; None if `min_count` is 0."""
    if not min_count:
        return None
    return BilingualVocabulary(
        _select_frequent_words(source_texts, min_count), _select_frequent_words(target_texts, min_count)
    )


def split_words(text: str) -> list[str]:
    """Split a text, tokenized or not, into lower-cased words without punctuation."""
    return WORD_PATTERN.findall(text.lower())


def _select_frequent_words(texts: Iterable[Path], min_count: int) -> frozenset[str]:
    counts = Counter(word for path in texts for line in read_lines(path) for word in split_words(line))
    return frozenset(word for word, count in counts.items() if count >= min_count)
