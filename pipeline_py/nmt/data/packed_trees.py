"""Packed trees, checked against the sentences that they stand over."""

from typing import NamedTuple

import numpy as np

from pipeline_py.input_error import InputError
from pipeline_py.kinds.trees import NO_ROOT, NODE_SIZE
from pipeline_py.ragged import Ragged

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
    _check_sizes(rows, source, forest)
    for first, values, offsets in rows.blocks():
        nodes = _nodes(first, values, offsets, source)
        _check_roots(nodes, rows, forest)
        _check_children(nodes, rows)


def _check_sizes(rows: Ragged, source: Ragged, forest: bool) -> None:
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
