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
)
from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.evaluation.metrics.bleu import compute_log_brevity_penalty
from pipeline_py.evaluation.system_statistics import SystemStatistics, read_statistics
from pipeline_py.files.artifacts import SentenceCounts
from pipeline_py.files.text_files import read_lines, split_tokens
from pipeline_py.report.stage_results import VerdictExclusions, read_exclusions
from pipeline_py.report.tables.sheet import InputFiles
from pipeline_py.run.cpu_usage import MIN_CORE_SHARE
from pipeline_py.syntax import parser_measures
from pipeline_py.syntax.parser_measures import RAW_TEXT_SUFFIX, AccuracyRow

PARSER_METRICS = ("UAS", "LAS", f"UAS{RAW_TEXT_SUFFIX}", f"LAS{RAW_TEXT_SUFFIX}", "bracket F1")


def read_parser_accuracies(files: Mapping[tuple[str, ...], Path]) -> dict[str, dict[str, AccuracyRow]]:
    """Read TSV of `syntax.measure_accuracy` by parser, and kind of trees where both were measured.

    Returns:
        By parser and metric.
    """
    accuracies: dict[str, dict[str, AccuracyRow]] = {}
    for (parser, *_), path in files.items():
        found = {accuracy.metric: accuracy for accuracy in parser_measures.read_accuracy_rows(path)}
        accuracies.setdefault(parser, {}).update(found)
    return accuracies


def describe_parser_accuracies(accuracies: dict[str, dict[str, AccuracyRow]], is_lowercased: bool) -> list[str]:
    """Say of each parser how good it is."""
    where = "lower-cased sentences" if is_lowercased else "sentences"
    return [
        f"Parser {parser}: {metric} {found[metric].value} on {found[metric].sentences} held-out {where}."
        for parser, found in accuracies.items()
        for metric in PARSER_METRICS
        if metric in found
    ]


DEVICE_NAMES = {"cpu": "CPU", "cuda": "GPU"}
"""What people call them."""


def describe_shared_cores(shares: Mapping[str, Sequence[float]], get_label: Callable[[str], str]) -> list[str]:
    """Name the systems whose trainings shared their cores; nothing where there are none.

    Args:
        shares: of each system, `core_share` of the facts of each run, where it is known.
        get_label: what a system is called.
    """
    means = {system: fmean(known) for system, known in shares.items() if known}
    shared = [f"{get_label(system)} ({mean:.0%})" for system, mean in means.items() if mean < MIN_CORE_SHARE]
    if not shared:
        return []
    return [
        "These trainings shared their cores with other work (in brackets: the share of the requested core time that "
        f"they got): {', '.join(shared)}. Compare CPU time and words per CPU second, not wall-clock time."
    ]


def describe_missing_kernels(
    facts: Mapping[str, Sequence[Mapping[str, Any]]], get_label: Callable[[str], str]
) -> list[str]:
    """Name the systems that torch alone computed where compiled code could have been; nothing where there are none.

    Args:
        facts: of each system, the facts.json of each run.
        get_label: what the table calls a system.
    """
    without = [get_label(system) for system, runs in facts.items() if any(run.get("kernels") is False for run in runs)]
    if not without:
        return []
    return [
        "Trained without compiled code (see kernels in the facts), which is slower and rounds differently: "
        f"{', '.join(without)}."
    ]


def describe_training_differences(
    facts: Mapping[str, Sequence[Mapping[str, Any]]], get_label: Callable[[str], str]
) -> list[str]:
    """Say on what and in which precision each system was trained, where that differs between them.

    Args:
        facts: of each system, the facts.json of each run.
        get_label: what a table calls a system.
    """
    return [
        *_describe_fact_values("precision", "Trained in different precisions of matrix products", facts, get_label),
        *_describe_fact_values("device", "Trained on different devices", facts, get_label),
    ]


def _describe_fact_values(
    fact_key: str, description: str, facts: Mapping[str, Sequence[Mapping[str, Any]]], get_label: Callable[[str], str]
) -> list[str]:
    """Name the systems for each value of a fact; nothing where all have the same values."""
    values = {
        system: {run[fact_key] for run in runs if run.get(fact_key) is not None} for system, runs in facts.items()
    }
    known = {system: of_system for system, of_system in values.items() if of_system}
    if len({frozenset(of_system) for of_system in known.values()}) < 2:
        return []
    systems: dict[str, list[str]] = {}
    for system, of_system in known.items():
        for value in sorted(of_system):
            systems.setdefault(DEVICE_NAMES.get(value, value), []).append(get_label(system))
    parts = [f"{value}: {', '.join(labels)}" for value, labels in systems.items()]
    return [f"{description}: {'; '.join(parts)}."]


AVERAGE = "AVG"
"""The name of the mean over the test sets, in the place of a set."""

SETTING_HEADS = {"negative_samples": "K", "subword": "BPE", "search": "Search", "beam": "Beam size"}
"""What the configuration says of a system → head of the column."""


