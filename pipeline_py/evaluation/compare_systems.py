"""Compare all pairs of systems on one set: differences of systems, and tests of the given outputs."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import isnan, nan
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field, NonNegativeInt, PositiveInt

from pipeline_py.evaluation.column_files import read_sentence_columns
from pipeline_py.evaluation.output_properties import read_output_properties
from pipeline_py.evaluation.significance import holm_correction, randomization, resampling
from pipeline_py.evaluation.significance.sign_test import TwoWaySignTestResult, run_sign_test
from pipeline_py.evaluation.significance.system_difference import SystemDifference, SystemScores, estimate_difference
from pipeline_py.evaluation.system_statistics import SystemStatistics, read_statistics, sum_over_samples
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.run.errors import InputError

COMPARISON_TESTS = ("systems", "sign", "bootstrap", "randomization")
"""The test of systems, followed by the tests of the given outputs."""

SYSTEM_COMPARISON_COLUMNS = (
    *("metric", "system", "other", "runs_system", "runs_other", "score_system", "score_other"),
    *("difference", "low", "high", "detectable", "run_deviation", "run_deviation_from", "low_outputs", "high_outputs"),
    *("better", "worse", "ties", "better_replaced", "worse_replaced", "ties_replaced"),
    *(column for test in COMPARISON_TESTS for column in (f"p_{test}", f"p_{test}_holm")),
    *("p_sign_inserted", "p_sign_replaced", "p_bootstrap_sacrebleu"),
)
SCORE_INTERVAL_COLUMNS = ("metric", "system", "score", "low", "high")
SystemComparisonRow = tuple[str | float | None, ...]


def compare_systems(
    *,
    statistics: dict[str, dict[str, Path]],
    metrics: list[str],
    comparisons_output: Path,
    intervals_output: Path,
    run_deviation: dict[str, float] | None = None,
    networks: dict[str, str] | None = None,
    samples: Annotated[int, Field(ge=2)] = resampling.DEFAULT_SAMPLE_COUNT,
    trials: PositiveInt = 10000,
    seed: NonNegativeInt = resampling.DEFAULT_SEED,
    fewest_sentences: PositiveInt = 1,
    sentence_properties: Path | None = None,
) -> None:
    """Compare all pairs of systems: their difference over sentences and runs, and three tests of their outputs.

    Tables and the page take their significance marks from this output.

    The output has each pair once for each metric; `other` is the system that is given first, so a baseline given
    before all others is always `other`. `difference` is the score of `system` minus that of `other`. Two kinds of
    statements follow:

    - About systems: `low` and `high` are the ends of the 95 % interval over other sentences and other training runs
      (`significance.system_difference`), `p_systems` the p-value of that difference, `detectable` the smallest
      difference that is found with 80 % power. If a system has a single run, `run_deviation` is the standard deviation
      between runs that is assumed for it, and `run_deviation_from` says whether it is `pooled` over the systems given
      here or the `default`.
    - About these outputs, which say nothing about other runs: the sign test of Collins et al. (2005) in both
      directions (`p_sign_inserted`: outputs of `system` replace those of `other`; `p_sign_replaced`: the reverse;
      `p_sign`: the larger one, or 1 if the directions favour different systems), the paired bootstrap of Koehn (2004)
      with its 95 % interval (`p_bootstrap`, `low_outputs`, `high_outputs`), and approximate randomization
      (`p_randomization`). `better`, `worse` and `ties` count the sentences of `system` that improve the score of the
      set, worsen it, or leave it unchanged when they replace those of `other`; the columns `…_replaced` count the
      same in the other direction. `p_bootstrap_sacrebleu` is the p-value of `sacrebleu --paired-bs`.

    All p-values are two-sided but that of sacrebleu. The columns `…_holm` have the values corrected for all pairs on
    the set (Holm 1979). There are more resampled sets than sacrebleu's default of 1,000, since the smallest p-value
    with that many, corrected for the pairs of eleven systems, would be above 0.05.

    With several runs of a system (seeds), scores and differences are means over the runs. The tests of outputs replace,
    resample or exchange a sentence in all runs together; their columns are empty for systems with different numbers of
    runs, unless one of them has a single run. On a set with fewer different references than `fewest_sentences` nothing
    can be inferred, and all intervals and p-values are empty.

    Args:
        statistics: Files of `evaluation.compute_metric_statistics` by system and run.
        metrics: Modules of `evaluation/metrics`.
        comparisons_output: The comparisons as TSV.
        intervals_output: TSV of the score of each system with its 95 % interval over sentences, in their order.
        run_deviation: By metric, the standard deviation between runs that is assumed if no system has several runs; by
            default 0.
        networks: By system, the network that each of its runs searches with; systems with the same network differ in
            their search only.
        samples: Number of resampled sets.
        trials: Number of random exchanges.
        seed: Seed of the draws; by default sacrebleu's.
        fewest_sentences: Number of different references that a set needs for inference.
        sentence_properties: The file of `evaluation.measure_source_properties` for a parser's trees: only parsed
            sentences are scored. By default all are.

    Raises:
        InputError: if files differ in length, or no sentence is to be scored.
    """
    systems = {system: [*runs.values()] for system, runs in statistics.items()}
    sentence_indices = None if sentence_properties is None else find_parsed_sentences(sentence_properties)
    deviations, network_names = run_deviation or {}, networks or {}
    properties = read_output_properties(next(iter(systems.values()))[0]).select_sentences(sentence_indices)
    can_infer = properties.distinct_reference_count >= fewest_sentences
    pairs: list[SystemComparisonRow] = []
    intervals: list[SystemComparisonRow] = []
    for name, system_statistics in read_statistics(systems, metrics, sentence_indices).items():
        comparison = PairwiseComparison(
            system_statistics, deviations.get(name, 0.0), network_names, samples, trials, seed, can_infer
        )
        pairs += [(name, *row) for row in comparison.build_comparison_rows()]
        intervals += [(name, *row) for row in comparison.build_interval_rows()]
    write_tsv(comparisons_output, SYSTEM_COMPARISON_COLUMNS, pairs)
    write_tsv(intervals_output, SCORE_INTERVAL_COLUMNS, intervals)


def find_parsed_sentences(path: Path) -> np.ndarray:
    """Return the indices of the sentences that have a parse.

    Raises:
        InputError: no sentence has a parse.
    """
    parsed = read_sentence_columns(path)[0].get("parse", np.zeros(0))
    if not parsed.any():
        raise InputError("no sentence was parsed, so none is left to score; score all of them", path)
    return np.flatnonzero(parsed)


class PairwiseComparison:
    """A comparison of all pairs of systems on one set in one metric."""

    def __init__(
        self,
        statistics: Mapping[str, SystemStatistics],
        run_deviation: float,
        network_names: Mapping[str, str],
        sample_count: int,
        trial_count: int,
        seed: int,
        can_infer: bool,
    ) -> None:
        """Resample the set.

        Args:
            statistics: sentence statistics by system.
            run_deviation: the standard deviation between runs that is assumed if no system has several.
            network_names: the trained network of systems that share one.
            sample_count: number of resampled sets.
            trial_count: number of random exchanges.
            seed: seed of the draws.
            can_infer: whether the set has enough sentences for intervals and tests.
        """
        self.statistics = statistics
        self.metric = next(iter(statistics.values())).metric
        self.run_deviation = run_deviation
        self.network_names = network_names
        self.trial_count, self.seed = trial_count, seed
        self.can_infer = can_infer
        self.system_scores = {
            name: SystemScores(np.array(statistics[name].run_scores), resampled, self.metric.higher_is_better)
            for name, resampled in resampling.resample_run_scores(statistics, sample_count, seed).items()
        }

    def build_interval_rows(self) -> Iterator[SystemComparisonRow]:
        """Yield each system's score with its interval over sentences."""
        for name, system in self.system_scores.items():
            ends = (
                resampling.compute_score_interval(system.resampled_scores.mean(axis=0))
                if self.can_infer
                else (None, None)
            )
            yield (name, system.mean_score, *ends)

    def build_comparison_rows(self) -> Iterator[SystemComparisonRow]:
        """Yield the rows of all pairs, from the column `system` on."""
        pairs = [(name, other_scores) for other_scores, name in combinations(self.statistics, 2)]
        differences = [self._estimate_difference(*pair) for pair in pairs]
        signs = [self._run_sign_test(*pair) for pair in pairs]
        bootstraps = [self._run_bootstrap(*pair) for pair in pairs]
        p_values = {
            "systems": [difference.p_value for difference in differences],
            "sign": [nan if sign is None else sign.p_value for sign in signs],
            "bootstrap": [p_value for p_value, _, _ in bootstraps],
            "randomization": self._run_randomization(pairs),
        }
        columns = [
            column
            for test in COMPARISON_TESTS
            for column in (p_values[test], holm_correction.adjust_defined_p_values(p_values[test]))
        ]
        for pair, difference, sign, bootstrap, *tests in zip(
            pairs, differences, signs, bootstraps, *columns, strict=True
        ):
            system_scores, other_scores = (self.system_scores[name] for name in pair)
            counts = (nan,) * 6 if sign is None else (*sign.insertion_test.counts, *sign.replacement_test.counts)
            directions = (nan, nan) if sign is None else (sign.insertion_test.p_value, sign.replacement_test.p_value)
            system_values = (difference.low, difference.high, difference.smallest_detectable)
            output_values = (*bootstrap[1], *counts, *tests, *directions, bootstrap[2])
            yield (
                *pair,
                *difference.run_counts,
                system_scores.mean_score,
                other_scores.mean_score,
                difference.value,
                *(value if self.can_infer else None for value in system_values),
                difference.run_deviation,
                difference.run_variance_origin,
                *(None if not self.can_infer or isnan(value) else value for value in output_values),
            )

    def _estimate_difference(self, system: str, other_system: str) -> SystemDifference:
        network = self.network_names.get(system)
        return estimate_difference(
            self.system_scores[system],
            self.system_scores[other_system],
            self.system_scores.values(),
            self.run_deviation,
            has_same_networks=network is not None and network == self.network_names.get(other_system),
        )

    def _pair_runs(self, system: str, other_system: str) -> tuple[np.ndarray, np.ndarray] | None:
        """Return equally many runs of both systems, (runs, sentences, statistics); a single run is repeated.

        Returns None if both systems have several runs, but not equally many.
        """
        pair = [self.statistics[name].run_statistics for name in (system, other_system)]
        runs = max(map(len, pair))
        if any(len(statistics) not in (1, runs) for statistics in pair):
            return None
        first, second = (np.broadcast_to(statistics, (runs, *statistics.shape[1:])) for statistics in pair)
        return first, second

    def _run_sign_test(self, system: str, other_system: str) -> TwoWaySignTestResult | None:
        runs = self._pair_runs(system, other_system)
        return None if runs is None else run_sign_test(*runs, self.metric)

    def _run_bootstrap(self, system: str, other_system: str) -> tuple[float, tuple[float, float], float]:
        """Return the p-value, the interval and sacrebleu's p-value."""
        scores, other_scores = (self.system_scores[name] for name in (system, other_system))
        resampled = scores.resampled_scores.mean(axis=0), other_scores.resampled_scores.mean(axis=0)
        return (
            resampling.compute_bootstrap_p_value(*resampled),
            resampling.compute_difference_interval(*resampled),
            resampling.compute_sacrebleu_p_value(scores.mean_score - other_scores.mean_score, *resampled),
        )

    def _run_randomization(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return the p-values of all pairs, which exchange the same sentences."""
        sentences = next(iter(self.statistics.values())).run_statistics.shape[1]
        all_kept_sums = sum_over_samples(
            randomization.draw_kept_sentences(sentences, self.trial_count, self.seed),
            {name: system.run_statistics for name, system in self.statistics.items()},
        )
        p_values = []
        for pair in pairs:
            runs = self._pair_runs(*pair)
            if runs is None:
                p_values.append(nan)
                continue
            totals = [statistics.sum(axis=1) for statistics in runs]
            kept_sums = [
                np.broadcast_to(all_kept_sums[name], (len(runs[0]), *all_kept_sums[name].shape[1:])) for name in pair
            ]
            p_values.append(
                randomization.compute_randomization_p_value(
                    totals[0], kept_sums[0], totals[1], kept_sums[1], self.metric
                )
            )
        return p_values
