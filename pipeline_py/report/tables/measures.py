"""Measures of a system in a table: settings, training, parser and scores."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from pipeline_py.config.tables import CONTRAST
from pipeline_py.evaluation.compare import places_parsed
from pipeline_py.evaluation.contrast import accuracies, interval, read_decisions
from pipeline_py.evaluation.metric import named
from pipeline_py.evaluation.metrics.bleu import log_brevity
from pipeline_py.evaluation.system_statistics import SystemStatistics, read_statistics
from pipeline_py.files.artifacts import Counts
from pipeline_py.files.text import read_lines, tokens_of
from pipeline_py.report.stage_results import Exclusions, read_exclusions
from pipeline_py.report.tables.sheet import Files
from pipeline_py.run.usage import ENOUGH
from pipeline_py.syntax import measures
from pipeline_py.syntax.measures import RAW_TEXT, Accuracy

METRICS = ("UAS", "LAS", f"UAS{RAW_TEXT}", f"LAS{RAW_TEXT}", "bracket F1")


def read_accuracies(files: Mapping[tuple[str, ...], Path]) -> dict[str, dict[str, Accuracy]]:
    """Read TSV of `syntax.accuracy` by parser, and kind of trees where both were measured.

    Returns:
        By parser and metric.
    """
    accuracies: dict[str, dict[str, Accuracy]] = {}
    for (parser, *_), path in files.items():
        found = {accuracy.metric: accuracy for accuracy in measures.read_accuracies(path)}
        accuracies.setdefault(parser, {}).update(found)
    return accuracies


def sentences_about(accuracies: dict[str, dict[str, Accuracy]], lowercase: bool) -> list[str]:
    """Say of each parser how good it is."""
    where = "lower-cased sentences" if lowercase else "sentences"
    return [
        f"Parser {parser}: {metric} {found[metric].value} on {found[metric].sentences} held-out {where}."
        for parser, found in accuracies.items()
        for metric in METRICS
        if metric in found
    ]


DEVICES = {"cpu": "CPU", "cuda": "GPU"}
"""What people call them."""


def note_on_shared_cores(shares: Mapping[str, Sequence[float]], label: Callable[[str], str]) -> list[str]:
    """Name the systems whose trainings shared their cores; nothing where there are none.

    Args:
        shares: of each system, `core_share` of the facts of each run, where it is known.
        label: what a system is called.
    """
    means = {system: fmean(known) for system, known in shares.items() if known}
    shared = [f"{label(system)} ({mean:.0%})" for system, mean in means.items() if mean < ENOUGH]
    if not shared:
        return []
    return [
        "These trainings shared their cores with other work (in brackets: the share of the requested core time that "
        f"they got): {', '.join(shared)}. Compare CPU time and words per CPU second, not wall-clock time."
    ]


def note_on_kernels(facts: Mapping[str, Sequence[Mapping[str, Any]]], label: Callable[[str], str]) -> list[str]:
    """Name the systems that torch alone computed where compiled code could have been; nothing where there are none.

    Args:
        facts: of each system, the facts.json of each run.
        label: what the table calls a system.
    """
    without = [label(system) for system, runs in facts.items() if any(run.get("kernels") is False for run in runs)]
    if not without:
        return []
    return [
        "Trained without compiled code (see kernels in the facts), which is slower and rounds differently: "
        f"{', '.join(without)}."
    ]


def notes_on_differences(facts: Mapping[str, Sequence[Mapping[str, Any]]], label: Callable[[str], str]) -> list[str]:
    """Say on what and in which precision each system was trained, where that differs between them.

    Args:
        facts: of each system, the facts.json of each run.
        label: what a table calls a system.
    """
    return [
        *_note_on("precision", "Trained in different precisions of matrix products", facts, label),
        *_note_on("device", "Trained on different devices", facts, label),
    ]


def _note_on(
    fact: str, what: str, facts: Mapping[str, Sequence[Mapping[str, Any]]], label: Callable[[str], str]
) -> list[str]:
    """Name the systems for each value of a fact; nothing where all have the same values."""
    values = {system: {run[fact] for run in runs if run.get(fact) is not None} for system, runs in facts.items()}
    known = {system: of_system for system, of_system in values.items() if of_system}
    if len({frozenset(of_system) for of_system in known.values()}) < 2:
        return []
    systems: dict[str, list[str]] = {}
    for system, of_system in known.items():
        for value in sorted(of_system):
            systems.setdefault(DEVICES.get(value, value), []).append(label(system))
    parts = [f"{value}: {', '.join(labels)}" for value, labels in systems.items()]
    return [f"{what}: {'; '.join(parts)}."]


AVERAGE = "AVG"
"""The name of the mean over the test sets, in the place of a set."""

SETTINGS = {"negative_samples": "K", "subword": "BPE", "search": "Search", "beam": "Beam size"}
"""What the configuration says of a system → head of the column."""


@dataclass(frozen=True)
class Fact:
    """A fact of a training: head and decimals of the column, its name in facts.json, and what it is divided by."""

    head: str
    decimals: int
    name: str
    unit: float = 1.0


FACTS = {
    "hidden": Fact("d", 0, "hidden"),
    "parameters": Fact("Parameters", 0, "parameters"),
    "perplexity": Fact("Perp.", 1, "dev_perplexity"),
    "minutes": Fact("Time", 2, "seconds_per_epoch", 60.0),
    "cpu_minutes": Fact("CPU time", 2, "cpu_seconds_per_epoch", 60.0),
}


@dataclass(frozen=True)
class OfBleu:
    """What BLEU's statistics say beside BLEU: head and decimals, and its value for sums over a set, (runs, 10)."""

    head: str
    decimals: int
    value: Callable[[np.ndarray, int], np.ndarray]


