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

from pipeline_py.nmt.device import on_cpu

CACHED = 2**18
"""Numbers that a group has on a CPU: in single precision they stay in its cache from one operation to the next."""


def groups(rows: int, width: int, device: torch.device) -> Iterator[slice]:
    """Divide rows of `width` numbers each into groups; a GPU, whose memory is fast, has them all in one."""
    size = max(1, CACHED // width) if on_cpu(device) else rows
    return (slice(start, min(start + size, rows)) for start in range(0, rows, size))


LARGE, LARGE_OF_NEW_SIZE = 2**22, 2**26
"""Multiply-adds from which on a product gains more than oneDNN takes longer to begin, and than it takes to prepare."""

OF_A_STEP = 128
"""Rows up to which a product is of a step of a loop: its few sizes come again and again, and are prepared once."""

BLOCK = 64
"""More rows are made a multiple of it in half precision; `recurrence.linear` does so in a search."""


def product(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply (N, X) with (X, Y) and add a bias (Y,), if there is one; no gradient is kept."""
    if _by_onednn(left, right, left.numel() * right.shape[1], len(left)):
        return _made_by_onednn(left, right, bias)
    whole = in_blocks(left)
    made = whole @ right if bias is None else torch.addmm(bias, whole, right)
    return made[: len(left)]


def gradient_of_weight(gradient: Tensor, values: Tensor) -> Tensor:
    """Give that of W (Y, X), of the gradient (N, Y) of `linear` and of what it read (N, X); no gradient is kept."""
    if _by_onednn(gradient, values, gradient.numel() * values.shape[1]):
        # Transposed, since oneDNN copies the first matrix if its columns lie together.
        return _made_by_onednn(values.T, gradient).T.contiguous()
    return in_blocks(gradient).T @ in_blocks(values)


def in_blocks(values: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Bring (N, X) to a precision, and append as many rows of zeros as `filled_up` says: (M, X)."""
    dtype = dtype or values.dtype
    return with_rows(values, filled_up(len(values), dtype, values.device), dtype)


def with_rows(values: Tensor, rows: int, dtype: torch.dtype | None = None) -> Tensor:
    """Bring (N, X) to a precision, and append rows of zeros: (M, X)."""
    if rows == len(values):
        return values.to(dtype or values.dtype)
    whole = values.new_empty(rows, values.shape[1], dtype=dtype)
    whole[: len(values)] = values
    whole[len(values) :] = 0
    return whole


def filled_up(rows: int, dtype: torch.dtype, device: torch.device) -> int:
    """Say how many rows are multiplied where there are so many: one of few numbers, if oneDNN prepares a program."""
    if dtype != torch.bfloat16 or rows <= OF_A_STEP or not on_cpu(device):
        return rows
    return whole_blocks(rows)


def whole_blocks(rows: int) -> int:
    """Round up to a multiple of `BLOCK`."""
    return -(-rows // BLOCK) * BLOCK


def linear(values: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Map by W x + b: (…, X), (Y, X), (Y,) → (…, Y), in half precision under autocast."""
    device, rows = values.device, values.shape[:-1].numel()
    if torch.is_autocast_enabled(device.type):
        ours = filled_up(rows, torch.get_autocast_dtype(device.type), device) > rows
    else:
        ours = _by_onednn(values, weight, values.numel() * len(weight), rows)
    if not ours:
        return functional.linear(values, weight, bias)
    mapped: Tensor = _Linear.apply(values.flatten(0, -2), weight, bias)
    return mapped.unflatten(0, values.shape[:-1])


class _Linear(Function):
    """W x + b of rows, in half precision under autocast."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.dtypes = values.dtype, weight.dtype
        kind, rows = values.device.type, len(values)
        half = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else values.dtype
        values, weight, bias = in_blocks(values, half), weight.to(half), None if bias is None else bias.to(half)
        ctx.save_for_backward(values, weight)
        return product(values, weight.T, bias)[:rows]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        values, weight = ctx.saved_tensors
        of_values, of_weight, of_bias = ctx.needs_input_grad
        whole = in_blocks(gradient)
        return (
            product(whole, weight)[: len(gradient)].to(ctx.dtypes[0]) if of_values else None,
            gradient_of_weight(whole, values).to(ctx.dtypes[1]) if of_weight else None,
            gradient.sum(dim=0, dtype=ctx.dtypes[1]) if of_bias else None,
        )


def _made_by_onednn(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    made: Tensor = torch.ops.mkldnn._linear_pointwise(left, right.T, bias, "none", [], "")
    return made


def _by_onednn(one: Tensor, other: Tensor, multiply_adds: int, rows: int = OF_A_STEP + 1) -> bool:
    """Say whether oneDNN multiplies two matrices, into so many rows if their number alone differs between products."""
    return (
        multiply_adds >= (LARGE if rows <= OF_A_STEP else LARGE_OF_NEW_SIZE)
        and one.dtype == other.dtype == torch.float32
        and on_cpu(one.device)
        and _is_faster()
    )


@cache
def _is_faster() -> bool:
    """Say whether this processor has AVX-512 and is not one for which MKL uses it."""
    return (
        torch.backends.mkldnn.is_available()
        and torch.backends.cpu.get_cpu_capability() == "AVX512"
        and str(torch.cpu.get_capabilities().get("cpu_name", "")).startswith("AMD")
    )


ROUNDED, EXACT = 1e-2, 1e-5
"""Relative errors of products: up to the first where they read bfloat16, up to the second where float32."""


@contextmanager
def rounding_float32() -> Iterator[None]:
    """Allow oneDNN to round float32 matrices to bfloat16 in products; not every processor does."""
    products = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before = products.fp32_precision
    try:
        products.fp32_precision = "bf16"
        yield
    finally:
        products.fp32_precision = before


@cache
def half_products() -> Literal["implicit", "explicit", None]:
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
        return EXACT < float((made - exact).norm() / exact.norm()) < ROUNDED

    with rounding_float32():
        if is_rounded(torch.float32):
            return "implicit"
    return "explicit" if is_rounded(torch.bfloat16) else None
