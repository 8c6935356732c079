"""The ways up and down a tree, against recursion over the nodes of one sentence at a time, in float64."""

import math
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor

from pipeline_py.nmt.recurrence.original_gru import OriginalGRU
from pipeline_py.nmt.trees.schedule import Schedule
from pipeline_py.nmt.trees.tree_gru import TopDownGRU, TreeGRU

HIDDEN = 3
Tree = int | tuple["Tree", "Tree"]
"""A word, or left and right part."""


# Trees and their packed rows (`kinds.trees`), with the number of words, EOS not counted.


def left_chain(first: int, last: int) -> Tree:
    return first if first == last else (left_chain(first, last - 1), last)


def right_chain(first: int, last: int) -> Tree:
    return first if first == last else (first, right_chain(first + 1, last))


def balanced(first: int, last: int) -> Tree:
    middle = (first + last) // 2
    return first if first == last else (balanced(first, middle), balanced(middle + 1, last))


def chance(random: np.random.Generator, first: int, last: int) -> Tree:
    if first == last:
        return first
    middle = int(random.integers(first, last))
    return chance(random, first, middle), chance(random, middle + 1, last)


def packed(words: int, trees: list[Tree], rooted: bool = True) -> tuple[int, np.ndarray]:
    """Number the nodes in order of level, then from left to right."""
    found: list[tuple[int, int, Tree]] = []

    def look(tree: Tree) -> tuple[int, int]:
        """Level and first word."""
        if isinstance(tree, int):
            return 0, tree
        left, right = look(tree[0]), look(tree[1])
        found.append((1 + max(left[0], right[0]), left[1], tree))
        return found[-1][:2]

    for tree in trees:
        look(tree)
    found.sort(key=lambda node: node[:2])
    number = {word: word for word in range(words)} | {tree: words + k for k, (_, _, tree) in enumerate(found)}
    root = number[trees[0]] if trees and rooted else -1
    row = [root] + [value for level, _, (a, b) in found for value in (number[a], number[b], level)]
    return words, np.array(row)


FOREST = packed(9, [left_chain(1, 3), left_chain(5, 6), left_chain(7, 8)], rooted=False)
BATCHES = {
    "one sentence": [packed(4, [((0, 1), (2, 3))])],
    "deep chains": [packed(14, [left_chain(0, 13)]), packed(11, [right_chain(0, 10)])],
    "no tree in the middle": [packed(8, [balanced(0, 7)]), packed(5, []), packed(2, [(0, 1)])],
    "one word, no word": [packed(1, [0]), packed(0, []), packed(3, [(0, (1, 2))])],
    "no inner node": [packed(1, [0]), packed(4, []), packed(0, [])],
    "forests": [FOREST, packed(3, [], rooted=False), packed(2, [(0, 1)], rooted=False)],
    "all kinds": [
        packed(6, [left_chain(0, 5)]),
        FOREST,
        packed(7, []),
        *(packed(n, [chance(np.random.default_rng(n), 0, n - 1)]) for n in (12, 9, 10, 5)),
        packed(1, [0]),
    ],
}


# The reference.


def gru_step(gru: OriginalGRU, x: Tensor, h: Tensor) -> Tensor:
    """Hierarchical eq. 3."""
    W, b = gru.input.weight.chunk(3), gru.input.bias.chunk(3)  # type: ignore[union-attr]
    U = [*gru.gates_recurrent.weight.chunk(2), gru.candidate_recurrent.weight]
    z = torch.sigmoid(W[0] @ x + U[0] @ h + b[0])
    r = torch.sigmoid(W[1] @ x + U[1] @ h + b[1])
    candidate = torch.tanh(W[2] @ x + U[2] @ (r * h) + b[2])
    return (1 - z) * h + z * candidate


def compose(tree_gru: TreeGRU, left: Tensor, right: Tensor) -> Tensor:
    """The five equations of hierarchical section 2.1."""
    L, R = tree_gru.left_recurrent.weight.chunk(4), tree_gru.right_recurrent.weight.chunk(4)
    b = tree_gru.left_recurrent.bias.chunk(4)
    z, r_left, r_right = (torch.sigmoid(L[k] @ left + R[k] @ right + b[k]) for k in range(3))
    candidate = torch.tanh(L[3] @ (r_left * left) + R[3] @ (r_right * right) + b[3])
    return z * candidate + (1 - z) * (left + right)


