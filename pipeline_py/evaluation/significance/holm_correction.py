"""Holm's correction (1979) of p-values for multiple tests."""

from collections.abc import Sequence
from math import isnan

import numpy as np


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Return p-values that control the family-wise error rate.

    With p₁ ≤ … ≤ pₘ, the adjusted k-th value is the maximum of (m + 1 − i) pᵢ over i ≤ k, but at most 1.
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    result = np.empty_like(values)
    result[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return [float(value) for value in result]


def adjust_defined_p_values(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values that are not NaN; NaN values stay, and do not count as tests."""
    adjusted_values = iter(adjust_p_values([value for value in p_values if not isnan(value)]))
    return [value if isnan(value) else next(adjusted_values) for value in p_values]
