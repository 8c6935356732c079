"""The device that networks compute on, parsers and translators alike."""

import os
import sys
from functools import cache
from typing import Literal

from pipeline_py.run.errors import InputError
from pipeline_py.run.file_locks import acquire_lock, create_private_folder


def select_device(device_name: str) -> Literal["cpu", "cuda"]:
    """Read a device of the configuration; `auto` is a GPU where there is one, of several one that is free.

    Raises:
        InputError: for another name, or where a GPU is asked for and there is none.
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
    """Let `cuda` mean a card that no other process of this user has taken; where all are taken, the first one.

    A process that torchrun has started is told which card is its own.
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
        print(f"warning: no GPU is reserved ({error}), so that several processes may use one", file=sys.stderr)
