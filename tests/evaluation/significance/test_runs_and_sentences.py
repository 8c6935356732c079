"""Intervals over sentences and runs: against resampled sets that are written out, and against the truth they are of."""

from dataclasses import replace
from math import sqrt
from zlib import crc32

import numpy as np
import pytest
from scipy.stats import norm, t

from pipeline_py.evaluation.metrics.bleu import Bleu
from pipeline_py.evaluation.metrics.ter import Ter
from pipeline_py.evaluation.significance import resampling
from pipeline_py.evaluation.significance.runs_and_sentences import difference, mean_over_sets, resampled
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


def test_a_difference_of_runs_is_that_of_a_naive_loop(generator):
    """Three runs against two on two sets: every resampled set is scored on its own."""
    sets = {"one": 12, "two": 9}
    values = {
        (name, on): generator.normal(size=(runs, size))
        for name, runs in (("A", 3), ("B", 2))
        for on, size in sets.items()
    }
    drawn = {on: resampled({name: of_values(*values[name, on]) for name in "AB"}, on, 80, 5) for on in sets}
    means = {name: mean_over_sets([drawn[on][name] for on in sets]) for name in "AB"}
    found = difference(means["A"], means["B"])

    score = {
        name: [np.mean([values[name, on][run].mean() for on in sets]) for run in range(n)]
        for name, n in (("A", 3), ("B", 2))
    }
    expected = np.mean(score["A"]) - np.mean(score["B"])
    assert found.value == pytest.approx(expected)

    times = {
        name: np.random.default_rng([5, crc32(name.encode())]).multinomial(n, [1 / n] * n, size=80)
        for name, n in (("A", 3), ("B", 2))
    }
    order = {on: np.random.default_rng([5, crc32(on.encode())]).permutation(80) for on in sets}
    places = {on: np.random.default_rng(5).choice(size, size=(80, size), replace=True) for on, size in sets.items()}
    differences, with_all_runs = [], []
    for sample in range(80):
        of = {}
        for name, n in (("A", 3), ("B", 2)):
            on_sets = [
                np.mean([values[name, on][run][places[on][order[on][sample]]].mean() for on in sets])
                for run in range(n)
            ]
            mean = np.mean(on_sets)
            again = np.average(on_sets, weights=times[name][sample])
            of[name] = mean, mean + sqrt(n / (n - 1)) * (again - mean)
        with_all_runs.append(of["A"][0] - of["B"][0])
        differences.append(of["A"][1] - of["B"][1])
    parts = [np.var(score["A"], ddof=1) / 3, np.var(score["B"], ddof=1) / 2]
    whole = np.var(with_all_runs, ddof=1) + sum(parts)
    freedom = whole**2 / (parts[0] ** 2 / 2 + parts[1] ** 2 / 1)
    ratio = t.ppf(0.975, freedom) / norm.ppf(0.975)
    low, high = sorted(differences)[2], sorted(differences)[-3]
    assert found.low == pytest.approx(expected - ratio * (expected - low))
    assert found.high == pytest.approx(expected + ratio * (high - expected))
    assert found.visible == pytest.approx((t.ppf(0.975, freedom) + t.ppf(0.8, freedom)) * np.std(differences, ddof=1))
    assert found.runs == 3


def test_single_runs_have_the_interval_of_sentences_alone(generator):
    systems = {name: of_values(generator.normal(size=50)) for name in "AB"}
    drawn = resampled(systems, "mixed", 400, 3)
    found = difference(drawn["A"], drawn["B"])
    alone = resampling.resampled_scores(systems, 400, 3)
    assert (found.low, found.high) == pytest.approx(resampling.interval(alone["A"] - alone["B"]))
    deviation = np.std(alone["A"] - alone["B"], ddof=1)
    assert found.visible == pytest.approx((norm.ppf(0.975) + norm.ppf(0.8)) * deviation) and found.runs == 1


def test_draws_hang_neither_on_other_systems_nor_on_other_sets(generator):
    systems = {name: of_values(*generator.normal(size=(2, 30))) for name in "AB"}
    both, alone = resampled(systems, "x", 60, 1), resampled({"A": systems["A"]}, "x", 60, 1)
    assert np.allclose(both["A"].drawn, alone["A"].drawn) and np.array_equal(both["A"].weights, alone["A"].weights)
    other = resampled(systems, "y", 60, 1)
    assert np.array_equal(other["A"].weights, both["A"].weights), "a run is the same on all sets"
    assert abs(np.corrcoef(other["A"].drawn[0], both["A"].drawn[0])[0, 1]) < 0.5, "equally long sets are drawn apart"
    assert not np.array_equal(both["A"].weights, both["B"].weights), "seeds of two systems are no pairs"


@pytest.mark.parametrize("runs", [2, 3, 5])
def test_the_interval_covers_the_truth(generator, runs):
    """Of systems whose runs and sentences vary, 95 of 100 intervals hold the difference; of sentences alone, fewer."""
    truth, trials = 0.5, 300
    covered = too_narrow = 0
    for _ in range(trials):
        hard = generator.normal(size=60)
        systems = {
            name: of_values(
                *(hard + level + generator.normal(scale=0.3) + generator.normal(size=60) for _ in range(runs))
            )
            for name, level in (("A", truth), ("B", 0.0))
        }
        drawn = resampled(systems, "x", 400, int(generator.integers(1000)))
        found = difference(drawn["A"], drawn["B"])
        covered += found.low <= truth <= found.high
        low, high = resampling.interval(drawn["A"].drawn.mean(axis=0) - drawn["B"].drawn.mean(axis=0))
        too_narrow += low <= truth <= high
    assert 0.93 <= covered / trials <= 0.995
    assert too_narrow / trials < 0.85


def test_what_is_visible_is_found_four_times_of_five(generator):
    """Systems that differ by just so much have an interval above 0 in about 80 of 100 experiments."""

    def experiment(level: float):
        systems = {
            name: of_values(*(value + generator.normal(scale=0.2) + generator.normal(size=80) for _ in range(3)))
            for name, value in (("A", level), ("B", 0.0))
        }
        drawn = resampled(systems, "x", 400, 2)
        return difference(drawn["A"], drawn["B"])

    level = float(np.mean([experiment(0).visible for _ in range(100)]))
    assert 0.7 <= np.mean([experiment(level).is_gain for _ in range(300)]) <= 0.9


def test_equal_outputs_differ_by_nothing(generator):
    system = of_values(*generator.normal(size=(1, 40)))
    drawn = resampled({"A": system, "B": system}, "x", 50, 1)
    found = difference(drawn["A"], drawn["B"])
    assert (found.value, found.low, found.high, found.visible) == (0, 0, 0, 0)
    assert not found.is_gain and not found.is_loss


def test_less_of_an_error_is_a_gain(generator):
    better = of_values(generator.normal(size=40), metric=Errors)
    worse = replace(better, runs=better.runs + np.array([2, 0]))
    drawn = resampled({"A": better, "B": worse}, "x", 50, 1)
    assert difference(drawn["A"], drawn["B"]).is_gain and difference(drawn["B"], drawn["A"]).is_loss
    assert not Ter.higher_is_better
