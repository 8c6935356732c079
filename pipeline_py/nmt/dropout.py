"""Inverted dropout: of every number, or with one mask for all time steps (Gal and Ghahramani 2016; Nematus)."""

from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline_py.config.systems.training import DropoutConfig as Rates
from pipeline_py.nmt.torch_setup import is_cpu

DropoutSite: TypeAlias = Literal["embeddings", "states", "contexts", "readout"]

RANDOM_BITS = 16
"""Random bits that decide about a number on a CPU, where torch's own draws take several times longer."""


class Dropout(nn.Module):
    """Drops each number out by itself; nothing is dropped when the network is not training."""

    def __init__(self, rate: float) -> None:
        super().__init__()
        self.rate = rate
        self.keep_threshold = max(1, round((1 - rate) * 2**RANDOM_BITS))

    def forward(self, values: Tensor) -> Tensor:
        """Drop out (…) → (…); what is kept is divided by the share that is kept."""
        if not self.training or self.rate == 0:
            return values
        if not is_cpu(values.device):
            return functional.dropout(values, self.rate)
        drawn = torch.empty(-(-values.numel() * RANDOM_BITS // 64), dtype=torch.int64).random_(-(2**63), None)
        bits = drawn.view(torch.int16)[: values.numel()].view(values.shape)
        return values * (bits < self.keep_threshold - 2 ** (RANDOM_BITS - 1)).to(values.dtype).mul_(
            2**RANDOM_BITS / self.keep_threshold
        )


class SharedDropout(nn.Module):
    """Draws masks; nothing is dropped when the network is not training."""

    def __init__(self, rates: Rates) -> None:
        super().__init__()
        self.rates = rates

    def draw_mask(self, site: DropoutSite, rows: int, width: int, like: Tensor) -> Tensor | None:
        """Draw a mask (rows, width) of zeros and 1/(1 − rate of the place), or None where nothing is dropped."""
        rate: float = getattr(self.rates, site)
        if not self.training or rate == 0:
            return None
        return like.new_empty(rows, width).bernoulli_(1 - rate).div_(1 - rate)


def apply_dropout_mask(values: Tensor, mask: Tensor | None) -> Tensor:
    """Apply a mask (…, B, X) to values (…, R, X) of the first R rows."""
    return values if mask is None else values * mask[..., : values.shape[-2], :]
