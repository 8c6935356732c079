"""Time the Tree-LSTM computed level by level over a whole batch, against the same computed node by node.

    python -m benchmarks.tree_lstm

Both compute h and c of all phrases of a batch of random trees, and the gradients of all parameters and leaves. Results
are compared first; runs alternate.
"""

import time
from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
import torch
from pipeline_py.input_error import InputError
from torch import Tensor
from torch.nn import functional

from pipeline_py import stage
from pipeline_py.nmt.initialization import initialize
from pipeline_py.nmt.trees.schedule import Schedule
from pipeline_py.nmt.trees.tree_lstm import TreeLSTM
from pipeline_py.subword.pack_trees import Forest, Node

Tree = int | tuple["Tree", "Tree"]
"""A word by its number, or left and right part."""


def compare(
    *, sentences: int = 64, words: int = 12, hidden: int = 256, repetitions: int = 15, threads: int = 1, seed: int = 1
) -> None:
    """Print the median time of the forward and backward pass of a batch, level by level and node by node.

    Args:
        sentences: Sentences of the batch (B).
        words: Mean words of a sentence; lengths are uniform from two thirds to four thirds of it.
        hidden: Size of the states (H).
        repetitions: Number of timed runs of each way, after one that does not count.
        threads: CPU threads.
        seed: Seed of lengths, trees and numbers.

    Raises:
        InputError: sentences are too short for trees.
    """
    if words < 2:
        raise InputError("--words must be at least 2")
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    lengths = [int(length) for length in random.integers(words * 2 // 3, words * 4 // 3 + 1, sentences)]
    trees = [random_tree(random, 0, length) for length in lengths]
    schedule = Schedule.of_rows([row_of(*pair) for pair in zip(trees, lengths, strict=True)], [n + 1 for n in lengths])

    model = TreeLSTM(hidden)
    initialize(model, "lecun")
    shape = schedule.words * sentences, hidden
    leaves = torch.randn(shape, requires_grad=True), torch.randn(shape, requires_grad=True)
    ways: dict[str, Callable[[], Tensor]] = {
        "node by node": partial(node_by_node, model, *leaves, trees),
        "level by level": partial(level_by_level, model, *leaves, schedule),
    }
    results = [gradients(way(), model, leaves) for way in ways.values()]
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3)

    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(repetitions):
        for name, way in ways.items():
            times[name].append(seconds(way, model, leaves))
    nodes = len(schedule.children)
    print(
        f"torch {torch.__version__}, {threads} thread(s), {sentences} sentences of {sum(lengths) / sentences:.1f} words"
    )
    print(f"on average, H = {hidden}, {nodes} phrases on {len(schedule.sizes)} levels; medians of {repetitions}\n")
    print(f"{'':<16}{'forwards':>12}{'and backwards':>16}")
    medians = {name: [median(column) for column in zip(*rows, strict=True)] for name, rows in times.items()}
    for name, (forwards, both) in medians.items():
        print(f"{name:<16}{1000 * forwards:>9.1f} ms{1000 * both:>13.1f} ms")
    slow, fast = medians.values()
    print(f"{'ratio':<16}{slow[0] / fast[0]:>12.1f}{slow[1] / fast[1]:>16.1f}")


def random_tree(random: np.random.Generator, first: int, last: int) -> Tree:
    """Divide the words first … last − 1 at random until each is alone."""
    if last - first == 1:
        return first
    middle = int(random.integers(first + 1, last))
    return random_tree(random, first, middle), random_tree(random, middle, last)


def row_of(tree: Tree, words: int) -> np.ndarray:
    """Lay a tree out as `kinds.trees` says."""
    forest = Forest(words)

    def grow(node: Tree) -> Node:
        return Node(0, node) if isinstance(node, int) else forest.join(grow(node[0]), grow(node[1]))

    return forest.row(grow(tree))


def level_by_level(model: TreeLSTM, states: Tensor, cells: Tensor, schedule: Schedule) -> Tensor:
    """Sum h² + c² over all phrases."""
    return torch.cat(model(states, cells, schedule)).square().sum()


def node_by_node(model: TreeLSTM, states: Tensor, cells: Tensor, trees: list[Tree]) -> Tensor:
    """Compute the same by recursion: a matrix product for each phrase."""
    size, made = model.hidden, []
    leaves = list(zip(states.unbind(), cells.unbind(), strict=True))

    def visit(node: Tree, sentence: int) -> tuple[Tensor, Tensor]:
        if isinstance(node, int):
            return leaves[node * len(trees) + sentence]
        (h_left, c_left), (h_right, c_right) = visit(node[0], sentence), visit(node[1], sentence)
        gates = functional.linear(torch.cat([h_left, h_right]), model.weight, model.bias)
        i, f_left, f_right, o = gates[: 4 * size].sigmoid().chunk(4)
        c = i * gates[4 * size :].tanh() + f_left * c_left + f_right * c_right
        made.append((o * c.tanh(), c))
        return made[-1]

    for sentence, tree in enumerate(trees):
        visit(tree, sentence)
    return torch.cat([torch.stack(part) for part in zip(*made, strict=True)]).square().sum()


def gradients(loss: Tensor, model: TreeLSTM, leaves: tuple[Tensor, Tensor]) -> tuple[Tensor, ...]:
    """Go back to leaves and parameters."""
    return torch.autograd.grad(loss, [*leaves, *model.parameters()])


def seconds(way: Callable[[], Tensor], model: TreeLSTM, leaves: tuple[Tensor, Tensor]) -> tuple[float, float]:
    """Time it: forwards, and forwards and backwards."""
    start = time.perf_counter()
    loss = way()
    forwards = time.perf_counter() - start
    gradients(loss, model, leaves)
    return forwards, time.perf_counter() - start


if __name__ == "__main__":
    stage.run(compare)
