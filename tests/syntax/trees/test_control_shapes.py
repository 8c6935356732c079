"""Tests of control tree shapes against examples, numbers of trees, and naive implementations."""

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
def test_shapes_match_examples(shape: ControlShape, n: int) -> None:
    assert build_control_heads(shape, n, "") == HEADS[shape][n - 1]
    assert count_control_phrase_ends(shape, n, "") == PHRASE_ENDS[shape][n - 1]


@pytest.mark.parametrize("shape", list(ControlShape))
def test_every_shape_is_a_tree(shape: ControlShape) -> None:
    for n in [*range(1, 40), 2000]:
        heads = build_control_heads(shape, n, f"{n}")
        assert len(heads) == n and heads.count(0) == 1
        assert find_head_error(heads) is None
        ends = count_control_phrase_ends(shape, n, f"{n}")
        assert len(ends) == n and sum(ends) == n - 1
        nodes = 0
        for ending in ends:
            nodes += 1 - ending
            assert nodes >= 1, "a phrase joins two existing nodes"


def naive_balanced_heads(first: int, last: int, head: int) -> dict[int, int]:
    """Compute heads recursively from the definition."""
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
def test_balanced_trees_match_recursive_definition(n: int) -> None:
    heads = naive_balanced_heads(1, n, 0)
    assert build_control_heads(ControlShape.BALANCED, n, "") == [heads[word] for word in range(1, n + 1)]
    assert count_control_phrase_ends(ControlShape.BALANCED, n, "") == naive_balanced_ends(n)


def iterate_samplers(draws: list[int]) -> Iterator[tuple[Callable[[int], int], list[int]]]:
    """Yield a sampler for every possible sequence of draws, and the list of limits with which it is called."""
    for sequence in product(*map(range, draws)):
        limits: list[int] = []

        def draw(n: int, sequence: tuple[int, ...] = sequence, limits: list[int] = limits) -> int:
            limits.append(n)
            return sequence[len(limits) - 1]

        yield draw, limits


@pytest.mark.parametrize(("n", "trees"), [(1, 1), (2, 2), (3, 9), (4, 64), (5, 625)])
def test_each_rooted_tree_has_one_code(n: int, trees: int) -> None:
    draws = [n] * (n - 1)
    trees_of_codes = set()
    for draw, limits in iterate_samplers(draws):
        tree = _sample_random_heads(n, draw)
        assert limits == draws
        edges = [(head, word) for word, head in enumerate(tree, start=1)]
        assert nx.is_arborescence(nx.DiGraph(edges)) and tree.count(0) == 1
        trees_of_codes.add(tuple(tree))
    assert len(trees_of_codes) == trees


@pytest.mark.parametrize(("n", "bracketings"), [(1, 1), (2, 1), (3, 2), (4, 5), (5, 14)])
def test_all_bracketings_have_equally_many_samples(n: int, bracketings: int) -> None:
    draws = [4 * size + 2 for size in range(n - 1)]  # nodes times sides
    counts: Counter[tuple[int, ...]] = Counter()
    for draw, limits in iterate_samplers(draws):
        counts[tuple(_sample_random_phrase_ends(n, draw))] += 1
        assert limits == draws
    assert len(counts) == bracketings
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize(
    ("build_shape", "n", "trees"),
    [
        (build_control_heads, 3, 9),
        (build_control_heads, 4, 64),
        (count_control_phrase_ends, 4, 5),
        (count_control_phrase_ends, 5, 14),
    ],
)
def test_random_shapes_are_uniform(
    build_shape: Callable[[ControlShape, int, str], list[int]], n: int, trees: int
) -> None:
    counts = Counter(tuple(build_shape(ControlShape.RANDOM, n, key)) for key in KEYS)
    assert len(counts) == trees
    assert chisquare(list(counts.values())).pvalue > 0.001


def decode_naively(code: list[int]) -> list[int]:
    """Decode a Prüfer code: attach the smallest remaining leaf to the next head."""
    n = len(code) + 1
    heads = [0] * n
    remaining = set(range(1, n + 1))
    for place, head in enumerate(code):
        leaf = min(remaining - set(code[place:]))
        heads[leaf - 1] = head
        remaining.remove(leaf)
    return heads


def test_random_heads_are_reproducible() -> None:
    for n in (1, 2, 3, 10, 60):
        generator = Random("a key — ключ")
        code = [int(generator.random() * n) + 1 for _ in range(n - 1)]
        assert build_control_heads(ControlShape.RANDOM, n, "a key — ключ") == decode_naively(code)


def test_random_shapes_depend_on_the_key() -> None:
    for build_shape in (build_control_heads, count_control_phrase_ends):
        first, again, different = (build_shape(ControlShape.RANDOM, 30, key) for key in ("1", "1", "2"))
        assert first == again != different


def test_random_dependencies_are_mostly_non_projective() -> None:
    def crosses(tree: list[int]) -> bool:
        edges = [(min(head, word), max(head, word)) for word, head in enumerate(tree, start=1) if head]
        return any(a < c < b < d for a, b in edges for c, d in edges)

    assert sum(crosses(build_control_heads(ControlShape.RANDOM, 12, key)) for key in KEYS[:200]) > 190
