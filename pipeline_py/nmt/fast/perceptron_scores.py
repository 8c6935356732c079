"""Scores of a one-layer perceptron in a loop over time and in a search; the formula is in `score/mlp.py`."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.fast import elementwise
from pipeline_py.nmt.fast.matrix_products import split_rows
from pipeline_py.nmt.fast.time_loop import LoopTrace, TracedModule
from pipeline_py.nmt.search.row_sentences import RowSentences


class ScoreTrace(LoopTrace):
    """Keys, v and b_e, and sums of the gradients so far.

    With t = tanh(…), the hidden units, and g the gradient of a score, that of a key is v ⊙ Σ g (1 − t²) over the
    steps: Σ g t² is summed up step by step, and the rest is done after the loop.
    """

    def __init__(
        self, module: TracedModule, keys: Tensor, vector: Tensor, bias: Tensor, column_counts: Sequence[int] | None
    ) -> None:
        super().__init__(module, keys, vector, bias)
        columns, numbers = keys.shape[1], build_column_counts(column_counts, keys)
        self.column_counts = numbers.tolist()
        self.column_mask: Tensor | None = None  # (B, N), where not all is
        if min(self.column_counts) < columns:
            reached = torch.arange(columns) < numbers.unsqueeze(1)
            self.column_mask = reached.to(keys.device, non_blocking=True)
        self.keys, self.vector, self.bias = keys.detach().contiguous(), vector.detach(), bias.detach()
        self.kernel_column_counts = numbers if elementwise.can_compute_scores(self.keys, self.vector) else None
        self.weighted_squares: Tensor | None = None
        self.grad_vector = torch.zeros_like(self.keys[:, 0])
        self.grad_scores = torch.zeros_like(self.keys[:, :, 0])

    def sum_gradients(self) -> Sequence[Tensor | None]:
        if self.weighted_squares is None:
            return None, None, None
        grad_keys = self.weighted_squares.neg_().add_(self.grad_scores.unsqueeze(2)).mul_(self.vector)
        found = grad_keys, self.grad_vector.sum(dim=0), self.grad_scores.sum()
        self.weighted_squares = None
        self.grad_vector, self.grad_scores = torch.zeros_like(self.grad_vector), torch.zeros_like(self.grad_scores)
        return found


class TracedScoreFunction(Function):
    """vᵀ tanh(query + key) + b_e; going backwards, leaves the gradients of keys, v and b_e for later.

    The hidden units are computed again on the way back: they are the most that a step makes, and to write them to
    memory and read them again takes longer.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, trace: ScoreTrace) -> Tensor:
        ctx.trace = trace
        ctx.save_for_backward(query)
        if trace.kernel_column_counts is not None:
            return elementwise.forward_scores(query, trace.keys, trace.vector, trace.bias, trace.kernel_column_counts)
        scores = trace.keys.new_zeros(len(query), trace.keys.shape[1])
        with torch.autocast(query.device.type, enabled=False):
            for group, hidden in _compute_traced_hidden_units(query, trace):
                torch.add(hidden @ trace.vector, trace.bias, out=scores[group])
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (query,), trace = ctx.saved_tensors, ctx.trace
        if trace.weighted_squares is None:
            trace.weighted_squares = torch.zeros_like(trace.keys)
        if trace.column_mask is not None:
            gradient = gradient * trace.column_mask[: len(query)]
        trace.grad_scores[: len(query)].add_(gradient)
        if trace.kernel_column_counts is not None:
            given = (
                gradient,
                query,
                trace.keys,
                trace.vector,
                trace.kernel_column_counts,
                trace.weighted_squares,
                trace.grad_vector,
            )
            return elementwise.backward_scores(*given), None
        grad_query = torch.empty_like(query).unsqueeze(1)
        for group, hidden in _compute_traced_hidden_units(query, trace):
            rows, grad_group = group[0], gradient[group].unsqueeze(1)
            trace.grad_vector[rows] += torch.bmm(grad_group, hidden).squeeze(1)
            hidden.mul_(hidden)
            torch.bmm(grad_group, hidden, out=grad_query[rows])
            trace.weighted_squares[group].addcmul_(hidden, grad_group.transpose(1, 2))
        return (gradient.sum(dim=1, keepdim=True) - grad_query.squeeze(1)).mul_(trace.vector), None


def _compute_traced_hidden_units(query: Tensor, trace: ScoreTrace) -> Iterator[tuple[tuple[slice, slice], Tensor]]:
    """Compute the hidden units of a step: groups of rows, with their columns, and their units (G, C, A)."""
    for rows in split_rows(len(query), trace.keys[0].numel(), trace.keys.device):
        part = rows, slice(0, max(trace.column_counts[rows]))
        yield part, (trace.keys[part] + query[rows].unsqueeze(1)).tanh_()


def build_column_counts(column_counts: Sequence[int] | None, keys: Tensor) -> Tensor:
    """How many columns each sentence of keys (B, N, A) has (B,); without a reach all."""
    return torch.tensor(column_counts or [keys.shape[1]] * len(keys))


def compute_hidden_units(
    query: Tensor, keys: Tensor, owners: RowSentences | None
) -> Iterator[tuple[tuple[slice, slice], Tensor]]:
    """Compute tanh(query + key), (R, A), (B, N, A): groups of rows, with their columns, and their units (G, C, A)."""
    width, device = keys[0].numel(), keys.device
    if owners is not None and owners.row_spans is not None:
        for run, sentence in owners.row_spans:
            columns = slice(0, keys.shape[1] if owners.column_counts is None else owners.column_counts[sentence])
            for rows in split_rows(run.stop - run.start, width, device):
                part = slice(run.start + rows.start, run.start + rows.stop)
                yield (part, columns), (keys[sentence, columns] + query[part].unsqueeze(1)).tanh_()
    else:
        for rows in split_rows(len(query), width, device):
            own = keys[rows] if owners is None else keys.index_select(0, owners.sentence_indices[rows])
            yield (rows, slice(0, keys.shape[1])), (own + query[rows].unsqueeze(1)).tanh_()
