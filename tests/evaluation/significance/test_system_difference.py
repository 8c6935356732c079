"""Differences of systems against formulas that are written out; `test_simulation` has what intervals cover."""

from dataclasses import replace
from math import gamma, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import nct, norm, t, ttest_1samp

from pipeline_py.evaluation.metrics.bleu import Bleu
from pipeline_py.evaluation.significance.system_difference import (
    SystemDifference,
    SystemScores,
    VarianceEstimate,
    average_over_sets,
    compute_critical_value,
    estimate_difference,
    pool_run_variance,
    resample_system_scores,
)
from pipeline_py.evaluation.system_statistics import SystemStatistics


class Mean(Bleu):
    """A metric that is the mean over sentences: statistics are a value and 1."""

    @staticmethod
    def score_corpora(sums: np.ndarray) -> np.ndarray:
        return sums[:, 0] / sums[:, 1]


class Errors(Mean):
    higher_is_better = False


def of_values(*runs: np.ndarray, metric: type[Bleu] = Mean) -> SystemStatistics:
    """Statistics of runs whose sentences have these values."""
    return SystemStatistics(np.stack([np.stack([run, np.ones_like(run)], axis=1) for run in runs]), metric)


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.fixture
def systems(generator: np.random.Generator) -> dict[str, SystemScores]:
    """Four systems with 3, 4, 1 and 1 runs on a set of 50 sentences, resampled."""
    hard = generator.normal(size=50)
    values = {
        name: [hard + level + generator.normal() + generator.normal(size=50) for _ in range(runs)]
        for name, level, runs in (("A", 1.0, 3), ("B", 0.0, 4), ("C", 0.0, 1), ("D", 0.5, 1))
    }
    return resample_system_scores({name: of_values(*runs) for name, runs in values.items()}, "x", 500, 3)


def naive_noise(system: SystemScores) -> float:
    """The variance between runs on a resampled set, less that which is there on the set itself, run by run."""
    runs = len(system.run_scores)
    variances = [
        sum((run[sample] - run.mean()) ** 2 for run in system.resampled_scores)
        for sample in range(system.resampled_scores.shape[1])
    ]
    centred = system.resampled_scores - system.resampled_scores.mean(axis=1, keepdims=True)
    common = (centred.mean(axis=0) ** 2).sum() * runs
    return float((sum(variances) - common) / (system.resampled_scores.shape[1] - 1) / (runs - 1))


def naive_critical(known_variance: float, parts: list[tuple[float, float]], level: float = 0.05) -> float:
    """The weighted mean of Welch's critical value and Cochran and Cox's, for one or two estimates."""

    def quantile(freedom: float) -> float:
        return float(t.ppf(1 - level / 2, freedom))

    total = known_variance + sum(variance for variance, _ in parts)
    welch = quantile(total**2 / sum(variance**2 / freedom for variance, freedom in parts))
    runs = sum(variance for variance, _ in parts)
    joint = quantile(runs**2 / sum(variance**2 / freedom for variance, freedom in parts))
    separate = sum(variance * quantile(freedom) for variance, freedom in parts) / runs
    freedoms = [freedom for _, freedom in parts]
    alike = min(freedoms) / max(freedoms)
    cochran = (known_variance * norm.ppf(1 - level / 2) + runs * (alike * joint + (1 - alike) * separate)) / total
    weight = min(freedoms) / (min(freedoms) + 3)
    return float(weight * welch + (1 - weight) * cochran)


def check(estimate: SystemDifference, value: float, known_variance: float, parts: list[tuple[float, float]]) -> None:
    half = naive_critical(known_variance, parts) * sqrt(known_variance + sum(variance for variance, _ in parts))
    assert estimate.value == pytest.approx(value)
    assert (estimate.low, estimate.high) == pytest.approx((value - half, value + half))


def bootstrap_variance(system: SystemScores, other_system: SystemScores) -> float:
    return float(np.var(system.resampled_scores.mean(axis=0) - other_system.resampled_scores.mean(axis=0), ddof=1))


def variance(system: SystemScores) -> float:
    return float(np.var(system.run_scores, ddof=1))


def test_noise_of_runs_is_that_of_a_naive_loop(systems) -> None:
    assert systems["A"].run_sentence_variance == pytest.approx(naive_noise(systems["A"]))
    assert systems["C"].run_sentence_variance == systems["C"].run_variance == 0


