"""Convert dependency trees to rows of heads, one for each piece."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.kinds.heads import NO_HEAD
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword import pieces as subword
from pipeline_py.syntax.trees.dependency import read_dependency_trees
from pipeline_py.syntax.trees.tree_formats import check_trees_against_tokens

MAX_POSITION = np.iinfo(np.int16).max
"""The highest position in a row."""


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
    counts = SentenceCounts()
    write_ragged_rows(output, _build_head_rows(trees, tokens, pieces, parents, counts), "int16")
    counts.write_json_file(counts_output)


def find_piece_heads(word_heads: Sequence[int], word_indices: Sequence[int]) -> list[int]:
    """Find the heads of a sentence's pieces and of EOS.

    Args:
        word_heads: heads of the J words; 0 is the root, i is the i-th word counted from 1.
        word_indices: index of the word of each of the n pieces, 0 … J − 1.

    Returns:
        n + 1 positions, counted from 0.
    """
    first: dict[int, int] = {}
    heads = []
    for piece, word in enumerate(word_indices):
        first.setdefault(word, piece)
    for piece, word in enumerate(word_indices):
        if piece != first[word]:
            heads.append(first[word])
        else:
            heads.append(first[word_heads[word] - 1] if word_heads[word] else piece)
    return [*heads, len(heads)]


def find_parent_spans(word_heads: Sequence[int], word_indices: Sequence[int]) -> list[int]:
    """Find the spans of the head words of a sentence's pieces and of EOS; for arguments, see `find_piece_heads`.

    Returns:
        For each of n pieces and for EOS the first and the last position of the head word's pieces, 2 (n + 1) numbers.
    """
    spans: dict[int, tuple[int, int]] = {}
    for piece, word in enumerate(word_indices):
        first, _ = spans.get(word, (piece, piece))
        spans[word] = first, piece
    positions = [place for word in word_indices for place in spans[word_heads[word] - 1 if word_heads[word] else word]]
    return [*positions, len(word_indices), len(word_indices)]


def _build_head_rows(
    trees: Path, tokens: Path, pieces: Path, parents: bool, counts: SentenceCounts
) -> Iterator[np.ndarray]:
    parsed = check_trees_against_tokens(read_dependency_trees(trees), trees, tokens)
    sentences = show_progress(subword.read_tokens(pieces), f"pack_heads {pieces.name}")
    for number, (tree, units) in enumerate(zip_longest(parsed, sentences), start=1):
        if tree is None or units is None:
            shorter, longer = (trees, pieces) if tree is None else (pieces, trees)
            raise InputError(
                f"the file has {number - 1} sentences and {longer} has more; make both from the same text", shorter
            )
        if len(units) > MAX_POSITION:
            raise InputError(
                f"the sentence has {len(units)} pieces and heads are packed for up to {MAX_POSITION}; split the line",
                pieces,
                number,
            )
        words = _resolve_word_indices(units, len(tree.words), pieces, number)
        counts.add_kept()
        if not units:
            counts.add_noted("empty line")
        elif tree.failure_reason is not None:
            counts.add_noted("failed parse, no heads")
        elif len(tree.root_words) > 1:
            counts.add_noted("several roots")
        if tree.failure_reason is not None:
            row = [NO_HEAD] * ((2 if parents else 1) * (len(units) + 1))
        else:
            row = (find_parent_spans if parents else find_piece_heads)(tree.heads, words)
        yield np.array(row, dtype=np.int16)


def _resolve_word_indices(pieces: list[str], word_count: int, path: Path, line_number: int) -> list[int]:
    """Return the word index of each piece, and check the number of words."""
    if len(pieces) == word_count:
        return list(range(word_count))
    word_indices = subword.find_word_indices(pieces)
    if (piece_word_count := len({*word_indices})) != word_count:
        raise InputError(
            f"the pieces make {piece_word_count} words, but the sentence's tree has {word_count}; "
            "make both from the same text",
            path,
            line_number,
        )
    return word_indices
