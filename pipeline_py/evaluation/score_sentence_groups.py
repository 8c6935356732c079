"""Score groups of similar sentences: by length, by properties of their trees, with and without a parse.

The groups by length are those in the figures of the SDAtt and SDRNMT papers.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from pipeline_py.evaluation.column_files import read_sentence_columns
from pipeline_py.evaluation.metric import SENTENCE_METRIC
from pipeline_py.evaluation.sentence_scores import SENTENCE_SCORE_COLUMNS, count_sentence_scores
from pipeline_py.evaluation.significance import resampling
from pipeline_py.evaluation.system_statistics import SystemStatistics, read_statistics
from pipeline_py.files.tsv_files import write_tsv
from pipeline_py.run.errors import InputError

GROUP_BOUNDS: Mapping[str, Sequence[float]] = {
    "length": (10, 20, 30, 40, 50, 60, 70, 80),
    "phrase_depth": (4, 6, 8, 10, 12, 15, 20),
    "depth": (2, 3, 4, 5, 6, 8, 10),
    "dependency_length": (1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0),
}
"""Upper bounds of the groups by property."""

GROUP_NAMES: Mapping[str, Mapping[float, str]] = {"parse": {1: "parsed", 0: "not parsed"}}
"""Names of the values of properties without bounds, in order."""


class SentenceGroup(NamedTuple):
    """A group of sentences with similar values of a property.

    Attributes:
        grouping: the property.
        name: the upper bound, as in the papers; `>80` for the last, open group.
        lower_bound, upper_bound: lower_bound < value <= upper_bound; None for no bound.
        indices: indices of the sentences.
    """

    grouping: str
    name: str
    lower_bound: float | None
    upper_bound: float | None
    indices: np.ndarray


def score_sentence_groups(
    *,
    statistics: dict[str, dict[str, dict[str, Path]]],
    properties: dict[str, Path],
    metrics: list[str],
    scores_output: Path,
    sentence_scores_output: Path,
    baseline: str | None = None,
    bounds: list[int] | None = None,
) -> None:
    """Score groups of sentences that are similar in a property of the source (`measure_source_properties`).

    The score of a group is the corpus score of its sentences. For each metric the TSV has the mean over a system's runs
    (`bleu`), the sample standard deviation over them, which is empty for a single run (`sd` for the first metric,
    `NAME_sd` for others), and the ends of the 95 % interval (`bleu_low`, `bleu_high`), computed as in `compare_systems`
    by resampling the group's sentences. A group has the values `low` < value <= `high`; an empty field means an open
    end, or no number. Groups without a sentence are left out; a sentence without the property is in no group.

    Args:
        statistics: Files of `evaluation.compute_metric_statistics` by set, system and run, with the same systems and
            runs on all sets.
        properties: Files of `evaluation.measure_source_properties` by set. Groups are over all sets together.
        metrics: Modules of `evaluation/metrics`.
        scores_output: The scores as TSV, by group and then by system.
        sentence_scores_output: The distribution of scores of single sentences as TSV; see `evaluation.sentence_scores`.
        baseline: The system that the others are compared with in that distribution; by default the first.
        bounds: Upper bounds of groups by length, in rising order. By default 10, 20 … 80.

    Raises:
        InputError: if files of a set differ in length, or bounds do not rise.
    """
    property_bounds = {**GROUP_BOUNDS, "length": bounds or GROUP_BOUNDS["length"]}
    _check_bounds(property_bounds["length"])
    metric_statistics = _read_set_statistics(statistics, [*dict.fromkeys([*metrics, SENTENCE_METRIC])])
    values = _read_source_properties(properties, metric_statistics[SENTENCE_METRIC])
    columns = ["by", "bucket", "low", "high", "sentences", "system"]
    for number, name in enumerate(metrics):
        columns += [name, f"{name}_sd" if number else "sd", f"{name}_low", f"{name}_high"]
    rows: list[tuple[object, ...]] = []
    for group in split_into_groups(values, property_bounds):
        scores = [iterate_subset_scores(metric_statistics[name], group.indices) for name in metrics]
        for system, *numbers in zip(metric_statistics[SENTENCE_METRIC], *scores, strict=True):
            scored = [number for metric_numbers in numbers for number in metric_numbers]
            rows.append((*group[:4], len(group.indices), system, *scored))
    write_tsv(scores_output, columns, rows)
    write_tsv(
        sentence_scores_output,
        SENTENCE_SCORE_COLUMNS,
        count_sentence_scores(metric_statistics[SENTENCE_METRIC], baseline),
    )


def iterate_subset_scores(
    statistics: Mapping[str, SystemStatistics], sentence_indices: np.ndarray
) -> Iterator[tuple[float, float | None, float, float]]:
    """Yield each system's mean, standard deviation over runs, and interval on a subset of sentences."""
    group = {name: system.select_sentences(sentence_indices) for name, system in statistics.items()}
    resampled = resampling.resample_mean_scores(group, resampling.DEFAULT_SAMPLE_COUNT, resampling.DEFAULT_SEED)
    for name, system in group.items():
        scores = system.run_scores
        spread = stdev(scores) if len(scores) > 1 else None
        yield fmean(scores), spread, *resampling.compute_score_interval(resampled[name])


