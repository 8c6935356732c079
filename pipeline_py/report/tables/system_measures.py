"""Measures of a system in a table: settings, training, parser and scores."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from pipeline_py.config.tables import CONTRAST_COLUMN
from pipeline_py.evaluation.compare_systems import find_parsed_sentences
from pipeline_py.evaluation.measure_contrastive_accuracy import (
    compute_accuracies,
    compute_accuracy_interval,
    read_score_margins,
    read_sentence_numbers,
)
from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.evaluation.metrics.bleu import compute_log_brevity_penalty
from pipeline_py.evaluation.system_statistics import SystemStatistics, read_statistics
from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.set_names import AVERAGE_SET_NAME
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.report.stage_results import VerdictExclusions, read_verdict_exclusions
from pipeline_py.report.tables.sheet import InputFiles
from pipeline_py.run.cpu_usage import MIN_CORE_SHARE
from pipeline_py.syntax import parser_measures
from pipeline_py.syntax.parser_measures import RAW_TEXT_SUFFIX, AccuracyRow

PARSER_METRICS = ("UAS", "LAS", f"UAS{RAW_TEXT_SUFFIX}", f"LAS{RAW_TEXT_SUFFIX}", "bracket F1")


def read_parser_accuracies(files: Mapping[tuple[str, ...], Path]) -> dict[str, dict[str, AccuracyRow]]:
    """Read the TSV files of `syntax.measure_accuracy`, named PARSER or PARSER:TREES.

    Returns:
        Accuracies by parser and metric.
    """
    accuracies: dict[str, dict[str, AccuracyRow]] = {}
    for (parser, *_), path in files.items():
        accuracies_by_metric = {accuracy.metric: accuracy for accuracy in parser_measures.read_accuracy_rows(path)}
        accuracies.setdefault(parser, {}).update(accuracies_by_metric)
    return accuracies


def describe_parser_accuracies(accuracies: dict[str, dict[str, AccuracyRow]], is_lowercased: bool) -> list[str]:
    """Return a note on the accuracy of each parser and metric."""
    sentence_kind = "lower-cased sentences" if is_lowercased else "sentences"
    return [
        f"Parser {parser}: {metric} {accuracy.value} on {accuracy.sentences} held-out {sentence_kind}."
        for parser, parser_accuracies in accuracies.items()
        for metric in PARSER_METRICS
        if (accuracy := parser_accuracies.get(metric)) is not None
    ]


DEVICE_NAMES = {"cpu": "CPU", "cuda": "GPU"}
"""Display names of devices."""


def describe_shared_cores(shares: Mapping[str, Sequence[float]], get_label: Callable[[str], str]) -> list[str]:
    """Return a note on systems whose trainings had their cores only part of the time, or an empty list.

    Args:
        shares: `core_share` of the runs of each system, if known.
        get_label: returns the display name of a system.
    """
    means = {system: fmean(run_shares) for system, run_shares in shares.items() if run_shares}
    shared_systems = [
        f"{get_label(system)} {100 * mean:.0f} %" for system, mean in means.items() if mean < MIN_CORE_SHARE
    ]
    if not shared_systems:
        return []
    return [
        f"Some trainings had their CPU cores only part of the time: {', '.join(shared_systems)}. Compare systems by "
        "CPU time and words per CPU second, not by wall-clock time."
    ]


def describe_missing_kernels(
    facts: Mapping[str, Sequence[Mapping[str, Any]]], get_label: Callable[[str], str]
) -> list[str]:
    """Return a note on systems that were trained on a CPU without compiled code, or an empty list.

    Args:
        facts: contents of facts.json of each run, by system.
        get_label: returns the display name of a system.
    """
    slow_systems = [
        get_label(system) for system, runs in facts.items() if any(run.get("kernels") is False for run in runs)
    ]
    if not slow_systems:
        return []
    return [
        "Trained without compiled code (see kernels in the facts), which is slower and rounds differently: "
        f"{', '.join(slow_systems)}."
    ]


def describe_training_differences(
    facts: Mapping[str, Sequence[Mapping[str, Any]]], get_label: Callable[[str], str]
) -> list[str]:
    """Return notes on the precision, and on the device or processor, of each system if they differ between systems.

    Args:
        facts: contents of facts.json of each run, by system.
        get_label: returns the display name of a system.
    """
    return [
        *_describe_fact_values("precision", "Trained in different precisions of matrix products", facts, get_label),
        *(
            _describe_fact_values("device", "Trained on different devices", facts, get_label)
            or _describe_fact_values("processor", "Trained on different processors", facts, get_label)
        ),
    ]


def _describe_fact_values(
    fact_key: str, description: str, facts: Mapping[str, Sequence[Mapping[str, Any]]], get_label: Callable[[str], str]
) -> list[str]:
    """List the systems for each value of a training fact; return nothing if all systems have the same values."""
    values = {
        system: {run[fact_key] for run in runs if run.get(fact_key) is not None} for system, runs in facts.items()
    }
    reported_values = {system: system_values for system, system_values in values.items() if system_values}
    if len({frozenset(system_values) for system_values in reported_values.values()}) < 2:
        return []
    systems: dict[str, list[str]] = {}
    for system, system_values in reported_values.items():
        for value in sorted(system_values):
            systems.setdefault(DEVICE_NAMES.get(value, value), []).append(get_label(system))
    parts = [f"{value}: {', '.join(labels)}" for value, labels in systems.items()]
    return [f"{description}: {'; '.join(parts)}."]


SETTING_HEADS = {"negative_samples": "K", "subword": "BPE", "search": "Search", "beam": "Beam size"}
"""Heads of columns for settings of systems."""


@dataclass(frozen=True)
class FactColumn:
    """A column of a training fact: head, decimals, key in facts.json, and divisor."""

    head: str
    decimals: int
    fact_key: str
    divisor: float = 1.0


FACT_COLUMNS = {
    "hidden": FactColumn("d", 0, "hidden"),
    "parameters": FactColumn("Parameters", 0, "parameters"),
    "perplexity": FactColumn("Perp.", 1, "dev_perplexity"),
    "minutes": FactColumn("Time", 2, "seconds_per_epoch", 60.0),
    "cpu_minutes": FactColumn("CPU time", 2, "cpu_seconds_per_epoch", 60.0),
}


@dataclass(frozen=True)
class BleuDetailColumn:
    """A column computed from BLEU statistics, by a function of sums over a set (runs, 10) and the sentence count."""

    head: str
    decimals: int
    compute_values: Callable[[np.ndarray, int], np.ndarray]


BLEU_DETAIL_COLUMNS = {
    "brevity": BleuDetailColumn("BP", 3, lambda sums, _: np.exp(compute_log_brevity_penalty(sums))),
    "length_ratio": BleuDetailColumn("Length ratio", 2, lambda sums, _: sums[:, 0] / sums[:, 1]),
    "length": BleuDetailColumn("Avg. length", 2, lambda sums, sentences: sums[:, 0] / sentences),
}


def get_column_head(column: str) -> str:
    """Return the head of a column; for a metric, its display name."""
    if column in SETTING_HEADS:
        return SETTING_HEADS[column]
    columns: Mapping[str, FactColumn | BleuDetailColumn] = {**FACT_COLUMNS, **BLEU_DETAIL_COLUMNS}
    return columns[column].head if column in columns else get_metric_class(column).label


def get_column_decimals(column: str) -> int:
    """Return the number of decimals of a column; two for a metric."""
    columns: Mapping[str, FactColumn | BleuDetailColumn] = {**FACT_COLUMNS, **BLEU_DETAIL_COLUMNS}
    return columns[column].decimals if column in columns else 2


def is_scored_column(column: str) -> bool:
    """Return True if a column is computed from translations of a set."""
    return column not in SETTING_HEADS and column not in FACT_COLUMNS and column != CONTRAST_COLUMN


def is_metric_column(column: str) -> bool:
    """Return True if a column is a metric, which can have marks."""
    return is_scored_column(column) and column not in BLEU_DETAIL_COLUMNS


def get_column_metric(column: str) -> str:
    """Return the metric whose statistics a column uses."""
    return "bleu" if column in BLEU_DETAIL_COLUMNS else column


@dataclass(frozen=True)
class SystemMeasures:
    """All measures that a table of systems can show.

    Attributes:
        statistics: statistics by set, metric and system.
        training_facts: contents of facts.json of each run, by system.
        settings: settings of the configuration, by system and column.
        test_sets: the sets of `AVERAGE_SET_NAME`.
        contrast_decisions: margins of log probability between correct and contrastive translations (runs, pairs), by
            contrastive set and system; systems without probabilities are missing.
        external_systems: systems that this experiment did not train.
        verdict_exclusions: systems and sets that verdicts exclude, with the reasons.
        mean_output_words: mean number of words of an output in each run, before detokenization, by set and system.
        mean_reference_words: mean number of words of a tokenized reference, by set.
        sentence_numbers: number of the source sentence of each pair, by contrastive set.
    """

    statistics: Mapping[str, Mapping[str, Mapping[str, SystemStatistics]]]
    training_facts: Mapping[str, Sequence[Mapping[str, Any]]]
    settings: Mapping[str, Mapping[str, str]]
    test_sets: Sequence[str] = ()
    contrast_decisions: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    external_systems: Sequence[str] = ()
    verdict_exclusions: VerdictExclusions = field(default_factory=VerdictExclusions)
    mean_output_words: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    mean_reference_words: Mapping[str, float] = field(default_factory=dict)
    sentence_numbers: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def run_counts(self) -> list[int]:
        """Number of runs of each system with scores."""
        scored = [
            system_statistics
            for metrics in self.statistics.values()
            for systems in metrics.values()
            for system_statistics in systems.values()
        ]
        run_decisions = [runs for systems in self.contrast_decisions.values() for runs in systems.values()]
        return [*(len(system_statistics.run_statistics) for system_statistics in scored), *map(len, run_decisions)] or [
            1
        ]

    @property
    def max_run_count(self) -> int:
        """Largest number of runs."""
        return max(self.run_counts)

    def get_run_values(self, system: str, column: str, split: str | None) -> Sequence[float] | None:
        """Return the value of a column for each run of a system, or None if it has no value."""
        if split == AVERAGE_SET_NAME:
            runs = [self.get_run_values(system, column, test) for test in self.test_sets]
            return None if None in runs else [fmean(run) for run in zip(*filter(None, runs), strict=True)]
        if column in FACT_COLUMNS:
            fact_values = self.get_training_fact(system, FACT_COLUMNS[column].fact_key)
            return None if fact_values is None else [value / FACT_COLUMNS[column].divisor for value in fact_values]
        if column == CONTRAST_COLUMN:
            decisions = self.contrast_decisions[split or ""].get(system)
            return None if decisions is None else compute_accuracies(decisions)
        system_statistics = self.statistics[split or ""][get_column_metric(column)].get(system)
        if system_statistics is None:
            return None
        if column == "length" and system in self.mean_output_words.get(split or "", {}):
            return self.mean_output_words[split or ""][system]
        if column in BLEU_DETAIL_COLUMNS:
            return [
                float(value)
                for value in BLEU_DETAIL_COLUMNS[column].compute_values(
                    system_statistics.run_sums, system_statistics.run_statistics.shape[1]
                )
            ]
        return system_statistics.run_scores

    def has_output(self, system: str, split: str) -> bool:
        """Return True if the system has translations of the set."""
        return any(system in systems for systems in self.statistics.get(split, {}).values())

    def get_training_fact(self, system: str, fact_key: str) -> list[float] | None:
        """Return a fact for each run of a system, or None if the system or a run lacks it.

        A phrase-based system has no hidden size, for example, and a diverged training no perplexity.
        """
        runs = self.training_facts.get(system, [])
        values = [float(run[fact_key]) for run in runs if run.get(fact_key) is not None]
        return values if values and len(values) == len(runs) else None

    def get_signatures(self, metric: str) -> dict[str, str]:
        """Return the signature of a metric on each set."""
        return {
            split: next(iter(metrics[metric].values())).signatures[0]
            for split, metrics in self.statistics.items()
            if metric in metrics
        }

    def get_interval(self, system: str, column: str, split: str | None) -> tuple[float, float] | None:
        """Return the 95 % interval of a value, or None if its column has none."""
        decisions = self.contrast_decisions.get(split or "", {}).get(system)
        if column != CONTRAST_COLUMN or decisions is None:
            return None
        return compute_accuracy_interval(decisions, self.sentence_numbers[split or ""])

    def describe_contrast(self, display_names: Mapping[str, str]) -> list[str]:
        """Explain accuracy on contrastive sets, and list the rows without it."""
        missing_sets = {
            row: [split for split, decisions in self.contrast_decisions.items() if row not in decisions]
            for row in display_names
        }
        return [
            "Acc.: percentage of the pairs of a contrastive set for which the system gives the correct translation a "
            "higher probability than the contrastive one (equal ones count as wrong). In brackets: Wilson's 95 % "
            "interval at the mean of these runs; it counts each pair once, whatever the number of runs, takes pairs "
            "with the same source as dependent, and does not include variation between runs.",
            *(
                f"{display_names[row]} has no Acc. on {', '.join(sets)}: no scores of these translations were given."
                if row in self.external_systems
                else f"{display_names[row]} has no Acc.: a phrase-based system cannot score a translation that it did "
                "not produce."
                for row, sets in missing_sets.items()
                if sets
            ),
        ]

    def get_reference_length(self, split: str) -> float:
        """Return the mean length of the references in words, or else in BLEU tokens of the closest references."""
        if split in self.mean_reference_words:
            return self.mean_reference_words[split]
        system_statistics = next(iter(self.statistics[split]["bleu"].values()))
        return float(system_statistics.run_sums[0, 1] / system_statistics.run_statistics.shape[1])


def read_system_measures(
    files: InputFiles, systems: Sequence[str], metrics: Sequence[str], description: Mapping[str, Any]
) -> SystemMeasures:
    """Read the measures of a table's systems.

    Args:
        files: `statistics` by system, run and set; `words` by system, run and set and `reference_tokens` by set if the
            table has lengths; `parsed` by set if only parsed sentences are scored; `facts` by system and run; `correct`
            and `contrastive` by system, run and contrastive set, and `pairs` by contrastive set.
        systems: rows of the table.
        metrics: metrics of the table.
        description: the plan's description of the table.

    Raises:
        InputError: if files of one set differ in length or signature.
    """
    outputs: dict[str, dict[str, list[Path]]] = {}
    for (system, _, split), path in files.get_files("statistics").items():
        outputs.setdefault(split, {}).setdefault(system, []).append(path)
    outputs = {
        split: {system: paths[system] for system in systems if system in paths} for split, paths in outputs.items()
    }
    parsed_sentences = {split: find_parsed_sentences(path) for (split,), path in files.get_files("parsed").items()}
    return SystemMeasures(
        {
            split: read_statistics(set_outputs, metrics, parsed_sentences.get(split))
            for split, set_outputs in outputs.items()
        },
        {system: [_read_facts(path) for path in paths] for system, paths in files.group_files("facts").items()},
        description.get("settings", {}),
        description.get("tests", []),
        {split: _read_contrast_decisions(files, split) for split in description.get("contrastive", [])},
        description.get("from_elsewhere", []),
        read_verdict_exclusions(files.get_single_file("exclusions"))
        if files.get_files("exclusions")
        else VerdictExclusions(),
        _read_mean_words(files),
        {split: _compute_mean_words(path) for (split,), path in files.get_files("reference_tokens").items()},
        {split: read_sentence_numbers(path) for (split,), path in files.get_files("pairs").items()},
    )


def _read_contrast_decisions(files: InputFiles, split: str) -> dict[str, np.ndarray]:
    """Read the margins of systems on a contrastive set."""
    scores: dict[str, dict[str, dict[str, Path]]] = {}
    for kind in ("correct", "contrastive"):
        scores[kind] = {}
        for (system, run, set_name), path in files.get_files(kind).items():
            if set_name == split:
                scores[kind].setdefault(system, {})[run] = path
    return read_score_margins(scores["correct"], scores["contrastive"])


def _read_mean_words(files: InputFiles) -> dict[str, dict[str, list[float]]]:
    """Read the mean number of words of outputs, by set and system; external systems have none."""
    means: dict[str, dict[str, list[float]]] = {}
    for (system, _, split), path in files.get_files("words").items():
        counts = SentenceCounts.from_json_file(path)
        if "words" in counts.noted_by_reason:
            means.setdefault(split, {}).setdefault(system, []).append(
                counts.noted_by_reason["words"] / counts.kept_count
            )
    return means


def _compute_mean_words(path: Path) -> float:
    """Return the mean number of words of a tokenized text."""
    return fmean(len(split_tokens(line)) for line in read_lines(path))


def _read_facts(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
