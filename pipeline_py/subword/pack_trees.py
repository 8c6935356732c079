"""Convert binary phrase trees, or only trees within split words, to rows of numbers."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.kinds.trees import NO_ROOT
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress_display import show_progress
from pipeline_py.subword import pieces as subword
from pipeline_py.syntax.trees.constituency import PhraseTree, fold_tree, read_phrase_trees


def pack_trees(*, trees: Path | None = None, pieces: Path, output: Path, counts_output: Path) -> None:
    """Write the nodes of each sentence's tree as numbers, lower nodes first.

    A row is [root, left, right, level, left, right, level, …]: the n pieces are the nodes 0 … n − 1; inner nodes follow
    from n, ordered by level (height) and then from left to right. The root is −1 if the parse failed, for an empty
    line, and without `trees`.

    Args:
        trees: Binary Penn Treebank brackets over the pieces, one tree a line, from `inherit`. Without it, each split
            word has a left-branching tree over its pieces, and nothing is above words.
        pieces: The pieces of the sentences.
        output: Arrow file; row k has the trees of sentence k, int32.
        counts_output: JSON counts of sentences, of those without a tree, and of words with a lexical tree.

    Raises:
        InputError: the files have different numbers of sentences.
    """
    counts = SentenceCounts()
    sentences = show_progress(subword.read_tokens(pieces), f"pack_trees {pieces.name}")
    rows = (
        _build_lexical_rows(sentences, counts)
        if trees is None
        else _build_parsed_rows(trees, pieces, sentences, counts)
    )
    write_ragged_rows(output, rows, "int32")
    counts.write_json_file(counts_output)


class ForestNode(NamedTuple):
    """A node of a sentence's forest, before its inner nodes are numbered.

    Attributes:
        level: height, 0 for a leaf.
        number: number of a leaf, or index of an inner node in the order of creation.
    """

    level: int
    number: int


class SentenceForestBuilder:
    """A builder of the forest over the n leaves of a sentence, which numbers the inner nodes at the end.

    The forest is one tree, or several trees and single leaves.
    """

    def __init__(self, leaf_count: int) -> None:
        self._leaf_count = leaf_count
        self._inner_nodes: list[tuple[int, ForestNode, ForestNode]] = []

    def join_nodes(self, left: ForestNode, right: ForestNode) -> ForestNode:
        """Create the parent of two nodes."""
        node = ForestNode(1 + max(left.level, right.level), len(self._inner_nodes))
        self._inner_nodes.append((node.level, left, right))
        return node

    def build_forest_row(self, root: ForestNode | None) -> np.ndarray:
        """Number the k inner nodes and return the packed forest, a row (1 + 3·k,); see `pack_trees`."""
        # Nodes of equal height are created from left to right, and the stable sort keeps this order.
        order = sorted(range(len(self._inner_nodes)), key=lambda place: self._inner_nodes[place][0])
        numbers = [0] * len(order)
        for number, place in enumerate(order, start=self._leaf_count):
            numbers[place] = number

        def get_number(node: ForestNode) -> int:
            return numbers[node.number] if node.level else node.number

        row = [NO_ROOT if root is None else get_number(root)]
        for place in order:
            level, left, right = self._inner_nodes[place]
            row += (get_number(left), get_number(right), level)
        return np.array(row, dtype=np.int32)


def _iterate_leaves(leaf_count: int) -> Iterator[ForestNode]:
    return (ForestNode(0, number) for number in range(leaf_count))


def _build_parsed_rows(
    tree_path: Path, pieces_path: Path, sentences: Iterable[list[str]], counts: SentenceCounts
) -> Iterator[np.ndarray]:
    for number, (tree, pieces) in enumerate(zip_longest(read_phrase_trees(tree_path), sentences), start=1):
        if tree is None or pieces is None:
            shorter, longer = (tree_path, pieces_path) if tree is None else (pieces_path, tree_path)
            raise InputError(
                f"the file has {number - 1} sentences and {longer} has more; make both from the same text", shorter
            )
        counts.add_kept()
        if not pieces:
            counts.add_noted("empty line")
        elif tree.is_failed:
            counts.add_noted("no tree, words only")
        elif len(pieces) == 1:
            counts.add_noted("one word")
        yield _build_tree_row(tree, len(pieces))


def _build_tree_row(tree: PhraseTree, leaf_count: int) -> np.ndarray:
    forest = SentenceForestBuilder(leaf_count)
    if tree.root is None or tree.is_failed:
        return forest.build_forest_row(None)
    nodes = _iterate_leaves(leaf_count)
    return forest.build_forest_row(
        fold_tree(tree.root, lambda _: next(nodes), lambda _, children: forest.join_nodes(*children))
    )


def _build_lexical_rows(sentences: Iterable[list[str]], counts: SentenceCounts) -> Iterator[np.ndarray]:
    for pieces in sentences:
        counts.add_kept()
        if not pieces:
            counts.add_noted("empty line")
        forest = SentenceForestBuilder(len(pieces))
        nodes = _iterate_leaves(len(pieces))
        for word in subword.group_by_word(pieces):
            node, *remaining_leaves = (next(nodes) for _ in word)
            for leaf in remaining_leaves:
                node = forest.join_nodes(node, leaf)
            if remaining_leaves:
                counts.add_noted("words with a lexical tree")
        yield forest.build_forest_row(None)
