"""Transfer the syntax of words to their pieces: distances, labels, positions in the phrase tree."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from math import isqrt
from pathlib import Path
from typing import TypeVar

import numpy as np

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.ragged_arrays import read_ragged_rows, write_ragged_rows
from pipeline_py.kinds.syntax_kind import BinaryTreeLayout, DistanceMatrix, PositionTable, load_all_syntax_kinds
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword import pieces as subword
from pipeline_py.syntax.trees.constituency import (
    PhraseNode,
    PhraseTree,
    Preterminal,
    TreeNode,
    build_failed_phrase_tree,
    fold_tree,
    read_phrase_trees,
    write_phrase_trees,
)

Syntax = TypeVar("Syntax")


def inherit(*, kind: str, input: Path, pieces: Path, output: Path) -> None:
    """Transfer the syntax of words to their pieces; formats and line numbers stay the same.

    Distances are an Arrow file; row k has the (J+1)² distances between the J words of sentence k and EOS. Trees are
    binary Penn Treebank brackets, one tree a line. Other tables are Arrow files; row k has the values of the J words of
    sentence k and of EOS, such as (J+1) · 10 for dependency units, which refer to words, not pieces, before and after.
    Labels and similar values are text; line k has the values of the J words, separated by spaces.

    Args:
        kind: `distances`, `labels`, `trees`, `units` or another kind of syntax of words.
        input: The syntax of words.
        pieces: The pieces of the same sentences.
        output: The syntax of pieces.

    Raises:
        InputError: words have no such syntax, a sentence has another number of words in the two files, or one file
            has more sentences.
    """
    kinds = {syntax_kind.name: syntax_kind for syntax_kind in load_all_syntax_kinds() if syntax_kind.word_file_suffix}
    if kind not in kinds:
        raise InputError(f"{kind}: not a kind of syntax over words; give one of {', '.join(kinds)}")
    values, ending = kinds[kind].row_layout, kinds[kind].word_file_suffix or ""
    sentences = show_progress(subword.read_tokens(pieces), f"inherit {kind}")
    if isinstance(values, DistanceMatrix):
        write_ragged_rows(output, _read_and_inherit_distances(input, pieces, sentences), "uint8")
        return
    if isinstance(values, PositionTable) and ending.endswith(".arrow"):
        write_ragged_rows(output, _read_and_inherit_tables(input, pieces, sentences, values), "int16")
        return
    with open_atomic_text_file(output) as file:
        if isinstance(values, BinaryTreeLayout):
            write_phrase_trees(file, _read_and_inherit_trees(input, pieces, sentences))
        else:
            for labels in _read_and_inherit_labels(input, pieces, sentences):
                file.write(" ".join(labels) + "\n")


def inherit_distances(matrix: np.ndarray, word_indices: list[int]) -> np.ndarray:
    """Assign the distances of words to their pieces; pieces of the same word have distance 0.

    Args:
        matrix: (J+1, J+1) distances between words, EOS last.
        word_indices: (P,) the index of each piece's word, 0 … J-1.

    Returns:
        (P+1, P+1) distances between pieces, EOS last.
    """
    word = np.array([*word_indices, len(matrix) - 1])
    return matrix[np.ix_(word, word)]


def inherit_table(table: np.ndarray, word_indices: list[int]) -> np.ndarray:
    """Assign the values of words to their pieces, and those of EOS to EOS: (J+1, columns), (P,) → (P+1, columns)."""
    return table[[*word_indices, len(table) - 1]]


def inherit_labels(labels: list[str], word_indices: list[int]) -> list[str]:
    """Assign the labels of words to their pieces, (P,)."""
    return [labels[word] for word in word_indices]


def inherit_tree(tree: PhraseTree, pieces: list[list[str]]) -> PhraseTree:
    """Replace each split word by a left-branching tree over its pieces.

    A leaf (NN word) of pieces p1 p2 p3 becomes (NN (NN (NN p1) (NN p2)) (NN p3)): every node has the word's tag.
    A binary tree stays binary. A failed parse stays flat and marked.

    Args:
        tree: J leaves.
        pieces: The pieces of each of the J words.
    """
    if tree.root is None:
        return tree
    if tree.is_failed:
        return build_failed_phrase_tree([piece for word in pieces for piece in word])
    words = iter(pieces)

    def build_lexical_tree(leaf: Preterminal) -> TreeNode:
        first, *remaining_pieces = (Preterminal(leaf.label, piece) for piece in next(words))
        node: TreeNode = first
        for piece in remaining_pieces:
            node = PhraseNode(leaf.label, (node, piece))
        return node

    return PhraseTree(
        fold_tree(tree.root, build_lexical_tree, lambda phrase, children: PhraseNode(phrase.label, tuple(children))),
        tree.line_number,
    )


def _read_and_inherit_tables(
    syntax_path: Path, pieces_path: Path, sentences: Iterable[list[str]], values: PositionTable
) -> Iterator[np.ndarray]:
    for number, (row, pieces) in enumerate(
        _zip_with_pieces(read_ragged_rows(syntax_path), sentences, syntax_path, pieces_path), start=1
    ):
        table = row.reshape(-1, values.column_count or 1)
        words = subword.find_word_indices(pieces)
        _check_word_count(len(table) - 1, words, syntax_path, pieces_path, number)
        yield inherit_table(table, words).ravel()


def _read_and_inherit_distances(
    syntax_path: Path, pieces_path: Path, sentences: Iterable[list[str]]
) -> Iterator[np.ndarray]:
    for number, (row, pieces) in enumerate(
        _zip_with_pieces(read_ragged_rows(syntax_path), sentences, syntax_path, pieces_path), start=1
    ):
        size = isqrt(len(row))
        words = subword.find_word_indices(pieces)
        _check_word_count(size - 1, words, syntax_path, pieces_path, number)
        yield inherit_distances(row.reshape(size, size), words).ravel()


def _read_and_inherit_labels(
    syntax_path: Path, pieces_path: Path, sentences: Iterable[list[str]]
) -> Iterator[list[str]]:
    labelled = subword.read_tokens(syntax_path)
    for number, (labels, pieces) in enumerate(_zip_with_pieces(labelled, sentences, syntax_path, pieces_path), start=1):
        words = subword.find_word_indices(pieces)
        _check_word_count(len(labels), words, syntax_path, pieces_path, number)
        yield inherit_labels(labels, words)


def _read_and_inherit_trees(
    syntax_path: Path, pieces_path: Path, sentences: Iterable[list[str]]
) -> Iterator[PhraseTree]:
    for number, (tree, pieces) in enumerate(
        _zip_with_pieces(read_phrase_trees(syntax_path), sentences, syntax_path, pieces_path), start=1
    ):
        _check_word_count(len(tree.leaves), subword.find_word_indices(pieces), syntax_path, pieces_path, number)
        yield inherit_tree(tree, subword.group_by_word(pieces))


def _zip_with_pieces(
    syntax: Iterable[Syntax], sentences: Iterable[list[str]], syntax_path: Path, pieces_path: Path
) -> Iterator[tuple[Syntax, list[str]]]:
    for number, (value, pieces) in enumerate(zip_longest(syntax, sentences)):
        if value is None or pieces is None:
            shorter, longer = (syntax_path, pieces_path) if value is None else (pieces_path, syntax_path)
            raise InputError(
                f"the file has {number} sentences and {longer} has more; make both from the same text", shorter
            )
        yield value, pieces


def _check_word_count(
    word_count: int, word_indices: list[int], syntax_path: Path, pieces_path: Path, line_number: int
) -> None:
    piece_word_count = word_indices[-1] + 1 if word_indices else 0
    if word_count != piece_word_count:
        raise InputError(
            f"{word_count} words, but the pieces of {pieces_path} make {piece_word_count}; "
            "make both from the same text",
            syntax_path,
            line_number,
        )