def test_several_runs_of_both(systems) -> None:
    a, b = systems["A"], systems["B"]
    known_variance = bootstrap_variance(a, b) - naive_noise(a) / 3 - naive_noise(b) / 4
    estimate = estimate_difference(a, b, systems.values(), 9.0)
    check(
        estimate,
        a.run_scores.mean() - b.run_scores.mean(),
        known_variance,
        [(variance(a) / 3, 2), (variance(b) / 4, 3)],
    )
    assert (estimate.run_counts, estimate.run_variance_origin, estimate.run_deviation) == ((3, 4), "measured", 0.0)
    turned = estimate_difference(b, a, systems.values(), 9.0)
    assert (turned.low, turned.high, turned.p_value) == pytest.approx((-estimate.high, -estimate.low, estimate.p_value))


def test_no_variance_of_sentences_is_left_where_that_of_runs_contains_more(generator) -> None:
    """The deviations of both runs cancel out in their mean, so that the bootstrap's variance is 0."""
    noise = generator.normal(size=500)
    pair = [SystemScores(np.array(scores), 5 + np.stack([noise, -noise]), True) for scores in ([5.0, 6.0], [3.0, 3.5])]
    parts = [(variance(system) / 2, 1) for system in pair]
    check(estimate_difference(*pair, pair, 0.0), 2.25, 0.0, parts)


def test_a_single_run_takes_the_variance_of_other_systems(systems) -> None:
    a, b, c = systems["A"], systems["B"], systems["C"]
    known_variance = bootstrap_variance(a, c) - naive_noise(a) / 3 - naive_noise(b)
    estimate = estimate_difference(a, c, systems.values(), 9.0)
    check(estimate, a.run_scores.mean() - c.run_scores.mean(), known_variance, [(variance(b), 3), (variance(a) / 3, 2)])
    assert (estimate.run_counts, estimate.run_variance_origin) == ((3, 1), "pooled")
    assert estimate.run_deviation == pytest.approx(sqrt(variance(b)))


def test_single_run_takes_the_variance_of_the_other_of_two_systems(systems) -> None:
    a, c = systems["A"], systems["C"]
    known_variance = bootstrap_variance(a, c) - naive_noise(a) * (1 + 1 / 3)
    estimate = estimate_difference(a, c, [a, c], 9.0)
    check(estimate, a.run_scores.mean() - c.run_scores.mean(), known_variance, [(variance(a) * (1 + 1 / 3), 2)])


def test_two_single_runs_take_the_pooled_variance_once(systems) -> None:
    a, b, c, d = systems.values()
    pooled = (2 * variance(a) + 3 * variance(b)) / 5
    noise = (2 * naive_noise(a) + 3 * naive_noise(b)) / 5
    freedom = pooled**2 / ((2 / 5 * variance(a)) ** 2 / 2 + (3 / 5 * variance(b)) ** 2 / 3)
    estimate = estimate_difference(c, d, systems.values(), 9.0)
    known_variance = max(bootstrap_variance(c, d) - 2 * noise, 0)
    check(estimate, c.run_scores[0] - d.run_scores[0], known_variance, [(2 * pooled, freedom)])
    assert pool_run_variance(systems.values(), 9.0).system_count == 2


def test_default_run_variance_has_infinite_degrees_of_freedom(systems) -> None:
    c, d = systems["C"], systems["D"]
    estimate = estimate_difference(c, d, [c, d], 0.7)
    half = norm.ppf(0.975) * sqrt(bootstrap_variance(c, d) + 2 * 0.7**2)
    assert (estimate.high - estimate.low) / 2 == pytest.approx(half)
    assert (estimate.run_variance_origin, estimate.run_deviation) == ("default", 0.7)
    assert estimate.smallest_detectable == pytest.approx(half / norm.ppf(0.975) * (norm.ppf(0.975) + norm.ppf(0.8)))


def test_searches_of_the_same_networks_are_compared_run_by_run(systems) -> None:
    a = systems["A"]
    moved = replace(a, run_scores=a.run_scores + np.array([0.1, 0.2, 0.4]), resampled_scores=a.resampled_scores + 0.2)
    estimate = estimate_difference(moved, a, [a], 9.0, has_same_networks=True)
    check(estimate, 0.7 / 3, 0.0, [(float(np.var([0.1, 0.2, 0.4], ddof=1)) / 3, 2)])
    single = replace(a, run_scores=a.run_scores[:1], resampled_scores=a.resampled_scores[:1])
    again = replace(single, run_scores=single.run_scores + 0.5, resampled_scores=single.resampled_scores + 0.5)
    estimate = estimate_difference(again, single, [a], 9.0, has_same_networks=True)
    assert (estimate.low, estimate.high, estimate.run_variance_origin) == (
        pytest.approx(0.5),
        pytest.approx(0.5),
        "same networks",
    )


