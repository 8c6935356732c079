"""torch's optimizers, without torch's compiler."""

import inspect
from functools import cache

import torch
from torch.optim import Optimizer

WRAPPED_METHOD_NAMES = ("add_param_group", "zero_grad", "state_dict", "load_state_dict")


@cache
def disable_torch_compile_hooks() -> None:
    """From now on let this process use optimizers without importing torch's compiler, which takes a second.

    Their methods import it to tell it that there is nothing to compile. Without that, what `step` still needs is that
    no gradient is kept; so optimizers that can be differentiated are none any more.
    """
    for name in WRAPPED_METHOD_NAMES:
        setattr(Optimizer, name, inspect.unwrap(getattr(Optimizer, name)))
    for kind in Optimizer.__subclasses__():
        kind.step = torch.no_grad()(inspect.unwrap(kind.step))  # type: ignore[method-assign]
