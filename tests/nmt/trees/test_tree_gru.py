"""The ways up and down a tree, against recursion over the nodes of one sentence at a time, in float64."""

import math
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.nmt.trees.tree_gru import TopDownGRU, TreeGRU
from pipeline_py.nmt.trees.tree_schedule import TreeSchedule
from tests.nmt.formulas import compose_gru_node, step_gru
from tests.nmt.network_assertions import assert_same_gradients, draw_parameters
from tests.nmt.trees.nested_trees import (
    NestedTree,
    build_balanced_tree,
    build_left_chain,
    build_random_tree_builder,
    build_right_chain,
    to_tree_row,
)

HIDDEN = 3


def packed(words: int, trees: list[NestedTree], is_parsed: bool = True) -> tuple[int, np.ndarray]:
    return words, to_tree_row(words, trees, is_parsed)


FOREST = packed(9, [build_left_chain(3, 1), build_left_chain(2, 5), build_left_chain(2, 7)], is_parsed=False)
BATCHES = {
    "one sentence": [packed(4, [((0, 1), (2, 3))])],
    "deep chains": [packed(14, [build_left_chain(14)]), packed(11, [build_right_chain(11)])],
    "no tree in the middle": [packed(8, [build_balanced_tree(8)]), packed(5, []), packed(2, [(0, 1)])],
    "one word, no word": [packed(1, [0]), packed(0, []), packed(3, [(0, (1, 2))])],
    "one word": [packed(1, [0])],
    "no inner node": [packed(1, [0]), packed(4, []), packed(0, [])],
    "forests": [FOREST, packed(3, [], is_parsed=False), packed(2, [(0, 1)], is_parsed=False)],
    "all kinds": [
        packed(6, [build_left_chain(6)]),
        FOREST,
        packed(7, []),
        *(packed(n, [build_random_tree_builder(n)(n)]) for n in (12, 9, 10, 5)),
        packed(1, [0]),
    ],
}


# The reference.


