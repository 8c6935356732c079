"""Linear maps whose weights are laid out once for many products, also within a loop over time."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.dropout import drop
from pipeline_py.nmt.fast.products import filled_up, gradient_of_weight, linear, product, whole_blocks, with_rows
from pipeline_py.nmt.fast.time_loop import LoopPart, Trace
from pipeline_py.nmt.initialization import Rule

FEW = 32
"""Rows up to which a search multiplies those there are; more are filled up, since each number has its own program."""


class Weight:
    """A matrix laid out for products of few rows as the processor likes it best."""

    def __init__(self, matrix: Tensor, often: bool = False, is_rounded: bool = False) -> None:
        """Lay out a matrix.

        Args:
            matrix: (X, Y).
            often: whether it is for a search, whose many products have ever other numbers of rows.
            is_rounded: whether products read and make bfloat16, and are returned as float32.
        """
        self.dtype = matrix.dtype
        self._often = often
        self._packed: Tensor | None = None
        self._matrix: Tensor | None = None
        self._read = torch.bfloat16 if is_rounded else matrix.dtype
        if on_cpu(matrix.device) and _packs(self._read, often):
            self._packed = torch.ops.mkldnn._reorder_linear_weight(matrix.T.contiguous().to(self._read), None)
        if self._packed is None or not _reads_half(matrix.dtype):
            self._matrix = matrix.contiguous()  # on a CPU a product reads rows a third faster than columns

    def __call__(self, values: Tensor, bias: Tensor | None = None) -> Tensor:
        """Multiply (B, X) with the matrix (X, Y) and add a bias (Y,)."""
        if self._matrix is not None and (self._packed is None or len(values) == 1):
            return product(values, self._matrix, bias)
        rows = len(values)
        if self._often and rows > FEW:
            values = with_rows(values, whole_blocks(rows))
        if self._read != values.dtype:
            made = multiply_packed(values.to(self._read), self._packed).to(values.dtype)[:rows]
            return made if bias is None else made.add_(bias)
        return multiply_packed(values, self._packed, bias)[:rows]


class Linear(nn.Linear):
    """y = W x + b; where it is `laid_out`, with the weight as it was then."""

    layout: Weight | None = None

    def forward(self, values: Tensor) -> Tensor:
        """Map (…, X) → (…, Y)."""
        if self.layout is None:
            return linear(values, self.weight, self.bias)
        return self.layout(values.flatten(0, -2), self.bias).unflatten(0, values.shape[:-1])


class OutputLayer(Linear):
    """What a softmax is made of."""

    def initialize(self, rule: Rule) -> None:
        """Begin as the rule says."""
        rule.output(self.weight)
        rule.bias(self.bias)


def multiply_packed(values: Tensor, packed: Tensor | None, bias: Tensor | None = None) -> Tensor:
    """Multiply (B, X) with a matrix (X, Y) that oneDNN has laid out, and add a bias (Y,)."""
    made: Tensor = torch.ops.mkldnn._linear_pointwise(values, packed, bias, "none", [], "")
    return made


@contextmanager
def laid_out(decoders: Iterable[nn.Module], is_rounded: bool = False) -> Iterator[None]:
    """Lay out all maps of decoders for the many products of searches; meanwhile no weight may change.

    Within another context of the same decoders nothing is laid out again.

    Args:
        decoders: the decoders.
        is_rounded: whether products of all maps but the output layer read bfloat16.
    """
    parts = (part for decoder in decoders for part in decoder.modules())
    maps = [part for part in parts if isinstance(part, Linear) and part.layout is None]
    try:
        for part in maps:
            rounded = is_rounded and not isinstance(part, OutputLayer)
            part.layout = Weight(part.weight.detach().T, often=True, is_rounded=rounded)
        yield
    finally:
        for part in maps:
            part.layout = None


def _reads_half(dtype: torch.dtype) -> bool:
    """Say whether products of a precision read bfloat16, which only oneDNN does."""
    return dtype == torch.bfloat16 or torch.backends.mkldnn.matmul.fp32_precision == "bf16"  # type: ignore[attr-defined]


@cache
def _packs(dtype: torch.dtype, often: bool) -> bool:
    """Say whether oneDNN multiplies here with a matrix that it has laid out before, and whether that pays."""
    if not torch.backends.mkldnn.is_available():
        return False
    if dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return often and dtype == torch.float32


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
