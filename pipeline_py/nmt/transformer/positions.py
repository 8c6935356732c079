"""Sinusoidal positions (Vaswani et al. 2017, section 3.5)."""

import torch
from torch import Tensor

LONGEST = 10_000.0
"""The longest wave is 2π times this."""


def with_positions(embedded: Tensor, first: int = 0) -> Tensor:
    """Add positions to the embeddings x of words (B, I, D) from position `first` on: √D · x + p.

    p_2k = sin(i / 10000^(2k/D)) and p_2k+1 = cos of the same, at position i counted from 0.
    """
    length, size = embedded.shape[1:]
    place = torch.arange(first, first + length, device=embedded.device, dtype=torch.float64)
    even = torch.arange(0, size, 2, device=embedded.device, dtype=torch.float64)
    angles = place.unsqueeze(1) * LONGEST ** (-even / size)
    positions = torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)
    return embedded * size**0.5 + positions.to(embedded.dtype)
