"""Perceptron attention scores in a loop over time and in a search; the formula is in `score/mlp.py`."""

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
    """The trace of perceptron scores: keys, v, b_e and accumulated gradients.

    With the hidden units t = tanh(…) and the gradient g of a score, the gradient of a key is v ⊙ Σ g (1 − t²) over the
    steps. Σ g t² is accumulated step by step, the rest is computed after the loop.
    """

    def __init__(
        self, module: TracedModule, keys: Tensor, vector: Tensor, bias: Tensor, column_counts: Sequence[int] | None
    ) -> None:
        super().__init__(module, keys, vector, bias)
        columns, numbers = keys.shape[1], build_column_counts(column_counts, keys)
        self.column_counts = numbers.tolist()
        self.column_mask: Tensor | None = None  # (B, N), if there is padding
        if min(self.column_counts) < columns:
            column_mask = torch.arange(columns) < numbers.unsqueeze(1)
            self.column_mask = column_mask.to(keys.device, non_blocking=True)
        self.keys, self.vector, self.bias = keys.detach().contiguous(), vector.detach(), bias.detach()
        self.kernel_column_counts = numbers if elementwise.can_compute_scores(self.keys, self.vector) else None
        self.weighted_squares: Tensor | None = None
        self.grad_vector = torch.zeros_like(self.keys[:, 0])
        self.grad_scores = torch.zeros_like(self.keys[:, :, 0])

    def sum_gradients(self) -> Sequence[Tensor | None]:
        if self.weighted_squares is None:
            return None, None, None
        grad_keys = self.weighted_squares.neg_().add_(self.grad_scores.unsqueeze(2)).mul_(self.vector)
        gradients = grad_keys, self.grad_vector.sum(dim=0), self.grad_scores.sum()
        self.weighted_squares = None
        self.grad_vector, self.grad_scores = torch.zeros_like(self.grad_vector), torch.zeros_like(self.grad_scores)
        return gradients


class TracedScoreFunction(Function):
    """vᵀ tanh(query + key) + b_e; the gradients of keys, v and b_e are computed after the loop.

    The backward pass computes the hidden units again, which is faster than storing them.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, trace: ScoreTrace) -> Tensor:
        ctx.trace = trace
        ctx.save_for_backward(query)
        if trace.kernel_column_counts is not None:
            return elementwise.forward_scores(query, trace.keys, trace.vector, trace.bias, trace.kernel_column_counts)
        scores = trace.keys.new_zeros(len(query), trace.keys.shape[1])
        with torch.autocast(query.device.type, enabled=False):
            for group, hidden in _iterate_traced_hidden_units(query, trace):
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
            arguments = (
                gradient,
                query,
                trace.keys,
                trace.vector,
                trace.kernel_column_counts,
                trace.weighted_squares,
                trace.grad_vector,
            )
            return elementwise.backward_scores(*arguments), None
        grad_query = torch.empty_like(query).unsqueeze(1)
        for group, hidden in _iterate_traced_hidden_units(query, trace):
            rows, grad_group = group[0], gradient[group].unsqueeze(1)
            trace.grad_vector[rows].unsqueeze(1).baddbmm_(grad_group, hidden)
            hidden.mul_(hidden)
            torch.bmm(grad_group, hidden, out=grad_query[rows])
            trace.weighted_squares[group].addcmul_(hidden, grad_group.transpose(1, 2))
        return (gradient.sum(dim=1, keepdim=True) - grad_query.squeeze(1)).mul_(trace.vector), None


def _iterate_traced_hidden_units(query: Tensor, trace: ScoreTrace) -> Iterator[tuple[tuple[slice, slice], Tensor]]:
    """Yield groups of rows and columns of a step with their hidden units (G, C, A)."""
    for rows in split_rows(len(query), trace.keys[0].numel(), trace.keys.device):
        part = rows, slice(0, max(trace.column_counts[rows]))
        yield part, (trace.keys[part] + query[rows].unsqueeze(1)).tanh_()


def build_column_counts(column_counts: Sequence[int] | None, keys: Tensor) -> Tensor:
    """Return the number of columns of each sentence of keys (B, N, A) as a tensor (B,); by default all."""
    return torch.tensor(column_counts or [keys.shape[1]] * len(keys))


def iterate_hidden_units(
    query: Tensor, keys: Tensor, row_sentences: RowSentences | None
) -> Iterator[tuple[tuple[slice, slice], Tensor]]:
    """Yield groups of rows and columns with tanh(query + key) (G, C, A), for queries (R, A) and keys (B, N, A)."""
    width, device = keys[0].numel(), keys.device
    if row_sentences is not None and row_sentences.row_spans is not None:
        for run, sentence in row_sentences.row_spans:
            columns = slice(
                0, keys.shape[1] if row_sentences.column_counts is None else row_sentences.column_counts[sentence]
            )
            for rows in split_rows(run.stop - run.start, width, device):
                part = slice(run.start + rows.start, run.start + rows.stop)
                yield (part, columns), (keys[sentence, columns] + query[part].unsqueeze(1)).tanh_()
    else:
        for rows in split_rows(len(query), width, device):
            yield (rows, slice(0, keys.shape[1])), (keys[rows] + query[rows].unsqueeze(1)).tanh_()
