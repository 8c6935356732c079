"""Resampled sets against a single draw of numpy, p-values by hand, intervals against sacrebleu's half widths."""

import numpy as np
import pytest
from sacrebleu.significance import estimate_ci

from pipeline_py.evaluation.significance.resampling import (
    compute_bootstrap_p_value,
    compute_difference_interval,
    compute_sacrebleu_p_value,
    compute_score_interval,
    draw_sentence_multiplicities,
)


def test_resampled_sets_are_shared_and_have_as_many_sentences() -> None:
    times = draw_sentence_multiplicities(7, 50, 12345)
    samples = np.random.default_rng(12345).choice(7, size=(50, 7), replace=True)
    assert times.tolist() == [[list(places).count(place) for place in range(7)] for places in samples]


@pytest.mark.parametrize(
    ("system", "other_scores", "expected"),
    [
        # Differences 1, -3, 0, 0: two are at least 0 on the side of fewer.
        ([1, 0, 2, 5], [0, 3, 2, 5], 1.0),
        # All of nine are above 0.
        ([2] * 9, [1] * 9, 2 / 10),
        # One of nine is below 0, and from either side.
        ([2] * 8 + [0], [1] * 9, 4 / 10),
        ([1] * 9, [2] * 8 + [0], 4 / 10),
        ([1, 2, 3], [1, 2, 3 + 1e-14], 1.0),
    ],
)
def test_two_sided_p_value_counted_by_hand(system: list[float], other_scores: list[float], expected: float) -> None:
    assert compute_bootstrap_p_value(np.array(system, float), np.array(other_scores, float)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("difference", "system", "other_scores", "expected"),
    [
        # |dₖ| = 1 3 0 0, mean 1: 3 − 1 > 1.5
        (-1.5, [1, 0, 2, 5], [0, 3, 2, 5], 2 / 5),
        # 3 − 1 > 2 is not larger.
        (2.0, [1, 0, 2, 5], [0, 3, 2, 5], 1 / 5),
    ],
)
def test_sacrebleus_p_value_counted_by_hand(
    difference: float, system: list[float], other_scores: list[float], expected: float
) -> None:
    assert compute_sacrebleu_p_value(
        difference, np.array(system, float), np.array(other_scores, float)
    ) == pytest.approx(expected)


@pytest.mark.parametrize("samples", [40, 399, 1000, 10000])
def test_p_is_below_5_percent_exactly_where_the_interval_excludes_0(samples: int) -> None:
    generator = np.random.default_rng(samples)
    excluded = 0
    for level in np.linspace(1.5, 2.5, 100):
        differences = generator.normal(level, 1, samples)
        low, high = compute_difference_interval(differences, np.zeros(samples))
        assert (compute_bootstrap_p_value(differences, np.zeros(samples)) < 0.05) == (low > 0 or high < 0)
        excluded += low > 0
    assert 0 < excluded < 100


@pytest.mark.parametrize("samples", [1, 7, 40, 1000])
def test_half_the_interval_is_sacrebleus(samples: int) -> None:
    values = np.random.default_rng(samples).normal(30, 2, samples)
    low, high = compute_score_interval(values)
    assert (high - low) / 2 == pytest.approx(estimate_ci(values)[1])
    assert (values < low).sum() == (values > high).sum() == samples // 40
