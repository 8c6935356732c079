"""What scores are counted from, of systems that were run once or several times (training seeds), by sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pipeline_py.evaluation.column_files import read_sentence_columns
from pipeline_py.evaluation.metric import Metric, get_metric_class
from pipeline_py.run.errors import InputError

SAMPLES_PER_BLOCK = 500
"""So many are drawn, or become floats, at a time."""


@dataclass(frozen=True)
class SystemStatistics:
    """Statistics of every sentence of every run of a system.

    Attributes:
        run_statistics: (runs, sentences, statistics).
        metric: what they are of.
        signatures: how each run was counted.
    """

    run_statistics: np.ndarray
    metric: type[Metric]
    signatures: Sequence[str] = field(default=())

    @property
    def run_sums(self) -> np.ndarray:
        """Statistics summed over the sentences, (runs, statistics)."""
        return np.sum(self.run_statistics, axis=1)

    @property
    def run_scores(self) -> list[float]:
        """The score of each run in percent."""
        return [float(score) for score in self.metric.score_corpora(self.run_sums)]

    def select_sentences(self, sentence_indices: np.ndarray) -> "SystemStatistics":
        """The statistics of some of the sentences."""
        return SystemStatistics(self.run_statistics[:, sentence_indices], self.metric, self.signatures)


def read_statistics(
    statistics_files: Mapping[str, Sequence[Path]], metrics: Sequence[str], sentence_indices: np.ndarray | None = None
) -> dict[str, dict[str, SystemStatistics]]:
    """Read what scores of systems on one set are counted from.

    Args:
        statistics_files: of each the files of its runs, of `evaluation.compute_metric_statistics`.
        metrics: those that are asked for.
        sentence_indices: of the sentences that count; all if None.

    Returns:
        By metric and system.

    Raises:
        InputError: if files differ in length, or were counted differently.
    """
    found: dict[str, dict[str, SystemStatistics]] = {name: {} for name in metrics}
    first: tuple[Path, int] | None = None
    for system, paths in statistics_files.items():
        files = [read_sentence_columns(path) for path in paths]
        for path, (columns, _) in zip(paths, files, strict=True):
            sentences = len(next(iter(columns.values())))
            first = first or (path, sentences)
            if sentences != first[1]:
                raise InputError(f"{sentences} sentences, but {first[0]} has {first[1]}; give files of one set", path)
        for name in metrics:
            runs = np.stack([columns[name] for columns, _ in files])
            signatures = [about[name] for _, about in files]
            found[name][system] = SystemStatistics(
                runs if sentence_indices is None else runs[:, sentence_indices], get_metric_class(name), signatures
            )
    for name, of_systems in found.items():
        _check_signatures(name, of_systems)
    return found


def _check_signatures(metric: str, systems: Mapping[str, SystemStatistics]) -> None:
    """See to it that scores can be compared."""
    counted = {signature: system for system, of in systems.items() for signature in of.signatures}
    if len(counted) > 1:
        (one, first), (two, second), *_ = counted.items()
        raise InputError(f"{metric} of {first!r} was counted as {one} and of {second!r} as {two}; count both alike")


def sum_over_samples(sentence_counts: np.ndarray, systems: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Sum up the statistics of systems over sets that have each sentence more or less often.

    Args:
        sentence_counts: how often, (sets, sentences), integers or booleans.
        systems: statistics of each system, (runs, sentences, statistics).

    Returns:
        Sums of each system, (runs, sets, statistics), floats; of integers they are exact.
    """
    # Products of floats are much faster than those of integers, and as exact below 2^53.
    columns = [run.astype(np.float64) for runs in systems.values() for run in runs]
    statistics = np.concatenate(columns, axis=1)
    parts = [
        sentence_counts[first : first + SAMPLES_PER_BLOCK] @ statistics
        for first in range(0, len(sentence_counts), SAMPLES_PER_BLOCK)
    ]
    sums = iter(np.split(np.concatenate(parts), len(columns), axis=1))
    return {name: np.stack([next(sums) for _ in runs]) for name, runs in systems.items()}


def compute_mean_scores(sums: np.ndarray, metric: type[Metric]) -> np.ndarray:
    """Score corpora of several runs: the mean over the runs, as in tables.

    Args:
        sums: statistics summed over each corpus, (runs, corpora, statistics).
        metric: what scores them.

    Returns:
        Means in percent, (corpora,).
    """
    return np.mean([metric.score_corpora(of_run) for of_run in sums], axis=0)