def walk(words: Tensor, row: np.ndarray, up: TreeGRU, down: TopDownGRU) -> tuple[list[Tensor], list[Tensor]]:
    """States of all nodes of a sentence by their numbers, on the way up and on the way down; words are (n, H)."""
    children = {len(words) + k: row[1 + 3 * k : 3 + 3 * k].tolist() for k in range(len(row) // 3)}
    parents = {left: (node, down.left) for node, (left, _) in children.items()}
    parents |= {right: (node, down.right) for node, (_, right) in children.items()}

    @cache
    def upward(node: int) -> Tensor:
        return words[node] if node < len(words) else compose(up, *map(upward, children[node]))

    @cache
    def downward(node: int) -> Tensor:
        if node not in parents:
            return upward(node)
        parent, gru = parents[node]
        return gru_step(gru, upward(node), downward(parent))

    nodes = range(len(words) + len(children))
    return [upward(node) for node in nodes], [downward(node) for node in nodes]


# Comparisons.


def make(hidden: int = HIDDEN) -> tuple[TreeGRU, TopDownGRU]:
    torch.manual_seed(0)
    parts = TreeGRU(hidden).double(), TopDownGRU(hidden).double()
    with torch.no_grad():
        for part in parts:
            for parameter in part.parameters():
                parameter.normal_(std=0.8)
    return parts


def arrange(batch: list[tuple[int, np.ndarray]]) -> tuple[Schedule, Tensor]:
    """The schedule, and random states of the words (J, B, H)."""
    schedule = Schedule.of_rows([row for _, row in batch], [words + 1 for words, _ in batch])
    torch.manual_seed(1)
    states = torch.randn(schedule.words, len(batch), HIDDEN, dtype=torch.float64, requires_grad=True)
    return schedule, states


def rows_of(schedule: Schedule, batch: list[tuple[int, np.ndarray]]) -> list[list[int]]:
    """For each sentence where its nodes stand in the table of all, by their numbers."""
    at = {place: schedule.words * len(batch) + m for m, place in enumerate(schedule.places.tolist())}
    return [
        [j * len(batch) + b for j in range(words)] + [at[b * schedule.phrases + k] for k in range(len(row) // 3)]
        for b, (words, row) in enumerate(batch)
    ]


@pytest.mark.parametrize("name", BATCHES)
def test_states_and_gradients_are_those_of_the_recursion(name: str) -> None:
    batch = BATCHES[name]
    (up, down), (schedule, states) = make(), arrange(batch)
    leaves = states.flatten(0, 1)
    upward = torch.cat([leaves, up(leaves, schedule)])
    downward = down(upward, schedule)
    assert len(upward) == len(leaves) + sum(len(row) // 3 for _, row in batch)

    nodes = rows_of(schedule, batch)
    random = torch.Generator().manual_seed(2)
    got, want = torch.zeros((), dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    for b, (words, row) in enumerate(batch):
        for ours, theirs in zip((upward, downward), walk(states[:words, b], row, up, down), strict=True):
            mine = ours[nodes[b]]
            if not theirs:
                continue
            torch.testing.assert_close(mine, torch.stack(theirs))
            direction = torch.randn(mine.shape, dtype=mine.dtype, generator=random)
            got, want = got + (mine * direction).sum(), want + (torch.stack(theirs) * direction).sum()
    untouched = sorted(set(range(len(leaves))) - {node for some in nodes for node in some})
    torch.testing.assert_close(downward[untouched], leaves[untouched], rtol=0, atol=0)
    got, want = got + downward[untouched].sum(), want + leaves[untouched].sum()

    parameters = [states, *up.parameters(), *down.parameters()]
    ours = torch.autograd.grad(got, parameters)
    theirs = torch.autograd.grad(want, parameters, allow_unused=True, materialize_grads=True)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


def test_gradient_of_the_roots_alone() -> None:
    """What only the way up made is the gradient of all below, through every level."""
    batch = BATCHES["all kinds"]
    (up, down), (schedule, states) = make(), arrange(batch)
    roots = schedule.at_roots(states.flatten(0, 1), up(states.flatten(0, 1), schedule))
    want = []
    for b, (words, row) in enumerate(batch):
        upward, downward = walk(states[:words, b], row, up, down)
        if row[0] >= 0:
            assert upward[row[0]] is downward[row[0]]
        want.append(upward[row[0]] if row[0] >= 0 else torch.zeros(HIDDEN, dtype=torch.float64))
    torch.testing.assert_close(roots, torch.stack(want))
    parameters = [states, *up.parameters()]
    ours = torch.autograd.grad(roots.square().sum(), parameters)
    theirs = torch.autograd.grad(torch.stack(want).square().sum(), parameters)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("name", ["no tree in the middle", "forests", "no inner node"])
def test_derivatives_are_those_of_differences(name: str) -> None:
    (up, down), (schedule, states) = make(), arrange(BATCHES[name])
    leaves = states.detach().flatten(0, 1).requires_grad_()
    assert torch.autograd.gradcheck(lambda s, *_: up(s, schedule), (leaves, *up.parameters()))
    table = torch.randn(len(leaves) + len(schedule.children), HIDDEN, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda t, *_: down(t, schedule), (table, *down.parameters()))


def test_a_sentence_is_the_same_alone() -> None:
    batch = BATCHES["all kinds"]
    (up, down), (schedule, states) = make(), arrange(batch)
    leaves = states.flatten(0, 1)
    together = down(torch.cat([leaves, up(leaves, schedule)]), schedule)
    for b, (nodes, (words, row)) in enumerate(zip(rows_of(schedule, batch), batch, strict=True)):
        own = Schedule.of_rows([row], [words + 1])
        alone = states[: words + 1, b]
        alone = down(torch.cat([alone, up(alone, own)]), own)
        (numbered,) = rows_of(own, [(words, row)])
        torch.testing.assert_close(together[nodes], alone[numbered])


def test_going_back_twice_gives_the_same_twice() -> None:
    (up, down), (schedule, states) = make(), arrange(BATCHES["all kinds"])
    leaves = states.flatten(0, 1)
    loss = down(torch.cat([leaves, up(leaves, schedule)]), schedule).square().sum()
    parameters = [states, *up.parameters(), *down.parameters()]
    once = torch.autograd.grad(loss, parameters, retain_graph=True)
    twice = torch.autograd.grad(loss, parameters)
    for one, other in zip(once, twice, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


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
    schedule = Schedule.of_rows([np.array([2, 0, 1, 1])], [3])
    words = torch.tensor([[1.0], [2.0], [7.0]], dtype=torch.float64)
    inner = up(words, schedule)
    # z = 3/4, r_L = 1/2, r_R = 1/4: 3/4 · tanh(4 · 1/2 − 1/4 · 2) + 1/4 · (1 + 2)
    root = 0.75 * math.tanh(1.5) + 0.75
    torch.testing.assert_close(inner, torch.tensor([[root]], dtype=torch.float64))
    # z = 3/4, r = 1/2: root / 4 + 3/4 · tanh(w · h + 2 w · root / 2)
    left, right = root / 4 + 0.75 * math.tanh(1 + root), root / 4 + 0.75 * math.tanh(-2 - root)
    got = down(torch.cat([words, inner]), schedule)
    torch.testing.assert_close(got, torch.tensor([[left], [right], [7.0], [root]], dtype=torch.float64))


def test_half_precision_concerns_the_products_alone() -> None:
    (up, down), (schedule, states) = make(), arrange(BATCHES["all kinds"])
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
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == torch.float32
        assert (one - other).norm() < 0.1 * other.norm()


def test_parameters_are_as_many_as_printed() -> None:
    """Hierarchical Table 3: the way down costs 104.1 − 92.0 = 12.0 M at hidden size 1000, roughly."""
    with torch.device("meta"):
        up, down = TreeGRU(1000), TopDownGRU(1000)
    assert sum(parameter.numel() for parameter in up.parameters()) == 8 * 1000**2 + 4 * 1000
    assert sum(parameter.numel() for parameter in down.parameters()) == 12_006_000
    square = [p.shape for part in (up, down) for n, p in part.named_parameters() if n.endswith("recurrent.weight")]
    assert square == [(4000, 1000), (4000, 1000), (2000, 1000), (1000, 1000), (2000, 1000), (1000, 1000)]
