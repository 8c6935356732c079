"""Compute syntactic distances: the number of edges between any two words of a dependency tree.

This is M[i][j] of SDAtt (Chen et al. 2018, eq. 9) for the words and the end-of-sentence symbol (EOS). EOS is the last
row and column and a child of the root. Several roots and EOS are children of one artificial root. A failed parse gets
linear distances, |i - j|. Distances saturate at 255.

With A_i the set of i and its ancestors, the path from i to j has |A_i| + |A_j| - 2 |A_i ∩ A_j| edges. With sets as bit
masks, this is the number of bits in A_i XOR A_j.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pipeline_py.files import ragged_arrays
from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.run.progress_display import show_progress
from pipeline_py.syntax.trees.dependency import DependencyTree, read_dependency_trees
from pipeline_py.syntax.trees.tree_formats import check_trees_against_tokens

MAX_DISTANCE = 255
MAX_WINDOW_TREES = 1024
MAX_WINDOW_ELEMENTS = 2**24
MAX_BATCH_ELEMENTS = 250_000


def compute_distances(*, trees: Path, tokens: Path, output: Path, counts_output: Path) -> None:
    """Compute the matrix of syntactic distances of every sentence.

    Args:
        trees: CoNLL-U, one block for each line of the text.
        tokens: The text of the trees, tokenized, one sentence a line.
        output: Arrow file; row k has the (J+1)² distances between the J words of sentence k and EOS, row by row, uint8.
        counts_output: JSON counts of sentences, of failed parses (which get linear distances) and of matrices with
            distances above 255.
    """
    counts = SentenceCounts()
    aligned = show_progress(check_trees_against_tokens(read_dependency_trees(trees), trees, tokens), "distances")
    ragged_arrays.write_ragged_rows(output, _compute_distance_rows(aligned, counts), "uint8")
    counts.write_json_file(counts_output)


def _compute_distance_rows(trees: Iterable[DependencyTree], counts: SentenceCounts) -> Iterator[np.ndarray]:
    for window in _split_into_windows(trees):
        heads = [None if tree.failure_reason is not None else tree.heads for tree in window]
        matrices = compute_batch_distances(heads, [len(tree.words) for tree in window])
        for tree, matrix in zip(window, matrices, strict=True):
            counts.add_kept()
            if tree.failure_reason is not None:
                counts.add_noted("failed parse, linear distances")
            elif not tree.words:
                counts.add_noted("empty line")
            if matrix.max() == MAX_DISTANCE:
                counts.add_noted(f"distances of {MAX_DISTANCE} or more")
            yield matrix.ravel()


def _split_into_windows(trees: Iterable[DependencyTree]) -> Iterator[list[DependencyTree]]:
    """Divide the trees into windows whose matrices fit in memory."""
    window: list[DependencyTree] = []
    elements = 0
    for tree in trees:
        size = (len(tree.words) + 1) ** 2
        if window and (len(window) == MAX_WINDOW_TREES or elements + size > MAX_WINDOW_ELEMENTS):
            yield window
            window, elements = [], 0
        window.append(tree)
        elements += size
    if window:
        yield window


def compute_batch_distances(
    sentence_heads: Sequence[Sequence[int] | None], sentence_lengths: Sequence[int]
) -> list[np.ndarray]:
    """Compute the distances of many sentences.

    Args:
        sentence_heads: Heads of each sentence, which must form trees; None for a failed parse.
        sentence_lengths: Number of words J of each sentence.

    Returns:
        The (J+1, J+1) uint8 matrix of each sentence.
    """
    matrices: list[np.ndarray] = [np.zeros((0, 0), np.uint8)] * len(sentence_heads)
    parsed = [place for place, sentence in enumerate(sentence_heads) if sentence is not None]
    parsed.sort(key=sentence_lengths.__getitem__)
    for batch in _group_similar_lengths(parsed, sentence_lengths):
        sentences = [sentence for place in batch if (sentence := sentence_heads[place]) is not None]
        for place, matrix in zip(batch, _compute_tree_distances(sentences), strict=True):
            matrices[place] = matrix
    for place, sentence in enumerate(sentence_heads):
        if sentence is None:
            last = sentence_lengths[place]
            line = np.minimum(np.abs(np.arange(-last, last + 1)), MAX_DISTANCE).astype(np.uint8)
            # Row i is the window of the line whose 0 is in column i.
            matrices[place] = sliding_window_view(line, last + 1)[::-1]
    return matrices


def _group_similar_lengths(sorted_indices: Sequence[int], lengths: Sequence[int]) -> Iterator[list[int]]:
    """Divide indices, sorted by length, into batches whose padded matrices fit in the CPU cache."""
    batch: list[int] = []
    for place in sorted_indices:
        if batch and (len(batch) + 1) * (lengths[place] + 2) ** 2 > MAX_BATCH_ELEMENTS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _compute_tree_distances(batch_heads: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Compute (J+1, J+1) uint8 distances for each of B sentences of at most N - 1 words."""
    lengths = np.array([len(heads) for heads in batch_heads])
    nodes = int(lengths.max()) + 1  # N: the words and EOS
    is_word = np.arange(nodes) < lengths[:, None]  # (B, N)
    heads = np.full((len(batch_heads), nodes), -1)
    heads[is_word] = np.fromiter(chain.from_iterable(batch_heads), np.int64, int(lengths.sum()))
    is_root = heads == 0
    heads[np.arange(len(batch_heads)), lengths] = np.where(is_root.sum(1) == 1, is_root.argmax(1) + 1, 0)
    sets = _compute_ancestor_sets(heads)
    # Distances are smaller than the number of nodes.
    edges = np.zeros((len(batch_heads), nodes, nodes), np.uint8 if nodes <= MAX_DISTANCE else np.uint16)
    for word in range(sets.shape[2]):
        bits = sets[:, :, word]
        edges += np.bitwise_count(bits[:, :, None] ^ bits[:, None, :])
    saturated = edges if nodes <= MAX_DISTANCE else np.minimum(edges, MAX_DISTANCE).astype(np.uint8)
    return [saturated[k, : length + 1, : length + 1] for k, length in enumerate(lengths)]


def _compute_ancestor_sets(heads: np.ndarray) -> np.ndarray:
    """Compute the set of each node and its ancestors by pointer doubling.

    Args:
        heads: (B, N), 0 for a root, i for the i-th node counted from 1, negative for padding.

    Returns:
        (B, N, ceil(N/S)) unsigned integers of S bits, where S is the smallest of 16, 32 and 64 with S ≥ N, else 64.
        Bit k of word w is set if node S w + k is in the set.
    """
    batch, nodes = heads.shape
    size = next((size for size in (16, 32) if nodes <= size), 64)
    words = -(-nodes // size)
    own_bits = np.zeros((nodes + 1, words), f"u{size // 8}")
    places = np.arange(nodes)
    own_bits[places, places // size] = np.uint64(1) << (places % size).astype(np.uint64)
    reached = np.tile(own_bits, (batch, 1))  # (B (N+1), words): the additional last node of each sentence is a sentinel
    sentinels = (nodes + 1) * np.arange(batch)[:, None] + nodes
    parents = np.where(heads > 0, sentinels - nodes + heads - 1, sentinels)
    parents = np.concatenate([parents, sentinels], axis=1)
    while (parents < sentinels).any():
        reached |= reached[parents.ravel()]
        parents = parents.ravel()[parents]
    return reached.reshape(batch, nodes + 1, words)[:, :nodes]
