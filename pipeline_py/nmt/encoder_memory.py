"""The output of the encoders, to which the decoder attends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from pipeline_py.nmt.data.batch import Batch, find_syntax
from pipeline_py.nmt.search.row_sentences import RowSentences
from pipeline_py.nmt.trees.tree_schedule import TreeSchedule


@dataclass(frozen=True)
class AuxiliaryLoss:
    """Loss values and statistics of an auxiliary task that a part of an encoder learns in addition to translation.

    Attributes:
        loss: of each sentence (B,), added in training.
        statistics: name of a statistic → its sum and its count in each sentence (B,).
    """

    loss: Tensor
    statistics: dict[str, tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class EncoderMemory:
    """The annotations of B sentences of up to J positions, and of up to N − J phrases if an encoder has phrases.

    Attributes:
        annotations: of each encoder (B, N, M): words and EOS in columns 0 … J − 1, phrases in the columns after them.
        mask: (B, N) bool, true where a sentence has a word or phrase.
        position_count: J.
        lengths: (B,) number of positions of each sentence, including EOS, without phrases.
        summaries: of each encoder the vector from which the decoder starts (B, ·).
        syntax: kind → tensor (B, …), as in `Batch.syntax_tensors`.
        unpadded_indices: (n,) b · N + j for each word or phrase in column j of sentence b, to leave padding out of a
            product; None: products include padding.
        column_counts: for each sentence the number of leading columns that hold all its words; None: all columns.
        keys: for each score of the decoder its projection of the annotations (B, N, A).
        projections: for each context, for each encoder, the projected annotations (B, N, P) that a decoder sums
            instead of the annotations during a search; empty before the search.
        row_sentences: the sentence of each row, if a search has several rows for a sentence. Annotations, keys and
            projections then have one entry for each sentence; all other tensors have one for each row. None: rows are
            sentences.
        auxiliary_losses: losses of the auxiliary tasks of the encoders.
    """

    annotations: tuple[Tensor, ...]
    mask: Tensor
    position_count: int
    lengths: Tensor
    summaries: tuple[Tensor, ...]
    syntax: dict[str, Tensor] = field(default_factory=dict)
    unpadded_indices: Tensor | None = None
    column_counts: tuple[int, ...] | None = None
    keys: tuple[Tensor, ...] = ()
    projections: tuple[tuple[Tensor, ...], ...] = ()
    row_sentences: RowSentences | None = None
    auxiliary_losses: tuple[AuxiliaryLoss, ...] = ()

    @staticmethod
    def from_words(batch: Batch, annotations: Tensor, summary: Tensor) -> "EncoderMemory":
        """Build the memory of an encoder from its annotations of words (B, J, M) and its summary (B, ·)."""
        words = batch.source_words
        return EncoderMemory(
            (annotations,),
            batch.source_mask,
            words.position_count,
            batch.source_lengths,
            (summary,),
            batch.syntax_tensors,
            words.rectangle_indices if words.word_mask is None else None,
            words.lengths,
        )

    def get_syntax(self, kind: str) -> Tensor:
        """Return the syntax of a kind (B, …).

        Raises:
            LookupError: the network does not read it.
        """
        return find_syntax(kind, self.syntax)

    def append_phrases(self, annotations: Tensor, phrases: TreeSchedule) -> "EncoderMemory":
        """Append annotations of phrases (B, P, M) to those of the only encoder's words."""
        (word_annotations,), indices = self.annotations, self.unpadded_indices
        annotations = torch.cat([word_annotations, annotations], dim=1)
        if indices is not None:
            columns = annotations.shape[1]
            word_indices = indices // self.position_count * columns + indices % self.position_count
            phrase_columns = self.position_count + phrases.phrase_indices % phrases.max_phrases
            phrase_indices = phrases.phrase_indices // phrases.max_phrases * columns + phrase_columns
            indices = torch.cat([word_indices, phrase_indices])
        mask = torch.cat([self.mask, phrases.phrase_mask], dim=1)
        return replace(self, annotations=(annotations,), mask=mask, unpadded_indices=indices, column_counts=None)

    @staticmethod
    def merge(memories: Sequence["EncoderMemory"]) -> "EncoderMemory":
        """Merge the memories of several encoders of the same sentences."""
        return replace(
            memories[0],
            annotations=tuple(annotations for memory in memories for annotations in memory.annotations),
            summaries=tuple(summary for memory in memories for summary in memory.summaries),
            auxiliary_losses=tuple(loss for memory in memories for loss in memory.auxiliary_losses),
        )

    def reorder(self, order: Tensor) -> "EncoderMemory":
        """Reorder the sentences by their indices (B,) int64, for a loop over time."""
        counts = None if self.column_counts is None else tuple(self.column_counts[index] for index in order.tolist())
        memory = self._map_sentence_tensors(lambda tensor: tensor.index_select(0, order))
        return replace(memory, unpadded_indices=None, column_counts=counts)

    def keep_first(self, count: int) -> "EncoderMemory":
        """Return the memory of the first sentences."""
        counts = None if self.column_counts is None else self.column_counts[:count]
        memory = self._map_sentence_tensors(lambda tensor: tensor[:count])
        return replace(memory, unpadded_indices=None, column_counts=counts)

    def _map_sentence_tensors(self, function: Callable[[Tensor], Tensor]) -> "EncoderMemory":
        """Apply a function to all tensors with one entry for each sentence; not valid during a search."""
        return replace(
            self,
            annotations=tuple(map(function, self.annotations)),
            mask=function(self.mask),
            lengths=function(self.lengths),
            summaries=tuple(map(function, self.summaries)),
            syntax={kind: function(tensor) for kind, tensor in self.syntax.items()},
            keys=tuple(map(function, self.keys)),
        )

    def select_rows(self, index: Tensor) -> "EncoderMemory":
        """Select rows by their indices (R,) int64; an index may occur several times."""
        rows = self.row_sentences or RowSentences(
            torch.arange(len(self.mask), device=index.device), 1, self.column_counts
        )
        return replace(
            self,
            unpadded_indices=None,
            column_counts=None,
            mask=self.mask.index_select(0, index),
            lengths=self.lengths.index_select(0, index),
            summaries=tuple(summary.index_select(0, index) for summary in self.summaries),
            syntax={kind: tensor.index_select(0, index) for kind, tensor in self.syntax.items()},
            row_sentences=RowSentences.from_sentences(
                rows.sentence_indices.index_select(0, index), len(self.annotations[0]), rows.column_counts
            ),
        )
