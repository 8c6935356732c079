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
    def scores(sums: np.ndarray) -> np.ndarray:
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


def naive_critical(known: float, parts: list[tuple[float, float]], level: float = 0.05) -> float:
    """The weighted mean of Welch's critical value and Cochran and Cox's, for one or two estimates."""

    def quantile(freedom: float) -> float:
        return float(t.ppf(1 - level / 2, freedom))

    total = known + sum(variance for variance, _ in parts)
    welch = quantile(total**2 / sum(variance**2 / freedom for variance, freedom in parts))
    runs = sum(variance for variance, _ in parts)
    joint = quantile(runs**2 / sum(variance**2 / freedom for variance, freedom in parts))
    separate = sum(variance * quantile(freedom) for variance, freedom in parts) / runs
    freedoms = [freedom for _, freedom in parts]
    alike = min(freedoms) / max(freedoms)
    cochran = (known * norm.ppf(1 - level / 2) + runs * (alike * joint + (1 - alike) * separate)) / total
    weight = min(freedoms) / (min(freedoms) + 3)
    return float(weight * welch + (1 - weight) * cochran)


def check(found: SystemDifference, value: float, known: float, parts: list[tuple[float, float]]) -> None:
    half = naive_critical(known, parts) * sqrt(known + sum(variance for variance, _ in parts))
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx((value - half, value + half))


def bootstrap_variance(system: SystemScores, other: SystemScores) -> float:
    return float(np.var(system.resampled_scores.mean(axis=0) - other.resampled_scores.mean(axis=0), ddof=1))


def variance(system: SystemScores) -> float:
    return float(np.var(system.run_scores, ddof=1))


def test_noise_of_runs_is_that_of_a_naive_loop(systems) -> None:
    assert systems["A"].run_sentence_variance == pytest.approx(naive_noise(systems["A"]))
    assert systems["C"].run_sentence_variance == systems["C"].run_variance == 0


def test_several_runs_of_both(systems) -> None:
    a, b = systems["A"], systems["B"]
    known = bootstrap_variance(a, b) - naive_noise(a) / 3 - naive_noise(b) / 4
    found = estimate_difference(a, b, systems.values(), 9.0)
    check(found, a.runs.mean() - b.runs.mean(), known, [(variance(a) / 3, 2), (variance(b) / 4, 3)])
    assert (found.run_counts, found.run_variance_origin, found.run_deviation) == ((3, 4), "measured", 0.0)
    turned = estimate_difference(b, a, systems.values(), 9.0)
    assert (turned.low, turned.high, turned.p_value) == pytest.approx((-found.high, -found.low, found.p_value))


def test_a_single_run_takes_the_variance_of_other_systems(systems) -> None:
    a, b, c = systems["A"], systems["B"], systems["C"]
    known = bootstrap_variance(a, c) - naive_noise(a) / 3 - naive_noise(b)
    found = estimate_difference(a, c, systems.values(), 9.0)
    check(found, a.runs.mean() - c.runs.mean(), known, [(variance(b), 3), (variance(a) / 3, 2)])
    assert (found.run_counts, found.run_variance_origin) == ((3, 1), "pooled")
    assert found.run_deviation == pytest.approx(sqrt(variance(b)))


def test_a_single_run_takes_the_variance_of_the_other_where_there_is_no_third(systems) -> None:
    a, c = systems["A"], systems["C"]
    known = bootstrap_variance(a, c) - naive_noise(a) * (1 + 1 / 3)
    found = estimate_difference(a, c, [a, c], 9.0)
    check(found, a.runs.mean() - c.runs.mean(), known, [(variance(a) * (1 + 1 / 3), 2)])


def test_two_single_runs_take_the_pooled_variance_once(systems) -> None:
    a, b, c, d = systems.values()
    pooled = (2 * variance(a) + 3 * variance(b)) / 5
    noise = (2 * naive_noise(a) + 3 * naive_noise(b)) / 5
    freedom = pooled**2 / ((2 / 5 * variance(a)) ** 2 / 2 + (3 / 5 * variance(b)) ** 2 / 3)
    found = estimate_difference(c, d, systems.values(), 9.0)
    known = max(bootstrap_variance(c, d) - 2 * noise, 0)
    check(found, c.runs[0] - d.runs[0], known, [(2 * pooled, freedom)])
    assert pool_run_variance(systems.values(), 9.0).system_count == 2


def test_without_several_runs_the_default_is_taken_as_known(systems) -> None:
    c, d = systems["C"], systems["D"]
    found = estimate_difference(c, d, [c, d], 0.7)
    half = norm.ppf(0.975) * sqrt(bootstrap_variance(c, d) + 2 * 0.7**2)
    assert (found.high - found.low) / 2 == pytest.approx(half)
    assert (found.run_variance_origin, found.run_deviation) == ("default", 0.7)
    assert found.smallest_detectable == pytest.approx(half / norm.ppf(0.975) * (norm.ppf(0.975) + norm.ppf(0.8)))


