"""Detection of treebanks in another language than the text, by the share of frequent words that they have in common."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from unicodedata import normalize

from pipeline_py.files.language_properties import UNSPACED_CHARACTER_RANGES
from pipeline_py.files.text_files import read_byte_lines
from pipeline_py.syntax.trees.dependency import read_dependency_trees

FREQUENT_WORD_COUNT = 200

MIN_SHARED_WORD_SHARE = 0.3
"""Minimum share for the same language. Observed shares are above 0.5 for one language and below 0.2 for two."""

MAX_READ_TREES, MIN_TREEBANK_TREES = 2000, 500
MAX_READ_LINES = 1000

# Each character of a script without spaces counts as a word.
_WORD_PATTERN = re.compile(rf"[{UNSPACED_CHARACTER_RANGES}]|(?:(?![{UNSPACED_CHARACTER_RANGES}])[^\W\d_])+")

_KANA_PATTERN = re.compile("[\u3041-\u30ff]")

MIN_KANA_SHARE = 0.05
"""Minimum share of kana among the frequent words of Japanese (observed: above 0.3; in Chinese: 0)."""


def describe_language_mismatch(treebank: Path, text_paths: Sequence[Path]) -> str | None:
    """Describe why a treebank seems to be in another language than texts; None if it does not or if they are small.

    Kana distinguish Japanese from Chinese, since both use Han characters.

    Args:
        treebank: CoNLL-U; only the first trees are read.
        text_paths: Text files; only their first lines are read.

    Raises:
        InputError: A tree is malformed.
    """
    share = compute_shared_word_share(treebank, text_paths)
    if share is None:
        return None
    words = {treebank: _count_treebank_words(treebank)[0], text_paths[0]: _count_text_words(text_paths)}
    with_kana = [path for path in words if _compute_kana_share(words[path]) >= MIN_KANA_SHARE]
    without_kana = [path for path in words if path not in with_kana]
    if with_kana and without_kana:
        return f"{with_kana[0]} is written with kana, and {without_kana[0]} is not"
    if share < MIN_SHARED_WORD_SHARE:
        frequent_words = f"{FREQUENT_WORD_COUNT} most frequent words of {text_paths[0]}"
        return f"its treebank {treebank} has {share:.0%} of the {frequent_words}"
    return None


def compute_shared_word_share(treebank: Path, text_paths: Sequence[Path]) -> float | None:
    """Return the share (0 to 1) of frequent words of the texts that the treebank contains; None if too small."""
    treebank_words, trees = _count_treebank_words(treebank)
    frequent = _count_text_words(text_paths).most_common(FREQUENT_WORD_COUNT)
    if trees < MIN_TREEBANK_TREES or len(frequent) < FREQUENT_WORD_COUNT:
        return None
    return sum(word in treebank_words for word, _ in frequent) / len(frequent)


def _compute_kana_share(word_counts: Counter[str]) -> float:
    frequent = word_counts.most_common(FREQUENT_WORD_COUNT)
    return sum(bool(_KANA_PATTERN.match(word)) for word, _ in frequent) / max(len(frequent), 1)


@cache
def _count_treebank_words(treebank: Path) -> tuple[Counter[str], int]:
    """Count the words in the first trees of a treebank, and these trees."""
    words: Counter[str] = Counter()
    trees = 0
    for tree in islice(read_dependency_trees(treebank), MAX_READ_TREES):
        trees += 1
        words.update(_extract_words([*tree.words, *(token.form for token in tree.multiword_tokens)]))
    return words, trees


@cache
def _count_text_words(text_paths: Sequence[Path]) -> Counter[str]:
    lines = (
        line.decode("utf-8", "replace") for text in text_paths for line in islice(read_byte_lines(text), MAX_READ_LINES)
    )
    return Counter(_extract_words(lines))


def _extract_words(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from _WORD_PATTERN.findall(normalize("NFC", line).lower())
