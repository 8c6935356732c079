"""Comparisons of two systems on a set, read from `evaluation.compare_systems`; the source of all significance marks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from pathlib import Path
from typing import Literal

from pipeline_py.evaluation.compare_systems import SYSTEM_COMPARISON_COLUMNS
from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.report.stage_results import read_tsv

OutputTest = Literal["sign", "bootstrap", "randomization"]
SignificanceTest = Literal["systems"] | OutputTest

TEST_NAMES: Mapping[SignificanceTest, str] = {
    "systems": "interval over sentences and runs",
    "sign": "sign test of these outputs",
    "bootstrap": "paired bootstrap of these outputs",
    "randomization": "approximate randomization of these outputs",
}
"""Display names of tests by their name in the columns of the file."""

OUTPUT_TEST_LABELS: Mapping[OutputTest, tuple[str, str]] = {
    "sign": ("s", "sign test"),
    "bootstrap": ("b", "paired bootstrap"),
    "randomization": ("r", "approximate randomization"),
}
"""Letter and display name of tests of outputs, which do not include variation between runs."""

SIGNIFICANCE_LEVEL = 0.05

TEXT_COLUMNS = ("metric", "system", "other", "run_deviation_from")


@dataclass(frozen=True)
class SystemComparison:
    """One system compared with another by one metric.

    Attributes:
        metric: a module of `evaluation/metrics`.
        system, other_system: the two compared systems.
        run_counts: numbers of runs of both systems.
        scores: scores of both systems, means over their runs.
        difference: difference of the scores.
        interval: ends of its 95 % interval over sentences and runs; NaN if the set is too small.
        outputs_interval: ends of its 95 % interval over sentences alone.
        run_deviation: the assumed standard deviation between runs of a system with a single run.
        run_deviation_source: its origin, as in `significance.system_difference`.
        sentence_counts: number of sentences for which the score improves, gets worse and stays when the system's output
            replaces the other's; NaN if the systems have different numbers of runs.
        p_values: by test, the two-sided p-value before and after Holm's correction; NaN if unknown.
    """

    metric: str
    system: str
    other_system: str
    run_counts: tuple[int, int]
    scores: tuple[float, float]
    difference: float
    interval: tuple[float, float]
    outputs_interval: tuple[float, float]
    run_deviation: float
    run_deviation_source: str
    sentence_counts: tuple[float, float, float]
    p_values: Mapping[SignificanceTest, tuple[float, float]]

    @property
    def metric_label(self) -> str:
        """Display name of the metric."""
        return get_metric_class(self.metric).label

    @property
    def advantage(self) -> float:
        """Difference in favour of the system."""
        return self.difference if get_metric_class(self.metric).higher_is_better else -self.difference

    def swap_systems(self) -> "SystemComparison":
        """Return the same comparison with the two systems exchanged."""
        better, worse, ties = self.sentence_counts
        return replace(
            self,
            system=self.other_system,
            other_system=self.system,
            run_counts=self.run_counts[::-1],
            scores=self.scores[::-1],
            difference=-self.difference,
            interval=(-self.interval[1], -self.interval[0]),
            outputs_interval=(-self.outputs_interval[1], -self.outputs_interval[0]),
            sentence_counts=(worse, better, ties),
        )

    def remove_inference(self) -> "SystemComparison":
        """Return the comparison without intervals and p-values, for systems that have not learned to translate."""
        unknown = nan, nan
        return replace(self, interval=unknown, outputs_interval=unknown, p_values=dict.fromkeys(self.p_values, unknown))

    def get_favoured_side(self, test: SignificanceTest) -> int:
        """Return the side that a test favours: 1 the system, -1 the other, 0 neither.

        The sign test counts sentences; the other tests are about the difference of the scores.
        """
        value = self.sentence_counts[0] - self.sentence_counts[1] if test == "sign" else self.advantage
        return (value > 0) - (value < 0)

    def get_significant_side(self, test: SignificanceTest, level: float = SIGNIFICANCE_LEVEL) -> int:
        """Return the side that a test finds significantly better, uncorrected, or 0."""
        return self.get_favoured_side(test) if self.p_values[test][0] < level else 0

    def get_significant_side_after_correction(self, test: SignificanceTest) -> int:
        """Return the side that a test finds significantly better after Holm's correction on the set, or 0."""
        return self.get_favoured_side(test) if self.p_values[test][1] < SIGNIFICANCE_LEVEL else 0

    def describe_contradiction(self, labels: Mapping[str, str], set_name: str) -> str | None:
        """Describe in a sentence that the sign test significantly favours the system with the lower score.

        Args:
            labels: display names of systems that differ from their names.
            set_name: display name of the set.

        Returns:
            None if score and sign test agree, or p is `SIGNIFICANCE_LEVEL` or more.
        """
        if self.get_significant_side("sign") * self.get_favoured_side("bootstrap") >= 0:
            return None
        pair = self if self.advantage > 0 else self.swap_systems()
        label, other_label = (labels.get(name, name) for name in (pair.system, pair.other_system))
        better, worse, _ = pair.sentence_counts
        p_value = format_p_value_relation(self.p_values["sign"][0])
        difference_text = f"{abs(pair.difference):.2f} {'higher' if pair.difference > 0 else 'lower'}"
        return (
            f"On {set_name}, {self.metric_label} and the sign test disagree: {self.metric_label} of {label} is "
            f"{difference_text} than that of {other_label}, but sentence by sentence {label} is better in "
            f"{better:,.0f} and worse in {worse:,.0f} (p {p_value}, uncorrected)."
        )