@dataclass(frozen=True)
class FactColumn:
    """A fact of a training: head and decimals of the column, its name in facts.json, and what it is divided by."""

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
    """What BLEU's statistics say beside BLEU: head and decimals, and its value for sums over a set, (runs, 10)."""

    head: str
    decimals: int
    compute_values: Callable[[np.ndarray, int], np.ndarray]


BLEU_DETAIL_COLUMNS = {
    "brevity": BleuDetailColumn("BP", 3, lambda sums, _: np.exp(compute_log_brevity_penalty(sums))),
    "length_ratio": BleuDetailColumn("Length ratio", 2, lambda sums, _: sums[:, 0] / sums[:, 1]),
    "length": BleuDetailColumn("Avg. length", 2, lambda sums, sentences: sums[:, 0] / sentences),
}


def get_column_head(column: str) -> str:
    """The head of a column; of a metric its name for people."""
    if column in SETTING_HEADS:
        return SETTING_HEADS[column]
    known: Mapping[str, FactColumn | BleuDetailColumn] = {**FACT_COLUMNS, **BLEU_DETAIL_COLUMNS}
    return known[column].head if column in known else get_metric_class(column).label


def get_column_decimals(column: str) -> int:
    """How many decimals a column has; of a metric two."""
    known: Mapping[str, FactColumn | BleuDetailColumn] = {**FACT_COLUMNS, **BLEU_DETAIL_COLUMNS}
    return known[column].decimals if column in known else 2


def is_scored_column(column: str) -> bool:
    """Whether a column is of what systems said on a set."""
    return column not in SETTING_HEADS and column not in FACT_COLUMNS and column != CONTRAST_COLUMN


def is_metric_column(column: str) -> bool:
    """Whether a column is a metric's, so that it can be marked."""
    return is_scored_column(column) and column not in BLEU_DETAIL_COLUMNS


def get_column_metric(column: str) -> str:
    """The metric whose statistics a column on a set is counted from."""
    return "bleu" if column in BLEU_DETAIL_COLUMNS else column


@dataclass(frozen=True)
class SystemMeasures:
    """Everything that a table of systems may say.

    Attributes:
        statistics: by set, metric and system.
        training_facts: facts.json of each run of each system.
        settings: by system and column, what the configuration says.
        test_sets: the sets that `AVERAGE` is over.
        contrast_decisions: by contrastive set and system, how much likelier it finds each correct translation (runs, pairs);
            nothing of a system that gives no probabilities.
        external_systems: systems that were made elsewhere.
        exclusions: systems and sets that no conclusion is drawn from.
        mean_output_words: by set and system, the mean number of words of an output in each run, before detokenization.
        mean_reference_words: by set, the mean number of words of a reference, as tokenized.
    """

    statistics: Mapping[str, Mapping[str, Mapping[str, SystemStatistics]]]
    training_facts: Mapping[str, Sequence[Mapping[str, Any]]]
    settings: Mapping[str, Mapping[str, str]]
    test_sets: Sequence[str] = ()
    contrast_decisions: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    external_systems: Sequence[str] = ()
    exclusions: VerdictExclusions = field(default_factory=VerdictExclusions)
    mean_output_words: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    mean_reference_words: Mapping[str, float] = field(default_factory=dict)

    @property
    def run_counts(self) -> list[int]:
        """The number of runs of each system that has scores."""
        scored = [of for metrics in self.statistics.values() for systems in metrics.values() for of in systems.values()]
        told_apart = [runs for systems in self.contrast_decisions.values() for runs in systems.values()]
        return [*(len(of.run_statistics) for of in scored), *map(len, told_apart)] or [1]

    @property
    def max_run_count(self) -> int:
        """The largest number of runs."""
        return max(self.run_counts)

    def get_run_values(self, system: str, column: str, split: str | None) -> Sequence[float] | None:
        """What a column says of each run of a system; None where there is nothing to say."""
        if split == AVERAGE:
            runs = [self.get_run_values(system, column, test) for test in self.test_sets]
            return None if None in runs else [fmean(run) for run in zip(*filter(None, runs), strict=True)]
        if column in FACT_COLUMNS:
            found = self.get_training_fact(system, FACT_COLUMNS[column].fact_key)
            return None if found is None else [value / FACT_COLUMNS[column].divisor for value in found]
        if column == CONTRAST_COLUMN:
            decisions = self.contrast_decisions[split or ""].get(system)
            return None if decisions is None else compute_accuracies(decisions)
        scored = self.statistics[split or ""][get_column_metric(column)].get(system)
        if scored is None:
            return None
        if column == "length" and system in self.mean_output_words.get(split or "", {}):
            return self.mean_output_words[split or ""][system]
        if column in BLEU_DETAIL_COLUMNS:
            return [
                float(value)
                for value in BLEU_DETAIL_COLUMNS[column].compute_values(scored.run_sums, scored.run_statistics.shape[1])
            ]
        return scored.run_scores

    def has_output(self, system: str, split: str) -> bool:
        """Whether there are translations of a set by a system."""
        return any(system in systems for systems in self.statistics.get(split, {}).values())

    def get_training_fact(self, system: str, fact_key: str) -> list[float] | None:
        """A fact of a system's trainings, of each run; None of a system that is not trained itself.

        Nor has every training each fact: phrases have no hidden size, and a loss that is no number no perplexity.
        """
        runs = self.training_facts.get(system, [])
        told = [float(run[fact_key]) for run in runs if run.get(fact_key) is not None]
        return told if told and len(told) == len(runs) else None

    def get_signatures(self, metric: str) -> dict[str, str]:
        """How a metric was counted on each set."""
        return {
            on: next(iter(metrics[metric].values())).signatures[0]
            for on, metrics in self.statistics.items()
            if metric in metrics
        }

    def get_interval(self, system: str, column: str, split: str | None) -> tuple[float, float] | None:
        """The ends of the 95 % interval that stands behind a number, if one does."""
        decisions = self.contrast_decisions.get(split or "", {}).get(system)
        return None if column != CONTRAST_COLUMN or decisions is None else compute_accuracy_interval(decisions)

    def describe_contrast(self, display_names: Mapping[str, str]) -> list[str]:
        """Say what accuracy on contrastive sets is, and which rows, by what they are called, have none."""
        without = {
            row: on
            for row in display_names
            if (on := [on for on, of in self.contrast_decisions.items() if row not in of])
        }
        return [
            "Acc.: percentage of the pairs of a contrastive set for which the system gives the correct translation a "
            "higher probability than the contrastive one (equal ones count as wrong). In brackets: Wilson's 95 % "
            "interval over the pairs of these runs.",
            *(
                f"{display_names[row]} has no Acc. on {', '.join(on)}: no scores of these translations were given."
                if row in self.external_systems
                else f"{display_names[row]} has no Acc.: a phrase-based system cannot score a translation that it did not "
                "produce."
                for row, on in without.items()
            ),
        ]

    def get_reference_length(self, split: str) -> float:
        """The mean number of words of a set's references; else of BLEU's tokens of the references nearest in length."""
        if split in self.mean_reference_words:
            return self.mean_reference_words[split]
        scored = next(iter(self.statistics[split]["bleu"].values()))
        return float(scored.run_sums[0, 1] / scored.run_statistics.shape[1])


