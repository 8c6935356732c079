"""Update rules."""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from pipeline_py.config.systems.training import EPSILONS, LEARNING_RATES, Optimizer


def build(options: Optimizer, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Make the update rule that the options name: ADADELTA (Zeiler 2012), Adam (Kingma and Ba 2015) or plain SGD."""
    common: Any = {"lr": options.learning_rate or LEARNING_RATES[options.name], "weight_decay": options.l2}
    if options.name == "adadelta":
        return torch.optim.Adadelta(
            parameters, rho=options.rho, eps=options.epsilon or EPSILONS[options.name], **common
        )
    if options.name == "adam":
        epsilon = options.epsilon or EPSILONS[options.name]
        return torch.optim.Adam(parameters, betas=options.betas, eps=epsilon, fused=True, **common)
    return torch.optim.SGD(parameters, **common)


def learning_rate(optimizer: torch.optim.Optimizer) -> float:
    """Read the rate, which all parameters share."""
    return float(optimizer.param_groups[0]["lr"])


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Use the rate from the next update on."""
    for group in optimizer.param_groups:
        group["lr"] = rate


def follow_schedule(optimizer: torch.optim.Optimizer, options: Optimizer, update: int, done: float) -> None:
    """Set the rate of the next update, which is that of `scheduled`; a constant one without warm-up is left alone."""
    if options.schedule != "constant" or update <= options.warmup:
        set_learning_rate(optimizer, scheduled(options, update, done))


def scheduled(options: Optimizer, update: int, done: float) -> float:
    """Say the rate of an update.

    Args:
        options: their schedule and their warm-up multiply the rate.
        update: how many were made before.
        done: the part of the training that is done, from 0 to 1.
    """
    height = options.learning_rate or LEARNING_RATES[options.name]
    risen = (update + 1) / (options.warmup + 1)
    fallen = 1.0
    if options.schedule == "linear":
        fallen = 1 - done
    elif options.schedule == "inverse_square_root":
        fallen = min(1.0, risen**-0.5)
    return height * min(1.0, risen) * fallen


def decay_if_worse(
    optimizer: torch.optim.Optimizer, options: Optimizer, losses: Sequence[float], since_best: int
) -> None:
    """Lower the rate, if it is to decay, where dev has become worse (tree2seq section 4.2) or no better for long.

    Args:
        optimizer: what is used from the next update on.
        options: say by which factor, if at all, and when.
        losses: on the development set, of all validations.
        since_best: how many of the last ones had no better score.
    """
    if options.decay is None:
        return
    if options.decay_patience is None:
        decays = len(losses) > 1 and losses[-1] > losses[-2]
    else:
        decays = since_best > 0 and since_best % options.decay_patience == 0
    if decays:
        set_learning_rate(optimizer, learning_rate(optimizer) * options.decay)
