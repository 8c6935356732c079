"""Sentence pairs side by side, padded to rectangles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor

from pipeline_py.nmt.layout import KINDS_OF_TREES, LAYOUTS, Layout
from pipeline_py.nmt.schedule import Schedule


@dataclass(frozen=True)
class Words:
    """Where the N words of B sentences of up to I positions stand, ends of sentences among them.

    Attributes:
        place: (N,) int64, i · B + b for position i of sentence b; position by position.
        positions: I.
        sentences: B.
        real: (N,) bool, where padding is counted among the words, so that N follows from I and B; None: all are words.
    """

    place: Tensor
    positions: int
    sentences: int
    real: Tensor | None = None

    @staticmethod
    def of_lengths(lengths: Sequence[int] | Tensor, positions: int, padding: bool = False) -> "Words":
        """Find the words of sentences of these lengths (B,), padded to I positions, or count padding among them."""
        there = torch.from_numpy((np.arange(positions)[:, None] < np.asarray(lengths)).ravel())
        if padding:
            return Words(torch.arange(len(there)), positions, len(lengths), there)
        return Words(there.nonzero().squeeze(1), positions, len(lengths))

    @property
    def tensors(self) -> tuple[Tensor | None, ...]:
        """What is held by a device."""
        return self.place, self.real

    def to(self, device: torch.device | str) -> "Words":
        """Copy the tensors to a device."""
        real = None if self.real is None else self.real.to(device, non_blocking=True)
        return replace(self, place=self.place.to(device, non_blocking=True), real=real)

    @property
    def sentence(self) -> Tensor:
        """The sentence of each word (N,)."""
        return self.place % self.sentences

    @property
    def place_in_rows(self) -> Tensor:
        """Where each word (N,) stands when a sentence is a row, in (B, I)."""
        return self.sentence * self.positions + self.place // self.sentences


@dataclass(frozen=True)
class Batch:
    """B sentences. There is no padding symbol: what lies behind a sentence's length is 0 and means nothing.

    Attributes:
        source: identifiers (B, J) int64; every sentence ends with EOS, which J counts.
        source_lengths: (B,) int64, EOS included.
        target: identifiers (B, I) int64, EOS included, or None when translating.
        target_lengths: (B,) int64, EOS included, or None.
        source_words: the words of the source, known before a device has the batch and would have to be asked.
        target_words: the same of the target, or None.
        syntax: kind → tensor; "distances": (B, J, J) uint8, padded with 255; "labels": identifiers (B, J, 1) int64;
            "units": identifiers (B, J, 10) int64; "heads": positions (B, J, 1) int64, padded with −1. "trees" and
            "lexical_trees" → the schedule of the trees.
    """

    source: Tensor
    source_lengths: Tensor
    target: Tensor | None = None
    target_lengths: Tensor | None = None
    source_words: Words | None = None
    target_words: Words | None = None
    syntax: dict[str, Tensor | Schedule] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def tables(self) -> dict[str, Tensor]:
        """The syntax that has a row for each sentence, without trees: kind → tensor (B, …)."""
        return {kind: table for kind, table in self.syntax.items() if isinstance(table, Tensor)}

    @property
    def tensors(self) -> list[Tensor]:
        """All that it consists of, without trees."""
        of_words = [part for words in (self.source_words, self.target_words) if words for part in words.tensors]
        sides = (self.source, self.source_lengths, self.target, self.target_lengths)
        return [tensor for tensor in (*sides, *of_words, *self.tables.values()) if tensor is not None]

    def schedule(self, kind: str) -> Schedule:
        """Return the trees of a kind."""
        schedule = self.syntax[kind]
        assert isinstance(schedule, Schedule)
        return schedule

    def to(self, device: torch.device | str) -> "Batch":
        """Copy the tensors to a device."""

        def moved(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device, non_blocking=True)

        return replace(
            self,
            source=self.source.to(device, non_blocking=True),
            source_lengths=self.source_lengths.to(device, non_blocking=True),
            target=moved(self.target),
            target_lengths=moved(self.target_lengths),
            source_words=None if self.source_words is None else self.source_words.to(device),
            target_words=None if self.target_words is None else self.target_words.to(device),
            syntax={
                kind: held.to(device) if isinstance(held, Schedule) else held.to(device, non_blocking=True)
                for kind, held in self.syntax.items()
            },
        )


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
        syntax: kind → one row per sentence; its values are laid out as `layout` says.
        multiple: where it is more than 1, J and I are multiples of it and padding counts among the words, so that
            batches have few different shapes.
    """
    sources, source_lengths = _pad(source, multiple)
    source_words = Words.of_lengths(source_lengths, sources.shape[1], padding=multiple > 1)
    targets, target_lengths, target_words = None, None, None
    if target is not None:
        targets, target_lengths = _pad(target, multiple)
        target_words = Words.of_lengths(target_lengths, targets.shape[1], padding=multiple > 1)
    held: dict[str, Tensor | Schedule] = {}
    for kind, rows in (syntax or {}).items():
        if kind in KINDS_OF_TREES:
            held[kind] = Schedule.of_rows(rows, [len(sentence) for sentence in source])
        else:
            held[kind] = _table(LAYOUTS[kind], rows, source, sources.shape[1])
    return Batch(sources, source_lengths, targets, target_lengths, source_words, target_words, held)


def _table(layout: Layout, rows: Sequence[np.ndarray], source: Sequence[np.ndarray], length: int) -> Tensor:
    table: np.ndarray = np.full((len(rows), length, layout.width(length)), layout.padding, dtype=layout.dtype)
    for place, (row, sentence) in enumerate(zip(rows, source, strict=True)):
        positions = len(sentence)
        columns = layout.width(positions)
        table[place, :positions, :columns] = row.reshape(positions, columns)
    return torch.from_numpy(table)


def _pad(rows: Sequence[np.ndarray], multiple: int) -> tuple[Tensor, Tensor]:
    lengths = [len(row) for row in rows]
    padded = np.zeros((len(rows), -(-max(lengths) // multiple) * multiple), dtype=np.int64)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return torch.from_numpy(padded), torch.tensor(lengths)
