"""The score of a one-layer perceptron (Bahdanau et al. 2015; Nematus)."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.decoders import MLPScoreConfig
from pipeline_py.nmt.attention_weighting import upcast_half_precision
from pipeline_py.nmt.fast import elementwise
from pipeline_py.nmt.fast.linear import Linear, LoopLinear
from pipeline_py.nmt.fast.perceptron_scores import (
    ScoreTrace,
    TracedScoreFunction,
    build_column_counts,
    iterate_hidden_units,
)
from pipeline_py.nmt.fast.time_loop import LoopTrace, TracedScore
from pipeline_py.nmt.initialization import InitializationRule
from pipeline_py.nmt.search.row_sentences import RowSentences


class PerceptronScore(TracedScore):
    """e_ij = vᵀ tanh(W s' + U h_j + b) + b_e, of configurable width A."""

    def __init__(self, options: MLPScoreConfig, query_size: int, annotation_size: int) -> None:
        super().__init__()
        width = round(options.width * query_size)
        self.query = LoopLinear(query_size, width, bias=False)
        self.key = Linear(annotation_size, width)
        self.vector = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.zeros(()))

    def initialize(self, rule: InitializationRule) -> None:
        """Initialize the parameters."""
        rule.fill_vector(self.vector)
        rule.fill_bias(self.bias)

    def compute_keys(self, annotations: Tensor, unpadded_indices: Tensor | None = None) -> Tensor:
        """Compute U h_j + b, which is the same in all steps.

        Args:
            annotations: (B, N, M).
            unpadded_indices: indices b · N + j of unpadded annotations (n,); None: all.

        Returns:
            (B, N, A), at least float32, zero at padding.
        """
        if unpadded_indices is None:
            return upcast_half_precision(self.key(annotations))
        keys = upcast_half_precision(self.key(annotations.flatten(0, 1).index_select(0, unpadded_indices)))
        return (
            keys.new_zeros(annotations.shape[:2].numel(), keys.shape[1])
            .index_copy(0, unpadded_indices, keys)
            .view(*annotations.shape[:2], -1)
        )

    def forward(self, query: Tensor, keys: Tensor, row_sentences: RowSentences | None = None) -> Tensor:
        """Score all annotations against one query.

        Args:
            query: (R, Q).
            keys: (B, N, A).
            row_sentences: sentences of the rows; None: rows are sentences.

        Returns:
            (R, N), at least float32; finite but undefined at padding.
        """
        query = upcast_half_precision(self.query(query))
        if self.trace is not None:
            scores: Tensor = TracedScoreFunction.apply(query, self.trace)
            return scores
        if not torch.is_grad_enabled() and elementwise.can_compute_scores(query, keys, self.vector):
            owner, reach = (
                (None, None) if row_sentences is None else (row_sentences.sentence_indices, row_sentences.column_counts)
            )
            return elementwise.forward_scores(
                query, keys, self.vector, self.bias, build_column_counts(reach, keys), owner
            )
        with torch.autocast(query.device.type, enabled=False):
            if row_sentences is not None and row_sentences.row_spans is None:  # search on a GPU
                rows = row_sentences.group_rows(query, len(keys))  # (B, max_rows, A)
                hidden = (keys.unsqueeze(1) + rows.unsqueeze(2)).tanh_()  # (B, max_rows, N, A)
                return row_sentences.ungroup_rows(hidden @ self.vector) + self.bias
            scores = query.new_zeros(len(query), keys.shape[1])
            for group, hidden in iterate_hidden_units(query, keys, row_sentences):
                scores[group] = hidden @ self.vector
            return scores + self.bias

    def begin_trace(self, keys: Tensor, step_count: int, column_counts: Sequence[int] | None = None) -> LoopTrace:
        """Begin a trace of scores, which are 0 in columns after `column_counts`; see `TracedScore`."""
        return ScoreTrace(self, keys, self.vector, self.bias, column_counts)
