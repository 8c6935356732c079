"""Random sentences and trees for vocabularies of any size: packed files, and batches."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pipeline_py.files.ragged_arrays import write_ragged_rows
from pipeline_py.nmt.data.batch import Batch, collate_batch
from pipeline_py.subword.pack_heads import find_parent_spans, find_piece_heads
from pipeline_py.subword.pack_trees import ForestNode, SentenceForestBuilder
from pipeline_py.subword.vocabulary import EOS
from pipeline_py.syntax.compute_distances import compute_batch_distances
from pipeline_py.syntax.trees.control_shapes import ControlShape, build_control_heads

SPECIAL_TOKEN_COUNT = 2
MEAN_WORDS = 24
"""On average; lengths of sources are uniform from half of it to one and a half."""

LABEL_COUNT = 40
"""Number of dependency labels, with those of EOS and unknown labels."""

WORDS_PER_UNIT = 10
"""Places of words in a dependency unit."""


def write_random_corpus(files: Mapping[str, Path], pair_count: int, vocabulary_size: int, seed: int = 1) -> None:
    """Write pairs of sentences and the syntax of their sources.

    Args:
        files: "source", "target", "distances", "units", "trees", "heads", "labels" and "parents" → file.
        pair_count: how many.
        vocabulary_size: words on each side and in units, which are as frequent as Zipf's law says.
        seed: of everything.
    """
    random = np.random.default_rng(seed)
    lengths, target_lengths = _draw_lengths(random, pair_count, MEAN_WORDS)
    write_ragged_rows(files["source"], (_draw_sentence(random, length, vocabulary_size) for length in lengths), "int32")
    write_ragged_rows(
        files["target"], (_draw_sentence(random, length, vocabulary_size) for length in target_lengths), "int32"
    )
    units = (random.integers(0, vocabulary_size, (length + 1) * WORDS_PER_UNIT) for length in lengths)
    write_ragged_rows(files["units"], units, "int32")
    sentences = [
        build_control_heads(ControlShape.RANDOM, length, f"{seed} {number}") for number, length in enumerate(lengths)
    ]
    matrices = (compute_batch_distances([tree], [len(tree)])[0] for tree in sentences)
    write_ragged_rows(files["distances"], (matrix.ravel() for matrix in matrices), "uint8")
    for kind, of_pieces in (("heads", find_piece_heads), ("parents", find_parent_spans)):
        write_ragged_rows(files[kind], (np.array(of_pieces(tree, range(len(tree)))) for tree in sentences), "int16")
    write_ragged_rows(
        files["labels"], (random.integers(SPECIAL_TOKEN_COUNT, LABEL_COUNT, length + 1) for length in lengths), "int32"
    )
    write_ragged_rows(files["trees"], (draw_tree_row(random, length) for length in lengths), "int32")


def draw_batch(random: np.random.Generator, pair_count: int, mean_words: int, vocabulary_size: int) -> Batch:
    """Draw a batch of sentence pairs of so many source words on average, with a tree over each source."""
    lengths, target_lengths = _draw_lengths(random, pair_count, mean_words)
    trees = [draw_tree_row(random, length) for length in lengths]
    sources = [_draw_sentence(random, length, vocabulary_size) for length in lengths]
    targets = [_draw_sentence(random, length, vocabulary_size) for length in target_lengths]
    return collate_batch(sources, targets, {"trees": trees})


def draw_tree_row(random: np.random.Generator, word_count: int) -> np.ndarray:
    """Draw a binary tree over the words of a sentence, as `kinds.trees` lays it out."""
    forest = SentenceForestBuilder(word_count)

    def build_subtree(first: int, last: int) -> ForestNode:
        if last - first == 1:
            return ForestNode(0, first)
        middle = int(random.integers(first + 1, last))
        return forest.join_nodes(build_subtree(first, middle), build_subtree(middle, last))

    return forest.build_forest_row(build_subtree(0, word_count))


def _draw_lengths(random: np.random.Generator, pair_count: int, mean_words: int) -> tuple[Sequence[int], Sequence[int]]:
    """Draw lengths of sources, and of translations, which are at most a fifth longer or shorter."""
    lengths = random.integers(mean_words // 2, mean_words + mean_words // 2 + 1, pair_count)
    target_lengths = np.maximum(1, (lengths * random.uniform(0.8, 1.2, pair_count)).astype(int))
    return lengths.tolist(), target_lengths.tolist()


def _draw_sentence(random: np.random.Generator, word_count: int, vocabulary_size: int) -> np.ndarray:
    """Draw words by Zipf's law, and end the sentence."""
    return np.array(
        [*(SPECIAL_TOKEN_COUNT + random.zipf(1.3, word_count) % (vocabulary_size - SPECIAL_TOKEN_COUNT)), EOS]
    )
