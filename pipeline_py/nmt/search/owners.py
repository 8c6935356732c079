"""Rows of a search, and the sentences that they belong to."""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from pipeline_py.nmt.device import on_cpu


@dataclass(frozen=True)
class Owners:
    """Which sentence each of R rows is of.

    Attributes:
        sentence: (R,) its number among B.
        reach: in how many columns of the memory each of the B sentences may have something; None: in all.
        runs: rows that stand together and are of one sentence, and which; None where a device would have to be asked.
        width: the most rows that a sentence has; None where a device would have to be asked for it.
        place: (R,) where a row stands when each sentence has room for `width` rows, b · width + its number among those
            of its sentence; None as well.
    """

    sentence: Tensor
    reach: tuple[int, ...] | None = None
    runs: tuple[tuple[slice, int], ...] | None = None
    width: int | None = None
    place: Tensor | None = None

    @staticmethod
    def of(sentence: Tensor, sentences: int, reach: tuple[int, ...] | None = None) -> "Owners":
        """Give rows (R,) of B sentences their places; a GPU is not asked."""
        if not on_cpu(sentence.device):
            return Owners(sentence, reach)
        counts = torch.bincount(sentence, minlength=sentences)
        width = int(counts.max())
        order = sentence.argsort(stable=True)
        of_sorted = sentence.index_select(0, order)
        number = torch.arange(len(sentence)) - (counts.cumsum(0) - counts).index_select(0, of_sorted)
        place = torch.empty_like(sentence).index_copy_(0, order, of_sorted * width + number)
        of_runs, lengths = torch.unique_consecutive(sentence, return_counts=True)
        stops = [0, *lengths.cumsum(0).tolist()]
        runs = tuple((slice(*span), owner) for span, owner in zip(pairwise(stops), of_runs.tolist(), strict=True))
        return Owners(sentence, reach, runs, width, place)
