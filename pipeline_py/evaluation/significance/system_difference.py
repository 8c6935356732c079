"""Confidence intervals for the difference of two systems, over other sentences and other training runs.

The difference of two mean scores varies because other sentences and other runs (training seeds) could have been drawn.
Its variance is the sum of two parts:

- sentences: the bootstrap variance of the difference of means over runs, less the part that is specific to single
  runs, since the variance between runs contains that part already;
- runs: s²/n of each system, with s² the variance of its scores between n runs.

A system with a single run has no s² of its own. It takes the pooled variance of the other systems with several runs,
or else a default standard deviation.

The critical value is a weighted mean of those of Welch (1947) and of Cochran and Cox (1957), with the weight
f/(f + 3) for Welch, where f is the smaller number of degrees of freedom. Welch's interval alone covers the truth in
92 % of cases where three runs of one system dominate, and Cochran and Cox's in 99 % where both systems have equal
spreads; the weight keeps the coverage between 94 % and 97 % from three runs on (tests/evaluation/significance).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, lgamma, sqrt
from typing import Literal
from zlib import crc32

import numpy as np

from pipeline_py.evaluation.significance import resampling
from pipeline_py.evaluation.system_statistics import SystemStatistics

POWER = 0.8
"""Probability that a true difference of the size `detectable` is found."""

LEVEL = 0.05
"""Two-sided level of intervals and of `detectable`."""

Origin = Literal["measured", "pooled", "default", "same networks"]


@dataclass(frozen=True)
class SystemScores:
    """Scores of one system on one test set, or their mean over several sets.

    Attributes:
        runs: the score of each run, (runs,).
        resampled: the score of each run on resampled sets, (runs, samples).
        higher_is_better: whether higher scores are better.
    """

    runs: np.ndarray
    resampled: np.ndarray
    higher_is_better: bool

    @property
    def mean(self) -> float:
        """The mean score over runs."""
        return float(self.runs.mean())

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the variance between runs."""
        return len(self.runs) - 1

    @property
    def run_variance(self) -> float:
        """The variance of scores between runs; 0 for a single run."""
        return float(np.var(self.runs, ddof=1)) if self.freedom else 0.0

    @property
    def run_noise(self) -> float:
        """The part of `run_variance` that is due to the sentences of the set, as the bootstrap estimates it."""
        if not self.freedom:
            return 0.0
        deviations = self.resampled - self.resampled.mean(axis=0)
        return float(np.var(deviations, axis=1, ddof=1).sum()) / self.freedom


@dataclass(frozen=True)
class RunVariance:
    """A variance between runs for systems that have a single run.

    Attributes:
        variance: of the scores of one system between runs, in points².
        noise: the part of it that is due to the sentences of the set.
        freedom: degrees of freedom.
        systems: number of systems that it is pooled over; 0 for a default.
    """

    variance: float
    noise: float
    freedom: float
    systems: int

    @property
    def deviation(self) -> float:
        """The standard deviation, in points."""
        return sqrt(self.variance)


@dataclass(frozen=True)
class Difference:
    """The score of one system minus that of another, for other sentences and other runs.

    Attributes:
        value: the difference of the mean scores.
        low, high: ends of its 95 % confidence interval.
        p_value: two-sided; below 0.05 exactly where the interval excludes 0.
        detectable: the smallest true difference that is found with a probability of 80 % at the two-sided level of
            0.05 (minimum detectable effect, Bloom 1995).
        runs: number of runs of each system.
        origin: where the variance between runs of a system with a single run comes from; `measured` where both have
            several runs.
        run_deviation: the assumed standard deviation between runs of a system with a single run, else 0.
        higher_is_better: whether a positive difference is a gain.
        error: the standard error of the difference.
        margin: half the width of the 90 % interval, for tests of equivalence.
    """

    value: float
    low: float
    high: float
    p_value: float
    detectable: float
    runs: tuple[int, int]
    origin: Origin
    run_deviation: float
    higher_is_better: bool
    error: float
    margin: float

    @property
    def is_gain(self) -> bool:
        """Whether the whole interval is on the better side of 0."""
        return self.low > 0 if self.higher_is_better else self.high < 0

    @property
    def is_loss(self) -> bool:
        """Whether the whole interval is on the worse side of 0."""
        return self.high < 0 if self.higher_is_better else self.low > 0

    def is_within(self, bound: float) -> bool:
        """Return whether two one-sided tests at 5 % find that the difference is smaller than a bound either way."""
        return abs(self.value) + self.margin < bound

    def is_above(self, bound: float) -> bool:
        """Return whether a one-sided test at 5 % finds that the system loses less than a bound."""
        return (self.value if self.higher_is_better else -self.value) - self.margin > -bound

    def is_below(self, bound: float) -> bool:
        """Return whether the whole interval is on the worse side, by more than a bound."""
        return self.high < -bound if self.higher_is_better else self.low > bound

    def excludes(self, value: float) -> bool:
        """Return whether the 95 % interval excludes a value."""
        return not self.low <= value <= self.high


