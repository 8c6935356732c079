"""Products of matrices in single precision, by the faster one of the two libraries that torch has on a CPU.

torch multiplies float32 with MKL, which uses AVX-512 on Intel's processors alone, and half precision with oneDNN, which
uses it wherever it is. On others' processors with AVX-512 oneDNN takes half of MKL's time, at the same precision.
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional

from pipeline_py.nmt.device import on_cpu

LARGE, LARGE_OF_NEW_SIZE = 2**22, 2**26
"""Multiply-adds from which on a product gains more than oneDNN takes longer to begin, and than it takes to prepare."""

OF_A_STEP = 128
"""Rows up to which a product is of a step of a loop: its few sizes come again and again, and are prepared once."""


def product(left: Tensor, right: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply (N, X) with (X, Y) and add a bias (Y,), if there is one; no gradient is kept."""
    if _by_onednn(left, right, left.numel() * right.shape[1], len(left)):
        return _made_by_onednn(left, right, bias)
    return left @ right if bias is None else torch.addmm(bias, left, right)


def gradient_of_weight(gradient: Tensor, values: Tensor) -> Tensor:
    """Give that of W (Y, X), of the gradient (N, Y) of `linear` and of what it read (N, X); no gradient is kept."""
    if _by_onednn(gradient, values, gradient.numel() * values.shape[1]):
        # Transposed, since oneDNN copies the first matrix if its columns lie together.
        return _made_by_onednn(values.T, gradient).T.contiguous()
    return gradient.T @ values


def linear(values: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Map by W x + b: (…, X), (Y, X), (Y,) → (…, Y), in half precision under autocast."""
    half = torch.is_autocast_enabled(values.device.type)
    if half or not _by_onednn(values, weight, values.numel() * len(weight), values.shape[:-1].numel()):
        return functional.linear(values, weight, bias)
    mapped: Tensor = _Linear.apply(values.flatten(0, -2), weight, bias)
    return mapped.unflatten(0, values.shape[:-1])


class _Linear(Function):
    """W x + b of rows."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(values, weight)
        return product(values, weight.T, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        values, weight = ctx.saved_tensors
        of_values, of_weight, of_bias = ctx.needs_input_grad
        return (
            product(gradient, weight) if of_values else None,
            gradient_of_weight(gradient, values) if of_weight else None,
            gradient.sum(dim=0) if of_bias else None,
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
