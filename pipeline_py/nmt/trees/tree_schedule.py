"""The trees of a batch, arranged for the computation of all nodes of one level at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from pipeline_py.kinds.trees import NO_ROOT, VALUES_PER_NODE


@dataclass(frozen=True)
class TreeSchedule:
    """The binary trees of B sentences with M inner nodes in total, ordered by level over the whole batch.

    The table of nodes has J·B words, then the inner nodes: word j of sentence b is row j·B + b, and inner node m is
    row J·B + m. Children precede their parents.

    Attributes:
        position_count: J, padded length of the sentences, EOS included.
        max_phrases: P, largest number of inner nodes of a sentence.
        level_sizes: number of inner nodes of level 1, 2, …; M in total.
        child_rows: rows of the left and right child of each inner node (M, 2) int64.
        phrase_indices: b·P + k for the k-th inner node of sentence b (M,) int64.
        root_rows: row of each sentence's root, or −1 (B,) int64.
        phrase_mask: true at phrases, false at padding (B, P) bool.
        phrase_counts: number of inner nodes of each sentence (B,) int64.
    """

    position_count: int
    max_phrases: int
    level_sizes: tuple[int, ...]
    child_rows: Tensor
    phrase_indices: Tensor
    root_rows: Tensor
    phrase_mask: Tensor
    phrase_counts: Tensor

    @staticmethod
    def from_rows(
        tree_rows: Sequence[np.ndarray], sentence_lengths: Sequence[int], position_count: int | None = None
    ) -> "TreeSchedule":
        """Arrange packed trees.

        Args:
            tree_rows: the tree of each sentence in the format of `kinds.trees`; not checked here.
            sentence_lengths: words of each sentence, EOS included.
            position_count: J; None: the longest sentence.
        """
        sentences, position_count = len(tree_rows), max(sentence_lengths) if position_count is None else position_count
        leaves = np.array(sentence_lengths) - 1
        values = np.concatenate(tree_rows).astype(np.int64)
        row_sizes = np.array([len(row) for row in tree_rows])
        row_starts = row_sizes.cumsum() - row_sizes
        roots = values[row_starts]
        nodes = np.delete(values, row_starts).reshape(-1, VALUES_PER_NODE)
        counts = row_sizes // VALUES_PER_NODE
        phrases = int(counts.max())

        # Nodes of all sentences, words before phrases in each; the last entry is a placeholder for "no root".
        starts = (leaves + counts).cumsum() - (leaves + counts)
        sentence = np.repeat(np.arange(sentences), counts)
        number = np.arange(len(nodes)) - np.repeat(counts.cumsum() - counts, counts)
        order = nodes[:, 2].argsort(kind="stable")
        row_of = np.full(int(leaves.sum() + counts.sum()) + 1, NO_ROOT)
        sentence_of_word = np.repeat(np.arange(sentences), leaves)
        word = np.arange(len(sentence_of_word)) - np.repeat(leaves.cumsum() - leaves, leaves)
        row_of[starts[sentence_of_word] + word] = word * sentences + sentence_of_word
        inner = starts[sentence] + leaves[sentence] + number
        row_of[inner[order]] = position_count * sentences + np.arange(len(nodes))

        return TreeSchedule(
            position_count,
            phrases,
            tuple(np.bincount(nodes[:, 2])[1:].tolist()),
            torch.from_numpy(row_of[starts[sentence][:, None] + nodes[:, :2]][order]),
            torch.from_numpy((sentence * phrases + number)[order]),
            torch.from_numpy(row_of[np.where(roots == NO_ROOT, -1, starts + roots)]),
            torch.from_numpy(np.arange(phrases) < counts[:, None]),
            torch.from_numpy(counts),
        )

    def __len__(self) -> int:
        return len(self.root_rows)

    @property
    def level_slices(self) -> list[slice]:
        """Slices of the inner nodes of each level, lowest level first.

        Without inner nodes there is one empty level, which gives the weights of a tree a gradient in every batch.
        """
        sizes = self.level_sizes or (0,)
        return [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]

    def to(self, device: torch.device | str) -> "TreeSchedule":
        """Copy the tensors to a device."""
        names = ("child_rows", "phrase_indices", "root_rows", "phrase_mask", "phrase_counts")
        return replace(self, **{name: getattr(self, name).to(device, non_blocking=True) for name in names})

    def group_by_sentence(self, node_values: Tensor) -> Tensor:
        """Group the values of inner nodes by sentence: (M, X) → (B, P, X), padded with 0."""
        padded = node_values.new_zeros(len(self) * self.max_phrases, node_values.shape[1])
        return padded.index_copy(0, self.phrase_indices, node_values).view(
            len(self), self.max_phrases, node_values.shape[1]
        )

    def get_root_values(self, word_values: Tensor, node_values: Tensor) -> Tensor:
        """Select the values of roots from words (J·B, X) and inner nodes (M, X): (B, X), 0 without a root."""
        rows = torch.cat([word_values, node_values]).index_select(0, self.root_rows.clamp(min=0))
        return rows.masked_fill((self.root_rows == NO_ROOT).unsqueeze(1), 0)
