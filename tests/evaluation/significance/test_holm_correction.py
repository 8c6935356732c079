"""Holm's correction against the closed test that it is a short cut of, and against a worked example."""

from itertools import combinations
from math import isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_py.evaluation.significance.holm_correction import adjust_defined_p_values, adjust_p_values


def closed(p_values: list[float]) -> list[float]:
    """The closure principle (Marcus, Peritz and Gabriel 1976) with Bonferroni's test of each intersection.

    A hypothesis is rejected where every intersection of hypotheses that it is part of is rejected.
    """
    places = range(len(p_values))
    tests = [
        (subset, min(1.0, size * min(p_values[place] for place in subset)))
        for size in range(1, len(p_values) + 1)
        for subset in combinations(places, size)
    ]
    return [max(p for subset, p in tests if place in subset) for place in places]


@given(st.lists(st.floats(0, 1, allow_subnormal=False) | st.sampled_from([0.0, 0.01, 0.02, 1.0]), max_size=7))
def test_is_the_closed_test(p_values: list[float]) -> None:
    assert adjust_p_values(p_values) == pytest.approx(closed(p_values))


def test_worked_example() -> None:
    # 0.005 · 4, 0.01 · 3, then 0.03 · 2, and 0.04 · 1 cannot be less than the one before.
    assert adjust_p_values([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_unknown_p_values_stay_unknown_and_do_not_count_as_tests() -> None:
    first, second, *defined = adjust_defined_p_values([nan, 0.01, nan, 0.03])
    assert isnan(first) and isnan(defined[0])
    assert [second, defined[1]] == pytest.approx([0.02, 0.03]) == adjust_p_values([0.01, 0.03])
    assert adjust_defined_p_values([]) == [] and all(map(isnan, adjust_defined_p_values([nan, nan])))
