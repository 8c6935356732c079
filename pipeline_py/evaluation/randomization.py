"""Approximate randomization (Noreen 1989; Riezler and Maxwell 2005), paired and two-sided, on corpus BLEU.

If two systems were equally good, it would be of no matter which of them said what: sentences that change places at
random would make differences as large as theirs.
"""

import numpy as np

from pipeline_py.evaluation import bleu

# Differences that are equal by arithmetic may differ by rounding, by some 1e-16 of the scores' value.
ROUNDING = 1e-12


def sentences_kept(sentences: int, trials: int, seed: int) -> np.ndarray:
    """Whether each sentence keeps its place in each trial, (trials, sentences), drawn as sacrebleu does."""
    return np.random.default_rng(seed).integers(2, size=(trials, sentences), dtype=bool)


def p_value(system: np.ndarray, system_kept: np.ndarray, other: np.ndarray, other_kept: np.ndarray) -> float:
    """How probable so large a difference would be if it were of no matter which system said what.

    With d the difference of the two scores and dₖ that of the k-th of n trials, p = (1 + #{k : |dₖ| ≥ |d|}) / (1 + n)
    (Noreen 1989). sacrebleu counts |dₖ| > |d|, which is the same but where trials give the very difference again: it
    would call systems significantly different that differ in no sentence, or in a single one.

    Args:
        system: the system's statistics of all sentences, (10,).
        system_kept: those of the sentences that keep their places in each trial, (trials, 10).
        other: the same of the other system, (10,).
        other_kept: the same of the other system.
    """
    one, two = bleu.scores(np.stack([system, other]))
    mixed = bleu.scores(system_kept + other - other_kept), bleu.scores(other_kept + system - system_kept)
    as_large = np.abs(mixed[0] - mixed[1]) >= abs(one - two) - ROUNDING * max(one, two)
    return (1 + int(as_large.sum())) / (1 + len(as_large))
