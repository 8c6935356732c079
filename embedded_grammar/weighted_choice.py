"""Random choices with Zipf-like probabilities, proportional to 1 / (rank + 3)."""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import Generic, TypeVar

Item = TypeVar("Item")

ZIPF_OFFSET = 3.0


class WeightedChoice(Generic[Item]):
    """A weighted distribution over items; the default weights are Zipf-like."""

    def __init__(self, items: Sequence[Item], weights: Sequence[float] | None = None) -> None:
        self.items = tuple(items)
        self.cumulative_weights = list(accumulate(weights or [1 / (n + ZIPF_OFFSET) for n in range(len(self.items))]))

    def draw_item(self, random: Random) -> Item:
        """Draw an item."""
        return self.items[bisect(self.cumulative_weights, random.random() * self.cumulative_weights[-1])]

    def __bool__(self) -> bool:
        return bool(self.items)
