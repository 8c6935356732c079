"""Random sentences and trees for vocabularies of any size: packed files, and batches."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pipeline_py.files.ragged import write_rows
from pipeline_py.nmt.data.batch import Batch, collate
from pipeline_py.subword.pack_heads import heads_of_pieces, parents_of_pieces
from pipeline_py.subword.pack_trees import Forest, Node
from pipeline_py.subword.vocabulary import EOS
from pipeline_py.syntax.distances import batch_distances
from pipeline_py.syntax.trees.control_shapes import Shape, heads

SPECIALS = 2
WORDS = 24
"""On average; lengths of sources are uniform from half of it to one and a half."""

LABELS = 40
"""Of dependencies, with those of EOS and of what is unknown."""

UNITS = 10
"""Places of words in a dependency unit."""


def write_random(files: Mapping[str, Path], pairs: int, vocabulary: int, seed: int = 1) -> None:
    """Write pairs of sentences and the syntax of their sources.

    Args:
        files: "source", "target", "distances", "units", "trees", "heads", "labels" and "parents" → file.
        pairs: how many.
        vocabulary: words on each side and in units, which are as frequent as Zipf's law says.
        seed: of everything.
    """
    random = np.random.default_rng(seed)
    lengths, target_lengths = _draw_lengths(random, pairs, WORDS)
    write_rows(files["source"], (_draw_sentence(random, length, vocabulary) for length in lengths), "int32")
    write_rows(files["target"], (_draw_sentence(random, length, vocabulary) for length in target_lengths), "int32")
    units = (random.integers(0, vocabulary, (length + 1) * UNITS) for length in lengths)
    write_rows(files["units"], units, "int32")
    drawn = [heads(Shape.RANDOM, length, f"{seed} {number}") for number, length in enumerate(lengths)]
    matrices = (batch_distances([tree], [len(tree)])[0] for tree in drawn)
    write_rows(files["distances"], (matrix.ravel() for matrix in matrices), "uint8")
    for kind, of_pieces in (("heads", heads_of_pieces), ("parents", parents_of_pieces)):
        write_rows(files[kind], (np.array(of_pieces(tree, range(len(tree)))) for tree in drawn), "int16")
    write_rows(files["labels"], (random.integers(SPECIALS, LABELS, length + 1) for length in lengths), "int32")
    write_rows(files["trees"], (draw_tree(random, length) for length in lengths), "int32")


def draw_batch(random: np.random.Generator, pairs: int, words: int, vocabulary: int) -> Batch:
    """Draw a batch of sentence pairs of so many source words on average, with a tree over each source."""
    lengths, target_lengths = _draw_lengths(random, pairs, words)
    trees = [draw_tree(random, length) for length in lengths]
    sources = [_draw_sentence(random, length, vocabulary) for length in lengths]
    targets = [_draw_sentence(random, length, vocabulary) for length in target_lengths]
    return collate(sources, targets, {"trees": trees})


def draw_tree(random: np.random.Generator, words: int) -> np.ndarray:
    """Draw a binary tree over the words of a sentence, as `kinds.trees` lays it out."""
    forest = Forest(words)

    def divide(first: int, last: int) -> Node:
        if last - first == 1:
            return Node(0, first)
        middle = int(random.integers(first + 1, last))
        return forest.join(divide(first, middle), divide(middle, last))

    return forest.row(divide(0, words))


def _draw_lengths(random: np.random.Generator, pairs: int, words: int) -> tuple[Sequence[int], Sequence[int]]:
    """Draw lengths of sources, and of translations, which are at most a fifth longer or shorter."""
    lengths = random.integers(words // 2, words + words // 2 + 1, pairs)
    target_lengths = np.maximum(1, (lengths * random.uniform(0.8, 1.2, pairs)).astype(int))
    return lengths.tolist(), target_lengths.tolist()


def _draw_sentence(random: np.random.Generator, words: int, vocabulary: int) -> np.ndarray:
    """Draw words by Zipf's law, and end the sentence."""
    return np.array([*(SPECIALS + random.zipf(1.3, words) % (vocabulary - SPECIALS)), EOS])
