"""Differences of systems against formulas that are written out; `test_simulation` has what intervals cover."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm, t

from pipeline_py.evaluation.metrics.bleu import Bleu
from pipeline_py.evaluation.significance.system_difference import (
    Difference,
    Estimate,
    SystemScores,
    average_sets,
    critical_value,
    estimate_difference,
    pool_run_variance,
    resample_systems,
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
    return resample_systems({name: of_values(*runs) for name, runs in values.items()}, "x", 500, 3)


def naive_noise(system: SystemScores) -> float:
    """The variance between runs on a resampled set, less that which is there on the set itself, run by run."""
    runs = len(system.runs)
    variances = [
        sum((run[sample] - run.mean()) ** 2 for run in system.resampled) for sample in range(system.resampled.shape[1])
    ]
    centred = system.resampled - system.resampled.mean(axis=1, keepdims=True)
    common = (centred.mean(axis=0) ** 2).sum() * runs
    return float((sum(variances) - common) / (system.resampled.shape[1] - 1) / (runs - 1))


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


def check(found: Difference, value: float, known: float, parts: list[tuple[float, float]]) -> None:
    half = naive_critical(known, parts) * sqrt(known + sum(variance for variance, _ in parts))
    assert found.value == pytest.approx(value)
    assert (found.low, found.high) == pytest.approx((value - half, value + half))


def bootstrap_variance(system: SystemScores, other: SystemScores) -> float:
    return float(np.var(system.resampled.mean(axis=0) - other.resampled.mean(axis=0), ddof=1))


def variance(system: SystemScores) -> float:
    return float(np.var(system.runs, ddof=1))


def test_noise_of_runs_is_that_of_a_naive_loop(systems) -> None:
    assert systems["A"].run_noise == pytest.approx(naive_noise(systems["A"]))
    assert systems["C"].run_noise == systems["C"].run_variance == 0


def test_several_runs_of_both(systems) -> None:
    a, b = systems["A"], systems["B"]
    known = bootstrap_variance(a, b) - naive_noise(a) / 3 - naive_noise(b) / 4
    found = estimate_difference(a, b, systems.values(), 9.0)
    check(found, a.runs.mean() - b.runs.mean(), known, [(variance(a) / 3, 2), (variance(b) / 4, 3)])
    assert (found.runs, found.origin, found.run_deviation) == ((3, 4), "measured", 0.0)
    turned = estimate_difference(b, a, systems.values(), 9.0)
    assert (turned.low, turned.high, turned.p_value) == pytest.approx((-found.high, -found.low, found.p_value))


def test_a_single_run_takes_the_variance_of_other_systems(systems) -> None:
    a, b, c = systems["A"], systems["B"], systems["C"]
    known = bootstrap_variance(a, c) - naive_noise(a) / 3 - naive_noise(b)
    found = estimate_difference(a, c, systems.values(), 9.0)
    check(found, a.runs.mean() - c.runs.mean(), known, [(variance(b), 3), (variance(a) / 3, 2)])
    assert (found.runs, found.origin) == ((3, 1), "pooled")
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
    assert pool_run_variance(systems.values(), 9.0).systems == 2


def test_without_several_runs_the_default_is_taken_as_known(systems) -> None:
    c, d = systems["C"], systems["D"]
    found = estimate_difference(c, d, [c, d], 0.7)
    half = norm.ppf(0.975) * sqrt(bootstrap_variance(c, d) + 2 * 0.7**2)
    assert (found.high - found.low) / 2 == pytest.approx(half)
    assert (found.origin, found.run_deviation) == ("default", 0.7)
    assert found.detectable == pytest.approx(half / norm.ppf(0.975) * (norm.ppf(0.975) + norm.ppf(0.8)))


def test_searches_of_the_same_networks_are_compared_run_by_run(systems) -> None:
    a = systems["A"]
    moved = replace(a, runs=a.runs + np.array([0.1, 0.2, 0.4]), resampled=a.resampled + 0.2)
    found = estimate_difference(moved, a, [a], 9.0, has_same_networks=True)
    check(found, 0.7 / 3, 0.0, [(float(np.var([0.1, 0.2, 0.4], ddof=1)) / 3, 2)])
    single = replace(a, runs=a.runs[:1], resampled=a.resampled[:1])
    again = replace(single, runs=single.runs + 0.5, resampled=single.resampled + 0.5)
    found = estimate_difference(again, single, [a], 9.0, has_same_networks=True)
    assert (found.low, found.high, found.origin) == (pytest.approx(0.5), pytest.approx(0.5), "same networks")


def test_the_p_value_is_the_level_at_which_an_end_is_0(systems) -> None:
    for name in "BC":
        found = estimate_difference(systems["A"], systems[name], systems.values(), 9.0)
        parts = [Estimate(0.3, 2), Estimate(0.1, 3)]
        assert 0 < found.p_value < 1 and (found.p_value < 0.05) == (found.low > 0 or found.high < 0)
        assert critical_value(0.01, 0.2, parts) == pytest.approx(naive_critical(0.2, [(0.3, 2), (0.1, 3)], 0.01))
    a, b = systems["A"], systems["B"]
    known = bootstrap_variance(a, b) - naive_noise(a) / 3 - naive_noise(b) / 4
    parts = [(variance(a) / 3, 2), (variance(b) / 4, 3)]
    found = estimate_difference(a, b, systems.values(), 9.0)
    half = naive_critical(known, parts, found.p_value) * sqrt(known + sum(part for part, _ in parts))
    assert half == pytest.approx(abs(found.value), rel=1e-4)


def test_a_mean_over_sets_has_the_same_runs(systems, generator) -> None:
    values = [generator.normal(size=20) for _ in range(3)]
    other = resample_systems({"A": of_values(*values)}, "y", 500, 3)["A"]
    mean = average_sets([systems["A"], other])
    assert mean.runs == pytest.approx([(a + b) / 2 for a, b in zip(systems["A"].runs, other.runs, strict=True)])
    assert mean.resampled[1, 7] == pytest.approx((systems["A"].resampled[1, 7] + other.resampled[1, 7]) / 2)


def test_draws_depend_neither_on_other_systems_nor_on_other_sets(generator) -> None:
    systems = {name: of_values(*generator.normal(size=(2, 30))) for name in "AB"}
    both, alone = resample_systems(systems, "x", 60, 1), resample_systems({"A": systems["A"]}, "x", 60, 1)
    assert np.allclose(both["A"].resampled, alone["A"].resampled)
    other = resample_systems(systems, "y", 60, 1)
    assert abs(np.corrcoef(other["A"].resampled[0], both["A"].resampled[0])[0, 1]) < 0.5


def test_equal_outputs_differ_by_nothing(generator) -> None:
    system = of_values(*generator.normal(size=(1, 40)))
    drawn = resample_systems({"A": system, "B": system}, "x", 50, 1)
    found = estimate_difference(drawn["A"], drawn["B"], [], 0.0)
    assert (found.value, found.low, found.high, found.p_value, found.detectable) == (0, 0, 0, 1, 0)
    assert not found.is_gain and not found.is_loss


def test_less_of_an_error_is_a_gain(generator) -> None:
    better = of_values(generator.normal(size=40), metric=Errors)
    worse = replace(better, runs=better.runs + np.array([2, 0]))
    drawn = resample_systems({"A": better, "B": worse}, "x", 50, 1)
    assert estimate_difference(drawn["A"], drawn["B"], [], 0.1).is_gain
    assert estimate_difference(drawn["B"], drawn["A"], [], 0.1).is_loss
