"""Two systems on one set, as `evaluation.compare` compared them: the only source of all significance marks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from pathlib import Path
from typing import Literal

from pipeline_py.evaluation.compare import COLUMNS
from pipeline_py.evaluation.metric import named
from pipeline_py.report.stage_results import read_table

OutputTest = Literal["sign", "bootstrap", "randomization"]
Test = Literal["systems"] | OutputTest

TESTS: Mapping[Test, str] = {
    "systems": "interval over sentences and runs",
    "sign": "sign test of these outputs",
    "bootstrap": "paired bootstrap of these outputs",
    "randomization": "approximate randomization of these outputs",
}
"""Name in the columns of the file → name for people."""

OUTPUT_TESTS: Mapping[OutputTest, tuple[str, str]] = {
    "sign": ("s", "sign test"),
    "bootstrap": ("b", "paired bootstrap"),
    "randomization": ("r", "approximate randomization"),
}
"""Tests of given outputs, which say nothing about other runs: name in the file → letter and name for people."""

LEVEL = 0.05

TEXTS = ("metric", "system", "other", "run_deviation_from")


@dataclass(frozen=True)
class SystemComparison:
    """One system compared with another by one metric.

    Attributes:
        metric: a module of `evaluation/metrics`.
        system, other: the system, and the one that it is compared with.
        runs: numbers of runs of both.
        scores: scores of both, means over their runs.
        difference: difference of the scores.
        interval: ends of its 95 % interval over sentences and runs; NaN if the set is too small.
        outputs_interval: ends of its 95 % interval over sentences alone.
        run_deviation: the assumed standard deviation between runs of a system with a single run.
        run_deviation_from: its origin, as in `significance.system_difference`.
        counts: number of sentences for which the score improves, gets worse and stays when the system's output replaces
            the other's; NaN if the systems have different numbers of runs.
        p: by test, the two-sided p-value before and after Holm's correction; NaN if unknown.
    """

    metric: str
    system: str
    other: str
    runs: tuple[int, int]
    scores: tuple[float, float]
    difference: float
    interval: tuple[float, float]
    outputs_interval: tuple[float, float]
    run_deviation: float
    run_deviation_from: str
    counts: tuple[float, float, float]
    p: Mapping[Test, tuple[float, float]]

    @property
    def label(self) -> str:
        """The metric's name for people."""
        return named(self.metric).label

    @property
    def advantage(self) -> float:
        """By how much the system is better."""
        return self.difference if named(self.metric).higher_is_better else -self.difference

    def reversed(self) -> "SystemComparison":
        """Exchange the two systems."""
        better, worse, ties = self.counts
        return replace(
            self,
            system=self.other,
            other=self.system,
            runs=self.runs[::-1],
            scores=self.scores[::-1],
            difference=-self.difference,
            interval=(-self.interval[1], -self.interval[0]),
            outputs_interval=(-self.outputs_interval[1], -self.outputs_interval[0]),
            counts=(worse, better, ties),
        )

    def without_inference(self) -> "SystemComparison":
        """Remove intervals and p-values, of systems that have not learned to translate."""
        unknown = nan, nan
        return replace(self, interval=unknown, outputs_interval=unknown, p=dict.fromkeys(self.p, unknown))

    def favoured_side(self, test: Test) -> int:
        """Return the side that a test favours: 1 the system, -1 the other, 0 neither.

        The sign test counts sentences; the other tests are about the difference of the scores.
        """
        value = self.counts[0] - self.counts[1] if test == "sign" else self.advantage
        return (value > 0) - (value < 0)

    def significant_side(self, test: Test, level: float = LEVEL) -> int:
        """Return the side that a test finds significantly better, uncorrected, or 0."""
        return self.favoured_side(test) if self.p[test][0] < level else 0

    def corrected_side(self, test: Test) -> int:
        """Return the side that a test finds significantly better after Holm's correction on the set, or 0."""
        return self.favoured_side(test) if self.p[test][1] < LEVEL else 0

    def describe_contradiction(self, labels: Mapping[str, str], set_name: str) -> str | None:
        """Describe in a sentence that the sign test significantly favours the system with the lower score.

        Args:
            labels: labels of systems that are not shown by their names.
            set_name: the name of the set for people.

        Returns:
            None if score and sign test agree, or p is `LEVEL` or more.
        """
        if self.significant_side("sign") * self.favoured_side("bootstrap") >= 0:
            return None
        pair = self if self.advantage > 0 else self.reversed()
        system, other = (labels.get(name, name) for name in (pair.system, pair.other))
        better, worse, _ = pair.counts
        beyond = f"{abs(pair.difference):.2f} {'higher' if pair.difference > 0 else 'lower'}"
        return (
            f"On {set_name}, {self.label} and the sign test disagree: {self.label} of {system} is {beyond} than "
            f"that of {other}, but sentence by sentence {system} is better in {better:,.0f} and worse in {worse:,.0f} "
            f"(p {format_p_value(self.p['sign'][0])}, uncorrected)."
        )


