"""Removal of the compiler hooks of torch's optimizers."""

import inspect
from functools import cache

import torch
from torch.optim import Optimizer

WRAPPED_METHOD_NAMES = ("add_param_group", "zero_grad", "state_dict", "load_state_dict")


@cache
def disable_torch_compile_hooks() -> None:
    """Let optimizers of this process work without importing torch's compiler, which takes a second.

    Their methods import it to disable compilation. The unwrapped `step` runs under `no_grad`; differentiable optimizers
    no longer work.
    """
    for name in WRAPPED_METHOD_NAMES:
        setattr(Optimizer, name, inspect.unwrap(getattr(Optimizer, name)))
    for kind in Optimizer.__subclasses__():
        kind.step = torch.no_grad()(inspect.unwrap(kind.step))  # type: ignore[method-assign]
