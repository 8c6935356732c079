"""Packed sentences and their syntax, opened and checked against each other."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline_py.files.ragged import Ragged
from pipeline_py.kinds.kind import BinaryTrees, Distances, Positions, Table, kind_of
from pipeline_py.kinds.trees import NO_ROOT, NODE_SIZE
from pipeline_py.run.errors import InputError
from pipeline_py.subword.vocabulary import EOS, Vocabulary

REMEDY = "pack the trees again"


class _Nodes(NamedTuple):
    """The inner nodes of S sentences.

    Attributes:
        first: number of the first sentence in its file.
        leaves: n of each sentence (S,).
        counts: k, inner nodes of each sentence (S,).
        roots: (S,).
        sentence: of each inner node, counted within the block (M,).
        number: of each inner node within its sentence, n and up (M,).
        children: numbers of left and right child (M, 2).
        levels: (M,).
    """

    first: int
    leaves: np.ndarray
    counts: np.ndarray
    roots: np.ndarray
    sentence: np.ndarray
    number: np.ndarray
    children: np.ndarray
    levels: np.ndarray


def check_trees(rows: Ragged, source: Ragged, forest: bool) -> None:
    """Check that every row holds trees over the pieces of its sentence; `kinds.trees` says how they are laid out.

    Args:
        rows: the trees.
        source: the sentences, EOS included.
        forest: whether there are trees over parts of the sentence and no root.

    Raises:
        InputError: at the first sentence (of each block of the file) where they do not.
    """
    _check_tree_sizes(rows, source, forest)
    for first, values, offsets in rows.blocks():
        nodes = _nodes(first, values, offsets, source)
        _check_roots(nodes, rows, forest)
        _check_children(nodes, rows)


def _check_tree_sizes(rows: Ragged, source: Ragged, forest: bool) -> None:
    counts, odd = np.divmod(rows.lengths.astype(np.int64) - 1, NODE_SIZE)
    most = np.maximum(source.lengths.astype(np.int64) - 2, 0)
    fits = (odd == 0) & ((counts <= most) if forest else (counts == 0) | (counts == most))
    if not fits.all():
        wrong = int(fits.argmin())
        raise InputError(
            f"the sentence has {rows.lengths[wrong]} values of trees, which do not fit its "
            f"{source.lengths[wrong] - 1} pieces in {source.path}; make both from the same pieces",
            rows.path,
            wrong + 1,
        )


def _nodes(first: int, values: np.ndarray, offsets: np.ndarray, source: Ragged) -> _Nodes:
    leaves = source.lengths[first : first + len(offsets) - 1].astype(np.int64) - 1
    counts = np.diff(offsets).astype(np.int64) // NODE_SIZE
    sentence = np.repeat(np.arange(len(counts)), counts)
    number = np.arange(len(sentence)) + np.repeat(leaves - (counts.cumsum() - counts), counts)
    # Every row begins with its root; what is left are the nodes of all rows, one after the other.
    numbers = np.delete(values[: offsets[-1]], offsets[:-1]).astype(np.int64).reshape(-1, NODE_SIZE)
    return _Nodes(first, leaves, counts, values[offsets[:-1]], sentence, number, numbers[:, :2], numbers[:, 2])


def _check_roots(nodes: _Nodes, rows: Ragged, forest: bool) -> None:
    has_tree = nodes.counts > 0
    absent = nodes.roots == NO_ROOT
    found = (nodes.roots == nodes.leaves + nodes.counts - 1) & (has_tree | (nodes.leaves == 1))
    right = absent if forest else found | (absent & ~has_tree)
    if not right.all():
        wrong = int(right.argmin())
        raise InputError(
            f"the root of the tree is said to be node {nodes.roots[wrong]}; {REMEDY}",
            rows.path,
            nodes.first + wrong + 1,
        )


def _check_children(nodes: _Nodes, rows: Ragged) -> None:
    """Check that children stand before their only parent, and that levels are heights, in ascending order."""

    def refuse_any(wrong: np.ndarray, what: str) -> None:
        if wrong.any():
            raise InputError(f"{what}; {REMEDY}", rows.path, nodes.first + int(nodes.sentence[wrong.argmax()]) + 1)

    elsewhere = (nodes.children < 0) | (nodes.children >= nodes.number[:, None])
    refuse_any(elsewhere.max(axis=1, initial=False), "a node of the tree has a child that does not stand before it")

    sizes = nodes.leaves + nodes.counts
    starts = sizes.cumsum() - sizes
    children = starts[nodes.sentence][:, None] + nodes.children  # numbers within the whole block
    parents = np.bincount(children.ravel(), minlength=sizes.sum())
    refuse_any(parents[children].max(axis=1, initial=0) > 1, "a node of the tree has two parents")

    levels = np.zeros(sizes.sum(), dtype=np.int64)
    levels[starts[nodes.sentence] + nodes.number] = nodes.levels
    heights = 1 + levels[children].max(axis=1, initial=0)
    refuse_any(nodes.levels != heights, "the level of a node is not 1 more than the higher one of its children's")

    falls: np.ndarray = np.zeros(len(nodes.sentence), dtype=bool)
    falls[1:] = (np.diff(nodes.levels) < 0) & (np.diff(nodes.sentence) == 0)
    refuse_any(falls, "the nodes of the tree are not in order of their levels")


def open_sentences(path: Path, vocabulary_size: int) -> Ragged:
    """Open packed identifiers.

    Raises:
        InputError: where the file is not packed, a sentence does not end with EOS, or an identifier is too large.
    """
    rows = Ragged(path)
    for first, values, offsets in rows.blocks():
        ended = np.diff(offsets) > 0
        ended[ended] = values[offsets[1:][ended] - 1] == EOS
        if not ended.all():
            raise InputError(
                "the sentence has no end (identifier 0); pack the text again", path, first + int(ended.argmin()) + 1
            )
    check_identifiers(rows, vocabulary_size)
    return rows


def open_syntax(paths: Mapping[str, Path], source: Ragged, vocabularies: Mapping[str, int]) -> dict[str, Ragged]:
    """Open the syntax of sentences.

    Args:
        paths: kind → file; what its rows hold says the kind.
        source: the sentences.
        vocabularies: size of the vocabulary of each kind that has identifiers.

    Raises:
        InputError: where a file is not packed, does not fit the sentences, holds what is no tree, or an identifier or
            a head is too large.
    """
    syntax = {kind: Ragged(path) for kind, path in paths.items()}
    for kind, rows in syntax.items():
        check_aligned(rows, source)
        values = kind_of(kind).values
        if isinstance(values, BinaryTrees):
            check_trees(rows, source, forest=not values.rooted)
        else:
            _check_sizes(rows, source, kind, values)
        if isinstance(values, Distances):
            _check_diagonals(rows, source)
        if isinstance(values, Positions):
            _check_positions(rows, kind, values)
        if kind in vocabularies:
            check_identifiers(rows, vocabularies[kind])
    return syntax


def check_identifiers(rows: Ragged, vocabulary_size: int) -> None:
    """Raise `InputError` at the first identifier outside the vocabulary."""
    for first, values, offsets in rows.blocks():
        outside = (values < 0) | (values >= vocabulary_size)
        if outside.any():
            raise InputError(
                f"an identifier is outside the vocabulary of {vocabulary_size} tokens; "
                "pack the text with the vocabulary that the model has",
                rows.path,
                first + int(np.searchsorted(offsets, outside.argmax(), side="right")),
            )


def check_aligned(rows: Ragged, source: Ragged) -> None:
    """Raise `InputError` where two files differ in their number of sentences."""
    if len(rows) != len(source):
        raise InputError(
            f"the file has {len(rows)} sentences and {source.path} has {len(source)}; make both from the same text",
            rows.path,
        )


def check_kinds(files: Mapping[str, Path], kinds: Collection[str]) -> None:
    """Raise `InputError` unless there is a file for each kind of syntax that a system reads, and for no other."""
    if files.keys() != {*kinds}:
        raise InputError(
            f"the system reads {', '.join(kinds) or 'no syntax'}, but the syntax given is "
            f"{', '.join(files) or 'none'}; give one file for each kind that it reads"
        )


def count_identifiers(vocabularies: Mapping[str, Path]) -> dict[str, int]:
    """Count the identifiers of each kind of syntax.

    Args:
        vocabularies: the vocabulary file of each kind that has identifiers.

    Raises:
        InputError: a file is no vocabulary.
    """
    sizes = {}
    for kind, path in vocabularies.items():
        identifiers = kind_of(kind).identifiers
        assert identifiers is not None, f"{kind} has no identifiers"
        sizes[kind] = len(Vocabulary.load(path)) + identifiers.further
    return sizes


def _check_sizes(rows: Ragged, source: Ragged, kind: str, values: Table) -> None:
    positions = source.lengths.astype(np.int64)
    expected = positions * (values.columns or positions)
    wrong = np.flatnonzero(rows.lengths != expected)
    if len(wrong):
        first = int(wrong[0])
        raise InputError(
            f"the sentence has {rows.lengths[first]} values of {kind}, but {source.path} has {source.lengths[first]} "
            f"positions there, which need {expected[first]}; make both from the same pieces",
            rows.path,
            first + 1,
        )


def _check_diagonals(rows: Ragged, source: Ragged) -> None:
    for first, values, offsets in rows.blocks():
        sizes = source.lengths[first : first + len(offsets) - 1].astype(np.int64)
        ends = sizes.cumsum()
        # The place of each position within its own sentence, 0 … J − 1, for all sentences of the block.
        positions = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)
        diagonal = values[np.repeat(offsets[:-1].astype(np.int64), sizes) + positions * np.repeat(sizes + 1, sizes)]
        if diagonal.any():
            sentence = first + int(np.searchsorted(ends, diagonal.argmax(), side="right"))
            raise InputError("a word's distance to itself is not 0; make the distances again", rows.path, sentence + 1)


def _check_positions(rows: Ragged, kind: str, allowed: Positions) -> None:
    for first, values, offsets in rows.blocks():
        sizes = np.diff(offsets)
        outside = (values < allowed.padding) | (values >= np.repeat(sizes // (allowed.columns or 1), sizes))
        if outside.any():
            sentence = first + int(np.searchsorted(offsets, outside.argmax(), side="right"))
            raise InputError(f"a position is outside its sentence; pack the {kind} again", rows.path, sentence)
