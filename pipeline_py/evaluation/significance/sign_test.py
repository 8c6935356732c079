"""The sign test of Collins, Koehn and Kučerová (2005, section 4.1) on the score of a corpus.

BLEU is no mean over sentences, so a sentence has no score to compare. Instead, for every i, the system's i-th
output takes the place of the baseline's: a plus where the baseline's score gets better, a minus where it gets worse.
Where systems were run several times, the i-th output is that of all runs, each in a run of the baseline's, and the
score is the mean over the runs.
"""

from dataclasses import dataclass

import numpy as np

from pipeline_py.evaluation.metric import Metric
from pipeline_py.evaluation.system_statistics import mean_scores

# Scores that are equal by arithmetic may differ by rounding, by some 1e-16 of their value; one match more or less
# among a hundred million words changes BLEU by more than 1e-9 of its value.
ROUNDING = 1e-12


@dataclass(frozen=True)
class SignTest:
    """Sentences of the system that better, worsen or leave the baseline's score, and the two-sided p-value."""

    better: int
    worse: int
    ties: int
    p_value: float


def replacement_scores(system: np.ndarray, baseline: np.ndarray, metric: type[Metric]) -> np.ndarray:
    """Score the baseline's output with the i-th sentence taken from the system, for every i.

    Args:
        system: statistics of each sentence of each run, (runs, sentences, statistics).
        baseline: the same for the baseline.
        metric: what they are statistics of.

    Returns:
        Means over the runs in percent, (sentences,).
    """
    return mean_scores(baseline.sum(axis=1, keepdims=True) - baseline + system, metric)


def sign_test(system: np.ndarray, baseline: np.ndarray, metric: type[Metric]) -> SignTest:
    """Test whether `system` and `baseline` differ; ties are left out of the binomial.

    Args:
        system: statistics of each sentence of each run, (runs, sentences, statistics).
        baseline: the same for the baseline.
        metric: what they are statistics of.
    """
    from scipy.stats import binomtest

    before = mean_scores(baseline.sum(axis=1, keepdims=True), metric)[0]
    change = replacement_scores(system, baseline, metric) - before
    change[np.abs(change) <= ROUNDING * before] = 0.0
    better, worse = int((change > 0).sum()), int((change < 0).sum())
    if not metric.higher_is_better:
        better, worse = worse, better
    p_value = float(binomtest(better, better + worse, 0.5).pvalue) if better + worse else 1.0
    return SignTest(better, worse, len(change) - better - worse, p_value)
