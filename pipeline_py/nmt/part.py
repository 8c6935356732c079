"""Parts of a network, found by their types."""

import importlib
from typing import Any

from torch import nn

from pipeline_py.config.systems.parts import module_of


def part(kind: str, name: str) -> Any:
    """Find a part: the only public class of a network that its module defines, e.g. `nmt/weighting/local.py`.

    Raises:
        TypeError: there are none, or several.
    """
    module = importlib.import_module(f"pipeline_py.{module_of(kind, name)}")
    found = [
        member
        for called, member in vars(module).items()
        if isinstance(member, type)
        and issubclass(member, nn.Module)
        and member.__module__ == module.__name__
        and not called.startswith("_")
    ]
    if len(found) != 1:
        raise TypeError(f"{module.__name__} has {len(found)} public classes of networks; the part is the only one")
    return found[0]
