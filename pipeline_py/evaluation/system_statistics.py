"""Sentence statistics of systems with one or several runs (training seeds)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pipeline_py.evaluation.column_files import read_sentence_columns
from pipeline_py.evaluation.metric import Metric, get_metric_class
from pipeline_py.run.errors import InputError

SAMPLES_PER_BLOCK = 500
"""Number of samples that are processed at a time, to limit memory."""


@dataclass(frozen=True)
class SystemStatistics:
    """Statistics of every sentence of every run of a system.

    Attributes:
        run_statistics: (runs, sentences, statistics).
        metric: the metric of the statistics.
        signatures: signature of the metric for each run.
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
        """Return the statistics of a subset of the sentences."""
        return SystemStatistics(self.run_statistics[:, sentence_indices], self.metric, self.signatures)


def read_statistics(
    statistics_files: Mapping[str, Sequence[Path]], metrics: Sequence[str], sentence_indices: np.ndarray | None = None
) -> dict[str, dict[str, SystemStatistics]]:
    """Read the statistics of systems on one set.

    Args:
        statistics_files: by system, a file of `evaluation.compute_metric_statistics` for each run.
        metrics: metrics to read.
        sentence_indices: sentences to select; all if None.

    Returns:
        Statistics by metric and system.

    Raises:
        InputError: files differ in length, or metrics have different signatures.
    """
    statistics: dict[str, dict[str, SystemStatistics]] = {name: {} for name in metrics}
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
            signatures = [signatures_by_metric[name] for _, signatures_by_metric in files]
            statistics[name][system] = SystemStatistics(
                runs if sentence_indices is None else runs[:, sentence_indices], get_metric_class(name), signatures
            )
    for name, systems in statistics.items():
        _check_signatures(name, systems)
    return statistics


def _check_signatures(metric: str, systems: Mapping[str, SystemStatistics]) -> None:
    """Raise an error unless all systems have the same signature."""
    counted = {signature: system for system, statistics in systems.items() for signature in statistics.signatures}
    if len(counted) > 1:
        (signature, first), (other_signature, second), *_ = counted.items()
        raise InputError(
            f"{metric} of {first!r} was counted as {signature} and of {second!r} as {other_signature}; count both alike"
        )


def sum_over_samples(sentence_multiplicities: np.ndarray, systems: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Sum up the statistics of systems over samples, sets that contain each sentence a number of times.

    Args:
        sentence_multiplicities: number of times that each set contains each sentence, (sets, sentences), integers or
            booleans.
        systems: statistics of each system, (runs, sentences, statistics).

    Returns:
        Sums of each system, (runs, sets, statistics), floats; exact for integer statistics.
    """
    # Float products are much faster than integer products, and exact below 2^53.
    columns = [run.astype(np.float64) for runs in systems.values() for run in runs]
    statistics = np.concatenate(columns, axis=1)
    parts = [
        sentence_multiplicities[first : first + SAMPLES_PER_BLOCK] @ statistics
        for first in range(0, len(sentence_multiplicities), SAMPLES_PER_BLOCK)
    ]
    sums = iter(np.split(np.concatenate(parts), len(columns), axis=1))
    return {name: np.stack([next(sums) for _ in runs]) for name, runs in systems.items()}


def compute_mean_scores(sums: np.ndarray, metric: type[Metric]) -> np.ndarray:
    """Return the mean score of corpora over runs.

    Args:
        sums: statistics summed over each corpus, (runs, corpora, statistics).
        metric: the metric of the statistics.

    Returns:
        Means in percent, (corpora,).
    """
    return np.mean([metric.score_corpora(run_sums) for run_sums in sums], axis=0)
