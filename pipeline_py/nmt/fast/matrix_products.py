"""Matrix products with the fastest library on a CPU, in float32 or bfloat16.

torch multiplies float32 with MKL, which uses AVX-512 only on Intel CPUs, and half precision with oneDNN, which always
uses it. On other CPUs with AVX-512, oneDNN takes half of MKL's time at the same precision.

oneDNN compiles a program for each new matrix size, which takes longer than most products. Because the number of words
differs between batches, rows are padded with zeros to a multiple of 64 in half precision.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

from pipeline_py.nmt.torch_setup import is_cpu

MAX_CACHED_NUMBERS = 2**18
"""Numbers in a group of rows on a CPU, which fit its cache in single precision."""


def split_rows(row_count: int, width: int, device: torch.device) -> Iterator[slice]:
    """Split rows of `width` numbers into groups that fit the cache; on a GPU into one group."""
    size = max(1, MAX_CACHED_NUMBERS // width) if is_cpu(device) else row_count
    return (slice(start, min(start + size, row_count)) for start in range(0, row_count, size))


MIN_ONEDNN_MULTIPLY_ADDS, MIN_ONEDNN_NEW_MULTIPLY_ADDS = 2**22, 2**26
"""Smallest numbers of multiply-adds for which oneDNN is faster, with a cached and with a new program."""

MAX_STEP_ROWS = 128
"""Largest number of rows of a loop step, whose few sizes recur and need no padding."""

ROW_BLOCK_SIZE = 64
"""Multiple to which rows are padded in half precision, and in a search."""


def multiply_matrices(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply (N, X) with (X, Y) and add an optional bias (Y,), without autograd."""
    if _should_use_onednn(left, right, left.numel() * right.shape[1], len(left)):
        return _multiply_with_onednn(left, right, bias)
    padded = pad_to_block(left)
    product = padded @ right if bias is None else torch.addmm(bias, padded, right)
    return product[: len(left)]


def compute_weight_gradient(gradient: Tensor, values: Tensor) -> Tensor:
    """Compute the gradient of W (Y, X) from the output's gradient (N, Y) and the input (N, X), without autograd."""
    if _should_use_onednn(gradient, values, gradient.numel() * values.shape[1]):
        # Transposed, since oneDNN copies a first matrix with contiguous columns.
        return _multiply_with_onednn(values.T, gradient).T.contiguous()
    return pad_to_block(gradient).T @ pad_to_block(values)


