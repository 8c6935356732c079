"""Give pieces the syntax of their word: its distances, its label, its place in the phrase tree."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from math import isqrt
from pathlib import Path
from typing import TypeVar

import numpy as np

from pipeline_py.files.artifacts import writing
from pipeline_py.files.ragged import read_rows, write_rows
from pipeline_py.kinds.kind import BinaryTrees, Distances, Table, all_kinds
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.subword import pieces as subword
from pipeline_py.syntax.trees.constituency import (
    Node,
    Phrase,
    PhraseTree,
    Preterminal,
    fold,
    read_trees,
    unparsed_phrase,
    write_trees,
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
    inherited = {known.name: known for known in all_kinds() if known.of_words}
    if kind not in inherited:
        raise InputError(f"{kind}: not a kind of syntax over words; give one of {', '.join(inherited)}")
    values, ending = inherited[kind].values, inherited[kind].of_words or ""
    sentences = progress(subword.read(pieces), f"inherit {kind}")
    if isinstance(values, Distances):
        write_rows(output, _distances(input, pieces, sentences), "uint8")
        return
    if isinstance(values, Table) and ending.endswith(".arrow"):
        write_rows(output, _table(input, pieces, sentences, values), "int16")
        return
    with writing(output) as file:
        if isinstance(values, BinaryTrees):
            write_trees(file, _trees(input, pieces, sentences))
        else:
            for labels in _labels(input, pieces, sentences):
                file.write(" ".join(labels) + "\n")


def inherit_distances(matrix: np.ndarray, word_of_piece: list[int]) -> np.ndarray:
    """Give pieces the distances of their words, 0 to the other pieces of the same word.

    Args:
        matrix: (J+1, J+1) distances between words, EOS last.
        word_of_piece: (P,) the index of each piece's word, 0 … J-1.

    Returns:
        (P+1, P+1) distances between pieces, EOS last.
    """
    word = np.array([*word_of_piece, len(matrix) - 1])
    return matrix[np.ix_(word, word)]


def inherit_table(table: np.ndarray, word_of_piece: list[int]) -> np.ndarray:
    """Give each of P pieces the values of its word, and EOS its own: (J+1, columns), (P,) → (P+1, columns)."""
    return table[[*word_of_piece, len(table) - 1]]


def inherit_labels(labels: list[str], word_of_piece: list[int]) -> list[str]:
    """Give each of P pieces the label of its word."""
    return [labels[word] for word in word_of_piece]


def inherit_tree(tree: PhraseTree, pieces: list[list[str]]) -> PhraseTree:
    """Grow a left-branching lexical tree in the place of each word that is split.

    A leaf (NN word) of pieces p1 p2 p3 becomes (NN (NN (NN p1) (NN p2)) (NN p3)): every node has the word's tag.
    A binary tree stays binary. A failed parse stays flat and marked.

    Args:
        tree: J leaves.
        pieces: The pieces of each of the J words.
    """
    if tree.root is None:
        return tree
    if tree.failed:
        return unparsed_phrase([piece for word in pieces for piece in word])
    words = iter(pieces)

    def lexical(leaf: Preterminal) -> Node:
        first, *others = (Preterminal(leaf.label, piece) for piece in next(words))
        node: Node = first
        for piece in others:
            node = Phrase(leaf.label, (node, piece))
        return node

    return PhraseTree(
        fold(tree.root, lexical, lambda phrase, children: Phrase(phrase.label, tuple(children))), tree.line
    )


def _table(path: Path, pieces_path: Path, sentences: Iterable[list[str]], values: Table) -> Iterator[np.ndarray]:
    for number, (row, pieces) in enumerate(_aligned(read_rows(path), sentences, path, pieces_path), start=1):
        table = row.reshape(-1, values.columns or 1)
        words = subword.word_of_piece(pieces)
        _check(len(table) - 1, words, path, pieces_path, number)
        yield inherit_table(table, words).ravel()


def _distances(path: Path, pieces_path: Path, sentences: Iterable[list[str]]) -> Iterator[np.ndarray]:
    for number, (row, pieces) in enumerate(_aligned(read_rows(path), sentences, path, pieces_path), start=1):
        size = isqrt(len(row))
        words = subword.word_of_piece(pieces)
        _check(size - 1, words, path, pieces_path, number)
        yield inherit_distances(row.reshape(size, size), words).ravel()


def _labels(path: Path, pieces_path: Path, sentences: Iterable[list[str]]) -> Iterator[list[str]]:
    labelled = subword.read(path)
    for number, (labels, pieces) in enumerate(_aligned(labelled, sentences, path, pieces_path), start=1):
        words = subword.word_of_piece(pieces)
        _check(len(labels), words, path, pieces_path, number)
        yield inherit_labels(labels, words)


def _trees(path: Path, pieces_path: Path, sentences: Iterable[list[str]]) -> Iterator[PhraseTree]:
    for number, (tree, pieces) in enumerate(_aligned(read_trees(path), sentences, path, pieces_path), start=1):
        _check(len(tree.leaves), subword.word_of_piece(pieces), path, pieces_path, number)
        yield inherit_tree(tree, subword.by_word(pieces))


def _aligned(
    syntax: Iterable[Syntax], sentences: Iterable[list[str]], path: Path, pieces_path: Path
) -> Iterator[tuple[Syntax, list[str]]]:
    for number, (one, pieces) in enumerate(zip_longest(syntax, sentences)):
        if one is None or pieces is None:
            shorter, longer = (path, pieces_path) if one is None else (pieces_path, path)
            raise InputError(
                f"the file has {number} sentences and {longer} has more; make both from the same text", shorter
            )
        yield one, pieces


def _check(words: int, word_of_piece: list[int], path: Path, pieces_path: Path, line: int) -> None:
    found = word_of_piece[-1] + 1 if word_of_piece else 0
    if words != found:
        raise InputError(
            f"{words} words, but the pieces of {pieces_path} make {found}; make both from the same text", path, line
        )
