"""Measures of the shape of a tree: depth, lengths of dependencies, and spans of phrases.

All functions take linear time and do not recurse. Heads are those of a `DependencyTree`: one or several trees under the
artificial root 0 (see `dependency.find_head_error`).
"""

from collections.abc import Sequence
from typing import NamedTuple

from pipeline_py.syntax.trees.constituency import PhraseTree, fold_tree, list_phrase_spans, simplify_tree


def compute_tree_depth(heads: Sequence[int]) -> int:
    """Compute the depth: the maximum number of edges from a root word to a word.

    Args:
        heads: n heads; 0 is the root, i is the i-th word counted from 1.

    Returns:
        0 for at most one word; n - 1 for a chain.
    """
    return max(compute_word_levels(heads), default=1) - 1


def compute_word_levels(heads: Sequence[int]) -> list[int]:
    """Compute the number of edges from the artificial root to each of n words: 1 for a root word, 2 for its children.

    Args:
        heads: n heads; 0 is the root, i is the i-th word counted from 1.
    """
    levels = [0, *[-1] * len(heads)]  # of the artificial root and of the words; -1: not yet computed
    for word in range(1, len(levels)):
        path: list[int] = []
        node = word
        while levels[node] < 0:
            path.append(node)
            node = heads[node - 1]
        for level, descendant in enumerate(reversed(path), start=levels[node] + 1):
            levels[descendant] = level
    return levels[1:]


def compute_dependency_lengths(heads: Sequence[int]) -> list[int]:
    """Compute |i - head of i| of every word i that has a head word, from left to right."""
    return [abs(word - head) for word, head in enumerate(heads, start=1) if head]


def is_projective(heads: Sequence[int]) -> bool:
    """Check that for each arc h → d all words strictly between h and d are descendants of h.

    This is equivalent to: every word and its descendants form a contiguous span; and: no two arcs cross if they are
    drawn above the words, with the artificial root in front (Kübler, McDonald and Nivre 2009, Dependency Parsing,
    section 2.1).

    Args:
        heads: n heads; 0 is the root, i is the i-th word counted from 1.
    """
    nodes = len(heads) + 1
    missing = [0] * nodes  # number of children that are not yet joined to their head
    for head in heads:
        missing[head] += 1
    # First position, last position and number of the nodes that are joined to a node, including itself.
    first, last, size = list(range(nodes)), list(range(nodes)), [1] * nodes
    leaves = [word for word in range(1, nodes) if not missing[word]]
    for leaf in leaves:
        node = leaf
        while node:
            if last[node] - first[node] >= size[node]:
                return False
            head = heads[node - 1]
            first[head] = min(first[head], first[node])
            last[head] = max(last[head], last[node])
            size[head] += size[node]
            missing[head] -= 1
            if missing[head]:
                break
            node = head
    return True


class PhraseTreeSize(NamedTuple):
    """The size of a phrase tree.

    Attributes:
        words: Number of leaves.
        phrases: Number of nodes above words and their tags.
        depth: Maximum number of phrases above a word.
    """

    words: int = 0
    phrases: int = 0
    depth: int = 0


def compute_phrase_tree_size(tree: PhraseTree) -> PhraseTreeSize:
    """Compute the size of a tree after `simplify_tree`, without traces and the wrapper of the root."""
    simple = simplify_tree(tree)
    if simple.root is None:
        return PhraseTreeSize()
    deepest = fold_tree(simple.root, lambda _: 0, lambda _, depths: 1 + max(depths))
    return PhraseTreeSize(len(simple.words), len(list_phrase_spans(simple)), deepest)


def map_spans_to_labels(tree: PhraseTree) -> dict[tuple[int, int], str]:
    """Map the spans of more than one word to the label of their topmost phrase, for a tree without traces.

    A span is (first word counted from 0, word after the last).
    """
    # The topmost phrase of a chain of unary phrases comes last and overrides the others.
    return {(first, end): label for label, first, end in list_phrase_spans(tree) if end - first > 1}
