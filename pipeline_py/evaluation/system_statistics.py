"""What scores are counted from, of systems that were run once or several times (training seeds), by sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pipeline_py.evaluation.columns import read_columns
from pipeline_py.evaluation.metric import Metric, named
from pipeline_py.run.errors import InputError

SETS_AT_A_TIME = 500
"""So many are drawn, or become floats, at a time."""


@dataclass(frozen=True)
class SystemStatistics:
    """Statistics of every sentence of every run of a system.

    Attributes:
        runs: (runs, sentences, statistics).
        metric: what they are of.
        signatures: how each run was counted.
    """

    runs: np.ndarray
    metric: type[Metric]
    signatures: Sequence[str] = field(default=())

    @property
    def sums(self) -> np.ndarray:
        """Statistics summed over the sentences, (runs, statistics)."""
        return np.sum(self.runs, axis=1)

    @property
    def scores(self) -> list[float]:
        """The score of each run in percent."""
        return [float(score) for score in self.metric.scores(self.sums)]

    def of(self, places: np.ndarray) -> "SystemStatistics":
        """The statistics of some of the sentences."""
        return SystemStatistics(self.runs[:, places], self.metric, self.signatures)


def read_statistics(
    systems: Mapping[str, Sequence[Path]], metrics: Sequence[str], places: np.ndarray | None = None
) -> dict[str, dict[str, SystemStatistics]]:
    """Read what scores of systems on one set are counted from.

    Args:
        systems: of each the files of its runs, of `evaluation.statistics`.
        metrics: those that are asked for.
        places: of the sentences that count; all if None.

    Returns:
        By metric and system.

    Raises:
        InputError: if files differ in length, or were counted differently.
    """
    found: dict[str, dict[str, SystemStatistics]] = {name: {} for name in metrics}
    first: tuple[Path, int] | None = None
    for system, paths in systems.items():
        files = [read_columns(path) for path in paths]
        for path, (columns, _) in zip(paths, files, strict=True):
            sentences = len(next(iter(columns.values())))
            first = first or (path, sentences)
            if sentences != first[1]:
                raise InputError(f"{sentences} sentences, but {first[0]} has {first[1]}; give files of one set", path)
        for name in metrics:
            runs = np.stack([columns[name] for columns, _ in files])
            signatures = [about[name] for _, about in files]
            found[name][system] = SystemStatistics(runs if places is None else runs[:, places], named(name), signatures)
    for name, of_systems in found.items():
        _check_signatures(name, of_systems)
    return found


def _check_signatures(metric: str, systems: Mapping[str, SystemStatistics]) -> None:
    """See to it that scores can be compared."""
    counted = {signature: system for system, of in systems.items() for signature in of.signatures}
    if len(counted) > 1:
        (one, first), (two, second), *_ = counted.items()
        raise InputError(f"{metric} of {first!r} was counted as {one} and of {second!r} as {two}; count both alike")


def sums_over(times: np.ndarray, systems: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Sum up the statistics of systems over sets that have each sentence more or less often.

    Args:
        times: how often, (sets, sentences), integers or booleans.
        systems: statistics of each system, (runs, sentences, statistics).

    Returns:
        Sums of each system, (runs, sets, statistics), floats; of integers they are exact.
    """
    # Products of floats are much faster than those of integers, and as exact below 2^53.
    columns = [run.astype(np.float64) for runs in systems.values() for run in runs]
    statistics = np.concatenate(columns, axis=1)
    parts = [times[first : first + SETS_AT_A_TIME] @ statistics for first in range(0, len(times), SETS_AT_A_TIME)]
    sums = iter(np.split(np.concatenate(parts), len(columns), axis=1))
    return {name: np.stack([next(sums) for _ in runs]) for name, runs in systems.items()}


def mean_scores(sums: np.ndarray, metric: type[Metric]) -> np.ndarray:
    """Score corpora of several runs: the mean over the runs, as in tables.

    Args:
        sums: statistics summed over each corpus, (runs, corpora, statistics).
        metric: what scores them.

    Returns:
        Means in percent, (corpora,).
    """
    return np.mean([metric.scores(of_run) for of_run in sums], axis=0)
