"""Time syntactic distances, computed over batches, against shortest paths of networkx and of scipy.

    python -m benchmarks.distances

All compute the distances between all words and EOS from the heads of the same random trees: the stage's own function
for many sentences at a time, the others for one sentence at a time, through a graph. Results are compared first. Runs
alternate on one core; the measure is CPU time.
"""

import os
import platform
import time
from collections.abc import Callable, Sequence
from statistics import median

import networkx as nx
import numpy as np
import scipy
from pipeline_py.input_error import InputError
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, dijkstra, floyd_warshall

from pipeline_py import stage
from pipeline_py.syntax.distances import FARTHEST, WINDOW, batch_distances

Heads = list[int]
Distances = np.ndarray | dict[int, dict[int, int]]
"""(J+1, J+1), or what networkx returns; the last node is EOS."""


def compare(*, sentences: int = 4096, words: int = 25, repetitions: int = 7, seed: int = 1) -> None:
    """Print the sentences per second of each way on one core, and how many times as fast ours is.

    Args:
        sentences: Number of random trees.
        words: Words of each tree (J).
        repetitions: Number of timed runs of each way, after one that does not count.
        seed: Seed of the trees.

    Raises:
        InputError: there is nothing to compute, or a distance may be too large for ours.
    """
    if min(sentences, words, repetitions) < 1 or words >= FARTHEST:
        raise InputError(f"--sentences, --words and --repetitions must be positive, and words below {FARTHEST}")
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    random = np.random.default_rng(seed)
    trees = [random_tree(random, words) for _ in range(sentences)]
    check(trees)

    times: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(repetitions):
        for name, way in WAYS.items():
            times[name].append(seconds(way, trees))
    rates = {name: sentences / median(measured) for name, measured in times.items()}
    print(f"Python {platform.python_version()}, numpy {np.__version__}, networkx {nx.__version__}, ", end="")
    print(f"scipy {scipy.__version__}, one core,\n{sentences} trees of {words} words; medians of {repetitions}\n")
    print(f"{'':<40}{'sentences/s':>12}")
    for name, rate in rates.items():
        print(f"{name:<40}{rate:>12,.0f}")
    for library in ("networkx", "scipy"):
        fastest = max(rate for name, rate in rates.items() if name.startswith(library))
        print(f"{f'ratio to {library}':<40}{rates[OURS] / fastest:>12.1f}")


def random_tree(random: np.random.Generator, words: int) -> Heads:
    """Hang each word, in random order, under one of those before it; the first is the root."""
    order = random.permutation(words)
    heads = [0] * words
    for place in range(1, words):
        heads[order[place]] = int(order[random.integers(place)]) + 1
    return heads


def check(trees: Sequence[Heads]) -> None:
    """Raise `AssertionError` where two ways differ."""
    expected = WAYS[OURS](trees)
    for way in WAYS.values():
        for one, other in zip(way(trees), expected, strict=True):
            found = [[one[i][j] for j in range(len(one))] for i in range(len(one))] if isinstance(one, dict) else one
            np.testing.assert_array_equal(found, other)


def seconds(way: Callable[[Sequence[Heads]], list[Distances]], trees: Sequence[Heads]) -> float:
    """CPU time of this process, which others on the machine hardly change."""
    start = time.process_time()
    way(trees)
    return time.process_time() - start


def in_windows(trees: Sequence[Heads]) -> list[Distances]:
    """Compute as the stage does."""
    found: list[Distances] = []
    for first in range(0, len(trees), WINDOW):
        window = trees[first : first + WINDOW]
        found += batch_distances(window, [len(heads) for heads in window])
    return found


def by_networkx(heads: Heads) -> Distances:
    """Breadth first from every node."""
    graph = nx.Graph((word, head - 1 if head else len(heads)) for word, head in enumerate(heads))
    return dict(nx.all_pairs_shortest_path_length(graph))


def graph_of(heads: Heads) -> csr_array:
    """One edge for each word, to its head, of the root to EOS; built from the arrays that scipy holds it in."""
    words = len(heads)
    ends = np.array(heads)
    ends[ends == 0] = words + 1
    return csr_array((np.ones(words), ends - 1, np.append(np.arange(words + 1), words)), shape=(words + 1, words + 1))


def by_breadth_first_order(heads: Heads) -> Distances:
    """Breadth first from EOS; of each node reached the distances are those of the node before it and one more."""
    order, before = breadth_first_order(graph_of(heads), len(heads), directed=False)
    found = np.zeros((len(order), len(order)), np.int64)
    for node in order[1:]:
        found[node] = found[:, node] = found[before[node]] + 1
        found[node, node] = 0
    return found


def each(way: Callable[[Heads], Distances]) -> Callable[[Sequence[Heads]], list[Distances]]:
    """Go sentence by sentence."""
    return lambda trees: [way(heads) for heads in trees]


OURS = "batch_distances"
WAYS = {
    OURS: in_windows,
    "networkx all_pairs_shortest_path_length": each(by_networkx),
    "scipy dijkstra": each(lambda heads: dijkstra(graph_of(heads), directed=False, unweighted=True)),
    "scipy floyd_warshall": each(lambda heads: floyd_warshall(graph_of(heads), directed=False)),
    "scipy breadth_first_order": each(by_breadth_first_order),
}

if __name__ == "__main__":
    stage.run(compare)
