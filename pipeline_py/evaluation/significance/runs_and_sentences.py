"""Differences of systems whose intervals hold for other sentences and for other runs: a bootstrap on two levels.

Sets of sentences are drawn as in `resampling`, and of each system as many runs (training seeds) as it has; each
system's on its own, as its second run has nothing to do with another's second. A run is the same on all sets, and
sentences of one set are drawn whatever is drawn of another.

A mean over a few drawn runs moves too little: with n runs its variance is (n − 1) / n of what an unbiased estimate
says. Its distance from the mean over all is made greater by √(n / (n − 1)), and the whole interval by the ratio of
Student's t to the normal quantile, with the degrees of freedom of Welch (1947) and Satterthwaite (1946), to which
sentences add none. With single runs the interval is that of `resampling`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, sqrt
from zlib import crc32

import numpy as np

from pipeline_py.evaluation.significance import resampling
from pipeline_py.evaluation.system_statistics import SystemStatistics

POWER = 0.8
"""How often a difference is to be found that counts as visible."""


@dataclass(frozen=True)
class Resampled:
    """A system on one set, or on several in the mean.

    Attributes:
        scores: of each run, (runs,).
        drawn: of each run on resampled sets, (runs, samples).
        weights: of each run in a resampled mean over runs, (runs, samples).
        higher_is_better: whether more of the score is better.
    """

    scores: np.ndarray
    drawn: np.ndarray
    weights: np.ndarray
    higher_is_better: bool

    @property
    def variance_of_mean(self) -> float:
        """Of the mean over runs, as runs differ."""
        runs = len(self.scores)
        return float(np.var(self.scores, ddof=1)) / runs if runs > 1 else 0.0


@dataclass(frozen=True)
class Difference:
    """A score minus another's.

    Attributes:
        value: the difference.
        low, high: ends of its 95 % interval.
        visible: the smallest difference that would be found with a probability of `POWER`.
        runs: of the system that has more.
        higher_is_better: whether a positive difference is a gain.
    """

    value: float
    low: float
    high: float
    visible: float
    runs: int
    higher_is_better: bool

    @property
    def is_gain(self) -> bool:
        """Whether the whole interval is on the better side."""
        return self.low > 0 if self.higher_is_better else self.high < 0

    @property
    def is_loss(self) -> bool:
        """Whether the whole interval is on the worse side."""
        return self.high < 0 if self.higher_is_better else self.low > 0


def resampled(systems: Mapping[str, SystemStatistics], on: str, samples: int, seed: int) -> dict[str, Resampled]:
    """Draw sentences of a set, and runs of systems; what is drawn of one does not hang on what else there is.

    Args:
        systems: their statistics on the set.
        on: what the set is called.
        samples: number of resampled sets.
        seed: of the draws.
    """
    # Equally long sets would be drawn alike, and were no longer independent.
    order = np.random.default_rng([seed, crc32(on.encode())]).permutation(samples)
    drawn = resampling.resampled_runs(systems, samples, seed)
    return {
        name: Resampled(
            np.array(of.scores),
            drawn[name][:, order],
            _weights(len(of.runs), samples, np.random.default_rng([seed, crc32(name.encode())])),
            of.metric.higher_is_better,
        )
        for name, of in systems.items()
    }


def mean_over_sets(on_sets: list[Resampled]) -> Resampled:
    """A system's mean over sets, on each of which it has the same runs."""
    scores = np.mean([one.scores for one in on_sets], axis=0)
    drawn = np.mean([one.drawn for one in on_sets], axis=0)
    return Resampled(scores, drawn, on_sets[0].weights, on_sets[0].higher_is_better)


def difference(system: Resampled, other: Resampled) -> Difference:
    """The difference of two systems' means over runs."""
    from scipy.stats import norm, t

    rounding = resampling.ROUNDING * float(np.abs(system.scores).max())
    value = float(system.scores.mean() - other.scores.mean())
    of_sentences = system.drawn.mean(axis=0) - other.drawn.mean(axis=0)
    drawn = (system.weights * system.drawn).sum(axis=0) - (other.weights * other.drawn).sum(axis=0)
    # What is equal by arithmetic is on neither side of 0.
    value = 0.0 if abs(value) <= rounding else value
    drawn[np.abs(drawn) <= rounding] = 0.0
    freedom = _degrees_of_freedom(float(np.var(of_sentences, ddof=1)), system, other)
    wider = float(t.ppf(0.975, freedom) / norm.ppf(0.975)) if freedom < inf else 1.0
    low, high = (value + wider * (end - value) for end in resampling.interval(drawn))
    quantiles = t.ppf([0.975, POWER], freedom) if freedom < inf else norm.ppf([0.975, POWER])
    visible = float(quantiles.sum() * np.std(drawn, ddof=1))
    runs = max(len(system.scores), len(other.scores))
    return Difference(value, low, high, visible, runs, system.higher_is_better)


def _weights(runs: int, samples: int, generator: np.random.Generator) -> np.ndarray:
    """Of each run in a mean over runs that are drawn anew; of each mean they add up to 1."""
    times = generator.multinomial(runs, [1 / runs] * runs, size=samples).T
    wider = sqrt(runs / (runs - 1)) if runs > 1 else 1.0
    return np.asarray((1 + wider * (times - 1)) / runs)


def _degrees_of_freedom(of_sentences: float, system: Resampled, other: Resampled) -> float:
    parts = [(one.variance_of_mean, len(one.scores) - 1) for one in (system, other)]
    below = sum(variance**2 / freedom for variance, freedom in parts if freedom)
    return (of_sentences + sum(variance for variance, _ in parts)) ** 2 / below if below else inf