def pad_to_block(values: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Cast (N, X) and pad it with zero rows up to `count_padded_rows`: (M, X)."""
    dtype = dtype or values.dtype
    return pad_rows(values, count_padded_rows(len(values), dtype, values.device), dtype)


def pad_rows(values: Tensor, row_count: int, dtype: torch.dtype | None = None) -> Tensor:
    """Cast (N, X) and pad it with zero rows: (M, X)."""
    if row_count == len(values):
        return values.to(dtype or values.dtype)
    padded = values.new_empty(row_count, values.shape[1], dtype=dtype)
    padded[: len(values)] = values
    padded[len(values) :] = 0
    return padded


def count_padded_rows(row_count: int, dtype: torch.dtype, device: torch.device) -> int:
    """Return the padded number of rows, which limits the sizes for which oneDNN compiles programs."""
    if dtype != torch.bfloat16 or row_count <= MAX_STEP_ROWS or not is_cpu(device):
        return row_count
    return round_up_to_block(row_count)


def round_up_to_block(row_count: int) -> int:
    """Round up to a multiple of `ROW_BLOCK_SIZE`."""
    return -(-row_count // ROW_BLOCK_SIZE) * ROW_BLOCK_SIZE


def apply_linear(values: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Compute W x + b: (…, X), (Y, X), (Y,) → (…, Y), in half precision under autocast."""
    device, rows = values.device, values.shape[:-1].numel()
    if torch.is_autocast_enabled(device.type):
        should_use_function = count_padded_rows(rows, torch.get_autocast_dtype(device.type), device) > rows
    else:
        should_use_function = _should_use_onednn(values, weight, values.numel() * len(weight), rows)
    if not should_use_function:
        return functional.linear(values, weight, bias)
    mapped: Tensor = _LinearFunction.apply(values.flatten(0, -2), weight, bias)
    return mapped.unflatten(0, values.shape[:-1])


class _LinearFunction(Function):
    """W x + b of rows, in half precision under autocast."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.dtypes = values.dtype, weight.dtype
        kind, rows = values.device.type, len(values)
        half_dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else values.dtype
        values, weight, bias = (
            pad_to_block(values, half_dtype),
            weight.to(half_dtype),
            None if bias is None else bias.to(half_dtype),
        )
        ctx.save_for_backward(values, weight)
        return multiply_matrices(values, weight.T, bias)[:rows]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        values, weight = ctx.saved_tensors
        needs_values, needs_weight, needs_bias = ctx.needs_input_grad
        padded = pad_to_block(gradient)
        return (
            multiply_matrices(padded, weight)[: len(gradient)].to(ctx.dtypes[0]) if needs_values else None,
            compute_weight_gradient(padded, values).to(ctx.dtypes[1]) if needs_weight else None,
            gradient.sum(dim=0, dtype=ctx.dtypes[1]) if needs_bias else None,
        )


def _multiply_with_onednn(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    if not (right.is_contiguous() or right.T.is_contiguous()):
        right = right.contiguous()  # oneDNN multiplies by columns of a wider matrix with its slow reference code
    product: Tensor = torch.ops.mkldnn._linear_pointwise(left, right.T, bias, "none", [], "")
    return product


def _should_use_onednn(left: Tensor, right: Tensor, multiply_adds: int, row_count: int = MAX_STEP_ROWS + 1) -> bool:
    """Return whether oneDNN is faster for a product with `row_count` rows."""
    return (
        multiply_adds >= (MIN_ONEDNN_MULTIPLY_ADDS if row_count <= MAX_STEP_ROWS else MIN_ONEDNN_NEW_MULTIPLY_ADDS)
        and left.dtype == right.dtype == torch.float32
        and is_cpu(left.device)
        and _is_onednn_faster()
    )


@cache
def _is_onednn_faster() -> bool:
    """Return whether this CPU has AVX-512 and MKL does not use it."""
    return (
        torch.backends.mkldnn.is_available()
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and str(torch.cpu.get_capabilities().get("cpu_name", "")).startswith("AMD")
    )


MAX_BFLOAT16_ERROR, MAX_FLOAT32_ERROR = 1e-2, 1e-5
"""Largest relative errors of products of bfloat16 and of float32 matrices."""


@contextmanager
def allow_bfloat16_rounding() -> Iterator[None]:
    """Allow oneDNN to round float32 matrices to bfloat16 in products, if the CPU supports it."""
    products = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    previous_precision = products.fp32_precision
    try:
        products.fp32_precision = "bf16"
        yield
    finally:
        products.fp32_precision = previous_precision


@cache
def detect_bfloat16_mode() -> Literal["implicit", "explicit", None]:
    """Detect how this CPU computes bfloat16 products, from the error of a small product.

    Returns:
        implicit: oneDNN rounds float32 matrices and returns float32 (CPUs with AMX);
        explicit: matrices and products are bfloat16 (other CPUs with bfloat16);
        None: there are no bfloat16 products.
    """
    if not (torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()):
        return None
    generator = torch.Generator().manual_seed(0)
    values, weight = (torch.randn(64, 256, generator=generator) for _ in range(2))
    exact = values.double() @ weight.double().T

    def is_rounded(dtype: torch.dtype) -> bool:
        try:
            packed = torch.ops.mkldnn._reorder_linear_weight(weight.to(dtype), None)
            product: Tensor = torch.ops.mkldnn._linear_pointwise(values.to(dtype), packed, None, "none", [], "")
        except RuntimeError:
            return False
        return MAX_FLOAT32_ERROR < float((product - exact).norm() / exact.norm()) < MAX_BFLOAT16_ERROR

    with allow_bfloat16_rounding():
        if is_rounded(torch.float32):
            return "implicit"
    return "explicit" if is_rounded(torch.bfloat16) else None
