"""Confidence intervals for the difference of two systems, over other sentences and other training runs.

The difference of two mean scores varies because other sentences and other runs (training seeds) could have been drawn.
Its variance is the sum of two parts:

- sentences: the bootstrap variance of the difference of means over runs, less the part that is specific to single
  runs, since the variance between runs contains that part already;
- runs: s²/n of each system, with s² the variance of its scores between n runs.

A system with a single run has no s². It takes the pooled variance of the other systems with several runs,
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

DETECTION_POWER = 0.8
"""Probability that a true difference of the size `detectable` is found."""

TWO_SIDED_LEVEL = 0.05
"""Two-sided level of intervals and of `detectable`."""

RunVarianceOrigin = Literal["measured", "pooled", "default", "same networks"]


@dataclass(frozen=True)
class SystemScores:
    """Scores of one system on one test set, or their mean over several sets.

    Attributes:
        run_scores: the score of each run, (runs,).
        resampled_scores: the score of each run on resampled sets, (runs, samples).
        higher_is_better: whether higher scores are better.
    """

    run_scores: np.ndarray
    resampled_scores: np.ndarray
    higher_is_better: bool

    @property
    def mean_score(self) -> float:
        """The mean score over runs."""
        return float(self.run_scores.mean())

    @property
    def degrees_of_freedom(self) -> int:
        """Degrees of freedom of the variance between runs."""
        return len(self.run_scores) - 1

    @property
    def run_variance(self) -> float:
        """The variance of scores between runs; 0 for a single run."""
        return float(np.var(self.run_scores, ddof=1)) if self.degrees_of_freedom else 0.0

    @property
    def run_sentence_variance(self) -> float:
        """The part of `run_variance` that is due to the sentences of the set, estimated by the bootstrap."""
        if not self.degrees_of_freedom:
            return 0.0
        deviations = self.resampled_scores - self.resampled_scores.mean(axis=0)
        return float(np.var(deviations, axis=1, ddof=1).sum()) / self.degrees_of_freedom


@dataclass(frozen=True)
class RunVariance:
    """A variance between runs for systems that have a single run.

    Attributes:
        variance: of the scores of one system between runs, in points².
        sentence_variance: the part of it that is due to the sentences of the set.
        degrees_of_freedom: degrees of freedom.
        system_count: number of systems that it is pooled over; 0 for a default.
    """

    variance: float
    sentence_variance: float
    degrees_of_freedom: float
    system_count: int

    @property
    def standard_deviation(self) -> float:
        """The standard deviation, in points."""
        return sqrt(self.variance)


@dataclass(frozen=True)
class SystemDifference:
    """The score of one system minus that of another, for other sentences and other runs.

    Attributes:
        value: the difference of the mean scores.
        low, high: ends of its 95 % confidence interval.
        p_value: two-sided; below 0.05 exactly where the interval excludes 0.
        smallest_detectable: the minimum detectable difference at 80 % power and the two-sided level of 0.05 (Bloom
            1995).
        run_counts: number of runs of each system.
        run_variance_origin: origin of the variance between runs of a system with a single run; `measured` if both
            systems have several runs.
        run_deviation: the assumed standard deviation between runs of a system with a single run, else 0.
        higher_is_better: whether a positive difference is a gain.
        standard_error: the standard error of the difference.
        equivalence_half_width: half the width of the 90 % interval, for tests of equivalence.
    """

    value: float
    low: float
    high: float
    p_value: float
    smallest_detectable: float
    run_counts: tuple[int, int]
    run_variance_origin: RunVarianceOrigin
    run_deviation: float
    higher_is_better: bool
    standard_error: float
    equivalence_half_width: float

    @property
    def is_gain(self) -> bool:
        """True if the interval is on the better side of 0."""
        return self.low > 0 if self.higher_is_better else self.high < 0

    @property
    def is_loss(self) -> bool:
        """True if the interval is on the worse side of 0."""
        return self.high < 0 if self.higher_is_better else self.low > 0

    def is_within_margin(self, margin: float) -> bool:
        """Return whether two one-sided tests at 5 % find that the difference is smaller than a bound either way."""
        return abs(self.value) + self.equivalence_half_width < margin

    def is_not_worse_than_margin(self, margin: float) -> bool:
        """Return whether a one-sided test at 5 % finds that the system loses less than a bound."""
        return (self.value if self.higher_is_better else -self.value) - self.equivalence_half_width > -margin

    def is_worse_than_margin(self, margin: float) -> bool:
        """Return whether the whole interval is on the worse side, by more than a bound."""
        return self.high < -margin if self.higher_is_better else self.low > margin

    def excludes(self, value: float) -> bool:
        """Return whether the 95 % interval excludes a value."""
        return not self.low <= value <= self.high


@dataclass(frozen=True)
class VarianceEstimate:
    """An estimated variance with its degrees of freedom."""

    variance: float
    degrees_of_freedom: float


def resample_system_scores(
    systems: Mapping[str, SystemStatistics], set_name: str, sample_count: int, seed: int
) -> dict[str, SystemScores]:
    """Score systems on resampled sets of sentences, the same for all systems.

    Args:
        systems: their statistics on the set.
        set_name: the name of the set; sets with other names are resampled independently.
        sample_count: number of resampled sets.
        seed: seed of the resampling.
    """
    # Without the permutation, sets of equal length would be resampled alike and not independently.
    order = np.random.default_rng([seed, crc32(set_name.encode())]).permutation(sample_count)
    resampled = resampling.resample_run_scores(systems, sample_count, seed)
    return {
        name: SystemScores(np.array(system.run_scores), resampled[name][:, order], system.metric.higher_is_better)
        for name, system in systems.items()
    }


def average_over_sets(scores: Sequence[SystemScores]) -> SystemScores:
    """Average the scores of one system over sets, run by run."""
    return SystemScores(
        np.mean([set_scores.run_scores for set_scores in scores], axis=0),
        np.mean([set_scores.resampled_scores for set_scores in scores], axis=0),
        scores[0].higher_is_better,
    )


def pool_run_variance(systems: Iterable[SystemScores], default_deviation: float) -> RunVariance:
    """Pool the variance between runs over all systems that have several.

    Args:
        systems: systems with one or more runs.
        default_deviation: the standard deviation between runs, without the noise of the sentences, where no system has
            several runs.
    """
    several = [system for system in systems if system.degrees_of_freedom]
    if not several:
        return RunVariance(default_deviation**2, 0.0, inf, 0)
    freedom = sum(system.degrees_of_freedom for system in several)
    variance = sum(system.degrees_of_freedom * system.run_variance for system in several) / freedom
    noise = sum(system.degrees_of_freedom * system.run_sentence_variance for system in several) / freedom
    squares = sum(
        (system.degrees_of_freedom / freedom * system.run_variance) ** 2 / system.degrees_of_freedom
        for system in several
    )
    return RunVariance(variance, noise, variance**2 / squares if squares else freedom, len(several))


def estimate_difference(
    system: SystemScores,
    other_system: SystemScores,
    variance_pool: Iterable[SystemScores],
    default_deviation: float,
    has_same_networks: bool = False,
) -> SystemDifference:
    """Estimate the difference of two systems with its confidence interval.

    Args:
        system: the system.
        other_system: the system that it is compared with, on the same set or sets.
        variance_pool: systems of the experiment on the same set or sets, for the variance between runs of a single run.
        default_deviation: the standard deviation between runs where no system has several.
        has_same_networks: whether both systems search with the same trained network in each run.
    """
    value = system.mean_score - other_system.mean_score
    rounding = resampling.ROUNDING_TOLERANCE * float(np.abs(system.run_scores).max())
    value = 0.0 if abs(value) <= rounding else value
    sentences = float(np.var(system.resampled_scores.mean(axis=0) - other_system.resampled_scores.mean(axis=0), ddof=1))
    origin: RunVarianceOrigin = "measured"
    deviation = 0.0
    estimates: list[VarianceEstimate] = []
    if has_same_networks and len(system.run_scores) == len(other_system.run_scores):
        origin = "same networks"
        pairs = SystemScores(
            system.run_scores - other_system.run_scores,
            system.resampled_scores - other_system.resampled_scores,
            system.higher_is_better,
        )
        if pairs.degrees_of_freedom:
            sentences -= pairs.run_sentence_variance / len(pairs.run_scores)
            estimates.append(VarianceEstimate(pairs.run_variance / len(pairs.run_scores), pairs.degrees_of_freedom))
    else:
        singles = [scores for scores in (system, other_system) if not scores.degrees_of_freedom]
        several = [scores for scores in (system, other_system) if scores.degrees_of_freedom]
        if singles:
            candidates = [scores for scores in variance_pool if scores.degrees_of_freedom]
            other_candidates = [scores for scores in candidates if not any(scores is member for member in several)]
            pooled = pool_run_variance(other_candidates or several, default_deviation)
            origin, deviation = "pooled" if pooled.system_count else "default", pooled.standard_deviation
            sentences -= len(singles) * pooled.sentence_variance
            variance = len(singles) * pooled.variance
            if (
                pooled.system_count and not other_candidates
            ):  # the estimate is that of the other system, so it is not a second one
                sentences -= several[0].run_sentence_variance / len(several[0].run_scores)
                variance += several[0].run_variance / len(several[0].run_scores)
                several = []
            estimates.append(VarianceEstimate(variance, pooled.degrees_of_freedom))
        for scores in several:
            sentences -= scores.run_sentence_variance / len(scores.run_scores)
            estimates.append(VarianceEstimate(scores.run_variance / len(scores.run_scores), scores.degrees_of_freedom))
    known_variance = max(sentences, 0.0) + sum(part.variance for part in estimates if part.degrees_of_freedom == inf)
    estimates = [part for part in estimates if part.degrees_of_freedom < inf]
    error = sqrt(known_variance + sum(part.variance for part in estimates))
    half = compute_critical_value(TWO_SIDED_LEVEL, known_variance, estimates) * error
    return SystemDifference(
        value,
        value - half,
        value + half,
        _compute_p_value(abs(value), error, known_variance, estimates),
        _compute_detectable_difference(error, known_variance, estimates),
        (len(system.run_scores), len(other_system.run_scores)),
        origin,
        deviation,
        system.higher_is_better,
        error,
        compute_critical_value(2 * TWO_SIDED_LEVEL, known_variance, estimates) * error,
    )


def compute_critical_value(level: float, known_variance: float, estimates: Sequence[VarianceEstimate]) -> float:
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

    freedoms = [part.degrees_of_freedom for part in estimates]
    joint = quantile(runs**2 / sum(part.variance**2 / part.degrees_of_freedom for part in estimates))
    separate = sum(part.variance * quantile(part.degrees_of_freedom) for part in estimates) / runs
    # Estimates with as many degrees of freedom are joined as by Welch; else Cochran and Cox's mean is too cautious.
    alike = min(freedoms) / max(freedoms)
    cochran = (known_variance * normal + runs * (alike * joint + (1 - alike) * separate)) / (known_variance + runs)
    weight = min(freedoms) / (min(freedoms) + 3)
    return weight * quantile(_compute_degrees_of_freedom(known_variance, estimates)) + (1 - weight) * cochran


def _compute_degrees_of_freedom(known_variance: float, estimates: Sequence[VarianceEstimate]) -> float:
    """Return the degrees of freedom of a sum of variances (Satterthwaite 1946; Welch 1947)."""
    below = sum(part.variance**2 / part.degrees_of_freedom for part in estimates)
    return (known_variance + sum(part.variance for part in estimates)) ** 2 / below if below else inf


def _compute_p_value(
    difference_size: float, standard_error: float, known_variance: float, estimates: Sequence[VarianceEstimate]
) -> float:
    """Return the level at which one end of the interval is 0."""
    from scipy.optimize import brentq

    if not difference_size:
        return 1.0
    if not standard_error:
        return 0.0

    def excess(exponent: float) -> float:
        return compute_critical_value(10.0**exponent, known_variance, estimates) * standard_error - difference_size

    smallest = -15.0
    return float(10.0 ** brentq(excess, smallest, 0.0, xtol=1e-6)) if excess(smallest) > 0 else 10.0**smallest


def _compute_detectable_difference(
    standard_error: float, known_variance: float, estimates: Sequence[VarianceEstimate]
) -> float:
    """Return the difference for which the noncentral t distribution gives the power `DETECTION_POWER`.

    The normal approximation of the noncentral t is that of Johnson and Welch (1940). An estimated standard error is
    too small on average, which the divisor corrects.
    """
    from scipy.special import ndtri

    critical, power = compute_critical_value(TWO_SIDED_LEVEL, known_variance, estimates), float(ndtri(DETECTION_POWER))
    freedom = _compute_degrees_of_freedom(known_variance, estimates)
    if freedom == inf:
        return standard_error * (critical + power)
    noncentrality = critical * (1 - 1 / (4 * freedom)) + power * sqrt(1 + critical**2 / (2 * freedom))
    large = min(freedom, 1e6)
    bias = sqrt(2 / large) * exp(lgamma((large + 1) / 2) - lgamma(large / 2))
    return standard_error * noncentrality / bias