def test_searches_of_the_same_networks_are_compared_run_by_run(systems) -> None:
    a = systems["A"]
    moved = replace(a, runs=a.runs + np.array([0.1, 0.2, 0.4]), resampled=a.resampled_scores + 0.2)
    found = estimate_difference(moved, a, [a], 9.0, has_same_networks=True)
    check(found, 0.7 / 3, 0.0, [(float(np.var([0.1, 0.2, 0.4], ddof=1)) / 3, 2)])
    single = replace(a, runs=a.runs[:1], resampled=a.resampled_scores[:1])
    again = replace(single, runs=single.runs + 0.5, resampled=single.resampled_scores + 0.5)
    found = estimate_difference(again, single, [a], 9.0, has_same_networks=True)
    assert (found.low, found.high, found.run_variance_origin) == (
        pytest.approx(0.5),
        pytest.approx(0.5),
        "same networks",
    )


def test_noise_of_searches_is_that_of_their_differences(systems, generator) -> None:
    """Sentences that a network translates badly in both searches are no noise of the difference."""
    a = systems["A"]
    shared = generator.normal(size=(1, 500))
    moved = replace(a, runs=a.runs + np.array([0.1, 0.2, 0.4]), resampled=a.resampled_scores + 0.2 + 0.3 * shared)
    moved.resampled_scores[:] += generator.normal(scale=0.05, size=(3, 500))
    pairs = SystemScores(moved.runs - a.runs, moved.resampled_scores - a.resampled_scores, True)
    known = bootstrap_variance(moved, a) - naive_noise(pairs) / 3
    assert 0.05 < known < 0.12 and naive_noise(pairs) > 0.001
    found = estimate_difference(moved, a, [a], 9.0, has_same_networks=True)
    check(found, 0.7 / 3, known, [(float(np.var([0.1, 0.2, 0.4], ddof=1)) / 3, 2)])


def test_the_p_value_is_the_level_at_which_an_end_is_0(systems) -> None:
    for name in "BC":
        found = estimate_difference(systems["A"], systems[name], systems.values(), 9.0)
        parts = [VarianceEstimate(0.3, 2), VarianceEstimate(0.1, 3)]
        assert 0 < found.p_value < 1 and (found.p_value < 0.05) == (found.low > 0 or found.high < 0)
        assert compute_critical_value(0.01, 0.2, parts) == pytest.approx(
            naive_critical(0.2, [(0.3, 2), (0.1, 3)], 0.01)
        )
    a, b = systems["A"], systems["B"]
    known = bootstrap_variance(a, b) - naive_noise(a) / 3 - naive_noise(b) / 4
    parts = [(variance(a) / 3, 2), (variance(b) / 4, 3)]
    found = estimate_difference(a, b, systems.values(), 9.0)
    half = naive_critical(known, parts, found.p_value) * sqrt(known + sum(part for part, _ in parts))
    assert half == pytest.approx(abs(found.value), rel=1e-4)


def test_a_mean_over_sets_has_the_same_runs(systems, generator) -> None:
    values = [generator.normal(size=20) for _ in range(3)]
    other = resample_system_scores({"A": of_values(*values)}, "y", 500, 3)["A"]
    mean = average_over_sets([systems["A"], other])
    assert mean.run_scores == pytest.approx(
        [(a + b) / 2 for a, b in zip(systems["A"].runs, other.run_scores, strict=True)]
    )
    assert mean.resampled_scores[1, 7] == pytest.approx(
        (systems["A"].resampled_scores[1, 7] + other.resampled_scores[1, 7]) / 2
    )


def test_draws_depend_neither_on_other_systems_nor_on_other_sets(generator) -> None:
    systems = {name: of_values(*generator.normal(size=(2, 30))) for name in "AB"}
    both, alone = resample_system_scores(systems, "x", 60, 1), resample_system_scores({"A": systems["A"]}, "x", 60, 1)
    assert np.allclose(both["A"].resampled_scores, alone["A"].resampled_scores)
    other = resample_system_scores(systems, "y", 60, 1)
    assert abs(np.corrcoef(other["A"].resampled_scores[0], both["A"].resampled_scores[0])[0, 1]) < 0.5


def test_equal_outputs_differ_by_nothing(generator) -> None:
    system = of_values(*generator.normal(size=(1, 40)))
    drawn = resample_system_scores({"A": system, "B": system}, "x", 50, 1)
    found = estimate_difference(drawn["A"], drawn["B"], [], 0.0)
    assert (found.value, found.low, found.high, found.p_value, found.smallest_detectable) == (0, 0, 0, 1, 0)
    assert not found.is_gain and not found.is_loss


