"""Paired bootstrap resampling (Koehn 2004) of sentences: p-values and intervals for given outputs."""

from collections.abc import Mapping
from math import ceil

import numpy as np

from pipeline_py.evaluation.system_statistics import SAMPLES_PER_BLOCK, SystemStatistics, sum_over_samples

DEFAULT_SAMPLE_COUNT = 10000
DEFAULT_SEED = 12345
"""sacrebleu's seed."""

# Mathematically equal scores may differ by rounding, by about 1e-16 of their value.
ROUNDING_TOLERANCE = 1e-12


def draw_sentence_multiplicities(sentence_count: int, sample_count: int, seed: int) -> np.ndarray:
    """Draw how many times each resampled set contains each sentence, (samples, sentences), as sacrebleu does.

    The first sets of many are those that would be drawn if they were few.
    """
    generator = np.random.default_rng(seed)
    # 16 bits are enough for counts with a mean of 1.
    multiplicities = np.empty((sample_count, sentence_count), dtype=np.uint16)
    for first in range(0, sample_count, SAMPLES_PER_BLOCK):
        block = multiplicities[first : first + SAMPLES_PER_BLOCK]
        indices = generator.choice(sentence_count, size=block.shape, replace=True)
        flat_indices = indices + sentence_count * np.arange(len(block))[:, None]
        block[:] = np.bincount(flat_indices.ravel(), minlength=block.size).reshape(block.shape)
    return multiplicities


def resample_run_scores(systems: Mapping[str, SystemStatistics], sample_count: int, seed: int) -> dict[str, np.ndarray]:
    """Score each run of systems on resampled sets, the same for all, (runs, samples)."""
    (sentences,) = {system.run_statistics.shape[1] for system in systems.values()}
    sums = sum_over_samples(
        draw_sentence_multiplicities(sentences, sample_count, seed),
        {name: system.run_statistics for name, system in systems.items()},
    )
    return {
        name: np.stack([system.metric.score_corpora(run_sums) for run_sums in sums[name]])
        for name, system in systems.items()
    }


def resample_mean_scores(
    systems: Mapping[str, SystemStatistics], sample_count: int, seed: int
) -> dict[str, np.ndarray]:
    """Score systems on resampled sets: the mean over a system's runs on each, (samples,)."""
    return {name: runs.mean(axis=0) for name, runs in resample_run_scores(systems, sample_count, seed).items()}


def compute_bootstrap_p_value(system_scores: np.ndarray, other_scores: np.ndarray) -> float:
    """Return the two-sided p-value of the paired bootstrap.

    With dₖ the difference on the k-th of n resampled sets, p = 2 (1 + min(#{dₖ ≤ 0}, #{dₖ ≥ 0})) / (1 + n), at most 1.
    It is below 0.05 exactly where the 95 % interval of the differences excludes 0.

    Args:
        system_scores: the system's score on each resampled set, (samples,).
        other_scores: the same of the other system.
    """
    differences = _subtract_scores(system_scores, other_scores)
    smaller_side = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return min(1.0, 2 * (1 + smaller_side) / (1 + len(differences)))


def compute_sacrebleu_p_value(difference: float, system_scores: np.ndarray, other_scores: np.ndarray) -> float:
    """Return the p-value that sacrebleu prints, for comparison with published ones.

    With d the difference on the whole set, p = (1 + #{k : |dₖ| − m > |d|}) / (1 + n), where m is the mean of the |dₖ|.
    Where systems differ clearly, all dₖ have one sign and only those beyond 2d count, so p is that of a one-sided test.

    Args:
        difference: of the two scores on the set itself.
        system_scores: the system's score on each resampled set, (samples,).
        other_scores: the same of the other system.
    """
    distances = np.abs(_subtract_scores(system_scores, other_scores))
    larger = int((distances - distances.mean() > abs(difference)).sum())
    return (1 + larger) / (1 + len(distances))


def compute_score_interval(resampled_scores: np.ndarray) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a score with these values on resampled sets, (samples,).

    A fortieth of the values lies beyond either end, so half the width is sacrebleu's ± (`estimate_ci`).
    """
    return _select_interval_ends(resampled_scores, len(resampled_scores) // 40)


def compute_difference_interval(system_scores: np.ndarray, other_scores: np.ndarray) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a difference.

    It excludes 0 exactly if `compute_bootstrap_p_value` is below 0.05.

    Args:
        system_scores: the system's score on each resampled set, (samples,).
        other_scores: the same of the other system.
    """
    differences = _subtract_scores(system_scores, other_scores)
    return _select_interval_ends(differences, max(ceil(0.025 * (1 + len(differences))) - 2, 0))


def _select_interval_ends(values: np.ndarray, excluded_count: int) -> tuple[float, float]:
    ordered = np.sort(values)
    return float(ordered[excluded_count]), float(ordered[-1 - excluded_count])


def _subtract_scores(system_scores: np.ndarray, other_scores: np.ndarray) -> np.ndarray:
    """Subtract scores; differences due to rounding become 0."""
    differences = system_scores - other_scores
    differences[np.isclose(system_scores, other_scores, rtol=ROUNDING_TOLERANCE, atol=0)] = 0.0
    return differences
