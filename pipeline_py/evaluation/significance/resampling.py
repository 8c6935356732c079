"""Paired bootstrap resampling (Koehn 2004): sets that are drawn anew, and sacrebleu's p-values and intervals."""

from collections.abc import Mapping

import numpy as np

from pipeline_py.evaluation.system_statistics import SETS_AT_A_TIME, SystemStatistics, sums_over

SAMPLES = 10000
SEED = 12345
"""sacrebleu's."""

# Scores that are equal by arithmetic may differ by rounding, by some 1e-16 of their value.
ROUNDING = 1e-12


def times_drawn(sentences: int, samples: int, seed: int) -> np.ndarray:
    """How often each resampled set has each sentence, (samples, sentences), drawn as sacrebleu does.

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


def p_value(difference: float, system: np.ndarray, other: np.ndarray) -> float:
    """How probable so large a difference would be if the systems were equally good.

    With d the difference and dₖ that on the k-th of n resampled sets, p = (1 + #{k : |dₖ| − m > |d|}) / (1 + n),
    where m is the mean of the |dₖ|, as in sacrebleu. Where systems differ clearly, all dₖ have one sign and only those
    beyond 2d count: p is then that of a one-sided test, as in Koehn (2004), about half of a two-sided one.

    Where every dₖ is 0, p is 1; sacrebleu's formula gives 1 / (1 + n) and so would call equal outputs significantly
    different.

    Args:
        difference: of the two scores on the set itself.
        system: the system's score on each resampled set, (samples,).
        other: the same of the other system.
    """
    if np.allclose(system, other, rtol=ROUNDING, atol=0):
        return 1.0
    distances = np.abs(system - other)
    larger = int((distances - distances.mean() > abs(difference)).sum())
    return (1 + larger) / (1 + len(distances))


def interval(values: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of what has these values on the resampled sets: a fortieth of them lies beyond either end.

    The ends are those whose distance sacrebleu halves for its ± (`estimate_ci`).

    Args:
        values: (samples,).
    """
    ordered = np.sort(values)
    beyond = len(ordered) // 40
    return float(ordered[beyond]), float(ordered[-1 - beyond])
