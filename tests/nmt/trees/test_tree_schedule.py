"""Schedules against one that is made node by node, and what batches make of them."""

from dataclasses import fields

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline_py.nmt.data.batch import collate_batch
from pipeline_py.nmt.trees.tree_schedule import TreeSchedule
from tests.nmt.trees.nested_trees import build_left_chain, compute_height, list_inner_nodes, to_tree_row

# A sentence is its number of words and its trees, nested pairs of word numbers; None where there is no tree over all.


def shapes(first: int, last: int) -> st.SearchStrategy:
    """Trees over the words first … last − 1."""
    if last - first == 1:
        return st.just(first)
    return st.integers(first + 1, last - 1).flatmap(
        lambda middle: st.tuples(shapes(first, middle), shapes(middle, last))
    )


PARSED = st.integers(1, 9).flatmap(lambda words: st.tuples(st.just(words), shapes(0, words).map(lambda tree: [tree])))
UNPARSED = st.integers(0, 9).map(lambda words: (words, []))
LEXICAL = st.lists(st.integers(1, 4), max_size=5).map(
    lambda sizes: (
        sum(sizes),
        [(sum(sizes[:word]), size) for word, size in enumerate(sizes)],
    )
)


def naive(sentences: list[tuple[int, list]], parsed: bool, padding: int, rectangular: bool) -> dict:
    """All fields, by going through the batch node by node."""
    J, B = 1 + max(words for words, _ in sentences) + padding, len(sentences)
    nodes = [list_inner_nodes(trees) for _, trees in sentences]
    P = max(J - 2, 0) if rectangular else max(map(len, nodes))
    places = [(b, k) for k in range(P) for b in range(B)]
    if not rectangular:
        places = sorted(
            (place for place in places if place[1] < len(nodes[place[0]])),
            key=lambda place: (compute_height(nodes[place[0]][place[1]]), place),
        )
    table = {(b, j): j * B + b for b in range(B) for j in range(sentences[b][0])}
    table |= {(b, nodes[b][k]): J * B + m for m, (b, k) in enumerate(places) if k < len(nodes[b])}
    zero_row = J * B + len(places)
    children = [
        [table[b, child] for child in nodes[b][k]] if k < len(nodes[b]) else [zero_row, zero_row] for b, k in places
    ]
    flat = [row for pair in children for row in pair]
    heights = [compute_height(node) for of_sentence in nodes for node in of_sentence]
    return {
        "position_count": J,
        "max_phrases": P,
        "is_rectangular": rectangular,
        "step_sizes": (B,) * P
        if rectangular
        else tuple(heights.count(level) for level in range(1, max(heights, default=0) + 1)),
        "child_rows": torch.tensor(children, dtype=torch.int64).view(-1, 2),
        "child_entries": torch.tensor(
            [flat.index(row) if row in flat else len(flat) + row for row in range(zero_row)], dtype=torch.int64
        ),
        "phrase_indices": torch.tensor([b * P + k for b, k in places], dtype=torch.int64),
        "root_rows": torch.tensor(
            [table[b, trees[0]] if parsed and trees else -1 for b, (_, trees) in enumerate(sentences)]
        ),
        "phrase_mask": torch.tensor(
            [[k < len(inner_nodes) for k in range(P)] for inner_nodes in nodes], dtype=torch.bool
        ).view(B, P),
    }


def check(sentences: list[tuple[int, list]], parsed: bool, padding: int = 0) -> None:
    rows = [to_tree_row(words, trees, parsed) for words, trees in sentences]
    lengths = [words + 1 for words, _ in sentences]
    for rectangular in (False, True):
        schedule = TreeSchedule.from_rows(rows, lengths, max(lengths) + padding if padding else None, rectangular)
        expected = naive(sentences, parsed, padding, rectangular)
        assert set(expected) == {field_.name for field_ in fields(TreeSchedule)}
        for name, value in expected.items():
            result = getattr(schedule, name)
            if isinstance(value, torch.Tensor):
                assert result.dtype == value.dtype and result.shape == value.shape, name
                assert torch.equal(result, value), name
            else:
                assert result == value, name


