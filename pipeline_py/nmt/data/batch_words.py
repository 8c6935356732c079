"""The words of a batch, packed without padding (as `torch.nn.utils.rnn.pack_padded_sequence` does)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True)
class Words:
    """The N words of B sentences of up to I positions, ends of sentences among them, position by position.

    At each position the sentences stand in one order, longer ones first, so that those that go on to the next position
    are always the first ones. A recurrence has a row for each sentence in this order, and fewer and fewer of them.

    Attributes:
        place: (N,) int64, i · B + b for position i of sentence b.
        steps: how many words there are at each of the I positions.
        lengths: how many words of each sentence there are, in the order of the batch.
        in_order: whether the order at each position is that of the batch.
        real: (N,) bool, where padding is packed with the words, so that all follows from I and B; None: all are words.
    """

    place: Tensor
    steps: tuple[int, ...]
    lengths: tuple[int, ...]
    in_order: bool = True
    real: Tensor | None = None

    @staticmethod
    def of_lengths(lengths: Sequence[int] | Tensor, positions: int | None = None) -> "Words":
        """Pack sentences of these lengths (B,), or, where positions I are given, rectangles of them and padding."""
        sizes = np.asarray(lengths)
        sentences = len(sizes)
        if positions is not None:
            real = torch.from_numpy((np.arange(positions)[:, None] < sizes).ravel())
            return replace(Words.rectangle(sentences, positions), real=real)
        order = np.argsort(-sizes, kind="stable")
        steps = (np.arange(sizes.max())[:, None] < sizes).sum(axis=1)
        there = np.arange(sentences) < steps[:, None]
        place = (np.arange(len(steps))[:, None] * sentences + order)[there]
        in_order = bool((order == np.arange(sentences)).all())
        return Words(torch.from_numpy(place), tuple(steps.tolist()), tuple(sizes.tolist()), in_order)

    @staticmethod
    def rectangle(sentences: int, positions: int) -> "Words":
        """Count all places (B, I) as words."""
        return Words(torch.arange(sentences * positions), (sentences,) * positions, (positions,) * sentences)

    @property
    def positions(self) -> int:
        """I."""
        return len(self.steps)

    @property
    def sentences(self) -> int:
        """B."""
        return self.steps[0]

    @property
    def order(self) -> Tensor:
        """The sentence of each row (B,)."""
        return self.place[: self.sentences]

    def to(self, device: torch.device | str) -> "Words":
        """Copy the tensors to a device."""
        real = None if self.real is None else self.real.to(device, non_blocking=True)
        return replace(self, place=self.place.to(device, non_blocking=True), real=real)

    @property
    def sentence(self) -> Tensor:
        """The sentence of each word (N,)."""
        return self.place % self.sentences

    @property
    def row(self) -> Tensor:
        """The row of each word (N,)."""
        if self.in_order:
            return self.sentence
        rows = torch.arange(self.sentences, device=self.place.device)
        return torch.empty_like(rows).index_copy_(0, self.order, rows).index_select(0, self.sentence)

    @property
    def place_in_rectangle(self) -> Tensor:
        """Where each word (N,) stands in (B, I), with a line for each sentence."""
        return self.sentence * self.positions + self.place // self.sentences

    def pack(self, values: Tensor) -> Tensor:
        """Take what words have out of a rectangle: (I, B, …) → (N, …)."""
        return values.flatten(0, 1).index_select(0, self.place)

    def unpack(self, values: Tensor) -> Tensor:
        """Lay what words have into a rectangle: (N, …) → (B, I, …), zero where no word is."""
        return self._spread(values, self.place_in_rectangle).unflatten(0, (self.sentences, self.positions))

    def unpack_by_position(self, values: Tensor) -> Tensor:
        """Lay what words have into a rectangle: (N, …) → (I, B, …), zero where no word is."""
        return self._spread(values, self.place).unflatten(0, (self.positions, self.sentences))

    def _spread(self, values: Tensor, place: Tensor) -> Tensor:
        if self.real is not None:
            values = values.masked_fill(~self.real.view(-1, *(1 for _ in values.shape[1:])), 0)
        return values.new_zeros(self.positions * self.sentences, *values.shape[1:]).index_copy(0, place, values)

    def drop(self, values: Tensor, mask: Tensor | None) -> Tensor:
        """Apply a dropout mask of rows (B, X) to what their words have (N, X)."""
        return values if mask is None else values * mask.index_select(0, self.row)

    def turned(self, lengths: Tensor) -> Tensor:
        """Say which word stands where each one stood (N,), when the first `lengths` (B,) of each sentence turn round.

        Done twice, it leaves all words where they were.
        """
        length, position = lengths.index_select(0, self.sentence), self.place // self.sentences
        turned = torch.where(position < length, length - 1 - position, position)
        return self._number(turned * self.sentences + self.sentence)

    def last(self, lengths: Tensor) -> Tensor:
        """Say which word is the last one of each sentence, given their lengths (B,): (B,)."""
        return self._number((lengths - 1) * self.sentences + torch.arange(len(lengths), device=lengths.device))

    def _number(self, place: Tensor) -> Tensor:
        """Say which of the words stand at places (…)."""
        numbers = torch.zeros(self.positions * self.sentences, dtype=torch.int64, device=place.device)
        numbers = numbers.index_copy(0, self.place, torch.arange(len(self.place), device=place.device))
        return numbers.index_select(0, place)
