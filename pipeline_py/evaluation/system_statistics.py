"""What scores are counted from, of systems that were run once or several times (training seeds), by sentence."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from pipeline_py.evaluation import bleu, ribes
from pipeline_py.progress import progress
from pipeline_py.stage import InputError

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric

MetricName = Literal["bleu", "ribes"]
Score = Callable[[np.ndarray], np.ndarray]
"""Sums of statistics over corpora, (corpora, statistics) → scores in percent, (corpora,)."""

SCORES: Mapping[MetricName, Score] = {"bleu": bleu.scores, "ribes": ribes.scores}

SETS_AT_A_TIME = 500
"""So many are drawn, or become floats, at a time."""


@dataclass(frozen=True)
class SystemStatistics:
    """Statistics of every sentence of every run of a system.

    Attributes:
        runs: (runs, sentences, statistics); see `bleu` and `ribes`.
        score: what counts scores from their sums.
    """

    runs: np.ndarray
    score: Score = bleu.scores

    @property
    def scores(self) -> list[float]:
        """The score of each run in percent."""
        return [float(score) for score in self.score(self.runs.sum(axis=1))]

    def of(self, places: np.ndarray) -> "SystemStatistics":
        """The statistics of some of the sentences."""
        return SystemStatistics(self.runs[:, places], self.score)


def read_statistics(
    systems: Mapping[str, Sequence[Path]],
    references: Sequence[Path],
    tokenizer: bleu.Tokenizer,
    lowercase: bool,
    trees: Path | None = None,
    metric: MetricName = "bleu",
) -> dict[str, SystemStatistics]:
    """Count what the scores of each system need.

    Args:
        systems: detokenized outputs of the runs of each.
        references: reference translations.
        tokenizer: sacrebleu's tokenizer.
        lowercase: whether case is ignored.
        trees: a parser's phrase trees; only sentences that were parsed count. All if None.
        metric: what is to be scored.

    Raises:
        InputError: if files differ in length, a reference line is empty, or no sentence is to be scored.
    """
    files = [path for paths in systems.values() for path in paths]
    texts = list(map(list, zip(*bleu.read_sentences(files, references, trees), strict=True)))
    outputs = dict(zip(files, texts, strict=False))
    make: Callable[..., Metric] = bleu.metric if metric == "bleu" else ribes.RIBES
    counting = make(tokenizer, lowercase, texts[len(files) :])
    return {
        # None: the references that the metric was made with.
        name: SystemStatistics(
            np.array([counting._extract_corpus_statistics(outputs[path], None) for path in paths]), SCORES[metric]
        )
        for name, paths in progress(systems.items(), f"statistics {metric}", unit="systems")
    }


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


def mean_scores(sums: np.ndarray, score: Score) -> np.ndarray:
    """Score corpora of several runs: the mean over the runs, as in tables.

    Args:
        sums: statistics summed over each corpus, (runs, corpora, statistics).
        score: what counts scores from such sums.

    Returns:
        Means in percent, (corpora,).
    """
    return np.mean([score(of_run) for of_run in sums], axis=0)


def with_equally_many_runs(systems: Mapping[str, SystemStatistics]) -> dict[str, np.ndarray]:
    """Give every system equally many runs, so that sentences of each can take the place of another's, run by run.

    A system with a single run says the same each time, as often as the others were run.

    Returns:
        Statistics of each system, (runs, sentences, statistics).

    Raises:
        InputError: if systems with several runs differ in how many.
    """
    runs = max(len(statistics.runs) for statistics in systems.values())
    for name, statistics in systems.items():
        if len(statistics.runs) not in (1, runs):
            raise InputError(
                f"--system {name!r} has {len(statistics.runs)} runs and others have {runs}; give equally many, or one"
            )
    return {name: np.broadcast_to(of.runs, (runs, *of.runs.shape[1:])) for name, of in systems.items()}
