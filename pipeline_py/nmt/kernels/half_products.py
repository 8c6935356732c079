"""Products of float32 matrices that read bfloat16: the way to get them here, chosen by the error of small products."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Literal

import torch
from torch import Tensor

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