@dataclass(frozen=True)
class Estimate:
    """An estimated variance with its degrees of freedom."""

    variance: float
    freedom: float


def resample_systems(
    systems: Mapping[str, SystemStatistics], set_name: str, samples: int, seed: int
) -> dict[str, SystemScores]:
    """Score systems on resampled sets of sentences, the same for all systems.

    Args:
        systems: their statistics on the set.
        set_name: the name of the set; sets with other names are resampled independently.
        samples: number of resampled sets.
        seed: seed of the resampling.
    """
    # Sets of equal length would be resampled alike, and would not be independent.
    order = np.random.default_rng([seed, crc32(set_name.encode())]).permutation(samples)
    resampled = resampling.resampled_runs(systems, samples, seed)
    return {
        name: SystemScores(np.array(system.scores), resampled[name][:, order], system.metric.higher_is_better)
        for name, system in systems.items()
    }


def average_sets(scores: Sequence[SystemScores]) -> SystemScores:
    """Average the scores of one system over sets, run by run."""
    return SystemScores(
        np.mean([on_set.runs for on_set in scores], axis=0),
        np.mean([on_set.resampled for on_set in scores], axis=0),
        scores[0].higher_is_better,
    )


def pool_run_variance(systems: Iterable[SystemScores], default_deviation: float) -> RunVariance:
    """Pool the variance between runs over all systems that have several.

    Args:
        systems: systems with one or more runs.
        default_deviation: the standard deviation between runs, without the noise of the sentences, where no system has
            several runs.
    """
    several = [system for system in systems if system.freedom]
    if not several:
        return RunVariance(default_deviation**2, 0.0, inf, 0)
    freedom = sum(system.freedom for system in several)
    variance = sum(system.freedom * system.run_variance for system in several) / freedom
    noise = sum(system.freedom * system.run_noise for system in several) / freedom
    squares = sum((system.freedom / freedom * system.run_variance) ** 2 / system.freedom for system in several)
    return RunVariance(variance, noise, variance**2 / squares if squares else freedom, len(several))


def estimate_difference(
    system: SystemScores,
    other: SystemScores,
    pool: Iterable[SystemScores],
    default_deviation: float,
    has_same_networks: bool = False,
) -> Difference:
    """Estimate the difference of two systems with its confidence interval.

    Args:
        system: the system.
        other: the system that it is compared with, on the same set or sets.
        pool: systems of the experiment on the same set or sets, for the variance between runs of a single run.
        default_deviation: the standard deviation between runs where no system has several.
        has_same_networks: whether each run of both systems is the same trained network, searched in two ways.
    """
    value = system.mean - other.mean
    rounding = resampling.ROUNDING * float(np.abs(system.runs).max())
    value = 0.0 if abs(value) <= rounding else value
    sentences = float(np.var(system.resampled.mean(axis=0) - other.resampled.mean(axis=0), ddof=1))
    origin: Origin = "measured"
    deviation = 0.0
    estimates: list[Estimate] = []
    if has_same_networks and len(system.runs) == len(other.runs):
        origin = "same networks"
        pairs = SystemScores(system.runs - other.runs, system.resampled - other.resampled, system.higher_is_better)
        if pairs.freedom:
            sentences -= pairs.run_noise / len(pairs.runs)
            estimates.append(Estimate(pairs.run_variance / len(pairs.runs), pairs.freedom))
    else:
        singles = [each for each in (system, other) if not each.freedom]
        several = [each for each in (system, other) if each.freedom]
        if singles:
            candidates = [each for each in pool if each.freedom]
            others = [each for each in candidates if not any(each is member for member in several)]
            pooled = pool_run_variance(others or several, default_deviation)
            origin, deviation = "pooled" if pooled.systems else "default", pooled.deviation
            sentences -= len(singles) * pooled.noise
            variance = len(singles) * pooled.variance
            if pooled.systems and not others:  # the estimate is that of the other system, so it is not a second one
                sentences -= several[0].run_noise / len(several[0].runs)
                variance += several[0].run_variance / len(several[0].runs)
                several = []
            estimates.append(Estimate(variance, pooled.freedom))
        for each in several:
            sentences -= each.run_noise / len(each.runs)
            estimates.append(Estimate(each.run_variance / len(each.runs), each.freedom))
    known_variance = max(sentences, 0.0) + sum(part.variance for part in estimates if part.freedom == inf)
    estimates = [part for part in estimates if part.freedom < inf]
    error = sqrt(known_variance + sum(part.variance for part in estimates))
    half = critical_value(LEVEL, known_variance, estimates) * error
    return Difference(
        value,
        value - half,
        value + half,
        _p_value(abs(value), error, known_variance, estimates),
        _detectable(error, known_variance, estimates),
        (len(system.runs), len(other.runs)),
        origin,
        deviation,
        system.higher_is_better,
        error,
        critical_value(2 * LEVEL, known_variance, estimates) * error,
    )


