"""Batches of sentence pairs, padded to rectangles, and the packing of their words without padding."""

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
    """The packing of the N words of B sentences of up to I positions, including EOS, position by position.

    At each position the sentences have the same order, longest first, as in torch's `PackedSequence`. A recurrence has
    a row for each sentence in this order, and fewer rows at later positions.

    Attributes:
        flat_indices: (N,) int64, i · B + b for position i of sentence b.
        batch_sizes: number of words at each of the I positions.
        lengths: number of words of each sentence, in the order of the batch.
        is_sorted: whether the batch is already in this order.
        word_mask: (N,) bool, false for padding that is packed like words, so that all shapes depend on I and B only;
            None: no padding.
    """

    flat_indices: Tensor
    batch_sizes: tuple[int, ...]
    lengths: tuple[int, ...]
    is_sorted: bool = True
    word_mask: Tensor | None = None

    @staticmethod
    def from_lengths(lengths: Sequence[int] | Tensor, position_count: int | None = None) -> "PackedWords":
        """Pack sentences of these lengths (B,), with padding to `position_count` positions if that is not None."""
        sizes = np.asarray(lengths)
        sentence_count = len(sizes)
        if position_count is not None:
            mask = torch.from_numpy((np.arange(position_count)[:, None] < sizes).ravel())
            return replace(PackedWords.build_rectangle(sentence_count, position_count), word_mask=mask)
        order = np.argsort(-sizes, kind="stable")
        batch_sizes = (np.arange(sizes.max())[:, None] < sizes).sum(axis=1)
        is_word = np.arange(sentence_count) < batch_sizes[:, None]
        indices = (np.arange(len(batch_sizes))[:, None] * sentence_count + order)[is_word]
        is_sorted = bool((order == np.arange(sentence_count)).all())
        return PackedWords(torch.from_numpy(indices), tuple(batch_sizes.tolist()), tuple(sizes.tolist()), is_sorted)

    @staticmethod
    def build_rectangle(sentence_count: int, position_count: int) -> "PackedWords":
        """Pack all positions (B, I) as words."""
        return PackedWords(
            torch.arange(sentence_count * position_count),
            (sentence_count,) * position_count,
            (position_count,) * sentence_count,
        )

    @property
    def position_count(self) -> int:
        """The number of positions I."""
        return len(self.batch_sizes)

    @property
    def sentence_count(self) -> int:
        """The number of sentences B."""
        return self.batch_sizes[0]

    @property
    def sentence_order(self) -> Tensor:
        """The index in the batch of each row (B,)."""
        return self.flat_indices[: self.sentence_count]

    def to(self, device: torch.device | str) -> "PackedWords":
        """Copy the tensors to a device."""
        mask = None if self.word_mask is None else self.word_mask.to(device, non_blocking=True)
        return replace(self, flat_indices=self.flat_indices.to(device, non_blocking=True), word_mask=mask)

    @property
    def sentence_indices(self) -> Tensor:
        """The index in the batch of the sentence of each word (N,)."""
        return self.flat_indices % self.sentence_count

    @property
    def row_indices(self) -> Tensor:
        """The reordered batch row of each word (N,)."""
        if self.is_sorted:
            return self.sentence_indices
        rows = torch.arange(self.sentence_count, device=self.flat_indices.device)
        return torch.empty_like(rows).index_copy_(0, self.sentence_order, rows).index_select(0, self.sentence_indices)

    @property
    def rectangle_indices(self) -> Tensor:
        """The index b · I + i of each word (N,) in a rectangle (B, I)."""
        return self.sentence_indices * self.position_count + self.flat_indices // self.sentence_count

    def pack(self, values: Tensor) -> Tensor:
        """Pack the values of words from a rectangle: (I, B, …) → (N, …)."""
        return values.flatten(0, 1).index_select(0, self.flat_indices)

    def unpack(self, values: Tensor) -> Tensor:
        """Unpack values of words to a rectangle: (N, …) → (B, I, …), zero for padding."""
        return self._scatter(values, self.rectangle_indices).unflatten(0, (self.sentence_count, self.position_count))

    def unpack_by_position(self, values: Tensor) -> Tensor:
        """Unpack values of words to a rectangle: (N, …) → (I, B, …), zero for padding."""
        return self._scatter(values, self.flat_indices).unflatten(0, (self.position_count, self.sentence_count))

    def _scatter(self, values: Tensor, indices: Tensor) -> Tensor:
        if self.word_mask is not None:
            values = values.masked_fill(~self.word_mask.view(-1, *(1 for _ in values.shape[1:])), 0)
        return values.new_zeros(self.position_count * self.sentence_count, *values.shape[1:]).index_copy(
            0, indices, values
        )

    def apply_dropout_mask(self, values: Tensor, mask: Tensor | None) -> Tensor:
        """Apply a dropout mask of rows (B, X) to the values of their words (N, X)."""
        return values if mask is None else values * mask.index_select(0, self.row_indices)

    def compute_reversed_indices(self, lengths: Tensor) -> Tensor:
        """Compute the indices (N,) that reverse the first `lengths` (B,) words of each sentence.

        The permutation is its own inverse.
        """
        length, position = lengths.index_select(0, self.sentence_indices), self.flat_indices // self.sentence_count
        reversed_position = torch.where(position < length, length - 1 - position, position)
        return self._find_word_indices(reversed_position * self.sentence_count + self.sentence_indices)

    def find_last_words(self, lengths: Tensor) -> Tensor:
        """Return the index (B,) of the last word of each sentence, given their lengths (B,)."""
        return self._find_word_indices(
            (lengths - 1) * self.sentence_count + torch.arange(len(lengths), device=lengths.device)
        )

    def _find_word_indices(self, flat_indices: Tensor) -> Tensor:
        """Return the indices of the words at flat indices (…)."""
        numbers = torch.zeros(self.position_count * self.sentence_count, dtype=torch.int64, device=flat_indices.device)
        numbers = numbers.index_copy(
            0, self.flat_indices, torch.arange(len(self.flat_indices), device=flat_indices.device)
        )
        return numbers.index_select(0, flat_indices)


