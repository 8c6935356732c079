"""How far a key changes what is made: said once, at its field, for all who compare settings.

A field without a mark decides results. `Section.without` gives those that do not.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any


class Effect(IntEnum):
    """How far a key changes what is made; each has the effects of those before."""

    NOTHING = 0
    """Nothing that is made: how often something is saved or shown, or what each run is told of its own."""

    ROUNDING = 1
    """In which order numbers are added up: nothing is made again for the last digits, nor reused with others."""

    MEANS = 2
    """Where something is computed, or what is written besides: it is made again, but systems may differ in it."""

    RESULT = 3
    """What comes out: systems that differ in it are not compared without a word."""


@dataclass(frozen=True)
class UnreadBy:
    """A stage that a key does not reach."""

    stage: str


@dataclass(frozen=True)
class ReadWith:
    """What another key must be for a key to be read."""

    key: str
    value: Any