def test_noise_of_searches_is_that_of_their_differences(systems, generator) -> None:
    """Sentences that a network translates badly in both searches are no noise of the difference."""
    a = systems["A"]
    shared = generator.normal(size=(1, 500))
    moved = replace(
        a, run_scores=a.run_scores + np.array([0.1, 0.2, 0.4]), resampled_scores=a.resampled_scores + 0.2 + 0.3 * shared
    )
    moved.resampled_scores[:] += generator.normal(scale=0.05, size=(3, 500))
    pairs = SystemScores(moved.run_scores - a.run_scores, moved.resampled_scores - a.resampled_scores, True)
    known_variance = bootstrap_variance(moved, a) - naive_noise(pairs) / 3
    assert 0.05 < known_variance < 0.12 and naive_noise(pairs) > 0.001
    estimate = estimate_difference(moved, a, [a], 9.0, has_same_networks=True)
    check(estimate, 0.7 / 3, known_variance, [(float(np.var([0.1, 0.2, 0.4], ddof=1)) / 3, 2)])


def test_the_p_value_is_the_level_at_which_an_end_is_0(systems) -> None:
    for name in "BC":
        estimate = estimate_difference(systems["A"], systems[name], systems.values(), 9.0)
        parts = [VarianceEstimate(0.3, 2), VarianceEstimate(0.1, 3)]
        assert 0 < estimate.p_value < 1 and (estimate.p_value < 0.05) == (estimate.low > 0 or estimate.high < 0)
        assert compute_critical_value(0.01, 0.2, parts) == pytest.approx(
            naive_critical(0.2, [(0.3, 2), (0.1, 3)], 0.01)
        )
    a, b = systems["A"], systems["B"]
    known_variance = bootstrap_variance(a, b) - naive_noise(a) / 3 - naive_noise(b) / 4
    parts = [(variance(a) / 3, 2), (variance(b) / 4, 3)]
    estimate = estimate_difference(a, b, systems.values(), 9.0)
    half = naive_critical(known_variance, parts, estimate.p_value) * sqrt(
        known_variance + sum(part for part, _ in parts)
    )
    assert half == pytest.approx(abs(estimate.value), rel=1e-4)


def test_a_mean_over_sets_has_the_same_runs(systems, generator) -> None:
    values = [generator.normal(size=20) for _ in range(3)]
    other_system = resample_system_scores({"A": of_values(*values)}, "y", 500, 3)["A"]
    mean = average_over_sets([systems["A"], other_system])
    assert mean.run_scores == pytest.approx(
        [(a + b) / 2 for a, b in zip(systems["A"].run_scores, other_system.run_scores, strict=True)]
    )
    assert mean.resampled_scores[1, 7] == pytest.approx(
        (systems["A"].resampled_scores[1, 7] + other_system.resampled_scores[1, 7]) / 2
    )


def test_draws_depend_neither_on_other_systems_nor_on_other_sets(generator) -> None:
    systems = {name: of_values(*generator.normal(size=(2, 30))) for name in "AB"}
    all_scores, single_scores = (
        resample_system_scores(systems, "x", 60, 1),
        resample_system_scores({"A": systems["A"]}, "x", 60, 1),
    )
    assert np.allclose(all_scores["A"].resampled_scores, single_scores["A"].resampled_scores)
    other_system = resample_system_scores(systems, "y", 60, 1)
    assert abs(np.corrcoef(other_system["A"].resampled_scores[0], all_scores["A"].resampled_scores[0])[0, 1]) < 0.5


def test_equal_outputs_have_difference_zero(generator) -> None:
    system = of_values(*generator.normal(size=(1, 40)))
    scores = resample_system_scores({"A": system, "B": system}, "x", 50, 1)
    estimate = estimate_difference(scores["A"], scores["B"], [], 0.0)
    assert (estimate.value, estimate.low, estimate.high, estimate.p_value, estimate.smallest_detectable) == (
        0,
        0,
        0,
        1,
        0,
    )
    assert not estimate.is_gain and not estimate.is_loss


def test_less_of_an_error_is_a_gain(generator) -> None:
    better = of_values(generator.normal(size=40), metric=Errors)
    worse = replace(better, run_statistics=better.run_statistics + np.array([2, 0]))
    scores = resample_system_scores({"A": better, "B": worse}, "x", 50, 1)
    assert estimate_difference(scores["A"], scores["B"], [], 0.1).is_gain
    assert estimate_difference(scores["B"], scores["A"], [], 0.1).is_loss


