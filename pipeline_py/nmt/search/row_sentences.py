"""The assignment of search rows to sentences."""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from pipeline_py.nmt.torch_setup import is_cpu


@dataclass(frozen=True)
class RowSentences:
    """The sentence of each of the R rows of a search.

    On a GPU all sentences have the same number of rows, one sentence after the other.

    Attributes:
        sentence_indices: (R,) index of the sentence among B.
        max_rows: the largest number of rows of a sentence.
        column_counts: for each of the B sentences the number of leading memory columns it uses; None: all columns.
        row_spans: slices of consecutive rows of one sentence, with its index; None on a GPU.
        padded_indices: (R,) index of each row if every sentence has `max_rows` rows: b · max_rows + rank of the row
            within its sentence; None on a GPU, where every sentence has them.
    """

    sentence_indices: Tensor
    max_rows: int
    column_counts: tuple[int, ...] | None = None
    row_spans: tuple[tuple[slice, int], ...] | None = None
    padded_indices: Tensor | None = None

    @staticmethod
    def from_sentences(
        sentence_indices: Tensor, sentence_count: int, column_counts: tuple[int, ...] | None = None
    ) -> "RowSentences":
        """Build the assignment from the sentence index of each row (R,), without synchronizing a GPU."""
        if not is_cpu(sentence_indices.device):
            return RowSentences(sentence_indices, len(sentence_indices) // sentence_count)
        counts = torch.bincount(sentence_indices, minlength=sentence_count)
        width = int(counts.max())
        order = sentence_indices.argsort(stable=True)
        sorted_sentences = sentence_indices.index_select(0, order)
        number = torch.arange(len(sentence_indices)) - (counts.cumsum(0) - counts).index_select(0, sorted_sentences)
        place = torch.empty_like(sentence_indices).index_copy_(0, order, sorted_sentences * width + number)
        span_sentences, lengths = torch.unique_consecutive(sentence_indices, return_counts=True)
        stops = [0, *lengths.cumsum(0).tolist()]
        runs = tuple(
            (slice(*span), owner) for span, owner in zip(pairwise(stops), span_sentences.tolist(), strict=True)
        )
        return RowSentences(sentence_indices, width, column_counts, runs, place)

    def group_rows(self, rows: Tensor, sentence_count: int, fill_value: int = 0) -> Tensor:
        """Group rows by sentence, which then reads its memory only once: (R, X) → (B, max_rows, X)."""
        if self.padded_indices is not None:
            padded = rows.new_full((sentence_count * self.max_rows, rows.shape[1]), fill_value)
            rows = padded.index_copy_(0, self.padded_indices, rows)
        return rows.unflatten(0, (sentence_count, self.max_rows))

    def ungroup_rows(self, values: Tensor) -> Tensor:
        """Undo `group_rows`: (B, max_rows, X) → (R, X)."""
        values = values.flatten(0, 1)
        return values if self.padded_indices is None else values.index_select(0, self.padded_indices)