Comparisons = Mapping[tuple[str, str, str, str], SystemComparison]
"""(set, metric, system, other) → their comparison; both ways."""


def read_system_comparisons(path: Path) -> list[SystemComparison]:
    """Read comparisons of a set, each pair once for each metric."""
    table = read_table(path, [column for column in COLUMNS if column not in TEXTS])
    comparisons: dict[tuple[str, frozenset[str]], SystemComparison] = {}
    for row in table.to_dict("records"):
        comparison = SystemComparison(
            row["metric"],
            row["system"],
            row["other"],
            (int(row["runs_system"]), int(row["runs_other"])),
            (row["score_system"], row["score_other"]),
            row["difference"],
            (row["low"], row["high"]),
            (row["low_outputs"], row["high_outputs"]),
            row["run_deviation"],
            row["run_deviation_from"],
            counts=(row["better"], row["worse"], row["ties"]),
            p={test: (row[f"p_{test}"], row[f"p_{test}_holm"]) for test in TESTS},
        )
        key = comparison.metric, frozenset((comparison.system, comparison.other))
        comparisons.setdefault(key, comparison)
    return [*comparisons.values()]


def index_both_ways(comparisons: Sequence[SystemComparison]) -> dict[tuple[str, str], SystemComparison]:
    """Index comparisons of one metric by system and other, in both orders."""
    return {
        (each.system, each.other): each for comparison in comparisons for each in (comparison, comparison.reversed())
    }


def read_comparisons(files: Mapping[str, Path]) -> Comparisons:
    """Read TSV of `evaluation.compare`, by set."""
    return {
        (on, each.metric, each.system, each.other): each
        for on, path in files.items()
        for comparison in read_system_comparisons(path)
        for each in (comparison, comparison.reversed())
    }


def format_p_value(p: float) -> str:
    """Format a p-value as it follows the letter: `= 0.012`, or `< 0.001`; unknown as `unknown`."""
    if isnan(p):
        return "unknown"
    return f"= {p:.3f}" if p >= 0.001 else "< 0.001"


def describe_run_deviations(comparisons: Sequence[SystemComparison]) -> list[str]:
    """Describe the standard deviations between runs that are assumed for systems with a single run, by metric."""
    sentences = []
    for metric in dict.fromkeys(each.metric for each in comparisons):
        assumed = {
            (each.run_deviation, each.run_deviation_from)
            for each in comparisons
            if each.metric == metric and each.run_deviation_from in ("pooled", "default")
        }
        if not assumed:
            continue
        values = sorted({value for value, _ in assumed})
        texts = f"{values[0]:.2g}" if len(values) == 1 else f"{values[0]:.2g} to {values[-1]:.2g}"
        origins = {origin for _, origin in assumed}
        source = (
            "`evaluation.run_deviation`, since no system here has several runs"
            if origins == {"default"}
            else "pooled over the systems of the table that have several runs"
        )
        sentences.append(
            f"For a system with a single run, the tests assume a standard deviation of {texts} {named(metric).label} "
            f"between runs ({source})."
        )
    return sentences
