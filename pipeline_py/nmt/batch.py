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
    """

    place: Tensor
    positions: int
    sentences: int

    @staticmethod
    def of_lengths(lengths: Sequence[int] | Tensor, positions: int) -> "Words":
        """Find the words of sentences of these lengths (B,), padded to I positions."""
        there = np.arange(positions)[:, None] < np.asarray(lengths)
        return Words(torch.from_numpy(np.flatnonzero(there)), positions, len(lengths))

    @property
    def sentence(self) -> Tensor:
        """The sentence of each word (N,)."""
        return self.place % self.sentences

    @property
    def place_in_rows(self) -> Tensor:
        """B · I + i of each word (N,)."""
        return self.sentence * self.positions + self.place // self.sentences


@dataclass(frozen=True)
class Batch:
    """B sentences. There is no padding symbol: what lies behind a sentence's length is 0 and means nothing.

    Attributes:
        source: identifiers (B, J) int64; every sentence ends with EOS, which J counts.
        source_lengths: (B,) int64, EOS included.
        target: identifiers (B, I) int64, EOS included, or None when translating.
        target_lengths: (B,) int64, EOS included, or None.
        words: the words of the target, which are known before a device has the batch and would have to be asked; None
            without a target.
        syntax: kind → tensor; "distances": (B, J, J) uint8, padded with 255; "labels": identifiers (B, J, 1) int64;
            "units": identifiers (B, J, 10) int64; "heads": positions (B, J, 1) int64, padded with −1. "trees" and
            "lexical_trees" → the schedule of the trees.
    """

    source: Tensor
    source_lengths: Tensor
    target: Tensor | None = None
    target_lengths: Tensor | None = None
    words: Words | None = None
    syntax: dict[str, Tensor | Schedule] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def tables(self) -> dict[str, Tensor]:
        """The syntax that has a row for each sentence, without trees: kind → tensor (B, …)."""
        return {kind: table for kind, table in self.syntax.items() if isinstance(table, Tensor)}

    def schedule(self, kind: str) -> Schedule:
        """Return the trees of a kind."""
        schedule = self.syntax[kind]
        assert isinstance(schedule, Schedule)
        return schedule

    def to(self, device: torch.device | str) -> "Batch":
        """Copy the tensors to a device."""

        def moved(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device, non_blocking=True)

        words = self.words
        return replace(
            self,
            source=self.source.to(device, non_blocking=True),
            source_lengths=self.source_lengths.to(device, non_blocking=True),
            target=moved(self.target),
            target_lengths=moved(self.target_lengths),
            words=None if words is None else replace(words, place=words.place.to(device, non_blocking=True)),
            syntax={
                kind: held.to(device) if isinstance(held, Schedule) else held.to(device, non_blocking=True)
                for kind, held in self.syntax.items()
            },
        )


def collate(
    source: Sequence[np.ndarray],
    target: Sequence[np.ndarray] | None = None,
    syntax: Mapping[str, Sequence[np.ndarray]] | None = None,
) -> Batch:
    """Pad sentences into one batch.

    Args:
        source: one row of identifiers per sentence, EOS included.
        target: the same of the other side.
        syntax: kind → one row per sentence; its values are laid out as `layout` says.
    """
    sources, source_lengths = _pad(source)
    targets, target_lengths, words = None, None, None
    if target is not None:
        targets, target_lengths = _pad(target)
        words = Words.of_lengths([len(sentence) for sentence in target], targets.shape[1])
    held: dict[str, Tensor | Schedule] = {}
    for kind, rows in (syntax or {}).items():
        if kind in KINDS_OF_TREES:
            held[kind] = Schedule.of_rows(rows, [len(sentence) for sentence in source])
        else:
            held[kind] = _table(LAYOUTS[kind], rows, source, sources.shape[1])
    return Batch(sources, source_lengths, targets, target_lengths, words, held)


def _table(layout: Layout, rows: Sequence[np.ndarray], source: Sequence[np.ndarray], length: int) -> Tensor:
    table: np.ndarray = np.full((len(rows), length, layout.width(length)), layout.padding, dtype=layout.dtype)
    for place, (row, sentence) in enumerate(zip(rows, source, strict=True)):
        positions = len(sentence)
        columns = layout.width(positions)
        table[place, :positions, :columns] = row.reshape(positions, columns)
    return torch.from_numpy(table)


def _pad(rows: Sequence[np.ndarray]) -> tuple[Tensor, Tensor]:
    lengths = [len(row) for row in rows]
    padded = np.zeros((len(rows), max(lengths)), dtype=np.int64)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return torch.from_numpy(padded), torch.tensor(lengths)
