"""Linear maps within a loop over time."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.dropout import drop
from pipeline_py.nmt.initialization import Rule
from pipeline_py.nmt.kernels.products import filled_up, gradient_of_weight
from pipeline_py.nmt.recurrence.linear import Linear, Weight
from pipeline_py.nmt.recurrence.time_loop import LoopPart, Trace


class LoopLinear(Linear, LoopPart):
    """y = W x + b; within a `time_loop` that names it, the gradients of W and b are computed after the loop."""

    def forward(self, values: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (…, X) → (…, Y), within the loop (B, X) → (B, Y), and drop out what the mask (B, X) says."""
        if self.trace is None:
            return super().forward(drop(values, mask))
        product: Tensor = _Product.apply(values, mask, self.trace)
        return product

    def traced(self, rows: int) -> Trace:
        """Begin a trace of a loop whose steps have so many rows together, or fewer."""
        return LinearTrace(self, rows)


class RecurrentLinear(LoopLinear):
    """What a state of size X goes through from step to step: the matrices of all gates (n·X, X)."""

    def initialize(self, rule: Rule) -> None:
        """Begin as the rule says."""
        rule.recurrent(self.weight)
        rule.bias(self.bias)


class LinearTrace(Trace):
    """A weight as the products read it, what they were applied to, and the gradients of what they gave."""

    def __init__(self, linear: LoopLinear, rows: int) -> None:
        super().__init__(linear, linear.weight, linear.bias)
        dtype = loop_dtype(linear.weight)
        weight = linear.weight.detach().to(dtype)
        self.product, self.product_back = Weight(weight.T), Weight(weight)
        self.bias = None if linear.bias is None else linear.bias.detach().to(dtype)
        # Of all steps, (N, X) and (N, Y), as the one product at the end reads them.
        self._inputs = weight.new_empty(filled_up(rows, dtype, weight.device), weight.shape[1])
        self._grad_outputs: Tensor | None = None
        self._steps: list[slice] = []
        self._went_back: set[int] = set()

    def put(self, values: Tensor, mask: Tensor | None) -> tuple[int, Tensor]:
        """Take the next step's values (B, X), dropped out by a mask: its number, and what the product reads."""
        start = self._steps[-1].stop if self._steps else 0
        self._steps.append(slice(start, start + len(values)))
        placed = self._inputs[self._steps[-1]]
        if mask is None:
            placed.copy_(values)
        else:
            torch.mul(values, mask[: len(values)], out=placed)
        return len(self._steps) - 1, placed

    def place_back(self, step: int, width: int) -> Tensor:
        """Say where the gradient (B, Y) of what a step's product gave is to be put: the product back reads it there."""
        if self._grad_outputs is None:
            self._grad_outputs = self._inputs.new_empty(len(self._inputs), width)
        self._went_back.add(step)
        return self._grad_outputs[self._steps[step]]

    def gradients(self) -> Sequence[Tensor | None]:
        grad_outputs, self._grad_outputs = self._grad_outputs, None
        if grad_outputs is None:
            return None, None
        for number, step in enumerate(self._steps):
            if number not in self._went_back:
                grad_outputs[step] = 0
        self._went_back.clear()
        last = self._steps[-1].stop
        rows = filled_up(last, grad_outputs.dtype, grad_outputs.device)
        grad_outputs, inputs = grad_outputs[:rows], self._inputs[:rows]
        grad_outputs[last:], inputs[last:] = 0, 0
        return gradient_of_weight(grad_outputs, inputs), None if self.bias is None else grad_outputs.sum(dim=0)


def loop_dtype(weight: Tensor) -> torch.dtype:
    """Say in which precision a loop multiplies with a weight."""
    device = weight.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype


class _Product(Function):
    """Applies what is traced; going backwards, leaves the gradients of weights for later."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, mask: Tensor | None, trace: LinearTrace) -> Tensor:
        ctx.trace, ctx.mask, ctx.dtype = trace, mask, values.dtype
        ctx.step, placed = trace.put(values, mask)
        return trace.product(placed, trace.bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        placed = ctx.trace.place_back(ctx.step, gradient.shape[1]).copy_(gradient)
        return drop(ctx.trace.product_back(placed).to(ctx.dtype), ctx.mask), None, None
