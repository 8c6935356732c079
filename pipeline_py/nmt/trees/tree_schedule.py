"""The trees of a batch, arranged for the computation of many nodes at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from pipeline_py.kinds.trees import NO_ROOT, VALUES_PER_NODE


@dataclass(frozen=True)
class TreeSchedule:
    """The binary trees of B sentences of up to J positions, EOS included, with M inner nodes in total.

    Inner nodes are in one of two orders. By level: those of level 1 of all sentences, then those of level 2, and so on.
    Rectangular: the first inner node of each sentence, then the second of each, up to P = J − 2, the most that a
    sentence can have; all shapes then depend on B and J only. Either way, children precede their parents.

    The table of nodes has J·B words, then the inner nodes, then a row of zeros: word j of sentence b is row j·B + b,
    and inner node m is row J·B + m. Both children of padding are the row of zeros.

    Attributes:
        position_count: J, padded length of the sentences.
        max_phrases: P, number of inner nodes of a sentence, including padding.
        is_rectangular: whether the order is rectangular, where inner node k of sentence b is m = k·B + b.
        step_sizes: numbers of inner nodes that are computed at once, in this order; M in total.
        child_rows: rows of the left and right child of each inner node (M, 2) int64.
        child_entries: index of each word and inner node in the flat `child_rows`, or 2·M + r for row r that is not a
            child (J·B + M,) int64. A gather with it replaces a scatter, which is slow when it must be deterministic.
        phrase_indices: b·P + k for the k-th inner node of sentence b (M,) int64.
        root_rows: row of each sentence's root, or −1 (B,) int64.
        phrase_mask: true at phrases, false at padding (B, P) bool.
    """

    position_count: int
    max_phrases: int
    is_rectangular: bool
    step_sizes: tuple[int, ...]
    child_rows: Tensor
    child_entries: Tensor
    phrase_indices: Tensor
    root_rows: Tensor
    phrase_mask: Tensor

    @staticmethod
    def from_rows(
        tree_rows: Sequence[np.ndarray],
        sentence_lengths: Sequence[int],
        position_count: int | None = None,
        is_rectangular: bool = False,
    ) -> "TreeSchedule":
        """Arrange packed trees.

        Args:
            tree_rows: the tree of each sentence in the format of `kinds.trees`; not checked here.
            sentence_lengths: words of each sentence, EOS included.
            position_count: J; None: the longest sentence.
            is_rectangular: whether the order of inner nodes is rectangular; otherwise it is by level.
        """
        sentences, position_count = len(tree_rows), max(sentence_lengths) if position_count is None else position_count
        leaves = np.array(sentence_lengths) - 1
        values = np.concatenate(tree_rows).astype(np.int64)
        row_sizes = np.array([len(row) for row in tree_rows])
        row_starts = row_sizes.cumsum() - row_sizes
        roots = values[row_starts]
        nodes = np.delete(values, row_starts).reshape(-1, VALUES_PER_NODE)
        counts = row_sizes // VALUES_PER_NODE
        sentence = np.repeat(np.arange(sentences), counts)
        number = np.arange(len(nodes)) - np.repeat(counts.cumsum() - counts, counts)

        if is_rectangular:
            phrases = max(position_count - 2, 0)
            step_sizes = (sentences,) * phrases
            index = number * sentences + sentence  # m of each node
            phrase_indices = np.arange(sentences * phrases).reshape(sentences, phrases).T.ravel()
        else:
            phrases = int(counts.max())
            step_sizes = tuple(np.bincount(nodes[:, 2])[1:].tolist())
            order = nodes[:, 2].argsort(kind="stable")
            index = order.argsort()
            phrase_indices = (sentence * phrases + number)[order]
        first_inner = position_count * sentences
        zero_row = first_inner + len(phrase_indices)

        # Nodes of all sentences, words before phrases in each; the last entry is a placeholder for "no root".
        starts = (leaves + counts).cumsum() - (leaves + counts)
        row_of = np.full(int(leaves.sum() + counts.sum()) + 1, NO_ROOT)
        sentence_of_word = np.repeat(np.arange(sentences), leaves)
        word = np.arange(len(sentence_of_word)) - np.repeat(leaves.cumsum() - leaves, leaves)
        row_of[starts[sentence_of_word] + word] = word * sentences + sentence_of_word
        row_of[starts[sentence] + leaves[sentence] + number] = first_inner + index

        children = row_of[starts[sentence][:, None] + nodes[:, :2]]
        child_rows = np.full((len(phrase_indices), 2), zero_row)
        child_rows[index] = children
        child_entries = child_rows.size + np.arange(zero_row)
        child_entries[children] = 2 * index[:, None] + np.arange(2)

        return TreeSchedule(
            position_count,
            phrases,
            is_rectangular,
            step_sizes,
            torch.from_numpy(child_rows),
            torch.from_numpy(child_entries),
            torch.from_numpy(phrase_indices),
            torch.from_numpy(row_of[np.where(roots == NO_ROOT, -1, starts + roots)]),
            torch.from_numpy(np.arange(phrases) < counts[:, None]),
        )

    def __len__(self) -> int:
        return len(self.root_rows)

    @property
    def step_slices(self) -> list[slice]:
        """Slices of the inner nodes that are computed at once, children first.

        Without inner nodes there is one empty slice, which gives the weights of a tree a gradient in every batch.
        """
        sizes = self.step_sizes or (0,)
        return [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]

    def split_child_entries(self) -> tuple[Tensor, Tensor]:
        """Return the index of each word (J·B,) and inner node (M,) in the flat `child_rows`, or 2·M if not a child."""
        inner = len(self.child_rows)
        entries = self.child_entries.clamp(max=2 * inner)
        return entries[: len(entries) - inner], entries[len(entries) - inner :]

    def to(self, device: torch.device | str) -> "TreeSchedule":
        """Copy the tensors to a device."""
        names = ("child_rows", "child_entries", "phrase_indices", "root_rows", "phrase_mask")
        return replace(self, **{name: getattr(self, name).to(device, non_blocking=True) for name in names})

    def group_by_sentence(self, node_values: Tensor) -> Tensor:
        """Group the values of inner nodes by sentence: (M, X) → (B, P, X), padded with 0."""
        if self.is_rectangular:
            grouped = node_values.view(self.max_phrases, len(self), node_values.shape[1]).transpose(0, 1)
            return grouped.masked_fill(~self.phrase_mask.unsqueeze(2), 0)
        padded = node_values.new_zeros(len(self) * self.max_phrases, node_values.shape[1])
        return padded.index_copy(0, self.phrase_indices, node_values).view(
            len(self), self.max_phrases, node_values.shape[1]
        )

    def get_root_values(self, word_values: Tensor, node_values: Tensor) -> Tensor:
        """Select the values of roots from words (J·B, X) and inner nodes (M, X): (B, X), 0 without a root."""
        rows = torch.cat([word_values, node_values]).index_select(0, self.root_rows.clamp(min=0))
        return rows.masked_fill((self.root_rows == NO_ROOT).unsqueeze(1), 0)
