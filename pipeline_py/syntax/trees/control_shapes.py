"""Shapes of control trees, which do not depend on syntax.

A dependency tree over n words is n heads, as in `DependencyTree`. A binary phrase tree is the number of phrases that
end with each word: 0 1 1 is (X (X w1 w2) w3), and 0 0 2 is (X w1 (X w2 w3)).
"""

from collections.abc import Callable
from enum import StrEnum
from heapq import heappop, heappush
from random import Random


class ControlShape(StrEnum):
    """The shape of a control tree over n words."""

    RIGHT_BRANCHING = "right-branching"
    """The first word is the root, and each other word depends on the previous word; (X w1 (X w2 (X w3 w4)))."""

    LEFT_BRANCHING = "left-branching"
    """The last word is the root, and each other word depends on the next word; (X (X (X w1 w2) w3) w4)."""

    BALANCED = "balanced"
    """The middle word of a span (the left of two) is the head of the spans on both sides. A phrase is split in the
    middle; its left half is the larger one if they differ: (X (X w1 w2) w3)."""

    RANDOM = "random"
    """Each of the n^(n-1) rooted trees over n words is equally likely (most of them are not projective), and so is each
    of the Catalan(n-1) binary bracketings."""

    CHAIN = "chain"
    """The linear order of the sentence: right-branching dependencies (words i and j are |i - j| edges apart) and
    left-branching phrases (a tree LSTM reads the words in order)."""


def build_control_heads(shape: ControlShape, n: int, random_key: str) -> list[int]:
    """Build the heads of a dependency tree.

    Args:
        shape: Shape of the tree.
        n: Number of words, at least 1.
        random_key: Seed of a random tree; the same key gives the same tree.

    Returns:
        n heads; 0 for the root, i for the i-th word counted from 1.
    """
    match shape:
        case ControlShape.RIGHT_BRANCHING | ControlShape.CHAIN:
            return list(range(n))
        case ControlShape.LEFT_BRANCHING:
            return [*range(2, n + 1), 0]
        case ControlShape.BALANCED:
            return _build_balanced_heads(n)
        case ControlShape.RANDOM:
            return _sample_random_heads(n, _build_integer_sampler(random_key))


def count_control_phrase_ends(shape: ControlShape, n: int, random_key: str) -> list[int]:
    """Count the phrases of a binary phrase tree that end with each word.

    Args:
        shape: Shape of the tree.
        n: Number of words, at least 1.
        random_key: Seed of a random tree; the same key gives the same tree.

    Returns:
        For each of the n words, how many of the n - 1 phrases end with it.
    """
    match shape:
        case ControlShape.RIGHT_BRANCHING:
            return [0] * (n - 1) + [n - 1]
        case ControlShape.LEFT_BRANCHING | ControlShape.CHAIN:
            return [0] + [1] * (n - 1)
        case ControlShape.BALANCED:
            return _count_balanced_phrase_ends(n)
        case ControlShape.RANDOM:
            return _sample_random_phrase_ends(n, _build_integer_sampler(random_key))


def _build_balanced_heads(n: int) -> list[int]:
    heads = [0] * n
    spans = [(1, n, 0)]
    while spans:
        first, last, head = spans.pop()
        if first <= last:
            middle = (first + last) // 2
            heads[middle - 1] = head
            spans += ((first, middle - 1, middle), (middle + 1, last, middle))
    return heads


def _count_balanced_phrase_ends(n: int) -> list[int]:
    ends = []
    spans = [(n, 0)]  # (length of a span, phrases around it that end with it), leftmost span last
    while spans:
        words, ending = spans.pop()
        if words == 1:
            ends.append(ending)
        else:
            right = words // 2
            spans += ((right, ending + 1), (words - right, 0))
    return ends


def _sample_random_heads(n: int, draw_integer: Callable[[int], int]) -> list[int]:
    """Decode a random Prüfer code (Prüfer 1918) of a rooted tree.

    The code consists of the heads of the leaves in the order in which the smallest leaf is removed until only the root
    is left. Each of the n^(n-1) codes belongs to exactly one tree.
    """
    code = [1 + draw_integer(n) for _ in range(n - 1)]
    children = [0] * (n + 1)
    for head in code:
        children[head] += 1
    leaves = [word for word in range(1, n + 1) if not children[word]]  # a sorted list is a heap
    heads = [0] * n
    for head in code:
        heads[heappop(leaves) - 1] = head
        children[head] -= 1
        if not children[head]:
            heappush(leaves, head)
    return heads


def _sample_random_phrase_ends(n: int, draw_integer: Callable[[int], int]) -> list[int]:
    """Grow a binary tree by Rémy's algorithm (Rémy 1985), as in Knuth, TAOCP 4A, section 7.2.1.6, algorithm R.

    In each step a random node moves down under a new inner node and gets a new leaf as its left or right sibling.
    Leaves have even numbers. The children of the inner node k (odd) are `links[k]` and `links[k + 1]`; `links[0]` is
    the root.
    """
    links = [0]
    for inner in range(1, 2 * n - 2, 2):
        node, side = divmod(draw_integer(2 * inner), 2)
        pair = (links[node], inner + 1) if side else (inner + 1, links[node])
        links[node] = inner
        links += pair
    ends = []
    nodes = [(links[0], 0)]  # (node, phrases around it that end with it), leftmost node last
    while nodes:
        node, ending = nodes.pop()
        if node % 2:
            nodes += ((links[node + 1], ending + 1), (links[node], 0))
        else:
            ends.append(ending)
    return ends


def _build_integer_sampler(random_key: str) -> Callable[[int], int]:
    """Return a function that draws an integer from 0 … n - 1, reproducibly in all versions of Python."""
    generator = Random(0)  # faster than without a seed
    generator.seed(random_key, version=2)
    random = generator.random
    return lambda n: int(random() * n)
