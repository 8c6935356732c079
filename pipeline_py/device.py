"""The device that networks compute on, parsers and translators alike."""

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO, Literal

from pipeline_py.input_error import InputError

_taken: list[IO[str]] = []
"""The file whose lock says that a card is this process's, until it ends in whatever way."""


def device_named(name: str) -> Literal["cpu", "cuda"]:
    """Read a device of the configuration; `auto` is a GPU where there is one, of several one that is free.

    Raises:
        InputError: for another name, or where a GPU is asked for and there is none.
    """
    import torch

    if name not in ("auto", "cpu", "cuda"):
        raise InputError(f"unknown device {name!r}; use auto, cpu or cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("the device is set to cuda, but there is no GPU; set it to cpu or auto")
    if name == "cpu" or not torch.cuda.is_available():
        return "cpu"
    _take_card()
    return "cuda"


def _take_card() -> None:
    """Let `cuda` mean a card that no other process of this user has taken; where all are taken, the first one.

    A process that torchrun has started is told which card is its own.
    """
    import torch

    cards = torch.cuda.device_count()
    if cards == 1 or "LOCAL_RANK" in os.environ or _taken:
        return
    for card in range(cards):
        name = f"card-{os.getuid()}-{torch.cuda.get_device_properties(card).uuid}.lock"
        file = (Path(tempfile.gettempdir()) / name).open("w", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            continue
        _taken.append(file)
        torch.cuda.set_device(card)
        return
