"""Batches of sentence pairs: padded to rectangles, and their words packed without padding."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from pipeline_py.kinds.syntax_kind import BinaryTreeLayout, PositionTable, load_syntax_kind
from pipeline_py.nmt.trees.tree_schedule import TreeSchedule


@dataclass(frozen=True)
class PackedWords:
    """The N words of B sentences of up to I positions, ends of sentences among them, position by position.

    At each position the sentences stand in one order, longer ones first, so that those that go on to the next position
    are always the first ones. A recurrence has a row for each sentence in this order, and fewer and fewer of them.

    Attributes:
        flat_indices: (N,) int64, i · B + b for position i of sentence b.
        batch_sizes: how many words there are at each of the I positions.
        lengths: how many words of each sentence there are, in the order of the batch.
        is_sorted: whether the order at each position is that of the batch.
        word_mask: (N,) bool, where padding is packed with the words, so that all follows from I and B; None: all are words.
    """

    flat_indices: Tensor
    batch_sizes: tuple[int, ...]
    lengths: tuple[int, ...]
    is_sorted: bool = True
    word_mask: Tensor | None = None

    @staticmethod
    def from_lengths(lengths: Sequence[int] | Tensor, position_count: int | None = None) -> "PackedWords":
        """Pack sentences of these lengths (B,), or, where positions I are given, rectangles of them and padding."""
        sizes = np.asarray(lengths)
        sentences = len(sizes)
        if position_count is not None:
            real = torch.from_numpy((np.arange(position_count)[:, None] < sizes).ravel())
            return replace(PackedWords.build_rectangle(sentences, position_count), word_mask=real)
        order = np.argsort(-sizes, kind="stable")
        steps = (np.arange(sizes.max())[:, None] < sizes).sum(axis=1)
        there = np.arange(sentences) < steps[:, None]
        place = (np.arange(len(steps))[:, None] * sentences + order)[there]
        in_order = bool((order == np.arange(sentences)).all())
        return PackedWords(torch.from_numpy(place), tuple(steps.tolist()), tuple(sizes.tolist()), in_order)

    @staticmethod
    def build_rectangle(sentence_count: int, position_count: int) -> "PackedWords":
        """Count all places (B, I) as words."""
        return PackedWords(
            torch.arange(sentence_count * position_count),
            (sentence_count,) * position_count,
            (position_count,) * sentence_count,
        )

    @property
    def position_count(self) -> int:
        """I."""
        return len(self.batch_sizes)

    @property
    def sentence_count(self) -> int:
        """B."""
        return self.batch_sizes[0]

    @property
    def sentence_order(self) -> Tensor:
        """The sentence of each row (B,)."""
        return self.flat_indices[: self.sentence_count]

    def to(self, device: torch.device | str) -> "PackedWords":
        """Copy the tensors to a device."""
        real = None if self.word_mask is None else self.word_mask.to(device, non_blocking=True)
        return replace(self, flat_indices=self.flat_indices.to(device, non_blocking=True), word_mask=real)

    @property
    def sentence_indices(self) -> Tensor:
        """The sentence of each word (N,)."""
        return self.flat_indices % self.sentence_count

    @property
    def row_indices(self) -> Tensor:
        """The row of each word (N,)."""
        if self.is_sorted:
            return self.sentence_indices
        rows = torch.arange(self.sentence_count, device=self.flat_indices.device)
        return torch.empty_like(rows).index_copy_(0, self.sentence_order, rows).index_select(0, self.sentence_indices)

    @property
    def rectangle_indices(self) -> Tensor:
        """Where each word (N,) stands in (B, I), with a line for each sentence."""
        return self.sentence_indices * self.position_count + self.flat_indices // self.sentence_count

    def pack(self, values: Tensor) -> Tensor:
        """Take what words have out of a rectangle: (I, B, …) → (N, …)."""
        return values.flatten(0, 1).index_select(0, self.flat_indices)

    def unpack(self, values: Tensor) -> Tensor:
        """Lay what words have into a rectangle: (N, …) → (B, I, …), zero where no word is."""
        return self._scatter(values, self.rectangle_indices).unflatten(0, (self.sentence_count, self.position_count))

    def unpack_by_position(self, values: Tensor) -> Tensor:
        """Lay what words have into a rectangle: (N, …) → (I, B, …), zero where no word is."""
        return self._scatter(values, self.flat_indices).unflatten(0, (self.position_count, self.sentence_count))

    def _scatter(self, values: Tensor, indices: Tensor) -> Tensor:
        if self.word_mask is not None:
            values = values.masked_fill(~self.word_mask.view(-1, *(1 for _ in values.shape[1:])), 0)
        return values.new_zeros(self.position_count * self.sentence_count, *values.shape[1:]).index_copy(
            0, indices, values
        )

    def apply_dropout_mask(self, values: Tensor, mask: Tensor | None) -> Tensor:
        """Apply a dropout mask of rows (B, X) to what their words have (N, X)."""
        return values if mask is None else values * mask.index_select(0, self.row_indices)

    def compute_reversed_indices(self, lengths: Tensor) -> Tensor:
        """Say which word stands where each one stood (N,), when the first `lengths` (B,) of each sentence turn round.

        Done twice, it leaves all words where they were.
        """
        length, position = lengths.index_select(0, self.sentence_indices), self.flat_indices // self.sentence_count
        turned = torch.where(position < length, length - 1 - position, position)
        return self._find_word_indices(turned * self.sentence_count + self.sentence_indices)

    def find_last_words(self, lengths: Tensor) -> Tensor:
        """Say which word is the last one of each sentence, given their lengths (B,): (B,)."""
        return self._find_word_indices(
            (lengths - 1) * self.sentence_count + torch.arange(len(lengths), device=lengths.device)
        )

    def _find_word_indices(self, flat_indices: Tensor) -> Tensor:
        """Say which of the words stand at places (…)."""
        numbers = torch.zeros(self.position_count * self.sentence_count, dtype=torch.int64, device=flat_indices.device)
        numbers = numbers.index_copy(
            0, self.flat_indices, torch.arange(len(self.flat_indices), device=flat_indices.device)
        )
        return numbers.index_select(0, flat_indices)


SyntaxType = TypeVar("SyntaxType", Tensor, TreeSchedule)


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
    source_words: PackedWords
    target: Tensor | None = None
    target_lengths: Tensor | None = None
    target_words: PackedWords | None = None
    syntax: dict[str, Tensor | TreeSchedule] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.source)

    @property
    def source_mask(self) -> Tensor:
        """Where sources have words (B, J), EOS among them."""
        positions = torch.arange(self.source.shape[1], device=self.source.device)
        return positions < self.source_lengths.unsqueeze(1)

    @property
    def syntax_tensors(self) -> dict[str, Tensor]:
        """The syntax that has a row for each sentence, without trees: kind → tensor (B, …)."""
        return {kind: table for kind, table in self.syntax.items() if isinstance(table, Tensor)}

    def get_syntax(self, kind: str) -> Tensor:
        """Return the syntax of a kind that has a row for each sentence (B, …).

        Raises:
            LookupError: the network does not read it.
        """
        return find_syntax(kind, self.syntax_tensors)

    def get_tree_schedule(self, kind: str) -> TreeSchedule:
        """Return the trees of a kind.

        Raises:
            LookupError: the network does not read them.
        """
        return find_syntax(
            kind, {kind: trees for kind, trees in self.syntax.items() if isinstance(trees, TreeSchedule)}
        )

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
                kind: held.to(device) if isinstance(held, TreeSchedule) else held.to(device, non_blocking=True)
                for kind, held in self.syntax.items()
            },
        )


def find_syntax(kind: str, syntax: Mapping[str, SyntaxType]) -> SyntaxType:
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


def collate_batch(
    source: Sequence[np.ndarray],
    target: Sequence[np.ndarray] | None = None,
    syntax: Mapping[str, Sequence[np.ndarray]] | None = None,
    length_multiple: int = 1,
) -> Batch:
    """Pad sentences into one batch.

    Args:
        source: one row of identifiers per sentence, EOS included.
        target: the same of the other side.
        syntax: kind → one row per sentence; laid out as the kind says.
        length_multiple: where it is more than 1, J and I are multiples of it and padding is packed with the words, so that
            batches have few different shapes.
    """
    sources, source_lengths = _pad_rows(source, length_multiple)
    source_words = PackedWords.from_lengths(source_lengths, sources.shape[1] if length_multiple > 1 else None)
    targets, target_lengths, target_words = None, None, None
    if target is not None:
        targets, target_lengths = _pad_rows(target, length_multiple)
        target_words = PackedWords.from_lengths(target_lengths, targets.shape[1] if length_multiple > 1 else None)
    held: dict[str, Tensor | TreeSchedule] = {}
    for kind, rows in (syntax or {}).items():
        values = load_syntax_kind(kind).row_layout
        if isinstance(values, BinaryTreeLayout):
            held[kind] = TreeSchedule.from_rows(rows, [len(sentence) for sentence in source], sources.shape[1])
        else:
            held[kind] = _build_syntax_tensor(values, rows, source, sources.shape[1])
    return Batch(sources, source_lengths, source_words, targets, target_lengths, target_words, held)


def _build_syntax_tensor(
    layout: PositionTable, rows: Sequence[np.ndarray], source: Sequence[np.ndarray], position_count: int
) -> Tensor:
    table: np.ndarray = np.full(
        (len(rows), position_count, layout.count_columns(position_count)), layout.padding_value, dtype=layout.dtype
    )
    for place, (row, sentence) in enumerate(zip(rows, source, strict=True)):
        positions = len(sentence)
        columns = layout.count_columns(positions)
        table[place, :positions, :columns] = row.reshape(positions, columns)
    return torch.from_numpy(table)


def _pad_rows(rows: Sequence[np.ndarray], length_multiple: int) -> tuple[Tensor, Tensor]:
    lengths = [len(row) for row in rows]
    padded = np.zeros((len(rows), -(-max(lengths) // length_multiple) * length_multiple), dtype=np.int64)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return torch.from_numpy(padded), torch.tensor(lengths)
