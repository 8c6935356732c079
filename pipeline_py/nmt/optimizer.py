"""Update rules."""

from collections.abc import Iterable

import torch
from torch import nn

from pipeline_py.config.training import Optimizer


def build(options: Optimizer, parameters: Iterable[nn.Parameter]) -> torch.optim.Optimizer:
    """Make the update rule that the options name: ADADELTA (Zeiler 2012), Adam (Kingma and Ba 2015) or plain SGD."""
    if options.name == "adadelta":
        return torch.optim.Adadelta(parameters, lr=options.rate, rho=options.rho, eps=options.epsilon)
    if options.name == "adam":
        return torch.optim.Adam(parameters, lr=options.rate, fused=True)
    return torch.optim.SGD(parameters, lr=options.rate)
