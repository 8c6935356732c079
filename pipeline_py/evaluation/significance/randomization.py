"""Approximate randomization (Noreen 1989; Riezler and Maxwell 2005), paired and two-sided, on the score of a corpus.

If two systems were equally good, it would be of no matter which of them said what: sentences that change places at
random would make differences as large as theirs.
"""

import numpy as np

from pipeline_py.evaluation.metric import Metric
from pipeline_py.evaluation.system_statistics import mean_scores

# Differences that are equal by arithmetic may differ by rounding, by some 1e-16 of the scores' value.
ROUNDING = 1e-12


def sentences_kept(sentences: int, trials: int, seed: int) -> np.ndarray:
    """Whether each sentence keeps its place in each trial, (trials, sentences), drawn as sacrebleu does."""
    return np.random.default_rng(seed).integers(2, size=(trials, sentences), dtype=bool)


def p_value(
    system: np.ndarray, system_kept: np.ndarray, other: np.ndarray, other_kept: np.ndarray, metric: type[Metric]
) -> float:
    """How probable so large a difference would be if it were of no matter which system said what.

    With d the difference of the two scores and dₖ that of the k-th of n trials, p = (1 + #{k : |dₖ| ≥ |d|}) / (1 + n)
    (Noreen 1989). sacrebleu counts |dₖ| > |d|, which is the same but where trials give the very difference again: it
    would call systems significantly different that differ in no sentence, or in a single one. Of several runs, scores
    are means over them, and a sentence is exchanged in all of them.

    Args:
        system: the system's statistics, summed over all sentences of each run, (runs, statistics).
        system_kept: those of the sentences that keep their places in each trial, (runs, trials, statistics).
        other: the same of the other system, (runs, statistics).
        other_kept: the same of the other system.
        metric: what they are statistics of.
    """
    one, two = (float(mean_scores(total[:, None], metric)[0]) for total in (system, other))
    mixed = (
        mean_scores(system_kept + (other[:, None] - other_kept), metric),
        mean_scores(other_kept + (system[:, None] - system_kept), metric),
    )
    as_large = np.abs(mixed[0] - mixed[1]) >= abs(one - two) - ROUNDING * max(one, two)
    return (1 + int(as_large.sum())) / (1 + len(as_large))
