"""The mean of a network's weights at several points of its training (Vaswani et al. 2017, section 6.1)."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor


def mean(weights: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Average tensors of the same names and shapes, in double precision; one alone stays as it is."""
    return {
        name: torch.stack([one[name].double() for one in weights]).mean(dim=0).to(first.dtype)
        for name, first in weights[0].items()
    }
