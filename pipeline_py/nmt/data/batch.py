"""Batches of sentence pairs: padded to rectangles, and their words packed without padding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from pipeline_py.kinds.syntax_kind import BinaryTreeLayout, PositionTable, load_syntax_kind
from pipeline_py.nmt.trees.schedule import Schedule


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


Held = TypeVar("Held", Tensor, Schedule)


@dataclass(frozen=True)
class Batch:
    """B sentences. There is no padding symbol: what lies behind a sentence's length is 0 and means nothing.

    Attributes:
        source: identifiers (B, J) int64; every sentence ends with EOS, which J counts.
        source_lengths: (B,) int64, EOS included.
        source_words: where they stand, known before a device has the batch and would have to be asked.
        target: identifiers (B, I) int64, EOS included, or None when translating.
        target_lengths: (B,) int64, EOS included, or None.
        target_words: where those stand, or None.
        syntax: kind → tensor; "distances": (B, J, J) uint8, padded with 255; "labels": identifiers (B, J, 1) int64;
            "units": identifiers (B, J, 10) int64; "heads": positions (B, J, 1) int64, padded with −1; "parents": two
            of them (B, J, 2). "trees" and "lexical_trees" → the schedule of the trees.
    """

    source: Tensor
    source_lengths: Tensor
    source_words: Words
    target: Tensor | None = None
    target_lengths: Tensor | None = None
    target_words: Words | None = None
    syntax: dict[str, Tensor | Schedule] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def mask(self) -> Tensor:
        """Where sources have words (B, J), EOS among them."""
        positions = torch.arange(self.source.shape[1], device=self.source.device)
        return positions < self.source_lengths.unsqueeze(1)

    @property
    def tables(self) -> dict[str, Tensor]:
        """The syntax that has a row for each sentence, without trees: kind → tensor (B, …)."""
        return {kind: table for kind, table in self.syntax.items() if isinstance(table, Tensor)}

    def table(self, kind: str) -> Tensor:
        """Return the syntax of a kind that has a row for each sentence (B, …).

        Raises:
            LookupError: the network does not read it.
        """
        return of_kind(kind, self.tables)

    def schedule(self, kind: str) -> Schedule:
        """Return the trees of a kind.

        Raises:
            LookupError: the network does not read them.
        """
        return of_kind(kind, {kind: trees for kind, trees in self.syntax.items() if isinstance(trees, Schedule)})

    def to(self, device: torch.device | str) -> "Batch":
        """Copy the tensors to a device."""

        def moved(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device, non_blocking=True)

        return replace(
            self,
            source=self.source.to(device, non_blocking=True),
            source_lengths=self.source_lengths.to(device, non_blocking=True),
            source_words=self.source_words.to(device),
            target=moved(self.target),
            target_lengths=moved(self.target_lengths),
            target_words=None if self.target_words is None else self.target_words.to(device),
            syntax={
                kind: held.to(device) if isinstance(held, Schedule) else held.to(device, non_blocking=True)
                for kind, held in self.syntax.items()
            },
        )


def of_kind(kind: str, syntax: Mapping[str, Held]) -> Held:
    """Return what a network reads of a kind of syntax.

    Raises:
        LookupError: it reads none.
    """
    if kind not in syntax:
        there = ", ".join(f"`{name}`" for name in syntax) or "none"
        raise LookupError(
            f"the sentences come without `{kind}`, and with {there}; name this kind in `reads` of the part's options"
        )
    return syntax[kind]


def collate(
    source: Sequence[np.ndarray],
    target: Sequence[np.ndarray] | None = None,
    syntax: Mapping[str, Sequence[np.ndarray]] | None = None,
    multiple: int = 1,
) -> Batch:
    """Pad sentences into one batch.

    Args:
        source: one row of identifiers per sentence, EOS included.
        target: the same of the other side.
        syntax: kind → one row per sentence; laid out as the kind says.
        multiple: where it is more than 1, J and I are multiples of it and padding is packed with the words, so that
            batches have few different shapes.
    """
    sources, source_lengths = _pad(source, multiple)
    source_words = Words.of_lengths(source_lengths, sources.shape[1] if multiple > 1 else None)
    targets, target_lengths, target_words = None, None, None
    if target is not None:
        targets, target_lengths = _pad(target, multiple)
        target_words = Words.of_lengths(target_lengths, targets.shape[1] if multiple > 1 else None)
    held: dict[str, Tensor | Schedule] = {}
    for kind, rows in (syntax or {}).items():
        values = load_syntax_kind(kind).row_layout
        if isinstance(values, BinaryTreeLayout):
            held[kind] = Schedule.of_rows(rows, [len(sentence) for sentence in source], sources.shape[1])
        else:
            held[kind] = _table(values, rows, source, sources.shape[1])
    return Batch(sources, source_lengths, source_words, targets, target_lengths, target_words, held)


def _table(values: PositionTable, rows: Sequence[np.ndarray], source: Sequence[np.ndarray], length: int) -> Tensor:
    table: np.ndarray = np.full(
        (len(rows), length, values.count_columns(length)), values.padding_value, dtype=values.dtype
    )
    for place, (row, sentence) in enumerate(zip(rows, source, strict=True)):
        positions = len(sentence)
        columns = values.count_columns(positions)
        table[place, :positions, :columns] = row.reshape(positions, columns)
    return torch.from_numpy(table)


def _pad(rows: Sequence[np.ndarray], multiple: int) -> tuple[Tensor, Tensor]:
    lengths = [len(row) for row in rows]
    padded = np.zeros((len(rows), -(-max(lengths) // multiple) * multiple), dtype=np.int64)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return torch.from_numpy(padded), torch.tensor(lengths)
