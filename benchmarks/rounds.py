"""Rounds in which every side has its turn, so that all of them meet the same noise, and what is measured in them."""

from collections.abc import Callable, Mapping, Sequence
from math import nan
from statistics import median
from typing import Any, NamedTuple

from pipeline_py.run.progress_display import show_progress


class MedianAndRange(NamedTuple):
    """The middle of some numbers, and how far they reach."""

    median: float
    lowest: float
    highest: float


NOT_MEASURED = MedianAndRange(nan, nan, nan)


def summarize_numbers(numbers: Sequence[float]) -> MedianAndRange:
    """Summarise numbers, at least one."""
    return MedianAndRange(median(numbers), min(numbers), max(numbers))


def summarize_ratios(numerators: Sequence[float], denominators: Sequence[float]) -> MedianAndRange:
    """Summarise the ratios of two sides, round by round: what slows a round down slows both of them."""
    return summarize_numbers(
        [number / denominator for number, denominator in zip(numerators, denominators, strict=True)]
    )


TurnFunction = Callable[[], dict[str, Any]]
"""Does the work of one round and tells the `seconds` that it took, and what was done."""


class RoundMeasurements:
    """Measurements of one network, round by round."""

    def __init__(self, measurements: list[dict[str, Any]]) -> None:
        self.measurements = measurements

    def compute_rates(self, unit: str) -> list[float]:
        """Return units per second in each round."""
        return [turn[unit] / turn["seconds"] for turn in self.measurements]

    def summarize_rates(self, unit: str) -> MedianAndRange:
        """Return the median and range of units per second."""
        return summarize_numbers(self.compute_rates(unit))

    def summarize_speedup(self, baseline: "RoundMeasurements", unit: str) -> MedianAndRange:
        """Return the median and range of the speed relative to a baseline."""
        return summarize_ratios(self.compute_rates(unit), baseline.compute_rates(unit))

    @property
    def peak_megabytes(self) -> float:
        """Megabytes."""
        return max(turn["peak_memory"] for turn in self.measurements) / 1e6


def run_alternating_rounds(
    turn_functions: Mapping[str, TurnFunction], round_count: int, warm_up_rounds: int, progress_label: str
) -> dict[str, RoundMeasurements]:
    """Let sides have their turns, one at a time, in every second round in reverse order.

    Args:
        turn_functions: name of a side → its turn.
        round_count: how often each has one.
        warm_up_rounds: rounds before these, which do not count.
        progress_label: is measured, for the bar of progress.

    Returns:
        name → what its turns told.
    """
    measurements: dict[str, list[dict[str, Any]]] = {name: [] for name in turn_functions}
    for number in show_progress(
        range(warm_up_rounds + round_count), progress_label, warm_up_rounds + round_count, "rounds"
    ):
        for name in [*turn_functions][:: -1 if number % 2 else 1]:
            answer = turn_functions[name]()
            if number >= warm_up_rounds:
                measurements[name].append(answer)
    return {name: RoundMeasurements(answers) for name, answers in measurements.items()}
