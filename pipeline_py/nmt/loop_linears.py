"""Linear maps side by side within a loop over time, as the two directions of an encoder have them."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.dropout import drop
from pipeline_py.nmt.loop_linear import LoopLinear, Weight, loop_dtype
from pipeline_py.nmt.time_loop import LoopPart, Trace


class LoopLinears(LoopPart):
    """y_d = W_d x_d of D maps of one size without bias, whose weights get their gradients after the loop.

    All of them at once give threads twice as much to do at a time, and take half the operations.
    """

    def __init__(self, linears: Sequence[LoopLinear]) -> None:
        super().__init__()
        self._linears = [*linears]  # the list hides them: they are parameters of others

    def forward(self, values: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (D, B, X) → (D, B, Y), and drop out what the mask (D, B, X) says."""
        if self.trace is None:
            return torch.stack([*map(torch.mm, drop(values, mask), (linear.weight.T for linear in self._linears))])
        product: Tensor = _Products.apply(values, mask, self.trace)
        return product

    def traced(self) -> Trace:
        """Begin a trace."""
        return _LinearsTrace(self, [linear.weight for linear in self._linears])


class _LinearsTrace(Trace):
    """The weights as the products read them, what they were applied to, and the gradients of what they gave."""

    def __init__(self, part: LoopLinears, weights: Sequence[Tensor]) -> None:
        super().__init__(part, *weights)
        dtype = loop_dtype(weights[0])
        stacked = torch.stack([weight.detach().to(dtype) for weight in weights])
        self.product, self.product_back = Weight(stacked.transpose(1, 2)), Weight(stacked)
        self.inputs: list[Tensor] = []
        self.of_outputs: dict[int, Tensor] = {}

    def gradients(self) -> Sequence[Tensor | None]:
        steps = sorted(self.of_outputs)
        if not steps:
            return [None for _ in self.tensors]
        of_outputs = torch.cat([self.of_outputs[step] for step in steps], dim=1)  # (D, I·B, Y)
        of_weights = torch.bmm(of_outputs.transpose(1, 2), torch.cat([self.inputs[step] for step in steps], dim=1))
        self.of_outputs.clear()
        return of_weights.unbind(0)


class _Products(Function):
    """Applies the maps; going backwards, leaves the gradients of the weights for later."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, mask: Tensor | None, trace: _LinearsTrace) -> Tensor:
        ctx.trace, ctx.step, ctx.dtype, ctx.mask = trace, len(trace.inputs), values.dtype, mask
        values = drop(values.detach(), mask).to(trace.product.dtype)
        trace.inputs.append(values)
        return trace.product(values)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        ctx.trace.of_outputs[ctx.step] = gradient
        return drop(ctx.trace.product_back(gradient).to(ctx.dtype), ctx.mask), None, None
