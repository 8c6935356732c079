"""The share of a text's frequent words that a treebank has, which tells whether both are of one language."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from unicodedata import normalize

from pipeline_py.files.text import read_bytes
from pipeline_py.syntax.trees.dependency import read_dependencies

FREQUENT = 200
"""The number of frequent words."""

LEAST_SHARE = 0.3
"""The least share that a treebank of the language has: of one language it is above 0.5, of two below 0.2."""

TREES, LEAST_TREES = 2000, 500
LINES = 1000

_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts without spaces between words, each of whose characters counts as a word."""

_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W\d_])+")


_KANA = re.compile("[\u3041-\u30ff]")

LEAST_KANA = 0.05
"""The least share of kana among the frequent words of Japanese: above 0.3 in Japanese, and 0 in Chinese."""


def describe_difference(treebank: Path, texts: Sequence[Path]) -> str | None:
    """Describe by which words a treebank is of another language than texts; None if it is not, or they are too small.

    Han characters are common to Chinese and Japanese, so that kana decide between these.

    Args:
        treebank: CoNLL-U, of which the first trees are read.
        texts: files of which the first lines are read.

    Raises:
        InputError: a tree is malformed.
    """
    share = share_of_frequent_words(treebank, texts)
    if share is None:
        return None
    words = {treebank: _words_of_trees(treebank)[0], texts[0]: _words_of_texts(texts)}
    with_kana = [path for path in words if _share_of_kana(words[path]) >= LEAST_KANA]
    without_kana = [path for path in words if path not in with_kana]
    if with_kana and without_kana:
        return f"{with_kana[0]} is written with kana, and {without_kana[0]} is not"
    if share < LEAST_SHARE:
        return f"its treebank {treebank} has {share:.0%} of the {FREQUENT} most frequent words of {texts[0]}"
    return None


def share_of_frequent_words(treebank: Path, texts: Sequence[Path]) -> float | None:
    """Return the share of the most frequent words of texts that are in a treebank, from 0 to 1; None if too small."""
    known, trees = _words_of_trees(treebank)
    frequent = _words_of_texts(texts).most_common(FREQUENT)
    if trees < LEAST_TREES or len(frequent) < FREQUENT:
        return None
    return sum(word in known for word, _ in frequent) / len(frequent)


def _share_of_kana(words: Counter[str]) -> float:
    frequent = words.most_common(FREQUENT)
    return sum(bool(_KANA.match(word)) for word, _ in frequent) / max(len(frequent), 1)


@cache
def _words_of_trees(treebank: Path) -> tuple[Counter[str], int]:
    """Count the words of a treebank's first trees, and these trees."""
    words: Counter[str] = Counter()
    trees = 0
    for tree in islice(read_dependencies(treebank), TREES):
        trees += 1
        words.update(_words([*tree.words, *(token.form for token in tree.multiword)]))
    return words, trees


@cache
def _words_of_texts(texts: Sequence[Path]) -> Counter[str]:
    lines = (line.decode("utf-8", "replace") for text in texts for line in islice(read_bytes(text), LINES))
    return Counter(_words(lines))


def _words(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from _WORD.findall(normalize("NFC", line).lower())