def paired(differences: np.ndarray, metric_is_better_high: bool = True) -> SystemDifference:
    """Two searches of the same networks whose runs differ by so much, without any variance of sentences."""
    other_system = SystemScores(
        np.full(len(differences), 20.0), np.full((len(differences), 9), 20.0), metric_is_better_high
    )
    system = replace(
        other_system,
        run_scores=other_system.run_scores + differences,
        resampled_scores=other_system.resampled_scores + 1.0,
    )
    return estimate_difference(system, other_system, [], 0.0, has_same_networks=True)


@pytest.mark.parametrize("runs", [2, 3, 5, 10])
def test_searches_without_noise_are_a_paired_t_test(generator, runs: int) -> None:
    """Interval, p-value and tests of equivalence are those of scipy."""
    outcomes = set()
    for level in np.linspace(-2, 2, 9):
        differences = level + generator.normal(size=runs)
        estimate, theirs = paired(differences), ttest_1samp(differences, 0)
        assert (estimate.low, estimate.high) == pytest.approx((*theirs.confidence_interval(0.95),))
        assert estimate.p_value == pytest.approx(theirs.pvalue, rel=1e-4)
        for bound in (0.5, 1.5, 4.0):
            above = ttest_1samp(differences, -bound, alternative="greater").pvalue < 0.05
            below = ttest_1samp(differences, bound, alternative="less").pvalue < 0.05
            assert estimate.is_within_margin(bound) == (above and below)
            assert estimate.is_not_worse_than_margin(bound) == above
            assert paired(differences, False).is_not_worse_than_margin(bound) == below, "more errors are worse"
            outcomes |= {("above", above), ("below", below), ("both", above and below)}
    assert len(outcomes) == 6 or runs == 2


@pytest.mark.parametrize(("runs", "tolerance"), [(3, 0.02), (4, 0.01), (6, 0.005), (10, 0.002)])
def test_the_detectable_difference_has_the_power_of_the_noncentral_t(generator, runs: int, tolerance: float) -> None:
    """The estimated standard error is smaller than the true one by c4 on average."""
    estimate = paired(generator.normal(size=runs))
    freedom = runs - 1
    critical = float(t.ppf(0.975, freedom))
    noncentrality = brentq(lambda shift: nct.sf(critical, freedom, shift) - 0.8, 0.1, 20)
    c4 = sqrt(2 / freedom) * gamma((freedom + 1) / 2) / gamma(freedom / 2)
    assert estimate.smallest_detectable == pytest.approx(estimate.standard_error * noncentrality / c4, rel=tolerance)


def test_an_interval_holds_its_ends() -> None:
    estimate = paired(np.array([1.0, 2.0, 4.0]))
    assert (
        not estimate.excludes(estimate.low)
        and not estimate.excludes(estimate.high)
        and not estimate.excludes(estimate.value)
    )
    assert estimate.excludes(estimate.low - 1e-9) and estimate.excludes(estimate.high + 1e-9)


def test_p_is_below_5_percent_exactly_where_the_interval_excludes_0(generator) -> None:
    """For all numbers of runs and origins of the variance, on either side."""
    outcomes = set()
    for number in range(300):
        systems = []
        # The first of every three has no several runs, so the variance is the default.
        for runs in generator.integers(1, 5, size=3) if number % 3 else (1, 1, 1):
            scores = generator.normal(scale=2.0, size=1) + generator.normal(scale=0.7, size=runs)
            noise = generator.normal(scale=0.3, size=(runs, 40))
            systems.append(SystemScores(scores, scores[:, None] + noise, bool(generator.integers(2))))
        system, other_system, third = systems
        estimate = estimate_difference(
            system, replace(other_system, higher_is_better=system.higher_is_better), [third], 0.4
        )
        assert (estimate.p_value < 0.05) == estimate.excludes(0) == (estimate.is_gain or estimate.is_loss)
        assert not (estimate.is_gain and estimate.is_loss)
        outcomes.add((estimate.run_variance_origin, estimate.excludes(0), estimate.value > 0))
    assert outcomes == {
        (origin, out, up) for origin in ("measured", "pooled", "default") for out in (0, 1) for up in (0, 1)
    }


def test_sets_of_equal_length_are_resampled_independently(generator) -> None:
    """The mean over two sets with the same sentences has half the variance of one set."""
    system = of_values(generator.normal(size=40))
    first_set, second_set = (resample_system_scores({"A": system}, name, 4000, 1)["A"] for name in "xy")
    single = float(np.var(first_set.resampled_scores[0]))
    assert float(np.var(average_over_sets([first_set, second_set]).resampled_scores[0])) == pytest.approx(
        single / 2, rel=0.1
    )
    assert np.sort(first_set.resampled_scores[0]) == pytest.approx(np.sort(second_set.resampled_scores[0])), (
        "another order of the same draws"
    )
