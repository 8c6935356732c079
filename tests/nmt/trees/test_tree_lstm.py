"""The Tree-LSTM over whole batches against recursion over the nodes of one sentence at a time, in float64."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from pipeline_py.nmt.initialization import initialize_parameters
from pipeline_py.nmt.trees.tree_lstm import TreeLSTM
from pipeline_py.nmt.trees.tree_schedule import TreeSchedule
from tests.nmt.formulas import NO_DROPOUT, compose_lstm_node
from tests.nmt.network_assertions import assert_same_gradients, draw_parameters
from tests.nmt.trees.nested_trees import (
    NestedTree,
    build_balanced_tree,
    build_left_chain,
    build_random_tree_builder,
    build_right_chain,
    list_inner_nodes,
    to_tree_row,
)

HIDDEN = 4
Sentence = tuple[int, list[NestedTree], bool]
"""Number of words, their trees, and whether it is one tree over all of them."""


def parsed(words: int, shape: Callable[..., NestedTree]) -> Sentence:
    return words, [shape(words)], True


BATCHES: dict[str, list[Sentence]] = {
    "left chain": [parsed(30, build_left_chain)],
    "right chain": [parsed(30, build_right_chain)],
    "balanced": [parsed(16, build_balanced_tree)],
    "random": [parsed(words, build_random_tree_builder(words)) for words in (5, 9, 2, 12, 7)],
    "all shapes": [
        parsed(9, build_left_chain),
        parsed(4, build_right_chain),
        parsed(11, build_balanced_tree),
        parsed(6, build_random_tree_builder(0)),
    ],
    "one word": [parsed(1, build_balanced_tree)],
    "one word among others": [
        parsed(3, build_left_chain),
        parsed(1, build_balanced_tree),
        parsed(4, build_random_tree_builder(1)),
    ],
    "no tree": [(4, [], False), (1, [], False)],
    "no tree in the middle": [
        parsed(5, build_random_tree_builder(2)),
        (7, [], False),
        parsed(3, build_right_chain),
        (2, [], False),
    ],
    "forest": [(6, [(0, 1), ((2, 3), 4)], False), (4, [], False), (3, [((0, 1), 2)], False), (5, [(3, 4)], False)],
}


def schedule_of(sentences: list[Sentence], rectangular: bool = False) -> TreeSchedule:
    return TreeSchedule.from_rows(
        [to_tree_row(*sentence) for sentence in sentences],
        [words + 1 for words, *_ in sentences],
        is_rectangular=rectangular,
    )


def make(seed: int = 0) -> TreeLSTM:
    torch.manual_seed(seed)
    return draw_parameters(TreeLSTM(HIDDEN).double())


def random_leaves(schedule: TreeSchedule) -> list[Tensor]:
    """Draw h and c of all words, padding among them, which must not matter."""
    rows = schedule.position_count * len(schedule)
    return [torch.randn(rows, HIDDEN, dtype=torch.float64, requires_grad=True) for _ in range(2)]


# The reference: one node at a time.


def nodes_of(
    tree: TreeLSTM, words: list[list[Tensor]], node: NestedTree, keep: Tensor
) -> dict[NestedTree, list[Tensor]]:
    """Compute h and c of a node and all below it."""
    if isinstance(node, int):
        return {node: words[node]}
    left, right = nodes_of(tree, words, node[0], keep), nodes_of(tree, words, node[1], keep)
    return left | right | {node: compose_lstm_node(tree.weight, tree.bias, left[node[0]], right[node[1]], keep)}


def reference(tree: TreeLSTM, leaves: list[Tensor], sentences: list[Sentence], mask: Tensor | None) -> dict:
    """(sentence, k) → h and c of its k-th inner node, and (sentence, "root") → those of its root."""
    result: dict = {}
    for sentence, (words, trees, complete) in enumerate(sentences):
        single_schedule = [[part[word * len(sentences) + sentence] for part in leaves] for word in range(words)]
        keep = NO_DROPOUT if mask is None else mask[sentence]
        nodes: dict[NestedTree, list[Tensor]] = {}
        for tree_ in trees:
            nodes |= nodes_of(tree, single_schedule, tree_, keep)
        inner = list_inner_nodes(trees)
        result |= {(sentence, k): nodes[node] for k, node in enumerate(inner)}
        if complete:
            result[sentence, "root"] = nodes[trees[0]]
    return result


@pytest.mark.parametrize("rectangular", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("batch", BATCHES)
def test_outputs_and_gradients(batch: str, masked: bool, rectangular: bool) -> None:
    sentences = BATCHES[batch]
    tree, schedule = make(), schedule_of(sentences, rectangular)
    leaves = random_leaves(schedule)
    mask = torch.rand(len(schedule), 2 * HIDDEN, dtype=torch.float64) * 2 if masked else None
    inner = tree(*leaves, schedule, mask)
    roots = [schedule.get_root_values(*pair) for pair in zip(leaves, inner, strict=True)]
    expected = reference(tree, leaves, sentences, mask)
    rows = {divmod(place, schedule.max_phrases): row for row, place in enumerate(schedule.phrase_indices.tolist())}
    places = [place for place in expected if place[1] != "root"]
    assert {*places} <= rows.keys() and (rectangular or len(places) == len(rows))
    assert len(inner[0]) == len(inner[1]) == len(rows)

    zeros = [torch.zeros(HIDDEN, dtype=torch.float64)] * 2
    actual, wanted = [], []
    for part in range(2):
        actual += [*(inner[part][rows[place]] for place in places), *roots[part]]
        wanted += [expected[place][part] for place in places]
        wanted += [expected.get((sentence, "root"), zeros)[part] for sentence in range(len(sentences))]
    assert_same_gradients(actual, wanted, [*leaves, *tree.parameters()])


@pytest.mark.parametrize("part", [0, 1])
def test_gradients_of_states_or_cells_alone(part: int) -> None:
    sentences = BATCHES["all shapes"]
    tree, schedule = make(), schedule_of(sentences)
    leaves = random_leaves(schedule)
    ours = tree(*leaves, schedule)[part].sum()
    theirs = sum(nodes[part].sum() for (_, k), nodes in reference(tree, leaves, sentences, None).items() if k != "root")
    parameters_and_leaves = [*leaves, *tree.parameters()]
    got, want = torch.autograd.grad(ours, parameters_and_leaves), torch.autograd.grad(theirs, parameters_and_leaves)
    for tree_, expected_value in zip(got, want, strict=True):
        torch.testing.assert_close(tree_, expected_value)


@pytest.mark.parametrize("rectangular", [False, True])
@pytest.mark.parametrize("cells_need_it", [True, False])
def test_numerical_gradients(cells_need_it: bool, rectangular: bool) -> None:
    sentences: list[Sentence] = [
        parsed(4, build_random_tree_builder(3)),
        (2, [], False),
        parsed(3, build_left_chain),
    ]
    tree, schedule = make(), schedule_of(sentences, rectangular)
    states, cells = random_leaves(schedule)
    cells.requires_grad_(cells_need_it)

    def run(states: Tensor, cells: Tensor, *_: Tensor) -> tuple[Tensor, Tensor]:
        return tree(states, cells, schedule)

    torch.autograd.gradcheck(run, (states, cells, *tree.parameters()))


def test_going_back_twice_gives_the_same_twice() -> None:
    tree, schedule = make(), schedule_of(BATCHES["random"])
    leaves = random_leaves(schedule)
    loss = sum(part.square().sum() for part in tree(*leaves, schedule))
    first_gradients = torch.autograd.grad(loss, [*leaves, *tree.parameters()], retain_graph=True)
    for tree_, expected_value in zip(
        first_gradients, torch.autograd.grad(loss, [*leaves, *tree.parameters()]), strict=True
    ):
        torch.testing.assert_close(tree_, expected_value, rtol=0, atol=0)


def test_a_sentence_alone_is_as_in_a_batch() -> None:
    sentences = BATCHES["no tree in the middle"]
    tree, schedule = make(), schedule_of(sentences)
    leaves = random_leaves(schedule)
    batched = [schedule.group_by_sentence(part) for part in tree(*leaves, schedule)]
    for number, sentence in enumerate(sentences):
        single = schedule_of([sentence])
        single_schedule = [part[number :: len(sentences)][: single.position_count] for part in leaves]
        for part, complete in zip(tree(*single_schedule, single), batched, strict=True):
            torch.testing.assert_close(part[single.phrase_indices], complete[number, : len(part)])
            assert not complete[number, len(part) :].any()


@pytest.mark.parametrize("masked", [False, True])
def test_one_composition(masked: bool) -> None:
    tree = make()
    parts = [torch.randn(3, HIDDEN, dtype=torch.float64, requires_grad=True) for _ in range(4)]
    mask = torch.rand(3, 2 * HIDDEN, dtype=torch.float64) * 2 if masked else None
    ours = tree.compose_nodes((parts[0], parts[1]), (parts[2], parts[3]), mask)
    rows = []
    for row in range(3):
        h_l, c_l, h_r, c_r = (part[row] for part in parts)
        keep = NO_DROPOUT if mask is None else mask[row]
        rows.append(compose_lstm_node(tree.weight, tree.bias, [h_l, c_l], [h_r, c_r], keep))
    for part in range(2):
        torch.testing.assert_close(ours[part], torch.stack([row[part] for row in rows]))


def test_forget_gates_begin_open() -> None:
    tree = make()
    initialize_parameters(tree, "uniform")
    with torch.no_grad():
        tree.weight.zero_()
    assert tree.bias.tolist() == [0] * HIDDEN + [1] * 2 * HIDDEN + [0] * 2 * HIDDEN
    one_tensor = torch.ones(1, HIDDEN, dtype=torch.float64)
    _, cell = tree.compose_nodes((one_tensor, one_tensor), (one_tensor, 2 * one_tensor))
    torch.testing.assert_close(cell, 3 * 0.7310585786300049 * one_tensor)


def test_half_precision() -> None:
    tree, schedule = make().float(), schedule_of(BATCHES["all shapes"])
    leaves = [part.detach().float().requires_grad_() for part in random_leaves(schedule)]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rounded = tree(*leaves, schedule)
        tree_ = tree.compose_nodes((leaves[0], leaves[1]), (leaves[0], leaves[1]))
    exact = tree(*leaves, schedule)
    for part, expected_value in zip(rounded, exact, strict=True):
        assert part.dtype == torch.float32
        assert not torch.equal(part, expected_value)
        torch.testing.assert_close(part, expected_value, rtol=0, atol=0.1)
    assert tree_[0].dtype == tree_[1].dtype == torch.float32
    parameters_and_leaves = [*leaves, *tree.parameters()]
    got, want = (torch.autograd.grad(product[0].sum(), parameters_and_leaves) for product in (rounded, exact))
    for gradient, expected_value in zip(got, want, strict=True):
        assert gradient.dtype == torch.float32
        torch.testing.assert_close(gradient, expected_value, rtol=0.1, atol=0.3)
