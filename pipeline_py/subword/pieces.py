"""Pieces and the words they make up: a piece that ends with `@@` goes on, any other ends its word.

`apply_bpe` ensures that the last piece of a word never ends with `@@`, even if `@@` occurs in the text.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from pipeline_py.files.text_files import read_lines, split_tokens

CONTINUATION_MARK = "@@"


def read_tokens(path: Path) -> Iterator[list[str]]:
    """Yield the tokens or pieces of each line of a file."""
    return map(split_tokens, read_lines(path))


def mark_pieces(parts: Iterable[str]) -> list[str]:
    """Mark the parts of one word as its pieces.

    If the last part ends with `@@`, its last character becomes a separate piece: `a@@` becomes `a@@@` and `@`.
    """
    *parts, last = parts
    if last.endswith(CONTINUATION_MARK):
        parts.append(last[:-1])
        last = last[-1]
    return [*(part + CONTINUATION_MARK for part in parts), last]


def find_word_indices(pieces: list[str]) -> list[int]:
    """Return for each of P pieces the index of its word, counted from 0; the end of the line ends a word, too."""
    words = []
    word = 0
    for piece in pieces:
        words.append(word)
        word += not piece.endswith(CONTINUATION_MARK)
    return words


def group_by_word(pieces: list[str]) -> list[list[str]]:
    """Return the pieces of each word."""
    return [
        [piece for piece, _ in group]
        for _, group in groupby(zip(pieces, find_word_indices(pieces), strict=True), key=lambda pair: pair[1])
    ]


def join_pieces(pieces: list[str]) -> list[str]:
    """Return the words that pieces make up."""
    return ["".join(piece.removesuffix(CONTINUATION_MARK) for piece in word) for word in group_by_word(pieces)]
