"""Linear maps whose weights are laid out once for many products."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache

import torch
from torch import Tensor, nn

from pipeline_py.nmt.device import on_cpu
from pipeline_py.nmt.initialization import Rule


class Weight:
    """A matrix, or several of a size, laid out for products of few rows as the processor likes it best."""

    def __init__(self, matrix: Tensor, often: bool = False) -> None:
        """Lay out (X, Y) or (D, X, Y); `often`: for so many products that it may take longer."""
        self.dtype = matrix.dtype
        self._packed: list[Tensor] = []
        if on_cpu(matrix.device) and _packs(matrix.dtype, often):
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


class Linear(nn.Linear):
    """y = W x + b; where it is `laid_out`, with the weight as it was then."""

    layout: Weight | None = None

    def forward(self, values: Tensor) -> Tensor:
        """Map (…, X) → (…, Y)."""
        return super().forward(values) if self.layout is None else self.layout(values, self.bias)


class OutputLayer(Linear):
    """What a softmax is made of."""

    def initialize(self, rule: Rule) -> None:
        """Begin as the rule says."""
        rule.output(self.weight)
        rule.bias(self.bias)


@contextmanager
def laid_out(decoders: Iterable[nn.Module]) -> Iterator[None]:
    """Lay out all maps of decoders for the many products of a search; meanwhile no weight may change."""
    maps = [part for decoder in decoders for part in decoder.modules() if isinstance(part, Linear)]
    try:
        for part in maps:
            part.layout = Weight(part.weight.detach().T, often=True)
        yield
    finally:
        for part in maps:
            part.layout = None


@cache
def _packs(dtype: torch.dtype, often: bool) -> bool:
    """Say whether oneDNN multiplies here with a matrix that it has laid out before, and whether that pays."""
    if not torch.backends.mkldnn.is_available():
        return False
    if dtype == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return often and dtype == torch.float32
