"""Weights that a network starts from, in place of those that were drawn."""

from pathlib import Path

import torch

from pipeline_py.nmt.model import Model
from pipeline_py.nmt.saved import load_weights
from pipeline_py.stage import InputError


@torch.no_grad()
def start_from(model: Model, path: Path) -> None:
    """Fill those parameters of a network that a safetensors file names; the others stay as they are.

    Raises:
        InputError: the file is damaged or no safetensors file, or holds what the network has not.
    """
    initial = load_weights(path)
    own = model.state_dict()
    for name, tensor in initial.items():
        if name not in own:
            raise InputError(f"the network has no {name}; take the weights of one with the same parts", path)
        if own[name].shape != tensor.shape:
            raise InputError(
                f"{name} is {_written(tensor.shape)} and {_written(own[name].shape)} in the network; "
                "take the weights of one with the same sizes and vocabularies",
                path,
            )
    for name, tensor in initial.items():
        own[name].copy_(tensor)


def _written(shape: torch.Size) -> str:
    return " × ".join(map(str, shape)) or "a number"