def critical_value(level: float, known_variance: float, estimates: Sequence[Estimate]) -> float:
    """Return how many standard errors the two-sided interval at a level extends to each side.

    Args:
        level: such as 0.05 for 95 % intervals.
        known_variance: variance that is known, or estimated from many sentences.
        estimates: independent estimated variances.
    """
    from scipy.special import ndtri, stdtrit

    normal = -float(ndtri(level / 2))
    runs = sum(part.variance for part in estimates)
    if not runs:
        return normal

    def quantile(freedom: float) -> float:
        return -float(stdtrit(min(freedom, 1e9), level / 2))

    freedoms = [part.freedom for part in estimates]
    joint = quantile(runs**2 / sum(part.variance**2 / part.freedom for part in estimates))
    separate = sum(part.variance * quantile(part.freedom) for part in estimates) / runs
    # Estimates with as many degrees of freedom are joined as by Welch; else Cochran and Cox's mean is too cautious.
    alike = min(freedoms) / max(freedoms)
    cochran = (known_variance * normal + runs * (alike * joint + (1 - alike) * separate)) / (known_variance + runs)
    weight = min(freedoms) / (min(freedoms) + 3)
    return weight * quantile(_degrees_of_freedom(known_variance, estimates)) + (1 - weight) * cochran


def _degrees_of_freedom(known_variance: float, estimates: Sequence[Estimate]) -> float:
    """Return the degrees of freedom of a sum of variances (Satterthwaite 1946; Welch 1947)."""
    below = sum(part.variance**2 / part.freedom for part in estimates)
    return (known_variance + sum(part.variance for part in estimates)) ** 2 / below if below else inf


def _p_value(size: float, error: float, known_variance: float, estimates: Sequence[Estimate]) -> float:
    """Return the level at which one end of the interval is 0."""
    from scipy.optimize import brentq

    if not size:
        return 1.0
    if not error:
        return 0.0

    def excess(exponent: float) -> float:
        return critical_value(10.0**exponent, known_variance, estimates) * error - size

    smallest = -15.0
    return float(10.0 ** brentq(excess, smallest, 0.0, xtol=1e-6)) if excess(smallest) > 0 else 10.0**smallest


def _detectable(error: float, known_variance: float, estimates: Sequence[Estimate]) -> float:
    """Return the difference for which the noncentral t distribution gives the power `POWER`.

    The normal approximation of the noncentral t is that of Johnson and Welch (1940). An estimated standard error is
    too small on average, which the divisor corrects.
    """
    from scipy.special import ndtri

    critical, power = critical_value(LEVEL, known_variance, estimates), float(ndtri(POWER))
    freedom = _degrees_of_freedom(known_variance, estimates)
    if freedom == inf:
        return error * (critical + power)
    noncentrality = critical * (1 - 1 / (4 * freedom)) + power * sqrt(1 + critical**2 / (2 * freedom))
    large = min(freedom, 1e6)
    bias = sqrt(2 / large) * exp(lgamma((large + 1) / 2) - lgamma(large / 2))
    return error * noncentrality / bias
