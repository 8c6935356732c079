"""Paired bootstrap resampling (Koehn 2004) of sentences: p-values and intervals for given outputs."""

from collections.abc import Mapping
from math import ceil

import numpy as np

from pipeline_py.evaluation.system_statistics import SETS_AT_A_TIME, SystemStatistics, sums_over

SAMPLES = 10000
SEED = 12345
"""sacrebleu's."""

# Scores that are equal by arithmetic may differ by rounding, by some 1e-16 of their value.
ROUNDING = 1e-12


def times_drawn(sentences: int, samples: int, seed: int) -> np.ndarray:
    """Count how often each resampled set has each sentence, (samples, sentences), drawn as sacrebleu does.

    The first sets of many are those that would be drawn if they were few.
    """
    generator = np.random.default_rng(seed)
    # 16 bits are enough for what is 1 on average.
    times = np.empty((samples, sentences), dtype=np.uint16)
    for first in range(0, samples, SETS_AT_A_TIME):
        part = times[first : first + SETS_AT_A_TIME]
        drawn = generator.choice(sentences, size=part.shape, replace=True)
        places = drawn + sentences * np.arange(len(part))[:, None]
        part[:] = np.bincount(places.ravel(), minlength=part.size).reshape(part.shape)
    return times


def resampled_runs(systems: Mapping[str, SystemStatistics], samples: int, seed: int) -> dict[str, np.ndarray]:
    """Score each run of systems on resampled sets, the same for all, (runs, samples)."""
    (sentences,) = {of_system.runs.shape[1] for of_system in systems.values()}
    sums = sums_over(
        times_drawn(sentences, samples, seed), {name: of_system.runs for name, of_system in systems.items()}
    )
    return {name: np.stack([of.metric.scores(of_run) for of_run in sums[name]]) for name, of in systems.items()}


def resampled_scores(systems: Mapping[str, SystemStatistics], samples: int, seed: int) -> dict[str, np.ndarray]:
    """Score systems on resampled sets: the mean over a system's runs on each, (samples,)."""
    return {name: runs.mean(axis=0) for name, runs in resampled_runs(systems, samples, seed).items()}


def p_value(system: np.ndarray, other: np.ndarray) -> float:
    """Return the two-sided p-value of the paired bootstrap.

    With dₖ the difference on the k-th of n resampled sets, p = 2 (1 + min(#{dₖ ≤ 0}, #{dₖ ≥ 0})) / (1 + n), at most 1.
    It is below 0.05 exactly where the 95 % interval of the differences excludes 0.

    Args:
        system: the system's score on each resampled set, (samples,).
        other: the same of the other system.
    """
    differences = _differences(system, other)
    smaller_side = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return min(1.0, 2 * (1 + smaller_side) / (1 + len(differences)))


def sacrebleu_p_value(difference: float, system: np.ndarray, other: np.ndarray) -> float:
    """Return the p-value that sacrebleu prints, for comparison with published ones.

    With d the difference on the whole set, p = (1 + #{k : |dₖ| − m > |d|}) / (1 + n), where m is the mean of the |dₖ|.
    Where systems differ clearly, all dₖ have one sign and only those beyond 2d count, so p is that of a one-sided test.

    Args:
        difference: of the two scores on the set itself.
        system: the system's score on each resampled set, (samples,).
        other: the same of the other system.
    """
    distances = np.abs(_differences(system, other))
    larger = int((distances - distances.mean() > abs(difference)).sum())
    return (1 + larger) / (1 + len(distances))


def interval(values: np.ndarray) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a score with these values on resampled sets, (samples,).

    A fortieth of the values lies beyond either end, so half the width is sacrebleu's ± (`estimate_ci`).
    """
    return _ends(values, len(values) // 40)


def difference_interval(system: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """Return the ends of the 95 % interval of a difference, which excludes 0 exactly where `p_value` is below 0.05.

    Args:
        system: the system's score on each resampled set, (samples,).
        other: the same of the other system.
    """
    differences = _differences(system, other)
    return _ends(differences, max(ceil(0.025 * (1 + len(differences))) - 2, 0))


def _ends(values: np.ndarray, beyond: int) -> tuple[float, float]:
    ordered = np.sort(values)
    return float(ordered[beyond]), float(ordered[-1 - beyond])


def _differences(system: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Subtract scores; those that are equal but for rounding differ by 0."""
    differences = system - other
    differences[np.isclose(system, other, rtol=ROUNDING, atol=0)] = 0.0
    return differences
