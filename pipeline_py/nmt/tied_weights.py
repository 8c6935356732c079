"""One parameter under two names, which is saved under one of them."""

from typing import Any

from torch import Tensor, nn


def tie(network: nn.Module, name: str, to: str) -> None:
    """Let a parameter of a network be another one of the same shape.

    Args:
        network: whose `state_dict` has the parameter no more, and whose `load_state_dict` needs it no more.
        name: of the parameter that is given up, dotted.
        to: of the parameter that it becomes.
    """
    module, _, attribute = name.rpartition(".")
    setattr(network.get_submodule(module), attribute, network.get_parameter(to))

    def leave_out(module: nn.Module, state: dict[str, Tensor], prefix: str, metadata: Any) -> None:
        del state[prefix + name]

    def fill_in(module: nn.Module, state: dict[str, Tensor], prefix: str, *rest: Any) -> None:
        if prefix + to in state:
            state[prefix + name] = state[prefix + to]

    network.register_state_dict_post_hook(leave_out)
    network.register_load_state_dict_pre_hook(fill_in)
