"""Products with a matrix of each sentence, within a loop over time."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.recurrence.time_loop import LoopPart, Trace
from pipeline_py.nmt.search.owners import Owners


class LoopMatrices(LoopPart):
    """y_b = x_b W_b; within a `time_loop` that names it, the gradient of all W_b is computed after the loop.

    A step may have fewer rows than matrices: they are the first ones.

    Autocast leaves them alone on a CPU, where a product with one vector is no faster in half precision.
    """

    def forward(self, values: Tensor, matrices: Tensor, owners: Owners | None = None) -> Tensor:
        """Multiply (R, X), (B, X, Y) → (R, Y), each row with the matrix of its owner, or without owners its own."""
        if self.trace is None:
            return _product(values, _as_computed(matrices), owners)
        product: Tensor = _Product.apply(values, self.trace)
        return product

    def traced(self, matrices: Tensor) -> Trace:
        """Begin a trace of a loop in which all is multiplied with `matrices` (B, X, Y)."""
        return _MatricesTrace(self, matrices)


class _MatricesTrace(Trace):
    def __init__(self, part: LoopMatrices, matrices: Tensor) -> None:
        super().__init__(part, matrices)
        self.matrices = _as_computed(matrices.detach()).contiguous()
        self.values: list[Tensor] = []
        self.of_products: dict[int, Tensor] = {}

    def gradients(self) -> Sequence[Tensor | None]:
        steps = sorted(self.of_products)
        if not steps:
            return (None,)
        values = _side_by_side([self.values[step] for step in steps], len(self.matrices))
        of_products = _side_by_side([self.of_products[step] for step in steps], len(self.matrices))
        self.of_products.clear()
        return (torch.bmm(values.transpose(1, 2), of_products),)


class _Product(Function):
    """Multiplies; going backwards, leaves the gradient of the matrices for later."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, trace: _MatricesTrace) -> Tensor:
        ctx.trace, ctx.step, ctx.dtype = trace, len(trace.values), values.dtype
        values = values.detach().to(trace.matrices.dtype)
        trace.values.append(values)
        return _product(values, trace.matrices[: len(values)])

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        gradient = gradient.to(ctx.trace.matrices.dtype)
        ctx.trace.of_products[ctx.step] = gradient
        return _product(gradient, ctx.trace.matrices[: len(gradient)].transpose(1, 2)).to(ctx.dtype), None


def _side_by_side(steps: Sequence[Tensor], rows: int) -> Tensor:
    """Join what steps have for the first rows each (≤ R, X) into (R, I, X), zero where a step has none."""
    joined = steps[0].new_zeros(rows, len(steps), steps[0].shape[1])
    for number, values in enumerate(steps):
        joined[: len(values), number] = values
    return joined


def _as_computed(matrices: Tensor) -> Tensor:
    kind = matrices.device.type
    half = not on_cpu(matrices.device) and torch.is_autocast_enabled(kind)
    return matrices.to(torch.get_autocast_dtype(kind)) if half else matrices


def _product(values: Tensor, matrices: Tensor, owners: Owners | None = None) -> Tensor:
    values = values.to(matrices.dtype)
    with torch.autocast(values.device.type, enabled=False):
        if owners is None:
            return torch.bmm(values.unsqueeze(1), matrices).squeeze(1)
        if owners.place is None or owners.width is None:
            return torch.bmm(values.unsqueeze(1), matrices.index_select(0, owners.sentence)).squeeze(1)
        # All rows of a sentence in one product: the matrix is read once for them.
        rows = len(matrices) * owners.width
        spread = values.new_zeros(rows, values.shape[1]).index_copy_(0, owners.place, values)
        products = torch.bmm(spread.view(len(matrices), owners.width, -1), matrices)
        return products.flatten(0, 1).index_select(0, owners.place)