ComparisonIndex = Mapping[tuple[str, str, str, str], SystemComparison]
"""Comparisons by (set, metric, system, other system), in both orders."""


def read_system_comparisons(path: Path) -> list[SystemComparison]:
    """Read the comparisons of a set, each pair once for each metric."""
    table = read_tsv(path, [column for column in SYSTEM_COMPARISON_COLUMNS if column not in TEXT_COLUMNS])
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
            sentence_counts=(row["better"], row["worse"], row["ties"]),
            p_values={test: (row[f"p_{test}"], row[f"p_{test}_holm"]) for test in TEST_NAMES},
        )
        key = comparison.metric, frozenset((comparison.system, comparison.other_system))
        comparisons.setdefault(key, comparison)
    return [*comparisons.values()]


def index_by_system_pair(comparisons: Sequence[SystemComparison]) -> dict[tuple[str, str], SystemComparison]:
    """Index comparisons of one metric by the two systems, in both orders."""
    return {
        (ordered.system, ordered.other_system): ordered
        for comparison in comparisons
        for ordered in (comparison, comparison.swap_systems())
    }


def read_comparison_index(files: Mapping[str, Path]) -> ComparisonIndex:
    """Read the TSV files of `evaluation.compare_systems`, by set."""
    return {
        (set_name, ordered.metric, ordered.system, ordered.other_system): ordered
        for set_name, path in files.items()
        for comparison in read_system_comparisons(path)
        for ordered in (comparison, comparison.swap_systems())
    }


def format_p_value_relation(p_value: float) -> str:
    """Format a p-value with its relation, to follow the letter p: `= 0.012` or `< 0.001`; `unknown` for NaN."""
    if isnan(p_value):
        return "unknown"
    return f"= {p_value:.3f}" if p_value >= 0.001 else "< 0.001"


def describe_run_deviations(comparisons: Sequence[SystemComparison]) -> list[str]:
    """Describe the standard deviations between runs that are assumed for systems with a single run, by metric."""
    sentences = []
    for metric in dict.fromkeys(comparison.metric for comparison in comparisons):
        assumed = {
            (comparison.run_deviation, comparison.run_deviation_source)
            for comparison in comparisons
            if comparison.metric == metric and comparison.run_deviation_source in ("pooled", "default")
        }
        if not assumed:
            continue
        values = sorted({value for value, _ in assumed})
        texts = f"{values[0]:.2g}" if len(values) == 1 else f"{values[0]:.2g} to {values[-1]:.2g}"
        origins = {origin for _, origin in assumed}
        source = (
            "evaluation.run_deviation, because no system here has several runs"
            if origins == {"default"}
            else "pooled over the systems of the table that have several runs"
        )
        sentences.append(
            f"For a system with a single run, the tests assume a standard deviation of {texts} "
            f"{get_metric_class(metric).label} between runs ({source})."
        )
    return sentences
