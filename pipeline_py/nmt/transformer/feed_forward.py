"""The feed-forward network of a layer (Vaswani et al. 2017, section 3.3)."""

import torch
from torch import Tensor, nn

from pipeline_py.nmt.recurrence.linear import Linear


class FeedForward(nn.Module):
    """W_2 max(0, W_1 x + b_1) + b_2."""

    def __init__(self, size: int, inner: int) -> None:
        super().__init__()
        self.inner = Linear(size, inner)
        self.outer = Linear(inner, size)

    def forward(self, states: Tensor) -> Tensor:
        """Map (…, D) → (…, D)."""
        mapped: Tensor = self.outer(torch.relu(self.inner(states)))
        return mapped
