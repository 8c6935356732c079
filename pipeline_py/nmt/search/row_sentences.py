"""The assignment of search rows to sentences."""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from pipeline_py.nmt.torch_setup import is_cpu


@dataclass(frozen=True)
class RowSentences:
    """The sentence of each of the R rows of a search.

    Attributes:
        sentence_indices: (R,) index of the sentence among B.
        column_counts: for each of the B sentences the number of leading memory columns it uses; None: all columns.
        row_spans: slices of consecutive rows of one sentence, with its index; None on a GPU, to avoid a
            synchronization.
        max_rows: the largest number of rows of a sentence; None on a GPU.
        padded_indices: (R,) index of each row if every sentence has `max_rows` rows: b · max_rows + rank of the row
            within its sentence; None on a GPU.
    """

    sentence_indices: Tensor
    column_counts: tuple[int, ...] | None = None
    row_spans: tuple[tuple[slice, int], ...] | None = None
    max_rows: int | None = None
    padded_indices: Tensor | None = None

    @staticmethod
    def from_sentences(
        sentence_indices: Tensor, sentence_count: int, column_counts: tuple[int, ...] | None = None
    ) -> "RowSentences":
        """Build the assignment from the sentence index of each row (R,), without synchronizing a GPU."""
        if not is_cpu(sentence_indices.device):
            return RowSentences(sentence_indices, column_counts)
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
        return RowSentences(sentence_indices, column_counts, runs, width, place)
