"""Groups of sentences, by bounds and values that are written out."""

import math

import numpy as np
import pytest

from pipeline_py.evaluation.sentence_groups import Group, check_bounds, grouped
from pipeline_py.stage import InputError


def test_a_value_on_a_bound_is_below_it_also_for_real_values() -> None:
    groups = grouped(np.array([2.5, 0.0, 9.0, 1.5, 1.6]), [1.5, 2.5, 4.0])
    assert [(group.name, list(members)) for group, members in groups] == [
        ("1.5", [1, 3]),
        ("2.5", [0, 4]),
        (">4.0", [2]),
    ]


def test_what_has_no_value_is_in_no_group() -> None:
    values = np.array([math.nan, 1.0, 7.0, math.nan])
    assert [(group, list(members)) for group, members in grouped(values, [2, 4])] == [
        (Group(None, 2), [1]),
        (Group(4, None), [2]),
    ]
    assert grouped(np.array([math.nan]), [2]) == []


@pytest.mark.parametrize("bounds", [[3, 2], [3, 3], [0, 1], []])
def test_bounds_rise_from_one(bounds: list[int]) -> None:
    check_bounds([1, 3, 4])
    with pytest.raises(InputError, match="do not rise from 1 or more"):
        check_bounds(bounds)
