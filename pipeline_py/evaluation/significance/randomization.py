"""Approximate randomization (Noreen 1989; Riezler and Maxwell 2005), paired and two-sided, on corpus scores."""

import numpy as np

from pipeline_py.evaluation.metric import Metric
from pipeline_py.evaluation.system_statistics import compute_mean_scores

# Mathematically equal differences may differ by rounding, by about 1e-16 of the scores.
RANDOMIZATION_TOLERANCE = 1e-12


def draw_kept_sentences(sentence_count: int, trial_count: int, seed: int) -> np.ndarray:
    """Draw a mask of the sentences that each trial does not exchange, (trials, sentences), as sacrebleu does."""
    return np.random.default_rng(seed).integers(2, size=(trial_count, sentence_count), dtype=bool)


def compute_randomization_p_value(
    system_sums: np.ndarray,
    system_kept_sums: np.ndarray,
    other_sums: np.ndarray,
    other_kept_sums: np.ndarray,
    metric: type[Metric],
) -> float:
    """Return the two-sided p-value under random exchanges of sentences between the systems.

    With d the difference of the two scores and dₖ that of the k-th of n trials, p = (1 + #{k : |dₖ| ≥ |d|}) / (1 + n)
    (Noreen 1989). sacrebleu counts |dₖ| > |d| instead, which makes systems significantly different that differ in no
    sentence or in a single one. With several runs, scores are means over runs, and a sentence is exchanged in all runs.

    Args:
        system_sums: the system's statistics, summed over all sentences of each run, (runs, statistics).
        system_kept_sums: sums over the sentences that are not exchanged, (runs, trials, statistics).
        other_sums: `system_sums` of the other system.
        other_kept_sums: `system_kept_sums` of the other system.
        metric: the metric of the statistics.
    """
    score, other_score = (float(compute_mean_scores(total[:, None], metric)[0]) for total in (system_sums, other_sums))
    exchanged_scores = (
        compute_mean_scores(system_kept_sums + (other_sums[:, None] - other_kept_sums), metric),
        compute_mean_scores(other_kept_sums + (system_sums[:, None] - system_kept_sums), metric),
    )
    # Scores may be negative (COMET).
    rounding = RANDOMIZATION_TOLERANCE * max(abs(score), abs(other_score))
    as_large = np.abs(exchanged_scores[0] - exchanged_scores[1]) >= abs(score - other_score) - rounding
    return (1 + int(as_large.sum())) / (1 + len(as_large))
