"""Shapes of trees against hand-written ones, counts of all trees, and naive references."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from random import Random

import networkx as nx
import pytest
from scipy.stats import chisquare

from pipeline_py.syntax.trees.control_shapes import (
    ControlShape,
    _sample_random_heads,
    _sample_random_phrase_ends,
    build_control_heads,
    count_control_phrase_ends,
)
from pipeline_py.syntax.trees.dependency import find_head_error

HEADS = {
    ControlShape.RIGHT_BRANCHING: [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]],
    ControlShape.LEFT_BRANCHING: [[0], [2, 0], [2, 3, 0], [2, 3, 4, 0], [2, 3, 4, 5, 0]],
    ControlShape.BALANCED: [[0], [0, 1], [2, 0, 2], [2, 0, 2, 3], [3, 1, 0, 3, 4]],
    ControlShape.CHAIN: [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4]],
}
PHRASE_ENDS = {
    ControlShape.RIGHT_BRANCHING: [[0], [0, 1], [0, 0, 2], [0, 0, 0, 3], [0, 0, 0, 0, 4]],
    ControlShape.LEFT_BRANCHING: [[0], [0, 1], [0, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1, 1]],
    ControlShape.BALANCED: [[0], [0, 1], [0, 1, 1], [0, 1, 0, 2], [0, 1, 1, 0, 2]],
    ControlShape.CHAIN: [[0], [0, 1], [0, 1, 1], [0, 1, 1, 1], [0, 1, 1, 1, 1]],
}
KEYS = [f"key {number}" for number in range(9000)]


@pytest.mark.parametrize("n", range(1, 6))
@pytest.mark.parametrize("shape", HEADS)
def test_shapes_written_by_hand(shape: ControlShape, n: int) -> None:
    assert build_control_heads(shape, n, "") == HEADS[shape][n - 1]
    assert count_control_phrase_ends(shape, n, "") == PHRASE_ENDS[shape][n - 1]


@pytest.mark.parametrize("shape", list(ControlShape))
def test_every_shape_is_one_tree(shape: ControlShape) -> None:
    for n in [*range(1, 40), 2000]:
        found = build_control_heads(shape, n, f"{n}")
        assert len(found) == n and found.count(0) == 1
        assert find_head_error(found) is None
        ends = count_control_phrase_ends(shape, n, f"{n}")
        assert len(ends) == n and sum(ends) == n - 1
        nodes = 0
        for ending in ends:
            nodes += 1 - ending
            assert nodes >= 1, "a phrase joins two nodes that are there"


def naive_balanced_heads(first: int, last: int, head: int) -> dict[int, int]:
    """From the definition, as sets of spans, by recursion."""
    if first > last:
        return {}
    words = range(first, last + 1)
    middle = words[(len(words) - 1) // 2]
    return {
        middle: head,
        **naive_balanced_heads(first, middle - 1, middle),
        **naive_balanced_heads(middle + 1, last, middle),
    }


def naive_balanced_ends(n: int) -> list[int]:
    if n == 1:
        return [0]
    ends = naive_balanced_ends(n - n // 2) + naive_balanced_ends(n // 2)
    ends[-1] += 1
    return ends


@pytest.mark.parametrize("n", [6, 7, 8, 31, 32, 33, 100])
def test_balanced_trees_of_more_words(n: int) -> None:
    of_word = naive_balanced_heads(1, n, 0)
    assert build_control_heads(ControlShape.BALANCED, n, "") == [of_word[word] for word in range(1, n + 1)]
    assert count_control_phrase_ends(ControlShape.BALANCED, n, "") == naive_balanced_ends(n)


def every_course(draws: list[int]) -> Iterator[tuple[Callable[[int], int], list[int]]]:
    """For all sequences of draws from so many numbers each: a function that draws them, and what it was asked for."""
    for course in product(*map(range, draws)):
        asked: list[int] = []

        def draw(n: int, course: tuple[int, ...] = course, asked: list[int] = asked) -> int:
            asked.append(n)
            return course[len(asked) - 1]

        yield draw, asked


@pytest.mark.parametrize(("n", "trees"), [(1, 1), (2, 2), (3, 9), (4, 64), (5, 625)])
def test_each_rooted_tree_has_one_code(n: int, trees: int) -> None:
    draws = [n] * (n - 1)
    found = set()
    for draw, asked in every_course(draws):
        tree = _sample_random_heads(n, draw)
        assert asked == draws
        edges = [(head, word) for word, head in enumerate(tree, start=1)]
        assert nx.is_arborescence(nx.DiGraph(edges)) and tree.count(0) == 1
        found.add(tuple(tree))
    assert len(found) == trees


@pytest.mark.parametrize(("n", "bracketings"), [(1, 1), (2, 1), (3, 2), (4, 5), (5, 14)])
def test_each_bracketing_has_as_many_courses(n: int, bracketings: int) -> None:
    draws = [4 * grown + 2 for grown in range(n - 1)]  # so many nodes and sides: 2 (2 grown + 1)
    found: Counter[tuple[int, ...]] = Counter()
    for draw, asked in every_course(draws):
        found[tuple(_sample_random_phrase_ends(n, draw))] += 1
        assert asked == draws
    assert len(found) == bracketings
    assert len(set(found.values())) == 1


@pytest.mark.parametrize(
    ("of", "n", "trees"),
    [
        (build_control_heads, 3, 9),
        (build_control_heads, 4, 64),
        (count_control_phrase_ends, 4, 5),
        (count_control_phrase_ends, 5, 14),
    ],
)
def test_random_shapes_of_many_keys_are_uniform(
    of: Callable[[ControlShape, int, str], list[int]], n: int, trees: int
) -> None:
    found = Counter(tuple(of(ControlShape.RANDOM, n, key)) for key in KEYS)
    assert len(found) == trees
    assert chisquare(list(found.values())).pvalue > 0.001


def naive_decoded(code: list[int]) -> list[int]:
    """Prüfer's code of a rooted tree: the smallest word left that is no head any more goes under the next head."""
    n = len(code) + 1
    heads = [0] * n
    left = set(range(1, n + 1))
    for place, head in enumerate(code):
        leaf = min(left - set(code[place:]))
        heads[leaf - 1] = head
        left.remove(leaf)
    return heads


def test_random_heads_are_those_that_python_promises_for_the_key() -> None:
    for n in (1, 2, 3, 10, 60):
        generator = Random("a key — ключ")
        code = [int(generator.random() * n) + 1 for _ in range(n - 1)]
        assert build_control_heads(ControlShape.RANDOM, n, "a key — ключ") == naive_decoded(code)


def test_random_shapes_follow_their_key() -> None:
    for of in (build_control_heads, count_control_phrase_ends):
        assert of(ControlShape.RANDOM, 30, "1") == of(ControlShape.RANDOM, 30, "1") != of(ControlShape.RANDOM, 30, "2")


def test_random_dependencies_are_mostly_not_projective() -> None:
    def crosses(tree: list[int]) -> bool:
        edges = [(min(head, word), max(head, word)) for word, head in enumerate(tree, start=1) if head]
        return any(a < c < b < d for a, b in edges for c, d in edges)

    assert sum(crosses(build_control_heads(ControlShape.RANDOM, 12, key)) for key in KEYS[:200]) > 190
