"""The sentences that all sides train on and translate, in one file that an environment without this project reads too.

Identifiers are the pipeline's: 0 ends a sentence, on either side, 1 is the unknown word, and there is no padding.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class SentenceBatch:
    """A batch of B sentences.

    Attributes:
        sentence_numbers: (B,) of the sentences in the packed files.
        source: B rows of identifiers, each with its end.
        target: the same of the other side; none where the sentences are to be translated.
    """

    sentence_numbers: np.ndarray
    source: Sequence[np.ndarray]
    target: Sequence[np.ndarray] = ()

    @property
    def target_word_count(self) -> int:
        """Target words, ends of sentences included, without any padding."""
        return sum(map(len, self.target))

    @property
    def max_translation_length(self) -> int:
        """The largest number of predictions for a sentence, EOS included."""
        return 2 * max(map(len, self.source)) + 10


def write_batches(path: Path, batches: Sequence[SentenceBatch]) -> None:
    """Write batches, in their order, as .npz."""
    arrays = {
        "batches": np.array([len(batch.source) for batch in batches]),
        "numbers": np.concatenate([batch.sentence_numbers for batch in batches]),
    }
    for side in ("source", "target"):
        rows = [row for batch in batches for row in getattr(batch, side)]
        arrays[side] = np.concatenate([np.zeros(0, np.int64), *rows]).astype(np.int64)
        arrays[f"{side}_lengths"] = np.array([len(row) for row in rows], dtype=np.int64)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, allow_pickle=False, **arrays)


def read_batches(path: Path | str) -> list[SentenceBatch]:
    """Read what `write_batches` wrote."""
    with np.load(path) as file:
        arrays = dict(file)
    source, target = (list(_split_rows(arrays[side], arrays[f"{side}_lengths"])) for side in ("source", "target"))
    return [
        SentenceBatch(arrays["numbers"][start:end], source[start:end], target[start:end])
        for start, end in _iterate_spans(arrays["batches"])
    ]


def pad_rows(rows: Sequence[np.ndarray], padding_id: int) -> np.ndarray:
    """Lay B rows side by side: (B, longest) int64."""
    table = np.full((len(rows), max(map(len, rows))), padding_id, dtype=np.int64)
    for place, row in enumerate(rows):
        table[place, : len(row)] = row
    return table


def _split_rows(row_values: np.ndarray, lengths: np.ndarray) -> Iterator[np.ndarray]:
    for start, end in _iterate_spans(lengths):
        yield row_values[start:end]


def _iterate_spans(span_lengths: np.ndarray) -> Iterator[tuple[int, int]]:
    return pairwise([0, *np.cumsum(span_lengths).tolist()])
