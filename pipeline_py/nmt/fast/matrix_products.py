"""Matrix products by the fastest library of a CPU, in float32 or from bfloat16.

torch multiplies float32 with MKL, which uses AVX-512 on Intel's processors alone, and half precision with oneDNN, which
uses it wherever it is. On others' processors with AVX-512 oneDNN takes half of MKL's time, at the same precision.

oneDNN prepares a program for each new size of matrices, which takes longer than most products of an update. Almost
every batch has another number of words, so in half precision rows of zeros are appended up to a multiple of 64.
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
"""Numbers that a group has on a CPU: in single precision they stay in its cache from one operation to the next."""


def split_rows(row_count: int, width: int, device: torch.device) -> Iterator[slice]:
    """Divide rows of `width` numbers each into groups; a GPU, whose memory is fast, has them all in one."""
    size = max(1, MAX_CACHED_NUMBERS // width) if is_cpu(device) else row_count
    return (slice(start, min(start + size, row_count)) for start in range(0, row_count, size))


MIN_ONEDNN_MULTIPLY_ADDS, MIN_ONEDNN_NEW_MULTIPLY_ADDS = 2**22, 2**26
"""Multiply-adds from which on a product gains more than oneDNN takes longer to begin, and than it takes to prepare."""

MAX_STEP_ROWS = 128
"""Rows up to which a product is of a step of a loop: its few sizes come again and again, and are prepared once."""

ROW_BLOCK_SIZE = 64
"""More rows are made a multiple of it in half precision; `recurrence.linear` does so in a search."""


def multiply_matrices(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply (N, X) with (X, Y) and add a bias (Y,), if there is one; no gradient is kept."""
    if _should_use_onednn(left, right, left.numel() * right.shape[1], len(left)):
        return _multiply_with_onednn(left, right, bias)
    whole = pad_to_block(left)
    made = whole @ right if bias is None else torch.addmm(bias, whole, right)
    return made[: len(left)]


def compute_weight_gradient(gradient: Tensor, values: Tensor) -> Tensor:
    """Give that of W (Y, X), of the gradient (N, Y) of `apply_linear` and of what it read (N, X); no gradient is kept."""
    if _should_use_onednn(gradient, values, gradient.numel() * values.shape[1]):
        # Transposed, since oneDNN copies the first matrix if its columns lie together.
        return _multiply_with_onednn(values.T, gradient).T.contiguous()
    return pad_to_block(gradient).T @ pad_to_block(values)