OF_BLEU = {
    "brevity": OfBleu("BP", 3, lambda sums, _: np.exp(log_brevity(sums))),
    "length_ratio": OfBleu("Length ratio", 2, lambda sums, _: sums[:, 0] / sums[:, 1]),
    "length": OfBleu("Avg. length", 2, lambda sums, sentences: sums[:, 0] / sentences),
}


def head_of(what: str) -> str:
    """The head of a column; of a metric its name for people."""
    if what in SETTINGS:
        return SETTINGS[what]
    known: Mapping[str, Fact | OfBleu] = {**FACTS, **OF_BLEU}
    return known[what].head if what in known else named(what).label


def decimals_of(what: str) -> int:
    """How many decimals a column has; of a metric two."""
    known: Mapping[str, Fact | OfBleu] = {**FACTS, **OF_BLEU}
    return known[what].decimals if what in known else 2


def is_scored(what: str) -> bool:
    """Whether a column is of what systems said on a set."""
    return what not in SETTINGS and what not in FACTS and what != CONTRAST


def is_metric(what: str) -> bool:
    """Whether a column is a metric's, so that it can be marked."""
    return is_scored(what) and what not in OF_BLEU


def metric_of(what: str) -> str:
    """The metric whose statistics a column on a set is counted from."""
    return "bleu" if what in OF_BLEU else what


