"""The sign test of Collins, Koehn and Kučerová (2005, section 4.1) on the score of a corpus.

BLEU is not a mean over sentences, so a sentence has no score of its own. Instead, for every i, the i-th output of one
system replaces that of the other: a plus where the other's corpus score improves, a minus where it gets worse. The
result depends on which system's outputs are replaced, so both directions are computed and the less favourable p-value
is reported. If systems were run several times, the i-th output is that of all runs, each in one run of the other
system, and the score is the mean over the runs.
"""

from dataclasses import dataclass

import numpy as np

from pipeline_py.evaluation.metric import Metric
from pipeline_py.evaluation.system_statistics import compute_mean_scores

# Mathematically equal scores may differ by rounding, by about 1e-16 of their value; one match in a hundred million
# words changes BLEU by more than 1e-9 of its value.
SIGN_TEST_TOLERANCE = 1e-12


@dataclass(frozen=True)
class SignTestResult:
    """Sentences for which the system is better than, worse than or equal to the other, and the two-sided p-value."""

    better: int
    worse: int
    ties: int
    p_value: float

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of sentences that are better, worse and equal."""
        return self.better, self.worse, self.ties

    @property
    def favored_direction(self) -> int:
        """1 if the system is better in more sentences, -1 if in fewer, else 0."""
        return (self.better > self.worse) - (self.better < self.worse)


@dataclass(frozen=True)
class TwoWaySignTestResult:
    """A sign test in both directions, from the system's point of view.

    Attributes:
        insertion_test: the system's outputs replace those of the other system.
        replacement_test: the system's outputs are replaced by those of the other system.
    """

    insertion_test: SignTestResult
    replacement_test: SignTestResult

    @property
    def p_value(self) -> float:
        """The larger p-value, or 1 where the directions favour different systems."""
        if self.insertion_test.favored_direction != self.replacement_test.favored_direction:
            return 1.0
        return max(self.insertion_test.p_value, self.replacement_test.p_value)


def compute_replacement_scores(
    system_statistics: np.ndarray, baseline_statistics: np.ndarray, metric: type[Metric]
) -> np.ndarray:
    """Score the baseline's output with the i-th sentence taken from the system, for every i.

    Args:
        system_statistics: statistics of each sentence of each run, (runs, sentences, statistics).
        baseline_statistics: the same for the baseline.
        metric: what they are statistics of.

    Returns:
        Means over the runs in percent, (sentences,).
    """
    return compute_mean_scores(
        baseline_statistics.sum(axis=1, keepdims=True) - baseline_statistics + system_statistics, metric
    )


def run_sign_test(
    system_statistics: np.ndarray, other_statistics: np.ndarray, metric: type[Metric]
) -> TwoWaySignTestResult:
    """Test in both directions whether two systems differ; ties are left out of the binomial.

    Args:
        system_statistics: statistics of each sentence of each run, (runs, sentences, statistics).
        other_statistics: the same for the other system.
        metric: what they are statistics of.
    """
    return TwoWaySignTestResult(
        _run_binomial_test(_compute_score_changes(system_statistics, other_statistics, metric)),
        _run_binomial_test(-_compute_score_changes(other_statistics, system_statistics, metric)),
    )


def _compute_score_changes(
    system_statistics: np.ndarray, baseline_statistics: np.ndarray, metric: type[Metric]
) -> np.ndarray:
    """Return by how much each sentence of the system improves the baseline's score, (sentences,)."""
    before = compute_mean_scores(baseline_statistics.sum(axis=1, keepdims=True), metric)[0]
    changes = compute_replacement_scores(system_statistics, baseline_statistics, metric) - before
    changes[np.abs(changes) <= SIGN_TEST_TOLERANCE * abs(before)] = 0.0
    return changes if metric.higher_is_better else -changes


def _run_binomial_test(score_changes: np.ndarray) -> SignTestResult:
    from scipy.stats import binomtest

    better, worse = int((score_changes > 0).sum()), int((score_changes < 0).sum())
    p_value = float(binomtest(better, better + worse, 0.5).pvalue) if better + worse else 1.0
    return SignTestResult(better, worse, len(score_changes) - better - worse, p_value)
