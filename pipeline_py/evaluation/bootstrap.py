"""Every pair of systems on one set, compared by paired bootstrap resampling (Koehn 2004) in BLEU and in RIBES."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from statistics import fmean
from typing import Annotated

import numpy as np
from sacrebleu.metrics.base import Metric
from sacrebleu.significance import estimate_ci

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.evaluation import bleu, ribes
from pipeline_py.evaluation.named_files import by_system, named_files
from pipeline_py.evaluation.resampling import p_value, times_drawn
from pipeline_py.options import Option
from pipeline_py.progress import progress
from pipeline_py.stage import InputError

COLUMNS = (
    "metric",
    "system",
    "other",
    "score_system",
    "score_other",
    "difference",
    "p_value",
    "ci_system",
    "ci_other",
)


@dataclass(frozen=True)
class Scores:
    """A system's scores in percent: mean over its runs, all runs as one corpus, and these on each resampled set."""

    mean: float
    pooled: float
    resampled: np.ndarray  # (samples,)

    @property
    def ci(self) -> float:
        """Half the width of the 95 % interval of the pooled score."""
        return float(estimate_ci(self.resampled)[1])


def bootstrap(
    *,
    system: list[str],
    reference: list[Path],
    output: Path,
    samples: Annotated[int, Option(min=1)] = 1000,
    seed: Annotated[int, Option(min=0)] = 12345,
    trees: Path | None = None,
    tokenizer: bleu.Tokenizer = "13a",
    lowercase: Annotated[bool, Option("--lowercase/--cased")] = True,
) -> None:
    """Compare systems pairwise by paired bootstrap resampling, in BLEU and in RIBES; uncorrected p-values.

    The output has one row for every metric (`bleu`, `ribes`) and ordered pair of systems. All systems and both metrics
    are looked at on the same resampled sets, those that `sacrebleu --paired-bs` draws with the same seed. P-values are
    sacrebleu's, except where no resampled set tells two systems apart; see `resampling.p_value`. `ci_system` and
    `ci_other` are half the width of the 95 % intervals of the two scores.

    Of several runs of a system (seeds), a resampled sentence brings the outputs of all runs, and the score is that of
    all runs as one corpus; `difference` and the intervals are of these. `score_system` and `score_other` are means
    over the runs, as in tables. For RIBES, and for single runs, the two are the same.

    Args:
        system: NAME:RUN=FILE, the detokenized output of a system's run; give the option once for each (NAME=FILE
            where there is one run).
        reference: a reference translation; give the option once for each.
        output: the comparisons as TSV.
        samples: number of resampled sets.
        seed: seed of the draws; the default is sacrebleu's.
        trees: a parser's phrase trees of the source (PTB brackets, one a line): only sentences that were parsed are
            scored. By default all are.
        tokenizer: sacrebleu's tokenizer, the same as for the scores.
        lowercase: case-insensitive scores, the same as for the scores.

    Raises:
        InputError: if there are fewer than two systems, files differ in length, a reference line is empty, or no
            sentence is to be scored.
    """
    systems = by_system(named_files(system, "--system"))
    if len(systems) < 2:
        raise InputError("bootstrap compares systems; give --system NAME=FILE at least twice")
    files = [path for paths in systems.values() for path in paths]
    texts = list(map(list, zip(*bleu.read_sentences(files, reference, trees), strict=True)))
    outputs, references = dict(zip(files, texts, strict=False)), texts[len(files) :]
    times = times_drawn(len(texts[0]), samples, seed)
    metrics: dict[str, tuple[Metric, Callable[[np.ndarray], np.ndarray]]] = {
        "bleu": (bleu.metric(tokenizer, lowercase, references), bleu.scores),
        "ribes": (ribes.RIBES(tokenizer, lowercase, references), ribes.scores),
    }
    with writing(output) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        for metric, (counting, score) in metrics.items():
            scores = {}
            for name, paths in progress(systems.items(), f"bootstrap {metric}", unit="systems"):
                statistics = _statistics(counting, [outputs[path] for path in paths])
                scores[name] = _scores(statistics, times, score)
            for name, other in permutations(systems, 2):
                first, second = scores[name], scores[other]
                difference = first.pooled - second.pooled
                p = p_value(difference, first.resampled, second.resampled)
                table.writerow((metric, name, other, first.mean, second.mean, difference, p, first.ci, second.ci))


def _statistics(metric: Metric, runs: Sequence[list[str]]) -> np.ndarray:
    """Statistics of every sentence of every run, (runs, sentences, statistics of the metric)."""
    # None: the references that the metric was made with.
    return np.array([metric._extract_corpus_statistics(lines, None) for lines in runs])


def _scores(statistics: np.ndarray, times: np.ndarray, score: Callable[[np.ndarray], np.ndarray]) -> Scores:
    pooled = statistics.sum(axis=0)
    return Scores(
        mean=fmean(score(statistics.sum(axis=1))),
        pooled=float(score(pooled.sum(axis=0, keepdims=True))[0]),
        resampled=score(times @ pooled),
    )


if __name__ == "__main__":
    stage.run(bootstrap)
