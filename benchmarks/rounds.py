"""Rounds in which every side has its turn, so that all of them meet the same noise, and what is measured in them."""

from collections.abc import Callable, Mapping, Sequence
from math import nan
from statistics import median
from typing import Any, NamedTuple

from pipeline_py.run.progress import progress


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


Turn = Callable[[], dict[str, Any]]
"""Does the work of one round and tells the `seconds` that it took, and what was done."""


class Measured:
    """What the turns of one side told, round by round."""

    def __init__(self, turns: list[dict[str, Any]]) -> None:
        self.turns = turns

    def rates(self, unit: str) -> list[float]:
        """How much of something was done in a second, in each round."""
        return [turn[unit] / turn["seconds"] for turn in self.turns]

    def rate(self, unit: str) -> Spread:
        """How much of something was done in a second."""
        return spread(self.rates(unit))

    def times_as_fast_as(self, other: "Measured", unit: str) -> Spread:
        """How many times as much as the other side did in a second."""
        return ratio(self.rates(unit), other.rates(unit))

    @property
    def peak_memory(self) -> float:
        """Megabytes."""
        return max(turn["peak_memory"] for turn in self.turns) / 1e6


def alternate(turns: Mapping[str, Turn], rounds: int, warm_up: int, what: str) -> dict[str, Measured]:
    """Let sides have their turns, one at a time, in every second round in reverse order.

    Args:
        turns: name of a side → its turn.
        rounds: how often each has one.
        warm_up: rounds before these, which do not count.
        what: is measured, for the bar of progress.

    Returns:
        name → what its turns told.
    """
    told: dict[str, list[dict[str, Any]]] = {name: [] for name in turns}
    for number in progress(range(warm_up + rounds), what, warm_up + rounds, "rounds"):
        for name in [*turns][:: -1 if number % 2 else 1]:
            answer = turns[name]()
            if number >= warm_up:
                told[name].append(answer)
    return {name: Measured(answers) for name, answers in told.items()}
