"""The sign test of Collins, Koehn and Kučerová (2005, section 4.1) on corpus BLEU.

BLEU is no mean over sentences, so a sentence has no score to compare. Instead, for every i, the system's i-th
output takes the place of the baseline's: a plus where the baseline's corpus BLEU rises, a minus where it falls.
Where systems were run several times, the i-th output is that of all runs, and the statistics are sums over them.
"""

from dataclasses import dataclass

import numpy as np

from pipeline_py.evaluation import bleu

# Scores that are equal by arithmetic may differ by rounding, by some 1e-16 of their value; one match more or less
# among a hundred million words changes BLEU by more than 1e-9 of its value.
ROUNDING = 1e-12


@dataclass(frozen=True)
class SignTest:
    """Sentences of the system that raise, lower or leave the baseline's BLEU, and the two-sided p-value."""

    better: int
    worse: int
    ties: int
    p_value: float


def replacement_scores(system: np.ndarray, baseline: np.ndarray) -> np.ndarray:
    """BLEU of the baseline's output with the i-th sentence taken from the system, for every i.

    Args:
        system: statistics per sentence (sentences, 10), integers; see `bleu`.
        baseline: the same for the baseline.

    Returns:
        BLEU in percent, (sentences,).
    """
    return bleu.scores(baseline.sum(axis=0) - baseline + system)


def sign_test(system: np.ndarray, baseline: np.ndarray) -> SignTest:
    """Test whether `system` and `baseline` differ; ties are left out of the binomial.

    Args:
        system: statistics per sentence (sentences, 10), integers; see `bleu`.
        baseline: the same for the baseline.
    """
    from scipy.stats import binomtest

    score = bleu.scores(baseline.sum(axis=0, keepdims=True))[0]
    change = replacement_scores(system, baseline) - score
    change[np.abs(change) <= ROUNDING * score] = 0.0
    better, worse = int((change > 0).sum()), int((change < 0).sum())
    p_value = float(binomtest(better, better + worse, 0.5).pvalue) if better + worse else 1.0
    return SignTest(better, worse, len(change) - better - worse, p_value)
