"""What BLEU is counted from, of systems that were run once or several times (training seeds), sentence by sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np

from pipeline_py.evaluation import bleu
from pipeline_py.progress import progress
from pipeline_py.stage import InputError

SETS_AT_A_TIME = 500
"""So many rows become floats at a time."""


@dataclass(frozen=True)
class SystemStatistics:
    """Statistics of every sentence of every run of a system.

    Attributes:
        runs: (runs, sentences, 10), integers; see `bleu`.
    """

    runs: np.ndarray

    @property
    def scores(self) -> list[float]:
        """BLEU of each run in percent."""
        return [bleu.corpus_score(run).score for run in self.runs]

    @property
    def mean_score(self) -> float:
        """Mean of BLEU over the runs, as in tables."""
        return fmean(self.scores)

    @property
    def pooled(self) -> np.ndarray:
        """Statistics of all runs as one corpus, in which a sentence has the outputs of all, (sentences, 10)."""
        return self.runs.sum(axis=0)


def read_statistics(
    systems: Mapping[str, Sequence[Path]],
    references: Sequence[Path],
    tokenizer: bleu.Tokenizer,
    lowercase: bool,
    trees: Path | None = None,
) -> dict[str, SystemStatistics]:
    """Count what BLEU needs of each system.

    Args:
        systems: detokenized outputs of the runs of each.
        references: reference translations.
        tokenizer: sacrebleu's tokenizer.
        lowercase: whether case is ignored.
        trees: a parser's phrase trees; only sentences that were parsed count. All if None.

    Raises:
        InputError: if files differ in length, a reference line is empty, or no sentence is to be scored.
    """
    files = [path for paths in systems.values() for path in paths]
    texts = list(map(list, zip(*bleu.read_sentences(files, references, trees), strict=True)))
    outputs = dict(zip(files, texts, strict=False))
    metric = bleu.metric(tokenizer, lowercase, texts[len(files) :])
    return {
        # None: the references that the metric was made with.
        name: SystemStatistics(np.array([metric._extract_corpus_statistics(outputs[path], None) for path in paths]))
        for name, paths in progress(systems.items(), "statistics", unit="systems")
    }


def sums_over(times: np.ndarray, systems: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Sum up the statistics of systems over sets that have each sentence more or less often.

    Args:
        times: how often, (sets, sentences), integers or booleans.
        systems: statistics of each system, (sentences, 10), integers.

    Returns:
        Sums of each system, (sets, 10), integers.
    """
    # Products of floats are much faster than those of integers, and as exact below 2^53.
    statistics = np.concatenate([*systems.values()], axis=1).astype(np.float64)
    parts = [times[first : first + SETS_AT_A_TIME] @ statistics for first in range(0, len(times), SETS_AT_A_TIME)]
    sums = np.concatenate(parts).astype(np.int64)
    return dict(zip(systems, np.split(sums, len(systems), axis=1), strict=True))


def pooled_alike(systems: Mapping[str, SystemStatistics]) -> dict[str, np.ndarray]:
    """Pool the runs of each system so that sentences of one can take the place of another's.

    A system with a single run says the same each time, as often as the others were run.

    Returns:
        Statistics of each system, (sentences, 10).

    Raises:
        InputError: if systems with several runs differ in how many.
    """
    runs = max(len(statistics.runs) for statistics in systems.values())
    for name, statistics in systems.items():
        if len(statistics.runs) not in (1, runs):
            raise InputError(
                f"--system {name!r} has {len(statistics.runs)} runs and others have {runs}; give equally many, or one"
            )
    return {name: statistics.pooled * (runs // len(statistics.runs)) for name, statistics in systems.items()}