def read_system_measures(
    files: InputFiles, systems: Sequence[str], metrics: Sequence[str], description: Mapping[str, Any]
) -> SystemMeasures:
    """Read statistics and facts of a table's systems.

    Args:
        files: `statistics` by system, run and set, `words` the same and `reference_tokens` by set if lengths are asked
            for, `parsed` by set where only parsed sentences are scored, `facts`
            by system and run, and `correct` and `contrastive` by system, run and contrastive set.
        systems: rows of the table.
        metrics: those that are counted.
        description: what the plan says of the table.

    Raises:
        InputError: if files of one set differ in length, or were counted differently.
    """
    outputs: dict[str, dict[str, list[Path]]] = {}
    for (system, _, on), path in files.get_files("statistics").items():
        outputs.setdefault(on, {}).setdefault(system, []).append(path)
    outputs = {on: {system: of[system] for system in systems if system in of} for on, of in outputs.items()}
    parsed = {on: find_parsed_sentences(path) for (on,), path in files.get_files("parsed").items()}
    return SystemMeasures(
        {on: read_statistics(of_set, metrics, parsed.get(on)) for on, of_set in outputs.items()},
        {system: [_read_facts(path) for path in paths] for system, paths in files.group_files("facts").items()},
        description.get("settings", {}),
        description.get("tests", []),
        {on: _read_contrast_decisions(files, on) for on in description.get("contrastive", [])},
        description.get("from_elsewhere", []),
        read_exclusions(files.get_single_file("exclusions")) if files.get_files("exclusions") else VerdictExclusions(),
        _read_mean_words(files),
        {on: _compute_mean_words(path) for (on,), path in files.get_files("reference_tokens").items()},
    )


def _read_contrast_decisions(files: InputFiles, split: str) -> dict[str, np.ndarray]:
    """How systems tell the translations of a contrastive set apart."""
    scores: dict[str, dict[str, dict[str, Path]]] = {}
    for kind in ("correct", "contrastive"):
        scores[kind] = {}
        for (system, run, of_set), path in files.get_files(kind).items():
            if of_set == split:
                scores[kind].setdefault(system, {})[run] = path
    return read_score_margins(**scores)


def _read_mean_words(files: InputFiles) -> dict[str, dict[str, list[float]]]:
    """Read the mean number of words of outputs, by set and system; none of systems that are given as text."""
    means: dict[str, dict[str, list[float]]] = {}
    for (system, _, on), path in files.get_files("words").items():
        counts = SentenceCounts.from_json_file(path)
        if "words" in counts.noted_by_reason:
            means.setdefault(on, {}).setdefault(system, []).append(counts.noted_by_reason["words"] / counts.kept_count)
    return means


def _compute_mean_words(path: Path) -> float:
    """Return the mean number of words of a tokenized text."""
    return fmean(len(split_tokens(line)) for line in read_lines(path))


def _read_facts(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
