"""Packed sentences and trees that are drawn at random, for vocabularies of any size."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from pipeline_py.ragged import write_rows

from benchmarks.tree_lstm import random_tree, row_of
from pipeline_py.subword.pack_heads import heads_of_pieces, parents_of_pieces
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
    lengths = random.integers(WORDS // 2, WORDS + WORDS // 2 + 1, pairs)
    # A translation is at most a fifth longer or shorter.
    of_target = (lengths * random.uniform(0.8, 1.2, pairs)).astype(int)

    def sentence(length: int) -> np.ndarray:
        return np.array([*(SPECIALS + random.zipf(1.3, length) % (vocabulary - SPECIALS)), EOS])

    write_rows(files["source"], (sentence(length) for length in lengths), "int32")
    write_rows(files["target"], (sentence(length) for length in of_target), "int32")
    of_units = (random.integers(0, vocabulary, (length + 1) * UNITS) for length in lengths)
    write_rows(files["units"], of_units, "int32")
    drawn = [heads(Shape.RANDOM, int(length), f"{seed} {number}") for number, length in enumerate(lengths)]
    matrices = (batch_distances([tree], [len(tree)])[0] for tree in drawn)
    write_rows(files["distances"], (matrix.ravel() for matrix in matrices), "uint8")
    for kind, of_pieces in (("heads", heads_of_pieces), ("parents", parents_of_pieces)):
        write_rows(files[kind], (np.array(of_pieces(tree, range(len(tree)))) for tree in drawn), "int16")
    of_words = (random.integers(SPECIALS, LABELS, length + 1) for length in lengths)
    write_rows(files["labels"], of_words, "int32")
    trees = (row_of(random_tree(random, 0, int(length)), int(length)) for length in lengths)
    write_rows(files["trees"], trees, "int32")