@dataclass(frozen=True)
class Measured:
    """Everything that a table of systems may say.

    Attributes:
        statistics: by set, metric and system.
        facts: facts.json of each run of each system.
        settings: by system and column, what the configuration says.
        tests: the sets that `AVERAGE` is over.
        contrast: by contrastive set and system, how much likelier it finds each correct translation (runs, pairs);
            nothing of a system that gives no probabilities.
        from_elsewhere: systems that were made elsewhere.
        exclusions: systems and sets that no conclusion is drawn from.
        mean_words: by set and system, the mean number of words of an output in each run, before detokenization.
        reference_words: by set, the mean number of words of a reference, as tokenized.
    """

    statistics: Mapping[str, Mapping[str, Mapping[str, SystemStatistics]]]
    facts: Mapping[str, Sequence[Mapping[str, Any]]]
    settings: Mapping[str, Mapping[str, str]]
    tests: Sequence[str] = ()
    contrast: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    from_elsewhere: Sequence[str] = ()
    exclusions: Exclusions = field(default_factory=Exclusions)
    mean_words: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    reference_words: Mapping[str, float] = field(default_factory=dict)

    @property
    def numbers_of_runs(self) -> list[int]:
        """The number of runs of each system that has scores."""
        scored = [of for metrics in self.statistics.values() for systems in metrics.values() for of in systems.values()]
        told_apart = [runs for systems in self.contrast.values() for runs in systems.values()]
        return [*(len(of.runs) for of in scored), *map(len, told_apart)] or [1]

    @property
    def most_runs(self) -> int:
        """The largest number of runs."""
        return max(self.numbers_of_runs)

    def of(self, system: str, what: str, on: str | None) -> Sequence[float] | None:
        """What a column says of each run of a system; None where there is nothing to say."""
        if on == AVERAGE:
            runs = [self.of(system, what, test) for test in self.tests]
            return None if None in runs else [fmean(run) for run in zip(*filter(None, runs), strict=True)]
        if what in FACTS:
            found = self.of_training(system, FACTS[what].name)
            return None if found is None else [value / FACTS[what].unit for value in found]
        if what == CONTRAST:
            decisions = self.contrast[on or ""].get(system)
            return None if decisions is None else accuracies(decisions)
        scored = self.statistics[on or ""][metric_of(what)].get(system)
        if scored is None:
            return None
        if what == "length" and system in self.mean_words.get(on or "", {}):
            return self.mean_words[on or ""][system]
        if what in OF_BLEU:
            return [float(value) for value in OF_BLEU[what].value(scored.sums, scored.runs.shape[1])]
        return scored.scores

    def has_output(self, system: str, on: str) -> bool:
        """Whether there are translations of a set by a system."""
        return any(system in systems for systems in self.statistics.get(on, {}).values())

    def of_training(self, system: str, fact: str) -> list[float] | None:
        """A fact of a system's trainings, of each run; None of a system that is not trained itself.

        Nor has every training each fact: phrases have no hidden size, and a loss that is no number no perplexity.
        """
        runs = self.facts.get(system, [])
        told = [float(run[fact]) for run in runs if run.get(fact) is not None]
        return told if told and len(told) == len(runs) else None

    def signatures(self, metric: str) -> dict[str, str]:
        """How a metric was counted on each set."""
        return {
            on: next(iter(metrics[metric].values())).signatures[0]
            for on, metrics in self.statistics.items()
            if metric in metrics
        }

    def interval(self, system: str, what: str, on: str | None) -> tuple[float, float] | None:
        """The ends of the 95 % interval that stands behind a number, if one does."""
        decisions = self.contrast.get(on or "", {}).get(system)
        return None if what != CONTRAST or decisions is None else interval(decisions)

    def sentences_on_contrast(self, called: Mapping[str, str]) -> list[str]:
        """Say what accuracy on contrastive sets is, and which rows, by what they are called, have none."""
        without = {row: on for row in called if (on := [on for on, of in self.contrast.items() if row not in of])}
        return [
            "Acc.: percentage of the pairs of a contrastive set for which the system gives the correct translation a "
            "higher probability than the contrastive one (equal ones count as wrong). In brackets: Wilson's 95 % "
            "interval over the pairs of these runs.",
            *(
                f"{called[row]} has no Acc. on {', '.join(on)}: no scores of these translations were given."
                if row in self.from_elsewhere
                else f"{called[row]} has no Acc.: a phrase-based system cannot score a translation that it did not "
                "produce."
                for row, on in without.items()
            ),
        ]

    def reference_length(self, on: str) -> float:
        """The mean number of words of a set's references; else of BLEU's tokens of the references nearest in length."""
        if on in self.reference_words:
            return self.reference_words[on]
        scored = next(iter(self.statistics[on]["bleu"].values()))
        return float(scored.sums[0, 1] / scored.runs.shape[1])


def read_measured(
    files: Files, systems: Sequence[str], metrics: Sequence[str], description: Mapping[str, Any]
) -> Measured:
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
    for (system, _, on), path in files.of("statistics").items():
        outputs.setdefault(on, {}).setdefault(system, []).append(path)
    outputs = {on: {system: of[system] for system in systems if system in of} for on, of in outputs.items()}
    parsed = {on: places_parsed(path) for (on,), path in files.of("parsed").items()}
    return Measured(
        {on: read_statistics(of_set, metrics, parsed.get(on)) for on, of_set in outputs.items()},
        {system: [_facts(path) for path in paths] for system, paths in files.by_name("facts").items()},
        description.get("settings", {}),
        description.get("tests", []),
        {on: _contrast(files, on) for on in description.get("contrastive", [])},
        description.get("from_elsewhere", []),
        read_exclusions(files.one("exclusions")) if files.of("exclusions") else Exclusions(),
        _mean_words(files),
        {on: _count_words(path) for (on,), path in files.of("reference_tokens").items()},
    )


def _contrast(files: Files, on: str) -> dict[str, np.ndarray]:
    """How systems tell the translations of a contrastive set apart."""
    scores: dict[str, dict[str, dict[str, Path]]] = {}
    for kind in ("correct", "contrastive"):
        scores[kind] = {}
        for (system, run, of_set), path in files.of(kind).items():
            if of_set == on:
                scores[kind].setdefault(system, {})[run] = path
    return read_decisions(**scores)


def _mean_words(files: Files) -> dict[str, dict[str, list[float]]]:
    """Read the mean number of words of outputs, by set and system; none of systems that are given as text."""
    means: dict[str, dict[str, list[float]]] = {}
    for (system, _, on), path in files.of("words").items():
        counts = Counts.of(path)
        if "words" in counts.noted:
            means.setdefault(on, {}).setdefault(system, []).append(counts.noted["words"] / counts.kept)
    return means


def _count_words(path: Path) -> float:
    """Return the mean number of words of a tokenized text."""
    return fmean(len(tokens_of(line)) for line in read_lines(path))


def _facts(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
