"""The device that networks compute on, parsers and translators alike."""

from typing import Literal

from pipeline_py.stage import InputError


def device_named(name: str) -> Literal["cpu", "cuda"]:
    """Read a device of the configuration; `auto` is a GPU where there is one.

    Raises:
        InputError: for another name, or where a GPU is asked for and there is none.
    """
    import torch

    if name not in ("auto", "cpu", "cuda"):
        raise InputError(f"unknown device {name!r}; use auto, cpu or cuda")
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("the device is to be cuda and there is none; set it to cpu or auto")
    return "cuda" if name != "cpu" and torch.cuda.is_available() else "cpu"
