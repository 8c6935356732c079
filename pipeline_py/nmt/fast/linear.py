"""Linear maps with packed weights for many products, also in loops over time."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from pipeline_py.nmt.dropout import apply_dropout_mask
from pipeline_py.nmt.fast.matrix_products import (
    apply_linear,
    compute_weight_gradient,
    count_padded_rows,
    multiply_matrices,
    pad_rows,
    round_up_to_block,
)
from pipeline_py.nmt.fast.time_loop import LoopTrace, TracedModule
from pipeline_py.nmt.initialization import InitializationRule
from pipeline_py.nmt.torch_setup import is_cpu

MAX_UNPADDED_ROWS = 32
"""Largest number of rows that a search does not pad; oneDNN compiles a program for each number of rows."""


class PackedWeight:
    """A matrix packed for fast products with few rows."""

    def __init__(self, matrix: Tensor, is_for_search: bool = False, should_round_to_bfloat16: bool = False) -> None:
        """Pack a matrix.

        Args:
            matrix: (X, Y).
            is_for_search: whether it is for a search, with varying numbers of rows.
            should_round_to_bfloat16: whether to compute products in bfloat16 and return float32.
        """
        self.dtype = matrix.dtype
        self._is_for_search = is_for_search
        self._packed_matrix: Tensor | None = None
        self._matrix: Tensor | None = None
        self._product_dtype = torch.bfloat16 if should_round_to_bfloat16 else matrix.dtype
        if is_cpu(matrix.device) and _should_pack(self._product_dtype, is_for_search):
            self._packed_matrix = torch.ops.mkldnn._reorder_linear_weight(
                matrix.T.contiguous().to(self._product_dtype), None
            )
        if self._packed_matrix is None or not _is_read_as_bfloat16(matrix.dtype):
            self._matrix = matrix.contiguous()  # on a CPU, rows are read a third faster than columns

    def __call__(self, values: Tensor, bias: Tensor | None = None) -> Tensor:
        """Multiply (B, X) with the matrix (X, Y) and add a bias (Y,)."""
        if self._matrix is not None and (self._packed_matrix is None or len(values) == 1):
            return multiply_matrices(values, self._matrix, bias)
        rows = len(values)
        if self._is_for_search and rows > MAX_UNPADDED_ROWS:
            values = pad_rows(values, round_up_to_block(rows))
        if self._product_dtype != values.dtype:
            product = multiply_packed(values.to(self._product_dtype), self._packed_matrix).to(values.dtype)[:rows]
            return product if bias is None else product.add_(bias)
        return multiply_packed(values, self._packed_matrix, bias)[:rows]


class Linear(nn.Linear):
    """y = W x + b; within `pack_weights`, with the packed weight."""

    packed_weight: PackedWeight | None = None

    def forward(self, values: Tensor) -> Tensor:
        """Map (…, X) → (…, Y)."""
        if self.packed_weight is None:
            return apply_linear(values, self.weight, self.bias)
        return self.packed_weight(values.flatten(0, -2), self.bias).unflatten(0, values.shape[:-1])


class OutputLayer(Linear):
    """The output layer before a softmax."""

    def initialize(self, rule: InitializationRule) -> None:
        """Initialize weight and bias."""
        rule.fill_output(self.weight)
        rule.fill_bias(self.bias)


def multiply_packed(values: Tensor, packed_matrix: Tensor | None, bias: Tensor | None = None) -> Tensor:
    """Multiply (B, X) with a matrix (X, Y) packed by oneDNN, and add a bias (Y,)."""
    product: Tensor = torch.ops.mkldnn._linear_pointwise(values, packed_matrix, bias, "none", [], "")
    return product


@contextmanager
def pack_weights(decoders: Iterable[nn.Module], should_round_to_bfloat16: bool = False) -> Iterator[None]:
    """Pack the weights of all linear maps of decoders for searches; weights must not change meanwhile.

    Nested contexts of the same decoders do not pack again.

    Args:
        decoders: the decoders.
        should_round_to_bfloat16: whether all maps except the output layer compute in bfloat16.
    """
    parts = (part for decoder in decoders for part in decoder.modules())
    maps = [part for part in parts if isinstance(part, Linear) and part.packed_weight is None]
    try:
        for part in maps:
            rounded = should_round_to_bfloat16 and not isinstance(part, OutputLayer)
            part.packed_weight = PackedWeight(
                part.weight.detach().T, is_for_search=True, should_round_to_bfloat16=rounded
            )
        yield
    finally:
        for part in maps:
            part.packed_weight = None


def _is_read_as_bfloat16(dtype: torch.dtype) -> bool:
    """Return whether products of this dtype read bfloat16, which only oneDNN supports."""
    return dtype == torch.bfloat16 or torch.backends.mkldnn.matmul.fp32_precision == "bf16"  # type: ignore[attr-defined]


@cache
def _should_pack(dtype: torch.dtype, is_for_search: bool) -> bool:
    """Return whether oneDNN supports packed matrices of this dtype and is faster with them."""
    if not torch.backends.mkldnn.is_available():
        return False
    if dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return is_for_search and dtype == torch.float32


class LoopLinear(Linear, TracedModule):
    """y = W x + b; in a time loop with its trace, the gradients of W and b are computed after the loop."""

    def forward(self, values: Tensor, mask: Tensor | None = None) -> Tensor:
        """Map (…, X) → (…, Y), in a loop (B, X) → (B, Y), with an optional dropout mask (B, X)."""
        if self.trace is None:
            return super().forward(apply_dropout_mask(values, mask))
        product: Tensor = _TracedLinearFunction.apply(values, mask, self.trace)
        return product

    def begin_trace(self, max_rows: int) -> LoopTrace:
        """Begin a trace of a loop with at most `max_rows` rows in total."""
        return LinearTrace(self, max_rows)


class RecurrentLinear(LoopLinear):
    """The recurrent matrices of all gates (n·X, X) for a state of size X."""

    def initialize(self, rule: InitializationRule) -> None:
        """Initialize weight and bias."""
        rule.fill_recurrent(self.weight)
        rule.fill_bias(self.bias)


class LinearTrace(LoopTrace):
    """The trace of a linear map: its packed weight, the inputs of all steps, and the gradients of their outputs."""

    def __init__(self, layer: LoopLinear, max_rows: int) -> None:
        super().__init__(layer, layer.weight, layer.bias)
        dtype = get_loop_dtype(layer.weight)
        weight = layer.weight.detach().to(dtype)
        self.forward_weight, self.backward_weight = PackedWeight(weight.T), PackedWeight(weight)
        self.bias = None if layer.bias is None else layer.bias.detach().to(dtype)
        # Of all steps, (N, X) and (N, Y), for one product after the loop.
        self._step_inputs = weight.new_empty(count_padded_rows(max_rows, dtype, weight.device), weight.shape[1])
        self._grad_outputs: Tensor | None = None
        self._step_rows: list[slice] = []
        self._steps_with_gradient: set[int] = set()

    def add_step(self, values: Tensor, factors: Tensor | None) -> tuple[int, Tensor]:
        """Add a step with values (B, X) times factors, such as a dropout mask; return its number and the products."""
        start = self._step_rows[-1].stop if self._step_rows else 0
        self._step_rows.append(slice(start, start + len(values)))
        product_inputs = self._step_inputs[self._step_rows[-1]]
        if factors is None:
            product_inputs.copy_(values)
        else:
            torch.mul(values, factors[: len(values)], out=product_inputs)
        return len(self._step_rows) - 1, product_inputs

    def get_gradient_rows(self, step: int, width: int) -> Tensor:
        """Return the rows (B, Y) into which to write the gradient of a step's output."""
        if self._grad_outputs is None:
            self._grad_outputs = self._step_inputs.new_empty(len(self._step_inputs), width)
        self._steps_with_gradient.add(step)
        return self._grad_outputs[self._step_rows[step]]

    def compute_input_gradient(self, grad_outputs: Tensor, mask: Tensor | None) -> Tensor:
        """Return the gradient of a step's inputs (B, X), given that of its outputs (B, Y) and its dropout mask."""
        return apply_dropout_mask(self.backward_weight(grad_outputs), mask)

    def sum_gradients(self) -> Sequence[Tensor | None]:
        grad_outputs, self._grad_outputs = self._grad_outputs, None
        if grad_outputs is None:
            return None, None
        for number, step in enumerate(self._step_rows):
            if number not in self._steps_with_gradient:
                grad_outputs[step] = 0
        self._steps_with_gradient.clear()
        last = self._step_rows[-1].stop
        rows = count_padded_rows(last, grad_outputs.dtype, grad_outputs.device)
        grad_outputs, inputs = grad_outputs[:rows], self._step_inputs[:rows]
        grad_outputs[last:], inputs[last:] = 0, 0
        return compute_weight_gradient(grad_outputs, inputs), None if self.bias is None else grad_outputs.sum(dim=0)


def get_loop_dtype(weight: Tensor) -> torch.dtype:
    """Return the dtype of products with a weight in a loop."""
    device = weight.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else weight.dtype


class _TracedLinearFunction(Function):
    """A linear map in a loop; the gradients of the weights are computed after the loop."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, mask: Tensor | None, trace: LinearTrace) -> Tensor:
        ctx.trace, ctx.mask, ctx.dtype = trace, mask, values.dtype
        ctx.step, product_inputs = trace.add_step(values, mask)
        return trace.forward_weight(product_inputs, trace.bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        product_inputs = ctx.trace.get_gradient_rows(ctx.step, gradient.shape[1]).copy_(gradient)
        return ctx.trace.compute_input_gradient(product_inputs, ctx.mask).to(ctx.dtype), None, None