def pad_to_block(values: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Bring (N, X) to a precision, and append as many rows of zeros as `count_padded_rows` says: (M, X)."""
    dtype = dtype or values.dtype
    return pad_rows(values, count_padded_rows(len(values), dtype, values.device), dtype)


def pad_rows(values: Tensor, row_count: int, dtype: torch.dtype | None = None) -> Tensor:
    """Bring (N, X) to a precision, and append rows of zeros: (M, X)."""
    if row_count == len(values):
        return values.to(dtype or values.dtype)
    whole = values.new_empty(row_count, values.shape[1], dtype=dtype)
    whole[: len(values)] = values
    whole[len(values) :] = 0
    return whole


def count_padded_rows(row_count: int, dtype: torch.dtype, device: torch.device) -> int:
    """Say how many rows are multiplied where there are so many: one of few numbers, if oneDNN prepares a program."""
    if dtype != torch.bfloat16 or row_count <= MAX_STEP_ROWS or not is_cpu(device):
        return row_count
    return round_up_to_block(row_count)


def round_up_to_block(row_count: int) -> int:
    """Round up to a multiple of `ROW_BLOCK_SIZE`."""
    return -(-row_count // ROW_BLOCK_SIZE) * ROW_BLOCK_SIZE


def apply_linear(values: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Map by W x + b: (…, X), (Y, X), (Y,) → (…, Y), in half precision under autocast."""
    device, rows = values.device, values.shape[:-1].numel()
    if torch.is_autocast_enabled(device.type):
        ours = count_padded_rows(rows, torch.get_autocast_dtype(device.type), device) > rows
    else:
        ours = _should_use_onednn(values, weight, values.numel() * len(weight), rows)
    if not ours:
        return functional.linear(values, weight, bias)
    mapped: Tensor = _LinearFunction.apply(values.flatten(0, -2), weight, bias)
    return mapped.unflatten(0, values.shape[:-1])


class _LinearFunction(Function):
    """W x + b of rows, in half precision under autocast."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.dtypes = values.dtype, weight.dtype
        kind, rows = values.device.type, len(values)
        half = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else values.dtype
        values, weight, bias = pad_to_block(values, half), weight.to(half), None if bias is None else bias.to(half)
        ctx.save_for_backward(values, weight)
        return multiply_matrices(values, weight.T, bias)[:rows]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        values, weight = ctx.saved_tensors
        of_values, of_weight, of_bias = ctx.needs_input_grad
        whole = pad_to_block(gradient)
        return (
            multiply_matrices(whole, weight)[: len(gradient)].to(ctx.dtypes[0]) if of_values else None,
            compute_weight_gradient(whole, values).to(ctx.dtypes[1]) if of_weight else None,
            gradient.sum(dim=0, dtype=ctx.dtypes[1]) if of_bias else None,
        )


def _multiply_with_onednn(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    made: Tensor = torch.ops.mkldnn._linear_pointwise(left, right.T, bias, "none", [], "")
    return made


def _should_use_onednn(left: Tensor, right: Tensor, multiply_adds: int, row_count: int = MAX_STEP_ROWS + 1) -> bool:
    """Say whether oneDNN multiplies two matrices, into so many rows if their number alone differs between products."""
    return (
        multiply_adds >= (MIN_ONEDNN_MULTIPLY_ADDS if row_count <= MAX_STEP_ROWS else MIN_ONEDNN_NEW_MULTIPLY_ADDS)
        and left.dtype == right.dtype == torch.float32
        and is_cpu(left.device)
        and _is_onednn_faster()
    )


@cache
def _is_onednn_faster() -> bool:
    """Say whether this processor has AVX-512 and is not one for which MKL uses it."""
    return (
        torch.backends.mkldnn.is_available()
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and str(torch.cpu.get_capabilities().get("cpu_name", "")).startswith("AMD")
    )


MAX_BFLOAT16_ERROR, MAX_FLOAT32_ERROR = 1e-2, 1e-5
"""Relative errors of products: up to the first where they read bfloat16, up to the second where float32."""


@contextmanager
def allow_bfloat16_rounding() -> Iterator[None]:
    """Allow oneDNN to round float32 matrices to bfloat16 in products; not every processor does."""
    products = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before = products.fp32_precision
    try:
        products.fp32_precision = "bf16"
        yield
    finally:
        products.fp32_precision = before


@cache
def detect_bfloat16_mode() -> Literal["implicit", "explicit", None]:
    """Find how products of a search read bfloat16, by making a small one each way and looking at its error.

    Returns:
        implicit: oneDNN rounds float32 matrices when it may, and makes float32 (processors with AMX);
        explicit: matrices are rounded before, and products are bfloat16 (other processors with bfloat16);
        None: neither makes a product in bfloat16.
    """
    if not (torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()):
        return None
    generator = torch.Generator().manual_seed(0)
    values, weight = (torch.randn(64, 256, generator=generator) for _ in range(2))
    exact = values.double() @ weight.double().T

    def is_rounded(dtype: torch.dtype) -> bool:
        try:
            packed = torch.ops.mkldnn._reorder_linear_weight(weight.to(dtype), None)
            made: Tensor = torch.ops.mkldnn._linear_pointwise(values.to(dtype), packed, None, "none", [], "")
        except RuntimeError:
            return False
        return MAX_FLOAT32_ERROR < float((made - exact).norm() / exact.norm()) < MAX_BFLOAT16_ERROR

    with allow_bfloat16_rounding():
        if is_rounded(torch.float32):
            return "implicit"
    return "explicit" if is_rounded(torch.bfloat16) else None
