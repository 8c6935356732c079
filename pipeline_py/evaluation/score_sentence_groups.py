"""Scores by groups of similar sentences: of similar length, with similar trees, with and without a parse.

The groups by length are those of the figures in the SDAtt and SDRNMT papers.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from pipeline_py.evaluation.column_files import read_sentence_columns, write_tsv
from pipeline_py.evaluation.metric import SENTENCE_METRIC
from pipeline_py.evaluation.sentence_scores import SENTENCE_SCORE_COLUMNS, count_sentence_scores
from pipeline_py.evaluation.significance import resampling
from pipeline_py.evaluation.system_statistics import SystemStatistics, read_statistics
from pipeline_py.run.errors import InputError

GROUP_BOUNDS: Mapping[str, Sequence[float]] = {
    "length": (10, 20, 30, 40, 50, 60, 70, 80),
    "phrase_depth": (4, 6, 8, 10, 12, 15, 20),
    "depth": (2, 3, 4, 5, 6, 8, 10),
    "dependency_length": (1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0),
}
"""Of a property of sentences the upper bounds of its groups."""

GROUP_NAMES: Mapping[str, Mapping[float, str]] = {"parse": {1: "parsed", 0: "not parsed"}}
"""Of a property that has no bounds what its values are called, in order."""


class SentenceGroup(NamedTuple):
    """Some sentences.

    Attributes:
        grouping: what they have in common.
        name: how much of it: the upper bound, as the papers call a group; `>80` for the open one behind the last.
        lower_bound, upper_bound: it is more than `lower_bound`, and at most `upper_bound`; None where there is no such limit.
        indices: of the sentences, from 0.
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
    """Score groups of sentences that are similar in a property of the source (`source_properties`).

    The score of a group is the corpus score of its sentences. For each metric the TSV has the mean over a system's runs
    (`bleu`), the sample standard deviation over them, which is empty for a single run (`sd` for the first metric,
    `NAME_sd` for others), and the ends of the 95 % interval (`bleu_low`, `bleu_high`), computed as in `compare` by
    resampling the group's sentences. A group has the values `low` < value <= `high`; an empty field means an open end,
    or no number. Groups without a sentence are left out; a sentence without the property is in no group.

    Args:
        statistics: Files of `evaluation.compute_metric_statistics` by set, system and run, with the same systems and runs on all sets.
        properties: Files of `evaluation.measure_source_properties` by set. Groups are over all sets together.
        metrics: Modules of `evaluation/metrics`.
        scores_output: The scores as TSV, by group and then by system.
        sentence_scores_output: The distribution of scores of single sentences as TSV; see `evaluation.sentence_scores`.
        baseline: The system that the others are compared with in that distribution; by default the first.
        bounds: Upper bounds of groups by length, in rising order. By default 10, 20 … 80.

    Raises:
        InputError: if files of a set differ in length, or bounds do not rise.
    """
    bounds_of = {**GROUP_BOUNDS, "length": bounds or GROUP_BOUNDS["length"]}
    _check_bounds(bounds_of["length"])
    of_metrics = _read_set_statistics(statistics, [*dict.fromkeys([*metrics, SENTENCE_METRIC])])
    values = _read_source_properties(properties, of_metrics[SENTENCE_METRIC])
    columns = ["by", "bucket", "low", "high", "sentences", "system"]
    for place, name in enumerate(metrics):
        columns += [name, f"{name}_sd" if place else "sd", f"{name}_low", f"{name}_high"]
    rows: list[tuple[object, ...]] = []
    for group in split_into_groups(values, bounds_of):
        scores = [score_sentence_subset(of_metrics[name], group.indices) for name in metrics]
        for system, *numbers in zip(of_metrics[SENTENCE_METRIC], *scores, strict=True):
            scored = [number for of_metric in numbers for number in of_metric]
            rows.append((*group[:4], len(group.indices), system, *scored))
    write_tsv(scores_output, columns, rows)
    write_tsv(
        sentence_scores_output, SENTENCE_SCORE_COLUMNS, count_sentence_scores(of_metrics[SENTENCE_METRIC], baseline)
    )


def score_sentence_subset(
    statistics: Mapping[str, SystemStatistics], sentence_indices: np.ndarray
) -> Iterator[tuple[float, float | None, float, float]]:
    """Score some sentences of each system: mean and deviation over runs, and the interval of the mean."""
    group = {name: of_system.select_sentences(sentence_indices) for name, of_system in statistics.items()}
    resampled = resampling.resample_mean_scores(group, resampling.DEFAULT_SAMPLE_COUNT, resampling.DEFAULT_SEED)
    for name, of_system in group.items():
        scores = of_system.run_scores
        spread = stdev(scores) if len(scores) > 1 else None
        yield fmean(scores), spread, *resampling.compute_score_interval(resampled[name])


def split_into_groups(
    properties: Mapping[str, np.ndarray], bounds: Mapping[str, Sequence[float]]
) -> Iterator[SentenceGroup]:
    """Yield the groups that have sentences, of each property in order.

    Args:
        properties: by name, (sentences,); NaN where a sentence has none.
        bounds: of each property that is grouped by them, rising; a value equal to a bound is in the group below it.
    """
    for by, values in properties.items():
        found: list[tuple[str, float | None, float | None, np.ndarray]] = []
        if by in bounds:
            edges = [None, *bounds[by], None]
            above = np.where(np.isnan(values), -1, np.searchsorted(np.asarray(bounds[by]), values, side="left"))
            for place, (low, high) in enumerate(pairwise(edges)):
                found.append((f">{low}" if high is None else str(high), low, high, above == place))
        else:
            found = [(name, None, None, values == value) for value, name in GROUP_NAMES[by].items()]
        for name, low, high, members in found:
            if members.any():
                yield SentenceGroup(by, name, low, high, np.flatnonzero(members))


def _read_set_statistics(
    statistics: Mapping[str, Mapping[str, Mapping[str, Path]]], metrics: Sequence[str]
) -> dict[str, dict[str, SystemStatistics]]:
    """Statistics by metric and system, of all sets one after the other."""
    read = [
        read_statistics({system: [*runs.values()] for system, runs in systems.items()}, metrics)
        for systems in statistics.values()
    ]
    return {
        metric: {
            name: SystemStatistics(
                np.concatenate([of[metric][name].run_statistics for of in read], axis=1), first.metric
            )
            for name, first in read[0][metric].items()
        }
        for metric in metrics
    }


def _read_source_properties(
    property_files: Mapping[str, Path], system_statistics: Mapping[str, SystemStatistics]
) -> dict[str, np.ndarray]:
    """Properties that all sets have, of the sets one after the other."""
    read = [read_sentence_columns(path)[0] for path in property_files.values()]
    values = {
        name: np.concatenate([columns[name] for columns in read])
        for name in read[0]
        if all(name in columns for columns in read)
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
