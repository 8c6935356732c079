"""Update rules."""

from collections.abc import Iterable

import torch
from torch import nn

from pipeline_py.config.training import Optimizer

LEARNING_RATES = {"adadelta": 1.0, "adam": 0.0005, "sgd": 1.0}
"""Where the configuration leaves the rate open."""


def build(options: Optimizer, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Make the update rule that the options name: ADADELTA (Zeiler 2012), Adam (Kingma and Ba 2015) or plain SGD."""
    rate = options.learning_rate or LEARNING_RATES[options.name]
    if options.name == "adadelta":
        return torch.optim.Adadelta(parameters, lr=rate, rho=options.rho, eps=options.epsilon)
    if options.name == "adam":
        return torch.optim.Adam(parameters, lr=rate, fused=True)
    return torch.optim.SGD(parameters, lr=rate)


def learning_rate(optimizer: torch.optim.Optimizer) -> float:
    """Read the rate, which all parameters share."""
    return float(optimizer.param_groups[0]["lr"])


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Use the rate from the next update on."""
    for group in optimizer.param_groups:
        group["lr"] = rate
