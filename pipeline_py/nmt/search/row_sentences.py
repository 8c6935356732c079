"""Rows of a search, and the sentences that they belong to."""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from pipeline_py.nmt.torch_setup import is_cpu


@dataclass(frozen=True)
class RowSentences:
    """Which sentence each of R rows is of.

    Attributes:
        sentence: (R,) its number among B.
        reach: in how many columns of the memory each of the B sentences may have something; None: in all.
        runs: rows that stand together and are of one sentence, and which; None where a device would have to be asked.
        width: the most rows that a sentence has; None where a device would have to be asked for it.
        place: (R,) where a row stands when each sentence has room for `width` rows, b · width + its number among those
            of its sentence; None as well.
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
        """Give rows (R,) of B sentences their places; a GPU is not asked."""
        if not is_cpu(sentence_indices.device):
            return RowSentences(sentence_indices, column_counts)
        counts = torch.bincount(sentence_indices, minlength=sentence_count)
        width = int(counts.max())
        order = sentence_indices.argsort(stable=True)
        of_sorted = sentence_indices.index_select(0, order)
        number = torch.arange(len(sentence_indices)) - (counts.cumsum(0) - counts).index_select(0, of_sorted)
        place = torch.empty_like(sentence_indices).index_copy_(0, order, of_sorted * width + number)
        of_runs, lengths = torch.unique_consecutive(sentence_indices, return_counts=True)
        stops = [0, *lengths.cumsum(0).tolist()]
        runs = tuple((slice(*span), owner) for span, owner in zip(pairwise(stops), of_runs.tolist(), strict=True))
        return RowSentences(sentence_indices, column_counts, runs, width, place)
