"""Approximate randomization (Noreen 1989; Riezler and Maxwell 2005), paired and two-sided, on the score of a corpus.

If two systems were equally good, it would be of no matter which of them said what: sentences that change places at
random would make differences as large as theirs.
"""

import numpy as np

from pipeline_py.evaluation.metric import Metric
from pipeline_py.evaluation.system_statistics import compute_mean_scores

# Differences that are equal by arithmetic may differ by rounding, by some 1e-16 of the scores' value.
RANDOMIZATION_TOLERANCE = 1e-12


def draw_kept_sentences(sentence_count: int, trial_count: int, seed: int) -> np.ndarray:
    """Whether each sentence keeps its place in each trial, (trials, sentences), drawn as sacrebleu does."""
    return np.random.default_rng(seed).integers(2, size=(trial_count, sentence_count), dtype=bool)


def compute_randomization_p_value(
    system_sums: np.ndarray,
    system_kept_sums: np.ndarray,
    other_sums: np.ndarray,
    other_kept_sums: np.ndarray,
    metric: type[Metric],
) -> float:
    """How probable so large a difference would be if it were of no matter which system said what.

    With d the difference of the two scores and dₖ that of the k-th of n trials, p = (1 + #{k : |dₖ| ≥ |d|}) / (1 + n)
    (Noreen 1989). sacrebleu counts |dₖ| > |d|, which is the same but where trials give the very difference again: it
    would call systems significantly different that differ in no sentence, or in a single one. Of several runs, scores
    are means over them, and a sentence is exchanged in all of them.

    Args:
        system_sums: the system's statistics, summed over all sentences of each run, (runs, statistics).
        system_kept_sums: those of the sentences that keep their places in each trial, (runs, trials, statistics).
        other_sums: the same of the other system, (runs, statistics).
        other_kept_sums: the same of the other system.
        metric: what they are statistics of.
    """
    one, two = (float(compute_mean_scores(total[:, None], metric)[0]) for total in (system_sums, other_sums))
    mixed = (
        compute_mean_scores(system_kept_sums + (other_sums[:, None] - other_kept_sums), metric),
        compute_mean_scores(other_kept_sums + (system_sums[:, None] - system_kept_sums), metric),
    )
    as_large = np.abs(mixed[0] - mixed[1]) >= abs(one - two) - RANDOMIZATION_TOLERANCE * max(one, two)
    return (1 + int(as_large.sum())) / (1 + len(as_large))
