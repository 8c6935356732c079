"""Means of a network's weights at several points of its training."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

Tensors = tuple[Tensor, ...] | list[Tensor]


def mean(weights: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    """Average tensors of the same names and shapes, in double precision; one alone stays as it is.

    Vaswani et al. (2017), section 6.1.
    """
    return {
        name: torch.stack([one[name].double() for one in weights]).mean(dim=0).to(first.dtype)
        for name, first in weights[0].items()
    }


def moving_average(network: nn.Module, decay: float) -> AveragedModel:
    """Copy a network, to follow its weights from update to update (Polyak and Juditsky 1992).

    Update t, from 0 on, moves the average by 1 - min(decay, (1 + t) / (10 + t)) of the way to the network's weights, so
    that it soon forgets the first ones.

    Args:
        network: whose `update_parameters` are called for after each update.
        decay: of the average, once there were many updates.
    """

    def follow(averaged: Tensors, current: Tensors, followed: Tensor | int) -> None:
        updates = int(average.n_averaged)  # `followed` may be on a GPU, which would be waited for
        get_ema_multi_avg_fn(min(decay, (1 + updates) / (10 + updates)))(averaged, current, followed)

    average = AveragedModel(network, multi_avg_fn=follow)
    return average.eval()