@settings(max_examples=100)
@given(st.lists(st.one_of(PARSED, UNPARSED), min_size=1, max_size=6), st.integers(0, 7))
def test_schedules_of_parses(sentences: list, padding: int) -> None:
    check(sentences, parsed=True, padding=padding)


@settings(max_examples=100)
@given(st.lists(LEXICAL, min_size=1, max_size=6))
def test_schedules_of_lexical_trees(sentences: list) -> None:
    check(
        [(words, [build_left_chain(size, first) for first, size in trees]) for words, trees in sentences], parsed=False
    )


def test_a_worked_example() -> None:
    """((0 1) 2), no tree, and a single word: with 4 positions of 3 sentences, inner nodes are rows 12 and 13."""
    rows = [np.array(row, dtype=np.int32) for row in ([4, 0, 1, 1, 3, 2, 2], [-1], [0])]
    schedule = TreeSchedule.from_rows(rows, [4, 3, 2])
    assert (schedule.position_count, schedule.max_phrases, schedule.step_sizes) == (4, 2, (1, 1))
    assert schedule.child_rows.tolist() == [[0, 3], [12, 6]]
    assert schedule.step_slices == [slice(0, 1), slice(1, 2)]
    assert schedule.phrase_indices.tolist() == [0, 1]
    assert schedule.root_rows.tolist() == [13, -1, 2]
    assert schedule.phrase_mask.tolist() == [[True, True], [False, False], [False, False]]

    words = torch.arange(1.0, 13.0).unsqueeze(1)
    phrases = torch.tensor([[20.0], [21.0]])
    assert schedule.get_root_values(words, phrases).tolist() == [[21], [0], [3]]
    assert schedule.group_by_sentence(phrases).tolist() == [[[20], [21]], [[0], [0]], [[0], [0]]]

    rectangle = TreeSchedule.from_rows(rows, [4, 3, 2], is_rectangular=True)
    assert (rectangle.max_phrases, rectangle.step_sizes) == (2, (3, 3))
    assert rectangle.child_rows.tolist() == [[0, 3], [18, 18], [18, 18], [12, 6], [18, 18], [18, 18]]
    assert rectangle.child_entries.tolist()[:7] == [0, 13, 14, 1, 16, 17, 7]
    assert rectangle.root_rows.tolist() == [15, -1, 2]
    phrases = torch.tensor([[20.0], [7.0], [8.0], [21.0], [9.0], [10.0]])
    assert rectangle.group_by_sentence(phrases).tolist() == [[[20], [21]], [[0], [0]], [[0], [0]]]


@pytest.mark.parametrize(("multiple", "J", "step_sizes"), [(1, 3, (1,)), (2, 4, (2, 2))])
@pytest.mark.parametrize("kind", ["trees", "lexical_trees"])
def test_a_batch_holds_a_schedule(kind: str, multiple: int, J: int, step_sizes: tuple[int, ...]) -> None:
    source = [np.array([3, 4, 0]), np.array([5, 0])]
    rows = [np.array([2 if kind == "trees" else -1, 0, 1, 1]), np.array([-1])]
    labels = [np.array([1, 2, 3]), np.array([1, 3])]
    batch = collate_batch(source, syntax={kind: rows, "labels": labels}, length_multiple=multiple).to("meta")
    assert batch.get_tree_schedule(kind) is batch.syntax[kind]
    assert set(batch.syntax_tensors) == {"labels"}
    schedule = batch.get_tree_schedule(kind)
    assert (schedule.position_count, schedule.step_sizes, len(schedule)) == (J, step_sizes, 2)
    for name in ("child_rows", "child_entries", "phrase_indices", "root_rows", "phrase_mask"):
        assert getattr(schedule, name).is_meta
