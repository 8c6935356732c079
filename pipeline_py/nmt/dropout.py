"""Inverted dropout, of single numbers or with one mask for all time steps (Gal and Ghahramani 2016; Nematus)."""

from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.config.systems.training import DropoutConfig
from pipeline_py.nmt.torch_setup import is_cpu

DropoutSite: TypeAlias = Literal["embeddings", "states", "contexts", "readout"]

RANDOM_BITS = 16
"""Number of random bits for each number on a CPU, where torch's dropout is several times slower."""


class Dropout(nn.Module):
    """Independent dropout of each number; the identity outside of training."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        # At least one value keeps a number and one drops it, so that a tiny rate is not rounded to dropping nothing.
        self.keep_threshold = min(max(1, round((1 - rate) * 2**RANDOM_BITS)), 2**RANDOM_BITS - 1)

    def forward(self, values: Tensor) -> Tensor:
        """Apply dropout (…) → (…); remaining numbers are divided by their expected share."""
        if not self.training or self.rate == 0:
            return values
        if not is_cpu(values.device):
            return functional.dropout(values, self.rate)
        random = torch.empty(-(-values.numel() * RANDOM_BITS // 64), dtype=torch.int64).random_(-(2**63), None)
        bits = random.view(torch.int16)[: values.numel()].view(values.shape)
        return values * (bits < self.keep_threshold - 2 ** (RANDOM_BITS - 1)).to(values.dtype).mul_(
            2**RANDOM_BITS / self.keep_threshold
        )


class SharedDropout(nn.Module):
    """Dropout with masks that are shared by all time steps; no masks outside of training."""

    def __init__(self, rates: DropoutConfig) -> None:
        super().__init__()
        self.rates = rates

    def draw_mask(self, site: DropoutSite, rows: int, width: int, like: Tensor) -> Tensor | None:
        """Draw a mask (rows, width) of zeros and 1/(1 − rate of the site), or None without dropout."""
        rate: float = getattr(self.rates, site)
        if not self.training or rate == 0:
            return None
        return like.new_empty(rows, width).bernoulli_(1 - rate).div_(1 - rate)


def apply_dropout_mask(values: Tensor, mask: Tensor | None) -> Tensor:
    """Apply a mask (…, B, X) to values (…, R, X) of the first R rows."""
    return values if mask is None else values * mask[..., : values.shape[-2], :]
