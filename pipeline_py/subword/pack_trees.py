"""Turn binary phrase trees, or only trees within split words, into rows of numbers on disk."""

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pipeline_py.files.artifacts import Counts
from pipeline_py.files.ragged import write_rows
from pipeline_py.kinds.trees import NO_ROOT
from pipeline_py.run.errors import InputError
from pipeline_py.run.progress import progress
from pipeline_py.subword import pieces as subword
from pipeline_py.syntax.trees.constituency import PhraseTree, fold, read_trees


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
    counts = Counts()
    sentences = progress(subword.read(pieces), f"pack_trees {pieces.name}")
    rows = _lexical(sentences, counts) if trees is None else _parsed(trees, pieces, sentences, counts)
    write_rows(output, rows, "int32")
    counts.write(counts_output)


class Node(NamedTuple):
    """A node while numbers are not known.

    Attributes:
        level: height, 0 for a leaf.
        place: number of a leaf; of an inner node how many were made before it.
    """

    level: int
    place: int


class Forest:
    """Grows inner nodes over n leaves, from left to right, and numbers them in the end."""

    def __init__(self, leaves: int) -> None:
        self._leaves = leaves
        self._grown: list[tuple[int, Node, Node]] = []

    def join(self, left: Node, right: Node) -> Node:
        """Make the parent of two nodes."""
        node = Node(1 + max(left.level, right.level), len(self._grown))
        self._grown.append((node.level, left, right))
        return node

    def row(self, root: Node | None) -> np.ndarray:
        """Number the nodes and lay them out (1 + 3·k,)."""
        # Nodes of one height lie beside each other, so the left one was made first, and sorting keeps them in order.
        order = sorted(range(len(self._grown)), key=lambda place: self._grown[place][0])
        numbers = [0] * len(order)
        for number, place in enumerate(order, start=self._leaves):
            numbers[place] = number

        def number_of(node: Node) -> int:
            return numbers[node.place] if node.level else node.place

        row = [NO_ROOT if root is None else number_of(root)]
        for place in order:
            level, left, right = self._grown[place]
            row += (number_of(left), number_of(right), level)
        return np.array(row, dtype=np.int32)


def _leaves(count: int) -> Iterator[Node]:
    return (Node(0, number) for number in range(count))


def _parsed(path: Path, pieces_path: Path, sentences: Iterable[list[str]], counts: Counts) -> Iterator[np.ndarray]:
    for number, (tree, pieces) in enumerate(zip_longest(read_trees(path), sentences), start=1):
        if tree is None or pieces is None:
            shorter, longer = (path, pieces_path) if tree is None else (pieces_path, path)
            raise InputError(
                f"the file has {number - 1} sentences and {longer} has more; make both from the same text", shorter
            )
        counts.keep()
        if not pieces:
            counts.note("empty line")
        elif tree.failed:
            counts.note("no tree, words only")
        elif len(pieces) == 1:
            counts.note("one word")
        yield _row(tree, len(pieces))


def _row(tree: PhraseTree, leaves: int) -> np.ndarray:
    forest = Forest(leaves)
    if tree.root is None or tree.failed:
        return forest.row(None)
    nodes = _leaves(leaves)
    return forest.row(fold(tree.root, lambda _: next(nodes), lambda _, children: forest.join(*children)))


def _lexical(sentences: Iterable[list[str]], counts: Counts) -> Iterator[np.ndarray]:
    for pieces in sentences:
        counts.keep()
        if not pieces:
            counts.note("empty line")
        forest = Forest(len(pieces))
        nodes = _leaves(len(pieces))
        for word in subword.by_word(pieces):
            node, *others = (next(nodes) for _ in word)
            for other in others:
                node = forest.join(node, other)
            if others:
                counts.note("words with a lexical tree")
        yield forest.row(None)
