"""The distribution of scores of single sentences, and how many a system translates better than the first one does.

compare-mt counts sentences by score (Neubig et al. 2019), and MT-Telescope draws such counts (Rei et al. 2021).
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from pipeline_py.evaluation.system_statistics import SystemStatistics

SENTENCE_SCORE_COLUMNS = ("by", "bucket", "low", "high", "system", "other", "sentences", "percent")

SCORE_BOUNDS = range(0, 101, 10)
"""Percent of chrF; a group holds its lower bound, and the last one its upper bound too."""

DIFFERENCE_SIGNS = {"lower": -1, "equal": 0, "higher": 1}
"""How a score is beside that of the first system → the sign of their difference."""


def count_sentence_scores(
    systems: Mapping[str, SystemStatistics], baseline: str | None = None
) -> Iterator[tuple[object, ...]]:
    """Count sentences by their chrF, and by whether it is higher or lower than that of the baseline.

    Scores are sacrebleu's chrF of the sentence, as in `examples`, and `sentences` is how many have such a score: by
    `score`, in tens of percent with `low` <= chrF < `high`, and 100 in the last; by `difference`, whether chrF is
    `lower` or `higher` than that of `other` for the same sentence, or `equal` to it. `percent` is their share of all.
    Of several runs both are means, of differences over all pairs of a run of the system and a run of the other.
    Groups without a sentence stand there as well.

    Args:
        systems: statistics of chrF.
        baseline: one of the systems, `other`; by default the first.

    Yields:
        What `SENTENCE_SCORE_COLUMNS` name, by kind, system and group, the baseline's first.
    """
    other = next(iter(systems)) if baseline is None else baseline
    names = [other, *(name for name in systems if name != other)]
    scores = {
        name: np.array([systems[name].metric.score_corpora(run) for run in systems[name].run_statistics])
        for name in names
    }
    for name, of_runs in scores.items():
        for (low, high), count in zip(pairwise(SCORE_BOUNDS), count_by_score(of_runs), strict=True):
            yield "score", low, low, high, name, None, count, 100 * count / of_runs.shape[1]
    for name in names[1:]:
        for sign, count in zip(DIFFERENCE_SIGNS, count_by_difference(scores[name], scores[other]), strict=True):
            yield "difference", sign, None, None, name, other, count, 100 * count / scores[name].shape[1]


def count_by_score(scores: np.ndarray) -> np.ndarray:
    """How many sentences are in each group of scores: (runs, sentences) → the mean over runs, (groups,)."""
    return np.mean([np.histogram(of_run, bins=SCORE_BOUNDS)[0] for of_run in scores], axis=0)


def count_by_difference(scores: np.ndarray, other_scores: np.ndarray) -> np.ndarray:
    """How many sentences score lower, equal and higher than those of another system.

    Args:
        scores: (runs, sentences).
        other_scores: the other's, (runs of it, sentences).

    Returns:
        Means over all pairs of runs, (3,).
    """
    signs = np.sign(scores[:, None] - other_scores[None])
    return np.array([(signs == sign).sum(axis=-1).mean() for sign in DIFFERENCE_SIGNS.values()])
