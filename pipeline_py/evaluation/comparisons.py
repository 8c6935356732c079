"""All pairs of systems on one set by three tests, corrected for how many they are, and intervals of their BLEU."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Annotated

import numpy as np

from pipeline_py import stage
from pipeline_py.artifact import writing
from pipeline_py.evaluation import bleu, holm, randomization, resampling
from pipeline_py.evaluation.named_files import by_system, named_files
from pipeline_py.evaluation.sign_test import sign_test
from pipeline_py.evaluation.system_statistics import SystemStatistics, pooled_alike, read_statistics, sums_over
from pipeline_py.options import Option
from pipeline_py.stage import InputError

TESTS = ("sign", "bootstrap", "randomization")
COLUMNS = (
    "system",
    "other",
    "bleu_system",
    "bleu_other",
    "difference",
    "low",
    "high",
    "better",
    "worse",
    "ties",
    *(column for test in TESTS for column in (f"p_{test}", f"p_{test}_holm")),
)
INTERVAL_COLUMNS = ("system", "bleu", "low", "high")


@dataclass(frozen=True)
class Resampled:
    """BLEU of a system's runs as one corpus: on the set itself, and on each resampled set, (samples,)."""

    score: float
    scores: np.ndarray


def comparisons(
    *,
    system: list[str],
    reference: list[Path],
    output: Path,
    intervals_output: Path,
    samples: Annotated[int, Option(min=1)] = 10000,
    trials: Annotated[int, Option(min=1)] = 10000,
    seed: Annotated[int, Option(min=0)] = 12345,
    trees: Path | None = None,
    tokenizer: bleu.Tokenizer = "13a",
    lowercase: Annotated[bool, Option("--lowercase/--cased")] = True,
) -> None:
    """Compare all pairs of systems in BLEU by sign test, paired bootstrap and approximate randomization.

    The output has each pair once; `other` is the one that is given first, so that a baseline that is given before all
    is `other` throughout. `low` and `high` are the ends of the 95 % interval of `difference`, by the paired bootstrap.
    `better`, `worse` and `ties` count the sentences that raise, lower or leave BLEU when they replace those of `other`.
    Of each test there is the p-value, and in the column `…_holm` the same corrected for all pairs of the output (Holm
    1979). P-values of sign test and paired bootstrap are found as by the stages `significance` and
    `bootstrap`, those of approximate randomization as by sacrebleu, but see `randomization.p_value`. There are more
    resampled sets than `bootstrap` draws: of 1,000 the least p-value is 1 / 1,001, and corrected for the pairs of
    eleven systems it would be above 0.05.

    The other output has BLEU of each system with its 95 % interval.

    Of several runs of a system (seeds), the outputs of all runs for a sentence are replaced, resampled or exchanged
    together; differences and intervals are of all runs as one corpus. `bleu…` are means over the runs, as in tables.

    Args:
        system: NAME:RUN=FILE, the detokenized output of a system's run; give the option once for each (NAME=FILE
            where there is one run). Systems have equally many runs, or a single one.
        reference: a reference translation; give the option once for each.
        output: the comparisons as TSV.
        intervals_output: the intervals as TSV, in the order of systems.
        samples: number of resampled sets.
        trials: number of random exchanges.
        seed: seed of the draws; the default is sacrebleu's.
        trees: a parser's phrase trees of the source (PTB brackets, one a line): only sentences that were parsed are
            scored. By default all are.
        tokenizer: sacrebleu's tokenizer, the same as for the scores.
        lowercase: case-insensitive BLEU, the same as for the scores.

    Raises:
        InputError: if there is no system, runs differ in number, files differ in length, a reference line is empty, or
            no sentence is to be scored.
    """
    systems = by_system(named_files(system, "--system"))
    if not systems:
        raise InputError("no system to compare; give --system NAME=FILE")
    statistics = read_statistics(systems, reference, tokenizer, lowercase, trees)
    pooled = pooled_alike(statistics)
    resampled = _resampled(statistics, samples, seed)
    pairs = [(name, other) for other, name in combinations(systems, 2)]
    signs = [sign_test(pooled[name], pooled[other]) for name, other in pairs]
    p_values = {
        "sign": [test.p_value for test in signs],
        "bootstrap": [_bootstrap(resampled[name], resampled[other]) for name, other in pairs],
        "randomization": _randomization(pooled, pairs, trials, seed),
    }
    columns = [column for test in TESTS for column in (p_values[test], holm.adjusted(p_values[test]))]
    scores = {name: of_system.mean_score for name, of_system in statistics.items()}
    with writing(output) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        for (name, other), sign, *values in zip(pairs, signs, *columns, strict=True):
            difference = _difference(resampled[name], resampled[other])
            counts = sign.better, sign.worse, sign.ties
            table.writerow((name, other, scores[name], scores[other], *difference, *counts, *values))
    with writing(intervals_output) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(INTERVAL_COLUMNS)
        for name in systems:
            table.writerow((name, scores[name], *resampling.interval(resampled[name].scores)))


def _resampled(statistics: Mapping[str, SystemStatistics], samples: int, seed: int) -> dict[str, Resampled]:
    pooled = {name: of_system.pooled for name, of_system in statistics.items()}
    times = resampling.times_drawn(_sentences(pooled), samples, seed)
    return {
        name: Resampled(float(bleu.scores(pooled[name].sum(axis=0, keepdims=True))[0]), bleu.scores(sums))
        for name, sums in sums_over(times, pooled).items()
    }


def _sentences(pooled: Mapping[str, np.ndarray]) -> int:
    (sentences,) = {len(statistics) for statistics in pooled.values()}
    return sentences


def _difference(system: Resampled, other: Resampled) -> tuple[float, float, float]:
    return system.score - other.score, *resampling.interval(system.scores - other.scores)


def _bootstrap(system: Resampled, other: Resampled) -> float:
    return resampling.p_value(system.score - other.score, system.scores, other.scores)


def _randomization(
    pooled: Mapping[str, np.ndarray], pairs: Sequence[tuple[str, str]], trials: int, seed: int
) -> list[float]:
    """P-values of pairs; the same sentences change places in all of them."""
    kept = sums_over(randomization.sentences_kept(_sentences(pooled), trials, seed), pooled)
    total = {name: statistics.sum(axis=0) for name, statistics in pooled.items()}
    return [randomization.p_value(total[name], kept[name], total[other], kept[other]) for name, other in pairs]


if __name__ == "__main__":
    stage.run(comparisons)
