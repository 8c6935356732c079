"""Binary trees over words, and their rows as `kinds.trees` describes them."""

from collections.abc import Callable, Sequence

import numpy as np

Tree = int | tuple["Tree", "Tree"]
"""A word by its number, or the two children of a node."""


def split_by(choose: Callable[[int, int], int]) -> Callable[..., Tree]:
    """Return a function that makes a tree over words from the first one on.

    It divides the words first … last − 1 before the word that `choose` returns.
    """

    def split(first: int, last: int) -> Tree:
        if last - first == 1:
            return first
        middle = choose(first, last)
        return split(first, middle), split(middle, last)

    return lambda words, first=0: split(first, first + words)


left_chain = split_by(lambda first, last: last - 1)
right_chain = split_by(lambda first, last: first + 1)
balanced = split_by(lambda first, last: (first + last) // 2)


def random_shape(seed: int) -> Callable[..., Tree]:
    random = np.random.default_rng(seed)
    return split_by(lambda first, last: int(random.integers(first + 1, last)))


def height(tree: Tree) -> int:
    return 0 if isinstance(tree, int) else 1 + max(map(height, tree))


def leftmost(tree: Tree) -> int:
    return tree if isinstance(tree, int) else leftmost(tree[0])


def inner_nodes(trees: Sequence[Tree]) -> list[Tree]:
    """Return the nodes of all trees in order of level, then from left to right."""

    def collect(tree: Tree) -> list[Tree]:
        return [] if isinstance(tree, int) else [tree, *collect(tree[0]), *collect(tree[1])]

    nodes = [node for tree in trees for node in collect(tree)]
    return sorted(nodes, key=lambda node: (height(node), leftmost(node)))


def to_row(words: int, trees: Sequence[Tree], is_parsed: bool = True) -> np.ndarray:
    """Return the row of a sentence, in which the first tree covers all words if it is parsed."""
    nodes = inner_nodes(trees)

    def number(node: Tree) -> int:
        return node if isinstance(node, int) else words + nodes.index(node)

    row = [number(trees[0]) if is_parsed and trees else -1]
    for node in nodes:
        row += [number(node[0]), number(node[1]), height(node)]  # type: ignore[index]
    return np.array(row, dtype=np.int32)
