"""Holm's correction (1979) of the p-values of several tests: what would be called significant by chance alone."""

from collections.abc import Sequence
from math import isnan

import numpy as np


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Give the least level at which Holm's procedure rejects each of m hypotheses, the probability of any error.

    With p₁ ≤ … ≤ pₘ that is the greatest of (m + 1 − i) pᵢ over all i up to a hypothesis's place, and 1 at the most.
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    result = np.empty_like(values)
    result[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return [float(value) for value in result]


def adjust_defined_p_values(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values of which some are unknown (NaN); these stay unknown and do not count as tests."""
    adjusted_values = iter(adjust_p_values([value for value in p_values if not isnan(value)]))
    return [value if isnan(value) else next(adjusted_values) for value in p_values]
