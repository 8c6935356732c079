"""The length model: p(target length | source length), from counts in the training data."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from pydantic import NonNegativeInt

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.ragged_arrays import RaggedArrayFile
from pipeline_py.files.text_files import read_lines
from pipeline_py.nmt.data.packed_files import check_aligned
from pipeline_py.run.errors import InputError

LENGTH_COUNT_COLUMNS = ("source_length", "target_length", "count")


def length_model(*, source: Path, target: Path, added: NonNegativeInt = 0, counts_output: Path) -> None:
    """Count pairs of sentence lengths, from which p(target length | source length) is estimated (tree2seq eq. 28).

    Lengths are in the models' units (tokens or pieces), without EOS on either side.

    Args:
        source: Packed source sentences of the training data (ragged int32, each row ending with EOS).
        target: The same for the target.
        added: Number of tags that models read in addition to each source sentence.
        counts_output: TSV with the header `source_length target_length count`, sorted by both lengths; every sentence
            pair is counted.

    Raises:
        InputError: the files differ in sentences, or are empty.
    """
    sources, targets = RaggedArrayFile(source), RaggedArrayFile(target)
    check_aligned(targets, sources)
    if len(sources) == 0:
        raise InputError("the file is empty; check the corpus", source)
    lengths = np.stack([sources.row_lengths - 1 + added, targets.row_lengths - 1])
    pairs, counts = np.unique(lengths, axis=1, return_counts=True)
    with open_atomic_text_file(counts_output) as file:
        for fields in [LENGTH_COUNT_COLUMNS, *zip(*pairs.tolist(), counts.tolist(), strict=True)]:
            file.write("\t".join(map(str, fields)) + "\n")


def read_length_counts(path: Path) -> Iterator[tuple[int, int, int]]:
    """Yield source length, target length and count, sorted by both lengths."""
    for line in islice(read_lines(path), 1, None):
        source_length, target_length, count = map(int, line.split("\t"))
        yield source_length, target_length, count


class LengthModel:
    """p(I | J), the relative frequency of I target tokens for J source tokens (tree2seq eq. 28).

    A floor makes lengths possible that do not occur in the training data. For a source length that does not occur
    there, log p is 0 for all target lengths, as if there were no length model: with the floor, every ending would cost
    the same and the search would continue to the limit.
    """

    def __init__(self, counts: Iterable[tuple[int, int, int]], floor: float) -> None:
        """Build the model from the source length J, target length I and count of every pair; 0 < `floor` ≤ 1."""
        table = np.array(list(counts), dtype=np.int64).reshape(-1, len(LENGTH_COUNT_COLUMNS))
        self._floor = np.log(floor)
        self._distributions: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        for length in np.unique(table[:, 0]).tolist():
            _, lengths, number = table[table[:, 0] == length].T
            self._distributions[length] = lengths, np.log(np.maximum(number / number.sum(), floor))

    @classmethod
    def load(cls, path: Path, floor: float) -> "LengthModel":
        """Load the counts that the stage `length_model` wrote."""
        return cls(read_length_counts(path), floor)

    def has_source_length(self, source_length: int) -> bool:
        """Return whether the training data have a source of this length."""
        return source_length in self._distributions

    def compute_log_probabilities(self, source_lengths: np.ndarray, max_length: int) -> np.ndarray:
        """Return log p(I | J) for J of `source_lengths` (B,), and I = 0 … `max_length`: (B, longest + 1) float64."""
        table = np.zeros((len(source_lengths), max_length + 1))
        for row, source_length in zip(table, source_lengths.tolist(), strict=True):
            if self.has_source_length(source_length):
                lengths, values = self._distributions[source_length]
                is_possible = lengths <= max_length
                row[:] = self._floor
                row[lengths[is_possible]] = values[is_possible]
        return table