def walk(words: Tensor, row: np.ndarray, up: TreeGRU, down: TopDownGRU) -> tuple[list[Tensor], list[Tensor]]:
    """States of all nodes of a sentence by their numbers, on the way up and on the way down; words are (n, H)."""
    children = {len(words) + k: row[1 + 3 * k : 3 + 3 * k].tolist() for k in range(len(row) // 3)}
    parents = {left: (node, down.left) for node, (left, _) in children.items()}
    parents |= {right: (node, down.right) for node, (_, right) in children.items()}

    @cache
    def upward(node: int) -> Tensor:
        return words[node] if node < len(words) else compose_gru_node(up, *map(upward, children[node]))

    @cache
    def downward(node: int) -> Tensor:
        if node not in parents:
            return upward(node)
        parent, gru = parents[node]
        return step_gru(gru, upward(node), downward(parent))

    nodes = range(len(words) + len(children))
    return [upward(node) for node in nodes], [downward(node) for node in nodes]


# Comparisons.


def make(hidden: int = HIDDEN) -> tuple[TreeGRU, TopDownGRU]:
    torch.manual_seed(0)
    return draw_parameters(TreeGRU(hidden).double()), draw_parameters(TopDownGRU(hidden).double())


def arrange(batch: list[tuple[int, np.ndarray]], rectangular: bool = False) -> tuple[TreeSchedule, Tensor]:
    """The schedule, and random states of the words (J, B, H)."""
    schedule = TreeSchedule.from_rows(
        [row for _, row in batch], [words + 1 for words, _ in batch], is_rectangular=rectangular
    )
    torch.manual_seed(1)
    states = torch.randn(schedule.position_count, len(batch), HIDDEN, dtype=torch.float64, requires_grad=True)
    return schedule, states


def rows_of(schedule: TreeSchedule, batch: list[tuple[int, np.ndarray]]) -> list[list[int]]:
    """For each sentence where its nodes stand in the table of all, by their numbers."""
    at = {place: schedule.position_count * len(batch) + m for m, place in enumerate(schedule.phrase_indices.tolist())}
    return [
        [j * len(batch) + b for j in range(words)] + [at[b * schedule.max_phrases + k] for k in range(len(row) // 3)]
        for b, (words, row) in enumerate(batch)
    ]


@pytest.mark.parametrize("rectangular", [False, True])
@pytest.mark.parametrize("name", BATCHES)
def test_states_and_gradients_are_those_of_the_recursion(name: str, rectangular: bool) -> None:
    batch = BATCHES[name]
    (up, down), (schedule, states) = make(), arrange(batch, rectangular)
    leaves = states.flatten(0, 1)
    upward = torch.cat([leaves, up(leaves, schedule)])
    downward = down(upward, schedule)
    inner = len(batch) * (schedule.position_count - 2) if rectangular else sum(len(row) // 3 for _, row in batch)
    assert len(upward) == len(leaves) + inner

    nodes = rows_of(schedule, batch)
    actual, expected = [], []
    for b, (words, row) in enumerate(batch):
        for ours, theirs in zip((upward, downward), walk(states[:words, b], row, up, down), strict=True):
            if theirs:
                actual.append(ours[nodes[b]])
                expected.append(torch.stack(theirs))
    unchanged = sorted(set(range(len(leaves))) - {node for some in nodes for node in some})
    torch.testing.assert_close(downward[unchanged], leaves[unchanged], rtol=0, atol=0)
    parameters = [states, *up.parameters(), *down.parameters()]
    assert_same_gradients([*actual, downward[unchanged]], [*expected, leaves[unchanged]], parameters)


@pytest.mark.parametrize("rectangular", [False, True])
def test_gradient_of_the_roots_alone(rectangular: bool) -> None:
    """Check the gradient of the bottom-up pass through every level."""
    batch = BATCHES["all kinds"]
    (up, down), (schedule, states) = make(), arrange(batch, rectangular)
    roots = schedule.get_root_values(states.flatten(0, 1), up(states.flatten(0, 1), schedule))
    want = []
    for b, (words, row) in enumerate(batch):
        upward, downward = walk(states[:words, b], row, up, down)
        if row[0] >= 0:
            assert upward[row[0]] is downward[row[0]]
        want.append(upward[row[0]] if row[0] >= 0 else torch.zeros(HIDDEN, dtype=torch.float64))
    assert_same_gradients([roots], [torch.stack(want)], [states, *up.parameters()])


@pytest.mark.parametrize("rectangular", [False, True])
@pytest.mark.parametrize("name", ["no tree in the middle", "forests", "no inner node"])
def test_derivatives_are_those_of_differences(name: str, rectangular: bool) -> None:
    (up, down), (schedule, states) = make(), arrange(BATCHES[name], rectangular)
    leaves = states.detach().flatten(0, 1).requires_grad_()
    assert torch.autograd.gradcheck(lambda s, *_: up(s, schedule), (leaves, *up.parameters()))
    table = torch.randn(len(leaves) + len(schedule.child_rows), HIDDEN, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t, *_: down(t, schedule), (table, *down.parameters()))


def test_a_sentence_is_the_same_alone() -> None:
    batch = BATCHES["all kinds"]
    (up, down), (schedule, states) = make(), arrange(batch)
    leaves = states.flatten(0, 1)
    batched = down(torch.cat([leaves, up(leaves, schedule)]), schedule)
    for b, (nodes, (words, row)) in enumerate(zip(rows_of(schedule, batch), batch, strict=True)):
        single_schedule = TreeSchedule.from_rows([row], [words + 1])
        single = states[: words + 1, b]
        single = down(torch.cat([single, up(single, single_schedule)]), single_schedule)
        (numbered,) = rows_of(single_schedule, [(words, row)])
        torch.testing.assert_close(batched[nodes], single[numbered])


def test_going_back_twice_gives_the_same_twice() -> None:
    (up, down), (schedule, states) = make(), arrange(BATCHES["all kinds"])
    leaves = states.flatten(0, 1)
    loss = down(torch.cat([leaves, up(leaves, schedule)]), schedule).square().sum()
    parameters = [states, *up.parameters(), *down.parameters()]
    first_gradients = torch.autograd.grad(loss, parameters, retain_graph=True)
    twice = torch.autograd.grad(loss, parameters)
    for actual_value, expected_value in zip(first_gradients, twice, strict=True):
        torch.testing.assert_close(actual_value, expected_value, rtol=0, atol=0)


def test_up_and_down_by_hand() -> None:
    """Two words with states 1 and 2 and their phrase; all matrices are of one number."""
    up, down = make(hidden=1)
    three = math.log(3)  # σ(log 3) = 3/4
    with torch.no_grad():
        up.left_recurrent.weight.copy_(torch.tensor([[0.0], [0.0], [0.0], [4.0]]))
        up.right_recurrent.weight.copy_(torch.tensor([[0.0], [0.0], [0.0], [-1.0]]))
        up.left_recurrent.bias.copy_(torch.tensor([three, 0.0, -three, 0.0]))
        for gru, w in ((down.left, 1.0), (down.right, -1.0)):
            gru.input.weight.copy_(torch.tensor([[0.0], [0.0], [w]]))
            gru.input.bias.copy_(torch.tensor([three, 0.0, 0.0]))  # type: ignore[union-attr]
            gru.gates_recurrent.weight.zero_()
            gru.candidate_recurrent.weight.fill_(2 * w)
    schedule = TreeSchedule.from_rows([np.array([2, 0, 1, 1])], [3])
    words = torch.tensor([[1.0], [2.0], [7.0]], dtype=torch.float64)
    inner = up(words, schedule)
    # z = 3/4, r_L = 1/2, r_R = 1/4: 3/4 · tanh(4 · 1/2 − 1/4 · 2) + 1/4 · (1 + 2)
    root = 0.75 * math.tanh(1.5) + 0.75
    torch.testing.assert_close(inner, torch.tensor([[root]], dtype=torch.float64))
    # z = 3/4, r = 1/2: root / 4 + 3/4 · tanh(w · h + 2 w · root / 2)
    left, right = root / 4 + 0.75 * math.tanh(1 + root), root / 4 + 0.75 * math.tanh(-2 - root)
    got = down(torch.cat([words, inner]), schedule)
    torch.testing.assert_close(got, torch.tensor([[left], [right], [7.0], [root]], dtype=torch.float64))


@pytest.mark.parametrize("rectangular", [False, True])
def test_half_precision_concerns_the_products_alone(rectangular: bool) -> None:
    (up, down), (schedule, states) = make(), arrange(BATCHES["all kinds"], rectangular)
    up, down, leaves = up.float(), down.float(), states.detach().float().flatten(0, 1)
    parameters = [*up.parameters(), *down.parameters()]

    def both_ways() -> Tensor:
        return down(torch.cat([leaves, up(leaves, schedule)]), schedule)

    exact = both_ways()
    with torch.autocast("cpu", torch.bfloat16):
        rounded = both_ways()
    assert rounded.dtype == torch.float32
    assert not torch.equal(rounded, exact)
    torch.testing.assert_close(rounded, exact, rtol=0, atol=0.1)
    ours = torch.autograd.grad(rounded.sum(), parameters)
    theirs = torch.autograd.grad(exact.sum(), parameters)
    for actual_value, expected_value in zip(ours, theirs, strict=True):
        assert actual_value.dtype == torch.float32
        assert (actual_value - expected_value).norm() < 0.1 * expected_value.norm()


def test_parameters_are_as_many_as_printed() -> None:
    """Hierarchical Table 3: the way down costs 104.1 − 92.0 = 12.0 M at hidden size 1000, roughly."""
    with torch.device("meta"):
        up, down = TreeGRU(1000), TopDownGRU(1000)
    assert sum(parameter.numel() for parameter in up.parameters()) == 8 * 1000**2 + 4 * 1000
    assert sum(parameter.numel() for parameter in down.parameters()) == 12_006_000
    square = [p.shape for part in (up, down) for n, p in part.named_parameters() if n.endswith("recurrent.weight")]
    assert square == [(4000, 1000), (4000, 1000), (2000, 1000), (1000, 1000), (2000, 1000), (1000, 1000)]
