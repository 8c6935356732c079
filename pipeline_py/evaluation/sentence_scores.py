"""Distributions of sentence scores and of their differences to a baseline.

compare-mt (Neubig et al. 2019) and MT-Telescope (Rei et al. 2021) show similar counts.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from pipeline_py.evaluation.system_statistics import SystemStatistics

SENTENCE_SCORE_COLUMNS = ("by", "bucket", "low", "high", "system", "other", "sentences", "percent")

SCORE_BOUNDS = range(0, 101, 10)
"""Bounds of groups in percent of chrF; the lower bound is included, and in the last group the upper one, too."""

DIFFERENCE_SIGNS = {"lower": -1, "equal": 0, "higher": 1}
"""The sign of the difference to the baseline's score by group name."""


def count_sentence_scores(
    systems: Mapping[str, SystemStatistics], baseline: str | None = None
) -> Iterator[tuple[object, ...]]:
    """Count sentences by their chrF, and by whether it is higher or lower than that of the baseline.

    Scores are sacrebleu's chrF of the sentence, as in `select_example_sentences`, and `sentences` is how many have such
    a score: by `score`, in tens of percent with `low` <= chrF < `high`, and 100 in the last; by `difference`, whether
    chrF is `lower` or `higher` than that of `other` for the same sentence, or `equal` to it. `percent` is their share
    of all.
    With several runs, both are means: over runs, or for differences over all pairs of runs of the two systems. Groups
    without a sentence are included.

    Args:
        systems: statistics of chrF.
        baseline: one of the systems, `other`; by default the first.

    Yields:
        Rows of `SENTENCE_SCORE_COLUMNS` by kind, system and group, with the baseline first.
    """
    baseline_name = next(iter(systems)) if baseline is None else baseline
    names = [baseline_name, *(name for name in systems if name != baseline_name)]
    scores = {
        name: np.array([systems[name].metric.score_corpora(run) for run in systems[name].run_statistics])
        for name in names
    }
    for name, run_scores in scores.items():
        for (low, high), count in zip(pairwise(SCORE_BOUNDS), count_by_score(run_scores), strict=True):
            yield "score", low, low, high, name, None, count, 100 * count / run_scores.shape[1]
    for name in names[1:]:
        for sign, count in zip(DIFFERENCE_SIGNS, count_by_difference(scores[name], scores[baseline_name]), strict=True):
            yield "difference", sign, None, None, name, baseline_name, count, 100 * count / scores[name].shape[1]


def count_by_score(scores: np.ndarray) -> np.ndarray:
    """Count the sentences in each group of scores, as means over runs: (runs, sentences) → (groups,)."""
    return np.mean([np.histogram(run_scores, bins=SCORE_BOUNDS)[0] for run_scores in scores], axis=0)


def count_by_difference(scores: np.ndarray, other_scores: np.ndarray) -> np.ndarray:
    """Count the sentences that score lower than, equal to and higher than those of another system.

    Args:
        scores: (runs, sentences).
        other_scores: (runs of the other system, sentences).

    Returns:
        Means over all pairs of runs, (3,).
    """
    signs = np.sign(scores[:, None] - other_scores[None])
    return np.array([(signs == sign).sum(axis=-1).mean() for sign in DIFFERENCE_SIGNS.values()])
