"""Linear maps side by side within a loop over time, as the two directions of an encoder have them."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pipeline_py.nmt.dropout import drop
from pipeline_py.nmt.loop_linear import LoopLinear, Product, ProductTrace, loop_dtype
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
        product: Tensor = Product.apply(values, mask, self.trace)
        return product

    def traced(self, rows: int) -> Trace:
        """Begin a trace of a loop whose steps have so many rows together, or fewer."""
        return _LinearsTrace(self, rows, [linear.weight for linear in self._linears])


class _LinearsTrace(ProductTrace):
    def __init__(self, part: LoopLinears, rows: int, weights: Sequence[Tensor]) -> None:
        dtype = loop_dtype(weights[0])
        super().__init__(part, rows, torch.stack([weight.detach().to(dtype) for weight in weights]), None, *weights)

    def gradients(self) -> Sequence[Tensor | None]:
        taken = self.taken_back()
        if taken is None:
            return [None for _ in self.tensors]
        of_outputs, inputs = taken
        return torch.bmm(of_outputs.transpose(1, 2), inputs).unbind(0)
