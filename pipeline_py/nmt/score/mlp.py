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
    compute_hidden_units,
)
from pipeline_py.nmt.fast.time_loop import LoopTrace, TracedModule
from pipeline_py.nmt.initialization import InitializationRule
from pipeline_py.nmt.search.row_sentences import RowSentences


class PerceptronScore(TracedModule):
    """e_ij = vᵀ tanh(W s' + U h_j + b) + b_e, of width 2·hidden, or another."""

    def __init__(self, options: MLPScoreConfig, query_size: int, memory_size: int) -> None:
        super().__init__()
        width = round(options.width * query_size)
        self.query = LoopLinear(query_size, width, bias=False)
        self.key = Linear(memory_size, width)
        self.vector = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.zeros(()))

    def initialize(self, rule: InitializationRule) -> None:
        """Begin as the rule says."""
        rule.fill_vector(self.vector)
        rule.fill_bias(self.bias)

    def keys(self, states: Tensor, there: Tensor | None = None) -> Tensor:
        """Compute U h_j + b, which no step changes.

        Args:
            states: (B, N, M).
            there: b · N + j of those that matter (n,); None: all.

        Returns:
            (B, N, A), at least float32, zero for those that do not matter.
        """
        if there is None:
            return upcast_half_precision(self.key(states))
        keys = upcast_half_precision(self.key(states.flatten(0, 1).index_select(0, there)))
        return (
            keys.new_zeros(states.shape[:2].numel(), keys.shape[1])
            .index_copy(0, there, keys)
            .view(*states.shape[:2], -1)
        )

    def forward(self, query: Tensor, keys: Tensor, owners: RowSentences | None = None) -> Tensor:
        """Score all annotations against one query.

        Args:
            query: (R, Q).
            keys: (B, N, A).
            owners: of the rows; None: rows are sentences.

        Returns:
            (R, N), at least float32; behind the last column that a row's sentence reaches anything finite.
        """
        query = upcast_half_precision(self.query(query))
        if self.trace is not None:
            scores: Tensor = TracedScoreFunction.apply(query, self.trace)
            return scores
        if not torch.is_grad_enabled() and elementwise.can_compute_scores(query, keys, self.vector):
            owner, reach = (None, None) if owners is None else (owners.sentence_indices, owners.column_counts)
            return elementwise.forward_scores(
                query, keys, self.vector, self.bias, build_column_counts(reach, keys), owner
            )
        with torch.autocast(query.device.type, enabled=False):
            scores = query.new_zeros(len(query), keys.shape[1])
            for group, hidden in compute_hidden_units(query, keys, owners):
                scores[group] = hidden @ self.vector
            return scores + self.bias

    def traced(self, keys: Tensor, reach: Sequence[int] | None = None) -> LoopTrace:
        """Begin a trace of a loop in which all is scored with `keys` (B, N, A).

        Each sentence needs the scores of its first columns, in number `reach` (B,); those behind them are 0.
        """
        return ScoreTrace(self, keys, self.vector, self.bias, reach)
