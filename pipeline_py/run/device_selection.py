"""Selection of the device for parsers and translation networks."""

import os
import sys
from functools import cache
from typing import Literal

from pipeline_py.run.errors import InputError
from pipeline_py.run.file_locks import acquire_lock, create_private_folder


def select_device(device_name: str) -> Literal["cpu", "cuda"]:
    """Resolve a device of the configuration; `auto` is a free GPU if there is one, else the CPU.

    Raises:
        InputError: the name is unknown, or a GPU is requested and there is none.
    """
    import torch

    if device_name not in ("auto", "cpu", "cuda"):
        raise InputError(f"unknown device {device_name!r}; use auto, cpu or cuda")
    if device_name == "cuda" and not torch.cuda.is_available():
        raise InputError("the device is set to cuda, but there is no GPU; set it to cpu or auto")
    if device_name == "cpu" or not torch.cuda.is_available():
        return "cpu"
    _reserve_gpu()
    return "cuda"


@cache
def _reserve_gpu() -> None:
    """Make a GPU that no other process of this user has reserved the current device; if all are taken, the first one.

    torchrun assigns a GPU to the processes that it starts.
    """
    import torch

    cards = torch.cuda.device_count()
    if cards == 1 or "LOCAL_RANK" in os.environ:
        return
    try:
        folder = create_private_folder()
        for card in range(cards):
            if acquire_lock(folder / f"card-{torch.cuda.get_device_properties(card).uuid}.lock"):
                torch.cuda.set_device(card)
                return
    except OSError as error:
        print(f"warning: no GPU is reserved ({error}); several processes may use the same one", file=sys.stderr)