SyntaxType = TypeVar("SyntaxType", Tensor, TreeSchedule)


@dataclass(frozen=True)
class Batch:
    """A batch of B sentences. There is no padding symbol: identifiers after the end of a sentence are 0.

    Attributes:
        source: identifiers (B, J) int64, including EOS.
        source_lengths: (B,) int64, including EOS.
        source_words: packing of the source, computed on the CPU to avoid synchronizations.
        target: identifiers (B, I) int64, including EOS, or None when translating.
        target_lengths: (B,) int64, including EOS, or None.
        target_words: packing of the target, or None.
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
        """Mask (B, J) of source words, including EOS."""
        positions = torch.arange(self.source.shape[1], device=self.source.device)
        return positions < self.source_lengths.unsqueeze(1)

    @property
    def syntax_tensors(self) -> dict[str, Tensor]:
        """The syntax with a row for each sentence, without trees: kind → tensor (B, …)."""
        return {kind: table for kind, table in self.syntax.items() if isinstance(table, Tensor)}

    def get_syntax(self, kind: str) -> Tensor:
        """Return the syntax of a kind with a row for each sentence (B, …).

        Raises:
            LookupError: the batch lacks it.
        """
        return find_syntax(kind, self.syntax_tensors)

    def get_tree_schedule(self, kind: str) -> TreeSchedule:
        """Return the trees of a kind.

        Raises:
            LookupError: the batch lacks them.
        """
        return find_syntax(
            kind, {kind: trees for kind, trees in self.syntax.items() if isinstance(trees, TreeSchedule)}
        )

    def to(self, device: torch.device | str) -> "Batch":
        """Copy the tensors to a device."""

        def move(tensor: Tensor | None) -> Tensor | None:
            return None if tensor is None else tensor.to(device, non_blocking=True)

        return replace(
            self,
            source=self.source.to(device, non_blocking=True),
            source_lengths=self.source_lengths.to(device, non_blocking=True),
            source_words=self.source_words.to(device),
            target=move(self.target),
            target_lengths=move(self.target_lengths),
            target_words=None if self.target_words is None else self.target_words.to(device),
            syntax={
                kind: values.to(device) if isinstance(values, TreeSchedule) else values.to(device, non_blocking=True)
                for kind, values in self.syntax.items()
            },
        )


def find_syntax(kind: str, syntax: Mapping[str, SyntaxType]) -> SyntaxType:
    """Return the syntax of a kind.

    Raises:
        LookupError: there is none, with the available kinds.
    """
    if kind not in syntax:
        names = ", ".join(f"`{name}`" for name in syntax) or "none"
        raise LookupError(
            f"the batch has no syntax of kind `{kind}` (available: {names}); "
            "name this kind in `required_syntax` of the part's options"
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
        source: identifiers of each sentence, including EOS.
        target: identifiers of each target sentence.
        syntax: kind → one row per sentence, in the layout of the kind.
        length_multiple: if more than 1, J and I are multiples of it, padding is packed like words, and schedules of
            trees are rectangular, so that shapes depend on B, J and I only.
    """
    sources, source_lengths = _pad_rows(source, length_multiple)
    source_words = PackedWords.from_lengths(source_lengths, sources.shape[1] if length_multiple > 1 else None)
    targets, target_lengths, target_words = None, None, None
    if target is not None:
        targets, target_lengths = _pad_rows(target, length_multiple)
        target_words = PackedWords.from_lengths(target_lengths, targets.shape[1] if length_multiple > 1 else None)
    batch_syntax: dict[str, Tensor | TreeSchedule] = {}
    for kind, rows in (syntax or {}).items():
        layout = load_syntax_kind(kind).row_layout
        if isinstance(layout, BinaryTreeLayout):
            lengths = [len(sentence) for sentence in source]
            batch_syntax[kind] = TreeSchedule.from_rows(rows, lengths, sources.shape[1], length_multiple > 1)
        else:
            batch_syntax[kind] = _build_syntax_tensor(layout, rows, source, sources.shape[1])
    return Batch(sources, source_lengths, source_words, targets, target_lengths, target_words, batch_syntax)


def _build_syntax_tensor(
    layout: PositionTable, rows: Sequence[np.ndarray], source: Sequence[np.ndarray], position_count: int
) -> Tensor:
    table: np.ndarray = np.full(
        (len(rows), position_count, layout.count_columns(position_count)), layout.padding_value, dtype=layout.dtype
    )
    for number, (row, sentence) in enumerate(zip(rows, source, strict=True)):
        positions = len(sentence)
        columns = layout.count_columns(positions)
        table[number, :positions, :columns] = row.reshape(positions, columns)
    return torch.from_numpy(table)


def _pad_rows(rows: Sequence[np.ndarray], length_multiple: int) -> tuple[Tensor, Tensor]:
    lengths = [len(row) for row in rows]
    padded = np.zeros((len(rows), -(-max(lengths) // length_multiple) * length_multiple), dtype=np.int64)
    for number, row in enumerate(rows):
        padded[number, : len(row)] = row
    return torch.from_numpy(padded), torch.tensor(lengths)
