"""Linear maps whose weights are laid out once for many products."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor, nn

from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.initialization import Rule
from pipeline_py.nmt.kernels.products import linear, product, whole_blocks, with_rows

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
