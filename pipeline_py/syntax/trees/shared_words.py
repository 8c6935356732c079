"""The share of a text's frequent words that a treebank has, which tells whether both are of one language."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from unicodedata import normalize

from pipeline_py.syntax.trees.dependency import read_dependencies
from pipeline_py.text import read_bytes

FREQUENT = 200
"""The number of frequent words."""

LEAST_SHARE = 0.3
"""The least share that a treebank of the language has: of one language it is above 0.5, of two below 0.2."""

TREES, LEAST_TREES = 2000, 500
LINES = 1000

_UNSPACED = "\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts without spaces between words, each of whose characters counts as a word."""

_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])[^\W\d_])+")


@cache
def share_of_frequent_words(treebank: Path, texts: Sequence[Path]) -> float | None:
    """Return the share of the most frequent words of texts that are in a treebank.

    Args:
        treebank: CoNLL-U, of which the first trees are read.
        texts: files of which the first lines are read.

    Returns:
        A number from 0 to 1; None if the treebank or the texts are too small for it.

    Raises:
        InputError: a tree is malformed.
    """
    known: set[str] = set()
    trees = 0
    for tree in islice(read_dependencies(treebank), TREES):
        trees += 1
        known.update(_words([*tree.words, *(token.form for token in tree.multiword)]))
    lines = (line.decode("utf-8", "replace") for text in texts for line in islice(read_bytes(text), LINES))
    frequent = [word for word, _ in Counter(_words(lines)).most_common(FREQUENT)]
    if trees < LEAST_TREES or len(frequent) < FREQUENT:
        return None
    return sum(word in known for word in frequent) / len(frequent)


def _words(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield from _WORD.findall(normalize("NFC", line).lower())
