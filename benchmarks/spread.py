"""Medians with their spread, of numbers and of ratios that were measured in turns."""

from collections.abc import Sequence
from math import nan
from statistics import median
from typing import NamedTuple


class Spread(NamedTuple):
    """The middle of some numbers, and how far they reach."""

    median: float
    lowest: float
    highest: float


NOT_MEASURED = Spread(nan, nan, nan)


def spread(numbers: Sequence[float]) -> Spread:
    """Summarise numbers, at least one."""
    return Spread(median(numbers), min(numbers), max(numbers))


def ratio(numbers: Sequence[float], to: Sequence[float]) -> Spread:
    """Summarise the ratios of two sides, round by round: what slows a round down slows both of them."""
    return spread([number / other for number, other in zip(numbers, to, strict=True)])