def test_less_of_an_error_is_a_gain(generator) -> None:
    better = of_values(generator.normal(size=40), metric=Errors)
    worse = replace(better, runs=better.run_statistics + np.array([2, 0]))
    drawn = resample_system_scores({"A": better, "B": worse}, "x", 50, 1)
    assert estimate_difference(drawn["A"], drawn["B"], [], 0.1).is_gain
    assert estimate_difference(drawn["B"], drawn["A"], [], 0.1).is_loss


def paired(differences: np.ndarray, metric_is_better_high: bool = True) -> SystemDifference:
    """Two searches of the same networks whose runs differ by so much, without any variance of sentences."""
    other = SystemScores(np.full(len(differences), 20.0), np.full((len(differences), 9), 20.0), metric_is_better_high)
    system = replace(other, runs=other.run_scores + differences, resampled=other.resampled_scores + 1.0)
    return estimate_difference(system, other, [], 0.0, has_same_networks=True)


@pytest.mark.parametrize("runs", [2, 3, 5, 10])
def test_searches_without_noise_are_a_paired_t_test(generator, runs: int) -> None:
    """Interval, p-value and tests of equivalence are those of scipy."""
    outcomes = set()
    for level in np.linspace(-2, 2, 9):
        differences = level + generator.normal(size=runs)
        found, theirs = paired(differences), ttest_1samp(differences, 0)
        assert (found.low, found.high) == pytest.approx((*theirs.confidence_interval(0.95),))
        assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-4)
        for bound in (0.5, 1.5, 4.0):
            above = ttest_1samp(differences, -bound, alternative="greater").pvalue < 0.05
            below = ttest_1samp(differences, bound, alternative="less").pvalue < 0.05
            assert found.is_within_margin(bound) == (above and below)
            assert found.is_not_worse_than_margin(bound) == above
            assert paired(differences, False).is_not_worse_than_margin(bound) == below, "more errors are worse"
            outcomes |= {("above", above), ("below", below), ("both", above and below)}
    assert len(outcomes) == 6 or runs == 2


@pytest.mark.parametrize(("runs", "tolerance"), [(3, 0.02), (4, 0.01), (6, 0.005), (10, 0.002)])
def test_the_detectable_difference_has_the_power_of_the_noncentral_t(generator, runs: int, tolerance: float) -> None:
    """The estimated standard error is smaller than the true one by c4 on average."""
    found = paired(generator.normal(size=runs))
    freedom = runs - 1
    critical = float(t.ppf(0.975, freedom))
    noncentrality = brentq(lambda shift: nct.sf(critical, freedom, shift) - 0.8, 0.1, 20)
    c4 = sqrt(2 / freedom) * gamma((freedom + 1) / 2) / gamma(freedom / 2)
    assert found.smallest_detectable == pytest.approx(found.standard_error * noncentrality / c4, rel=tolerance)


def test_an_interval_holds_its_ends() -> None:
    found = paired(np.array([1.0, 2.0, 4.0]))
    assert not found.excludes(found.low) and not found.excludes(found.high) and not found.excludes(found.value)
    assert found.excludes(found.low - 1e-9) and found.excludes(found.high + 1e-9)


def test_p_is_below_5_percent_exactly_where_the_interval_excludes_0(generator) -> None:
    """For all numbers of runs and origins of the variance, on either side."""
    seen = set()
    for number in range(300):
        systems = []
        # The first of every three has no several runs, so the variance is the default.
        for runs in generator.integers(1, 5, size=3) if number % 3 else (1, 1, 1):
            scores = generator.normal(scale=2.0, size=1) + generator.normal(scale=0.7, size=runs)
            noise = generator.normal(scale=0.3, size=(runs, 40))
            systems.append(SystemScores(scores, scores[:, None] + noise, bool(generator.integers(2))))
        system, other, third = systems
        found = estimate_difference(system, replace(other, higher_is_better=system.higher_is_better), [third], 0.4)
        assert (found.p_value < 0.05) == found.excludes(0) == (found.is_gain or found.is_loss)
        assert not (found.is_gain and found.is_loss)
        seen.add((found.run_variance_origin, found.excludes(0), found.value > 0))
    assert seen == {
        (origin, out, up) for origin in ("measured", "pooled", "default") for out in (0, 1) for up in (0, 1)
    }


def test_sets_of_equal_length_are_resampled_independently(generator) -> None:
    """The mean over two sets with the same sentences has half the variance of one set."""
    system = of_values(generator.normal(size=40))
    one, two = (resample_system_scores({"A": system}, name, 4000, 1)["A"] for name in "xy")
    single = float(np.var(one.resampled_scores[0]))
    assert float(np.var(average_over_sets([one, two]).resampled_scores[0])) == pytest.approx(single / 2, rel=0.1)
    assert np.sort(one.resampled_scores[0]) == pytest.approx(np.sort(two.resampled_scores[0])), (
        "another order of the same draws"
    )
