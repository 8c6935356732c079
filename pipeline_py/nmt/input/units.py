"""Source dependency representations: dependency units through a convolutional network (SDRNMT section 3)."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from pipeline_py.config.systems.encoders import UnitInputConfig
from pipeline_py.nmt.data.batch import Batch
from pipeline_py.nmt.fast.linear import Linear

KERNEL_WIDTH = 3
"""Number of rows of a convolution kernel."""


class DependencyUnitConvolution(nn.Module):
    """V_U, computed from the n = 10 embedded words of a unit, (n, d), by convolutions and poolings.

    A convolution has d kernels over 3 rows and all d columns, with a bias and ReLU; a pooling is the maximum of two
    consecutive rows.

    - `stacked` reproduces the sizes that the paper prints: convolution 10 → 8, convolution of stride 2 with one row
      of zeros at each end 8 → 4, poolings 4 → 2 → 1.
    - `alternate`: convolution 10 → 8, pooling 8 → 4, convolution 4 → 2, pooling 2 → 1.

    The output is the mean over the remaining rows.
    """

    def __init__(self, options: UnitInputConfig, embedding_size: int, vocabulary_sizes: Mapping[str, int]) -> None:
        super().__init__()
        self.layer_order = options.order
        self.embedding = nn.Embedding(vocabulary_sizes["units"], embedding_size)
        self.first = Linear(KERNEL_WIDTH * embedding_size, embedding_size)
        self.second = Linear(KERNEL_WIDTH * embedding_size, embedding_size)

    def forward(self, batch: Batch) -> Tensor:
        """Represent the units of the N words of a batch: (N, size)."""
        return self.encode_units(batch.source_words.pack(batch.get_syntax("units").transpose(0, 1)))

    def encode_units(self, unit_ids: Tensor) -> Tensor:
        """Represent U units by identifiers: (U, n) → (U, size)."""
        rows = self.embedding(unit_ids)  # (U, 10, d)
        rows = _convolve_rows(rows, self.first)  # (U, 8, d)
        if self.layer_order == "stacked":
            rows = nn.functional.pad(rows, (0, 0, 1, 1))  # (U, 10, d)
            rows = _pool_rows(_pool_rows(_convolve_rows(rows, self.second, stride=2)))  # (U, 1, d)
        else:
            rows = _pool_rows(_convolve_rows(_pool_rows(rows), self.second))  # (U, 1, d)
        return rows.mean(dim=1)


def _convolve_rows(rows: Tensor, kernels: Linear, stride: int = 1) -> Tensor:
    """Apply all kernels to every three consecutive rows: (U, R, d) → (U, ⌊(R − 3) / stride⌋ + 1, d)."""
    count = (rows.shape[1] - KERNEL_WIDTH) // stride + 1
    last = stride * (count - 1) + 1
    under = torch.cat([rows[:, offset : offset + last : stride] for offset in range(KERNEL_WIDTH)], dim=2)
    return kernels(under).relu()


def _pool_rows(rows: Tensor) -> Tensor:
    """Max-pool pairs of rows, 0 and 1, 2 and 3, …: (U, R, d) → (U, R/2, d)."""
    return torch.maximum(rows[:, 0::2], rows[:, 1::2])
