"""Groups of sentences that have similar values of a feature, such as their length."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from pipeline_py.stage import InputError

LENGTH_BOUNDS = (10, 20, 30, 40, 50, 60, 70, 80)
"""Words up to which a group goes, as in the figures of the SDAtt and SDRNMT papers."""


@dataclass(frozen=True)
class Group:
    """Sentences whose feature has `above` < value <= `up_to`; None where the group is open."""

    above: float | None
    up_to: float | None

    @property
    def name(self) -> str:
        """The upper bound, as the papers call a group; `>80` for the open one behind the last."""
        return f">{self.above}" if self.up_to is None else str(self.up_to)


def grouped(values: np.ndarray, bounds: Sequence[float]) -> list[tuple[Group, np.ndarray]]:
    """Group sentences by a feature.

    Args:
        values: the feature of every sentence, (sentences,); those where it is NaN are in no group.
        bounds: upper bounds, rising; a value equal to a bound is in the group below it.

    Returns:
        The groups that have sentences, in order, each with the places of its sentences.
    """
    edges = [None, *bounds, None]
    places = np.where(np.isnan(values), -1, np.searchsorted(np.asarray(bounds), values, side="left"))
    return [
        (Group(edges[place], edges[place + 1]), np.flatnonzero(places == place))
        for place in np.unique(places[places >= 0])
    ]


def check_bounds(bounds: Sequence[int]) -> None:
    """Check bounds that `--bounds` gives.

    Raises:
        InputError: unless they rise from 1 or more.
    """
    if not bounds or bounds[0] < 1 or any(lower >= upper for lower, upper in pairwise(bounds)):
        raise InputError(f"--bounds {' '.join(map(str, bounds))} do not rise from 1 or more; give each once, in order")
