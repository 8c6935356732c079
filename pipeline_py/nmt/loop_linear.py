"""Linear maps within a loop over time."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

from pipeline_py.nmt.dropout import drop
from pipeline_py.nmt.time_loop import LoopPart, Trace


class LoopLinear(LoopPart):
    """y = W x + b; within a `time_loop` that names it, the gradients of W and b are computed after the loop."""

    def __init__(self, inputs: int, outputs: int, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None

    def forward(self, values: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (…, X) → (…, Y), within the loop (B, X) → (B, Y), and drop out what the mask (B, X) says."""
        if self.trace is None:
            return functional.linear(drop(values, mask), self.weight, self.bias)
        product: Tensor = Product.apply(values, mask, self.trace)
        return product

    def traced(self) -> Trace:
        """Begin a trace."""
        return _LinearTrace(self)


class ProductTrace(Trace):
    """Weights as the products read them, what they were applied to, and the gradients of what they gave."""

    def __init__(self, part: LoopPart, weight: Tensor, bias: Tensor | None, *tensors: Tensor | None) -> None:
        """Begin a trace of products with a weight (Y, X), or several (D, Y, X), which is made of `tensors`."""
        super().__init__(part, *tensors)
        self.product, self.product_back = Weight(weight.mT), Weight(weight)
        self.bias = bias
        self.inputs: list[Tensor] = []
        self.of_outputs: dict[int, Tensor] = {}


class _LinearTrace(ProductTrace):
    def __init__(self, linear: LoopLinear) -> None:
        dtype = loop_dtype(linear.weight)
        bias = None if linear.bias is None else linear.bias.detach().to(dtype)
        super().__init__(linear, linear.weight.detach().to(dtype), bias, linear.weight, linear.bias)

    def gradients(self) -> Sequence[Tensor | None]:
        steps = sorted(self.of_outputs)
        if not steps:
            return None, None
        of_outputs = torch.cat([self.of_outputs[step] for step in steps])
        of_weight = of_outputs.T @ torch.cat([self.inputs[step] for step in steps])
        self.of_outputs.clear()
        return of_weight, None if self.bias is None else of_outputs.sum(dim=0)


class Weight:
    """A matrix, or several of a size, laid out once for the products of all steps as the processor likes it best."""

    def __init__(self, matrix: Tensor) -> None:
        """Lay out (X, Y) or (D, X, Y)."""
        self.dtype = matrix.dtype
        self._packed: list[Tensor] = []
        if matrix.device.type == "cpu" and matrix.dtype == torch.bfloat16 and _packs_half_precision():
            matrices = matrix if matrix.dim() == 3 else matrix.unsqueeze(0)
            self._packed = [torch.ops.mkldnn._reorder_linear_weight(one.T.contiguous(), None) for one in matrices]
        else:
            self._matrix = matrix.contiguous()  # on a CPU a product reads rows a third faster than columns

    def __call__(self, values: Tensor, bias: Tensor | None = None) -> Tensor:
        """Multiply (B, X) with the matrix (X, Y) and add a bias (Y,), or (D, B, X) with the matrices (D, X, Y)."""
        if not self._packed:
            return values @ self._matrix if bias is None else torch.addmm(bias, values, self._matrix)
        rows = values if values.dim() == 3 else values.unsqueeze(0)
        products = [
            torch.ops.mkldnn._linear_pointwise(of_matrix, matrix, bias, "none", [], "")
            for of_matrix, matrix in zip(rows, self._packed, strict=True)
        ]
        return torch.stack(products) if values.dim() == 3 else products[0]


def loop_dtype(weight: Tensor) -> torch.dtype:
    """Say in which precision a loop multiplies with a weight."""
    device = weight.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype


@cache
def _packs_half_precision() -> bool:
    """Say whether oneDNN multiplies bfloat16 here with a matrix that it has laid out before."""
    return torch.backends.mkldnn.is_available() and bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


class Product(Function):
    """Applies what is traced; going backwards, leaves the gradients of weights for later."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, mask: Tensor | None, trace: ProductTrace) -> Tensor:
        ctx.trace, ctx.step, ctx.dtype, ctx.mask = trace, len(trace.inputs), values.dtype, mask
        values = drop(values.detach(), mask).to(trace.product.dtype)
        trace.inputs.append(values)
        return trace.product(values, trace.bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        ctx.trace.of_outputs[ctx.step] = gradient
        return drop(ctx.trace.product_back(gradient).to(ctx.dtype), ctx.mask), None, None
