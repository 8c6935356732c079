"""Products of vectors with the matrices of their sentences in a loop over time."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.attention_weighting import multiply_sentence_matrices
from pipeline_py.nmt.fast.time_loop import LoopTrace, TracedModule
from pipeline_py.nmt.search.row_sentences import RowSentences


class SentenceProduct(TracedModule):
    """The product of each row with the matrix of its sentence; it has no parameters.

    In a time loop with its trace, the gradient of the matrices is computed after the loop.
    """

    def forward(self, values: Tensor, matrices: Tensor, row_sentences: RowSentences | None = None) -> Tensor:
        """Multiply (R, X) with (B, X, Y) like `multiply_sentence_matrices`; with a trace, with its matrices.

        Values that do not depend on the state of the loop have no gradient that could start the trace's.
        """
        if self.trace is None or not values.requires_grad:
            return multiply_sentence_matrices(values, matrices, row_sentences)
        product: Tensor = _TracedProductFunction.apply(values, self.trace)
        return product

    def begin_trace(self, matrices: Tensor, step_count: int) -> "SentenceProductTrace":
        """Begin the trace of a loop of `step_count` steps that reads the same matrices (B, X, Y) in each."""
        return SentenceProductTrace(self, matrices, step_count)


class SentenceProductTrace(LoopTrace):
    """The trace of a product: the matrices, the vectors of all steps, and the gradients of their products."""

    def __init__(self, module: TracedModule, matrices: Tensor, step_count: int) -> None:
        super().__init__(module, matrices)
        self.matrices = matrices.detach()
        sentences, width, _ = matrices.shape
        self._vectors = matrices.new_zeros(step_count, sentences, width)
        self._grad_products: Tensor | None = None
        self._step = 0

    def add_step(self, values: Tensor) -> tuple[int, Tensor]:
        """Add a step with vectors (R, X) of the first R sentences; return its number and the cast vectors."""
        vectors = self._vectors[self._step, : len(values)].copy_(values)
        self._step += 1
        return self._step - 1, vectors

    def add_gradient(self, step: int, gradient: Tensor) -> Tensor:
        """Store the gradient of the product of a step (R, Y); return it, cast."""
        if self._grad_products is None:
            self._grad_products = self.matrices.new_zeros(*self._vectors.shape[:2], self.matrices.shape[2])
        return self._grad_products[step, : len(gradient)].copy_(gradient)

    def sum_gradients(self) -> Sequence[Tensor | None]:
        grad_products, self._grad_products = self._grad_products, None
        if grad_products is None:
            return (None,)
        return (torch.bmm(self._vectors.permute(1, 2, 0), grad_products.transpose(0, 1)),)


class _TracedProductFunction(Function):
    """A product in a loop; the gradient of the matrices is computed after the loop."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, trace: SentenceProductTrace) -> Tensor:
        ctx.trace, ctx.dtype = trace, values.dtype
        ctx.step, vectors = trace.add_step(values)
        with torch.autocast(values.device.type, enabled=False):
            return torch.bmm(vectors.unsqueeze(1), trace.matrices[: len(values)]).squeeze(1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        gradient = ctx.trace.add_gradient(ctx.step, gradient)
        matrices = ctx.trace.matrices[: len(gradient)]
        return torch.bmm(gradient.unsqueeze(1), matrices.transpose(1, 2)).squeeze(1).to(ctx.dtype), None
