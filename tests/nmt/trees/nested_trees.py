"""Binary trees over words, and their rows as `kinds.trees` describes them."""

from collections.abc import Callable, Sequence

import numpy as np

NestedTree = int | tuple["NestedTree", "NestedTree"]
"""A word by its number, or the two children of a node."""


def build_tree_builder(choose_split: Callable[[int, int], int]) -> Callable[..., NestedTree]:
    """Return a function that makes a tree over words from the first one on.

    It divides the words first … last − 1 before the word that `choose_split` returns.
    """

    def build_subtree(first: int, last: int) -> NestedTree:
        if last - first == 1:
            return first
        middle = choose_split(first, last)
        return build_subtree(first, middle), build_subtree(middle, last)

    return lambda words, first=0: build_subtree(first, first + words)


build_left_chain = build_tree_builder(lambda first, last: last - 1)
build_right_chain = build_tree_builder(lambda first, last: first + 1)
build_balanced_tree = build_tree_builder(lambda first, last: (first + last) // 2)


def build_random_tree_builder(seed: int) -> Callable[..., NestedTree]:
    random = np.random.default_rng(seed)
    return build_tree_builder(lambda first, last: int(random.integers(first + 1, last)))


def compute_height(tree: NestedTree) -> int:
    return 0 if isinstance(tree, int) else 1 + max(map(compute_height, tree))


def find_leftmost_word(tree: NestedTree) -> int:
    return tree if isinstance(tree, int) else find_leftmost_word(tree[0])


def list_inner_nodes(trees: Sequence[NestedTree]) -> list[NestedTree]:
    """Return the nodes of all trees in order of level, then from left to right."""

    def collect_inner_nodes(tree: NestedTree) -> list[NestedTree]:
        return [] if isinstance(tree, int) else [tree, *collect_inner_nodes(tree[0]), *collect_inner_nodes(tree[1])]

    nodes = [node for tree in trees for node in collect_inner_nodes(tree)]
    return sorted(nodes, key=lambda node: (compute_height(node), find_leftmost_word(node)))


def to_tree_row(word_count: int, trees: Sequence[NestedTree], is_parsed: bool = True) -> np.ndarray:
    """Return the row of a sentence, in which the first tree covers all words if it is parsed."""
    nodes = list_inner_nodes(trees)

    def get_node_number(node: NestedTree) -> int:
        return node if isinstance(node, int) else word_count + nodes.index(node)

    row = [get_node_number(trees[0]) if is_parsed and trees else -1]
    for node in nodes:
        row += [get_node_number(node[0]), get_node_number(node[1]), compute_height(node)]  # type: ignore[index]
    return np.array(row, dtype=np.int32)
