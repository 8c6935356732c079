"""Scores of groups of sentences, with intervals that say how much of a difference may be the few sentences'."""

from collections.abc import Iterator, Mapping
from statistics import fmean, stdev

import numpy as np

from pipeline_py.evaluation import resampling
from pipeline_py.evaluation.system_statistics import SystemStatistics

COLUMNS = ("sentences", "system", "bleu", "sd", "bleu_low", "bleu_high")


def scores_of(
    statistics: Mapping[str, SystemStatistics], places: np.ndarray
) -> Iterator[tuple[int, str, float, float | None, float, float]]:
    """Score some sentences of each system.

    Args:
        statistics: of all sentences of each system.
        places: of the group's sentences, from 0.

    Yields:
        Of each system what `COLUMNS` name: how many sentences there are; the mean over its runs, and their sample
        standard deviation (None of one run); the 95 % interval of the mean, found as `evaluation.comparisons` finds
        that of a whole set, from sets that are drawn from the group's sentences.
    """
    group = {name: of_system.of(places) for name, of_system in statistics.items()}
    resampled = resampling.resampled_scores(group, resampling.SAMPLES, resampling.SEED)
    for name, of_system in group.items():
        scores = of_system.scores
        spread = stdev(scores) if len(scores) > 1 else None
        yield len(places), name, fmean(scores), spread, *resampling.interval(resampled[name])
