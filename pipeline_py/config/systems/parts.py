"""What the options of all parts of a network share.

A part's options stand in `encoders.py` or `decoders.py`, its module in `pipeline_py/nmt/<kind>/`.
"""

import keyword
from typing import Any, ClassVar

from pydantic import BeforeValidator

from pipeline_py.config.base import Section
from pipeline_py.kinds.kind import Kind


def type_alone(value: Any) -> Any:
    """Let `global` stand for `{type: global}`."""
    return {"type": value} if isinstance(value, str) else value


def or_of_type(usual: str) -> BeforeValidator:
    """Let the type alone stand for a part, and a part without a type be of the usual one."""

    def complete(value: Any) -> Any:
        value = type_alone(value)
        return {"type": usual, **value} if isinstance(value, dict) else value

    return BeforeValidator(complete)


class PartOptions(Section):
    """Options of a part, which says what it needs."""

    reads: ClassVar[tuple[Kind, ...]] = ()
    """The kinds of syntax that the part reads."""

    learns: ClassVar[tuple[Kind, ...]] = ()
    """The kinds of syntax that the part learns to predict beside translation, and needs in training alone."""

    @property
    def departures(self) -> list[str]:
        """Departures of the options from equations as papers print them; empty if there are none."""
        return []

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raise TypeError where something else stands for a tuple of kinds."""
        super().__init_subclass__(**kwargs)
        for name in ("reads", "learns"):
            kinds = getattr(cls, name)
            if isinstance(kinds, property):
                continue
            if not isinstance(kinds, tuple) or not all(isinstance(kind, Kind) for kind in kinds):
                raise TypeError(f"`{name}` of `{cls.__name__}` is a tuple of kinds, as `(distances.KIND,)`")

    def check_sizes(self, embedding: int, hidden: int) -> None:
        """Raise ValueError where the sizes of the network do not suit the part; most suit all."""


def module_of(kind: str, name: str) -> str:
    """The module below `pipeline_py` that holds a part, e.g. "nmt.weighting.global_" (Python keeps `global`)."""
    return f"nmt.{kind}.{name}_" if keyword.iskeyword(name) else f"nmt.{kind}.{name}"
