"""Compare all pairs of systems on one set by three tests with Holm's correction; intervals of their scores."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Annotated

import numpy as np

from pipeline_py import stage
from pipeline_py.evaluation.files.columns import read_columns
from pipeline_py.evaluation.files.named_files import by_system, named_files
from pipeline_py.evaluation.files.tsv import write_rows
from pipeline_py.evaluation.metric import Metric
from pipeline_py.evaluation.significance import holm, randomization, resampling
from pipeline_py.evaluation.significance.sign_test import sign_test
from pipeline_py.evaluation.system_statistics import (
    SystemStatistics,
    read_statistics,
    sums_over,
    with_equally_many_runs,
)
from pipeline_py.input_error import InputError
from pipeline_py.options import Option

TESTS = ("sign", "bootstrap", "randomization")
COLUMNS = (
    "metric",
    "system",
    "other",
    "score_system",
    "score_other",
    "difference",
    "low",
    "high",
    "better",
    "worse",
    "ties",
    *(column for test in TESTS for column in (f"p_{test}", f"p_{test}_holm")),
)
INTERVAL_COLUMNS = ("metric", "system", "score", "low", "high")
Row = tuple[str | float, ...]


def compare(
    *,
    statistics: list[str],
    metric: list[str],
    output: Path,
    intervals_output: Path,
    samples: Annotated[int, Option(min=1)] = resampling.SAMPLES,
    trials: Annotated[int, Option(min=1)] = 10000,
    seed: Annotated[int, Option(min=0)] = resampling.SEED,
    parsed: Path | None = None,
) -> None:
    """Compare all pairs of systems by sign test, paired bootstrap and approximate randomization.

    Tables and the page take their significance marks from this output.

    The output has each pair once for each metric; `other` is the system that is given first, so that a baseline given
    before all others is always `other`. `difference` is the score of `system` minus that of `other`; `low` and `high`
    are the ends of its 95 % interval by the paired bootstrap. `better`, `worse` and `ties` count the sentences of
    `system` that improve the score of the set, worsen it, or leave it unchanged when they replace those of `other`.
    They give the direction of the sign test, which may differ from that of `difference`. Each test has its two-sided
    p-value, and in the column `…_holm` the p-value corrected for all pairs on the set (Holm 1979). P-values of
    bootstrap and randomization are sacrebleu's for the same number of draws, but see `resampling.p_value` and
    `randomization.p_value`. There are more resampled sets than sacrebleu's default of 1,000: with that many the
    smallest p-value is 1 / 1,001, which would be above 0.05 after correction for the pairs of eleven systems.

    The output of `--intervals-output` has the score of each system with its 95 % interval.

    With several runs of a system (seeds), scores and differences are means over the runs, as in tables, and the outputs
    of all runs for a sentence are replaced, resampled or exchanged together. The trials of a test are therefore the
    sentences of the set, and effects of single seeds average out, as Clark et al. (2011) recommend. If each output were
    a trial, a sentence would count several times.

    Args:
        statistics: NAME:RUN=FILE, or NAME=FILE for a single run: the file of `evaluation.statistics` for a system's
            run; repeatable. Systems have the same number of runs, or one.
        metric: A module of `evaluation/metrics`; repeatable.
        output: The comparisons as TSV.
        intervals_output: The intervals as TSV, in the order of systems.
        samples: Number of resampled sets.
        trials: Number of random exchanges.
        seed: Seed of the draws; by default sacrebleu's.
        parsed: The file of `evaluation.source_properties` for a parser's trees: only parsed sentences are scored. By
            default all are.

    Raises:
        InputError: if there is no system, runs differ in number, files differ in length, or no sentence is to be
            scored.
    """
    systems = by_system(named_files(statistics, "--statistics"))
    if not systems:
        raise InputError("no system to compare; give --statistics NAME=FILE")
    places = None if parsed is None else places_parsed(parsed)
    pairs: list[Row] = []
    intervals: list[Row] = []
    for name, of_systems in read_statistics(systems, [*dict.fromkeys(metric)], places).items():
        resampled = resampling.resampled_scores(of_systems, samples, seed)
        pairs += [(name, *row) for row in _pairs(of_systems, resampled, trials, seed)]
        intervals += [
            (name, one, fmean(of.scores), *resampling.interval(resampled[one])) for one, of in of_systems.items()
        ]
    write_rows(output, COLUMNS, pairs)
    write_rows(intervals_output, INTERVAL_COLUMNS, intervals)


def places_parsed(path: Path) -> np.ndarray:
    """The places of the sentences that were parsed, from 0.

    Raises:
        InputError: if there is none, or the file says nothing of trees.
    """
    parsed = read_columns(path)[0].get("parse", np.zeros(0))
    if not parsed.any():
        raise InputError("no sentence was parsed, so none is left to score; score all of them", path)
    return np.flatnonzero(parsed)


def _pairs(
    statistics: Mapping[str, SystemStatistics], resampled: Mapping[str, np.ndarray], trials: int, seed: int
) -> Iterator[Row]:
    """The rows of one metric, from the column `system` on."""
    scores = {name: fmean(of_system.scores) for name, of_system in statistics.items()}
    metric = next(iter(statistics.values())).metric
    runs = with_equally_many_runs(statistics)
    pairs = [(name, other) for other, name in combinations(statistics, 2)]
    signs = [sign_test(runs[name], runs[other], metric) for name, other in pairs]
    p_values = {
        "sign": [test.p_value for test in signs],
        "bootstrap": [
            resampling.p_value(scores[name] - scores[other], resampled[name], resampled[other]) for name, other in pairs
        ],
        "randomization": _randomization(runs, pairs, trials, seed, metric),
    }
    columns = [column for test in TESTS for column in (p_values[test], holm.adjusted(p_values[test]))]
    for (name, other), sign, *values in zip(pairs, signs, *columns, strict=True):
        difference = scores[name] - scores[other], *resampling.interval(resampled[name] - resampled[other])
        yield (name, other, scores[name], scores[other], *difference, sign.better, sign.worse, sign.ties, *values)


def _randomization(
    runs: Mapping[str, np.ndarray], pairs: Sequence[tuple[str, str]], trials: int, seed: int, metric: type[Metric]
) -> list[float]:
    """P-values of pairs; the same sentences change places in all of them."""
    (sentences,) = {of_system.shape[1] for of_system in runs.values()}
    kept = sums_over(randomization.sentences_kept(sentences, trials, seed), runs)
    total = {name: of_system.sum(axis=1) for name, of_system in runs.items()}
    return [randomization.p_value(total[name], kept[name], total[other], kept[other], metric) for name, other in pairs]


if __name__ == "__main__":
    stage.run(compare)
