"""Shapes of trees that owe nothing to syntax: controls, to tell what a system gains from its parser.

A shape of n words is n numbers. Dependencies are heads, as in `DependencyTree`. Binary phrases are the number of
phrases that end with each word: reading from left to right, every word becomes a node, and as often as its number
says the last two nodes become a phrase. So 0 1 1 is (X (X w1 w2) w3), and 0 0 2 is (X w1 (X w2 w3)).
"""

from collections.abc import Callable
from enum import StrEnum
from heapq import heappop, heappush
from random import Random


class ControlShape(StrEnum):
    """How a tree over n words looks."""

    RIGHT_BRANCHING = "right-branching"
    """The first word is the root, every other word hangs on the one before it; (X w1 (X w2 (X w3 w4)))."""

    LEFT_BRANCHING = "left-branching"
    """The last word is the root, every other word hangs on the one after it; (X (X (X w1 w2) w3) w4)."""

    BALANCED = "balanced"
    """The middle word of a span (the left one of two) is its head, and the spans on both sides hang on it. A phrase is
    split in the middle, its left half being the larger one where they differ: (X (X w1 w2) w3)."""

    RANDOM = "random"
    """Each of the n^(n-1) rooted trees on n words is equally likely, so that most of them are not projective; so is
    each of the Catalan(n-1) binary bracketings."""

    CHAIN = "chain"
    """The sentence as it is read: every word hangs on the one before it, and i and j are |i - j| edges apart; each
    phrase joins all words before with the next one, so that a tree LSTM reads in order. As trees, its dependencies are
    those of right-branching and its phrases those of left-branching."""


def build_control_heads(shape: ControlShape, n: int, random_key: str) -> list[int]:
    """The dependencies of a shape.

    Args:
        shape: which one.
        n: number of words, at least 1.
        random_key: what a random shape is drawn with; the same key gives the same shape.

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
    """The binary phrases of a shape.

    Args:
        shape: which one.
        n: number of words, at least 1.
        random_key: what a random shape is drawn with; the same key gives the same shape.

    Returns:
        For each of the n words how many of the n - 1 phrases end with it.
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
    spans = [(n, 0)]  # the words of a span and how many phrases around it end with it, the leftmost span last
    while spans:
        words, ending = spans.pop()
        if words == 1:
            ends.append(ending)
        else:
            right = words // 2
            spans += ((right, ending + 1), (words - right, 0))
    return ends


def _sample_random_heads(n: int, draw_integer: Callable[[int], int]) -> list[int]:
    """Decode a random Prüfer code (Prüfer 1918), in the form that holds the root as well.

    Take the smallest leaf away again and again until the root alone is left: the n - 1 heads of the leaves, of which
    the last one is the root, are the code of a rooted tree, and each of the n^(n-1) codes is that of one tree.
    """
    code = [1 + draw_integer(n) for _ in range(n - 1)]
    children = [0] * (n + 1)
    for head in code:
        children[head] += 1
    leaves = [word for word in range(1, n + 1) if not children[word]]  # sorted, and so a heap
    heads = [0] * n
    for head in code:
        heads[heappop(leaves) - 1] = head
        children[head] -= 1
        if not children[head]:
            heappush(leaves, head)
    return heads


def _sample_random_phrase_ends(n: int, draw_integer: Callable[[int], int]) -> list[int]:
    """Grow a binary tree by Rémy's algorithm (Rémy 1985), as in Knuth, TAOCP 4A, section 7.2.1.6, algorithm R.

    Any node of the tree so far, inner node or leaf, moves down under a new inner node, with a new leaf as its sibling
    on the one or the other side. Leaves have even numbers; the children of the inner node k, an odd number, are
    `links[k]` and `links[k + 1]`, and `links[0]` is the root.
    """
    links = [0]
    for inner in range(1, 2 * n - 2, 2):
        node, side = divmod(draw_integer(2 * inner), 2)
        pair = (links[node], inner + 1) if side else (inner + 1, links[node])
        links[node] = inner
        links += pair
    ends = []
    nodes = [(links[0], 0)]  # a node and how many phrases around it end with it, the leftmost node last
    while nodes:
        node, ending = nodes.pop()
        if node % 2:
            nodes += ((links[node + 1], ending + 1), (links[node], 0))
        else:
            ends.append(ending)
    return ends


def _build_integer_sampler(random_key: str) -> Callable[[int], int]:
    """A function that draws from 0 … n - 1, by the one method that Python promises to be the same in all versions."""
    generator = Random(0)  # without a seed it would ask the operating system for one, which takes longer
    generator.seed(random_key, version=2)
    random = generator.random
    return lambda n: int(random() * n)
