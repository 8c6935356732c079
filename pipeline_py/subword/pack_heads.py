"""Turn dependency trees into rows of heads on disk, a head for each piece."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np

from pipeline_py.files.artifacts import Counts
from pipeline_py.files.ragged import write_rows
from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.subword import pieces as subword
from pipeline_py.syntax.trees.dependency import read_dependencies
from pipeline_py.syntax.trees.formats import with_tokens

LAST_POSITION = np.iinfo(np.int16).max
"""The last position that a row can name."""


def pack_heads(
    *, trees: Path, tokens: Path, pieces: Path, parents: bool = False, output: Path, counts_output: Path
) -> None:
    """Write the position of the head of every piece, counted from 0.

    The head of a word's first piece is the first piece of its head word; the head of each further piece is the first
    piece of the word. Roots, of which a sentence may have several, and EOS are their own heads, which means ROOT. If
    the parse failed, every value is −1.

    With `parents`, write for every piece of a word the positions of the first and the last piece of its head word. A
    root and EOS are their own parents.

    Args:
        trees: CoNLL-U, one block for each line of the text.
        tokens: The text of the trees, tokenized, one sentence a line.
        pieces: The pieces of the same words. A sentence with as many pieces as words has only whole words; it may
            therefore come from a text with other words that are not split.
        parents: Write the positions of the head word's pieces instead of the head.
        output: Arrow file; row k has n + 1 heads, those of the n pieces of sentence k and of EOS, int16; with
            `parents` two values for each.
        counts_output: JSON counts of sentences, of failed parses and of those with several roots.

    Raises:
        InputError: the trees are not those of the text, the files have different numbers of sentences or a sentence
            different numbers of words, or a sentence is too long for int16.
    """
    counts = Counts()
    write_rows(output, _rows(trees, tokens, pieces, parents, counts), "int16")
    counts.write(counts_output)


def heads_of_pieces(heads: Sequence[int], word_of_piece: Sequence[int]) -> list[int]:
    """Find the heads of a sentence's pieces and of EOS.

    Args:
        heads: of each of J words; 0 is the root, i is the i-th word counted from 1.
        word_of_piece: the index of each of n pieces' word, 0 … J − 1.

    Returns:
        n + 1 positions, counted from 0.
    """
    first: dict[int, int] = {}
    found = []
    for piece, word in enumerate(word_of_piece):
        first.setdefault(word, piece)
    for piece, word in enumerate(word_of_piece):
        if piece != first[word]:
            found.append(first[word])
        else:
            found.append(first[heads[word] - 1] if heads[word] else piece)
    return [*found, len(found)]


def parents_of_pieces(heads: Sequence[int], word_of_piece: Sequence[int]) -> list[int]:
    """Find where the head words of a sentence's pieces and of EOS stand; arguments as of `heads_of_pieces`.

    Returns:
        For each of n pieces and for EOS the first and the last position of the head word's pieces, 2 (n + 1) numbers.
    """
    spans: dict[int, tuple[int, int]] = {}
    for piece, word in enumerate(word_of_piece):
        first, _ = spans.get(word, (piece, piece))
        spans[word] = first, piece
    found = [place for word in word_of_piece for place in spans[heads[word] - 1 if heads[word] else word]]
    return [*found, len(word_of_piece), len(word_of_piece)]


def _rows(trees: Path, tokens: Path, pieces: Path, parents: bool, counts: Counts) -> Iterator[np.ndarray]:
    parsed = with_tokens(read_dependencies(trees), trees, tokens)
    sentences = progress(subword.read(pieces), f"pack_heads {pieces.name}")
    for number, (tree, units) in enumerate(zip_longest(parsed, sentences), start=1):
        if tree is None or units is None:
            shorter, longer = (trees, pieces) if tree is None else (pieces, trees)
            raise InputError(
                f"the file has {number - 1} sentences and {longer} has more; make both from the same text", shorter
            )
        if len(units) > LAST_POSITION:
            raise InputError(
                f"the sentence has {len(units)} pieces and heads are packed for up to {LAST_POSITION}; split the line",
                pieces,
                number,
            )
        words = _word_of_piece(units, len(tree.words), pieces, number)
        counts.keep()
        if not units:
            counts.note("empty line")
        elif tree.failed is not None:
            counts.note("failed parse, no heads")
        elif len(tree.roots) > 1:
            counts.note("several roots")
        if tree.failed is not None:
            found = [NO_HEAD] * ((2 if parents else 1) * (len(units) + 1))
        else:
            found = (parents_of_pieces if parents else heads_of_pieces)(tree.heads, words)
        yield np.array(found, dtype=np.int16)


def _word_of_piece(pieces: list[str], words: int, path: Path, line: int) -> list[int]:
    """Find the word of each piece, checking that there are so many words."""
    if len(pieces) == words:
        return list(range(words))
    found = subword.word_of_piece(pieces)
    if len({*found}) != words:
        raise InputError(
            f"the pieces make {len({*found})} words, but the sentence's tree has {words}; make both from the same text",
            path,
            line,
        )
    return found