def split_into_groups(
    properties: Mapping[str, np.ndarray], bounds: Mapping[str, Sequence[float]]
) -> Iterator[SentenceGroup]:
    """Yield the nonempty groups of each property in order.

    Args:
        properties: values by property, (sentences,); NaN for a missing value.
        bounds: rising bounds by property; a value equal to a bound is in the group below it.
    """
    for grouping, values in properties.items():
        groups: list[tuple[str, float | None, float | None, np.ndarray]] = []
        if grouping in bounds:
            edges = [None, *bounds[grouping], None]
            above = np.where(np.isnan(values), -1, np.searchsorted(np.asarray(bounds[grouping]), values, side="left"))
            for place, (low, high) in enumerate(pairwise(edges)):
                groups.append((f">{low}" if high is None else str(high), low, high, above == place))
        else:
            groups = [(name, None, None, values == value) for value, name in GROUP_NAMES[grouping].items()]
        for name, low, high, members in groups:
            if members.any():
                yield SentenceGroup(grouping, name, low, high, np.flatnonzero(members))


def _read_set_statistics(
    statistics: Mapping[str, Mapping[str, Mapping[str, Path]]], metrics: Sequence[str]
) -> dict[str, dict[str, SystemStatistics]]:
    """Return statistics by metric and system, concatenated over all sets."""
    statistics_by_set = [
        read_statistics({system: [*runs.values()] for system, runs in systems.items()}, metrics)
        for systems in statistics.values()
    ]
    return {
        metric: {
            name: SystemStatistics(
                np.concatenate(
                    [set_statistics[metric][name].run_statistics for set_statistics in statistics_by_set], axis=1
                ),
                first.metric,
            )
            for name, first in statistics_by_set[0][metric].items()
        }
        for metric in metrics
    }


def _read_source_properties(
    property_files: Mapping[str, Path], system_statistics: Mapping[str, SystemStatistics]
) -> dict[str, np.ndarray]:
    """Return the properties that all sets have, concatenated over the sets."""
    columns_by_set = [read_sentence_columns(path)[0] for path in property_files.values()]
    values = {
        name: np.concatenate([columns[name] for columns in columns_by_set])
        for name in columns_by_set[0]
        if all(name in columns for columns in columns_by_set)
    }
    sentences = next(iter(system_statistics.values())).run_statistics.shape[1]
    if len(values["length"]) != sentences:
        raise InputError(
            f"the file has {len(values['length'])} sentences and the outputs have {sentences}; "
            "give the files of one set",
            [*property_files.values()][-1],
        )
    return values


def _check_bounds(bounds: Sequence[float]) -> None:
    if bounds[0] < 1 or any(lower >= upper for lower, upper in pairwise(bounds)):
        raise InputError(f"bounds {' '.join(map(str, bounds))}: give numbers that increase, from 1 or more")
