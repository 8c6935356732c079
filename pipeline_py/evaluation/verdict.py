"""Verdicts on comparisons of two systems, as a word and as a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, log10
from typing import Literal

from pipeline_py.config.claims import ClaimRelation
from pipeline_py.config.parsers import ORDER_PRESERVING_SHAPES, RANDOM_SHAPES
from pipeline_py.evaluation.significance.system_difference import SystemDifference

VerdictOutcome = Literal["confirmed", "contradicted", "not distinguishable", "not tested", ""]
SyntaxAnswer = Literal["", "yes", "not shown", "open"]


@dataclass(frozen=True)
class ControlResult:
    """A system with control trees.

    Attributes:
        tree_shape: the shape of the trees.
        control_gain: the score with control trees minus that of the other system.
        parser_advantage: the score with the parser's trees minus that with control trees.
    """

    tree_shape: str
    control_gain: SystemDifference
    parser_advantage: SystemDifference


@dataclass(frozen=True)
class Verdict:
    """A verdict on the claim that a system is better than, not worse than, or comparable to another one.

    Attributes:
        system, other_system: names of the systems.
        metric_label: the metric's name in tables.
        difference: the system's score minus that of the other; None if it cannot be tested.
        untested_reasons: why it cannot be tested; empty if it can.
        relation: the relation that is claimed.
        margin: for the relations `not worse` and `comparable`, in points.
        is_syntax_comparison: whether only the first system reads trees, so that a gain may be due to syntax.
        should_answer_syntax: whether the sentence answers whether syntax helps, and not only whether the claim holds.
        control_results: results with control trees, by their parser.
        untested_controls: why control trees have no result, by their parser.
        published_differences: differences that papers print in the same metric, with the task of each.
        missing_metrics: names of metrics that the claim is about and that are not computed.
        scope: which sets or sentences scores are of, unless it is the mean over the test sets.
        is_complete: whether all runs and control trees of the experiment are included; if not, there is no verdict.
    """

    system: str
    other_system: str
    metric_label: str
    difference: SystemDifference | None
    untested_reasons: Sequence[str] = ()
    relation: ClaimRelation = "better"
    margin: float | None = None
    is_syntax_comparison: bool = False
    should_answer_syntax: bool = False
    control_results: Mapping[str, ControlResult] = field(default_factory=dict)
    untested_controls: Mapping[str, str] = field(default_factory=dict)
    published_differences: Sequence[tuple[str, float]] = ()
    missing_metrics: Sequence[str] = ()
    scope: str = ""
    is_complete: bool = True

    @property
    def outcome(self) -> VerdictOutcome:
        """The verdict; empty if it needs more runs or control trees of the same experiment."""
        if not self.is_complete:
            return ""
        difference = self.difference
        if difference is None:
            return "not tested"
        if self.relation == "comparable":
            assert self.margin is not None
            if difference.is_within_margin(self.margin):
                return "confirmed"
            is_outside = difference.low > self.margin or difference.high < -self.margin
            return "contradicted" if is_outside else "not distinguishable"
        if self.relation == "not worse":
            assert self.margin is not None
            if difference.is_not_worse_than_margin(self.margin):
                return "confirmed"
            return "contradicted" if difference.is_worse_than_margin(self.margin) else "not distinguishable"
        if difference.is_gain:
            return "confirmed"
        return "contradicted" if difference.is_loss else "not distinguishable"

    @property
    def missing_controls(self) -> list[str]:
        """The kinds of control trees without a result that an answer about syntax needs."""
        shapes = {control.tree_shape for control in self.control_results.values()}
        random = [] if shapes & {*RANDOM_SHAPES} else ["random trees"]
        ordered = [] if shapes & {*ORDER_PRESERVING_SHAPES} else ["order-preserving trees (right-branching or a chain)"]
        return [*random, *ordered]

    @property
    def syntax_answer(self) -> SyntaxAnswer:
        """The answer whether a confirmed gain is due to syntax; empty without a confirmed gain of a system with trees.

        `yes` requires random trees and order-preserving trees, and that all control trees score lower. If some control
        trees do not score lower, the answer is `not shown`; if a kind is missing, it is `open`.
        """
        if not self.is_syntax_comparison or self.relation != "better" or self.outcome != "confirmed":
            return ""
        if not all(control.parser_advantage.is_gain for control in self.control_results.values()):
            return "not shown"
        return "open" if self.missing_controls else "yes"

    @property
    def published_exclusions(self) -> list[tuple[str, float, bool]]:
        """The published differences: task, difference, and whether the interval excludes it."""
        if self.difference is None:
            return []
        return [(task, value, self.difference.excludes(value)) for task, value in self.published_differences]

    @property
    def summary_sentence(self) -> str:
        """The verdict as a sentence."""
        if self.difference is None:
            scope = f" on {self.scope}" if self.scope else ""
            reasons = " and ".join(self.untested_reasons)
            return f"{self.system}: not tested against {self.other_system}{scope}, since {reasons}."
        return f"{self._finding_text}{self._syntax_text}{self._controls_text}.{self._published_text}"

    @property
    def _finding_text(self) -> str:
        difference = self.difference
        assert difference is not None
        value = format_difference(difference.value)
        size = format_difference(abs(difference.value)).removeprefix("+")
        interval = f"({self._interval_text})"
        scope = f" on {self.scope}" if self.scope else ""
        verb = "is" if len(self.missing_metrics) == 1 else "are"
        instead = f", since {_join_with_and(self.missing_metrics)} {verb} not computed" if self.missing_metrics else ""
        compared_system = f"{self.other_system}{scope}{instead} {interval}"
        against = f"{value} {self.metric_label} against {compared_system}"
        if self.relation != "better" and self.outcome:
            margin = f"{self.margin:g} {self.metric_label}"
            claim = (
                f"{self.relation} to {self.other_system} within" if self.relation == "comparable" else "not worse by"
            )
            return f"{self.system}, {claim} {margin}: {self.outcome}, {against}"
        if self.outcome == "confirmed":
            yes = "yes, " if self.should_answer_syntax and self.syntax_answer == "yes" else ""
            return f"{self.system}: {yes}{size} {self.metric_label} better than {compared_system}"
        if self.outcome == "contradicted":
            no = "no, " if self.should_answer_syntax else ""
            return f"{self.system}: {no}{size} {self.metric_label} worse than {compared_system}"
        if self.outcome == "not distinguishable":
            return f"{self.system}: no {'gain' if self.should_answer_syntax else 'difference'} found, {against}"
        return f"{self.system}: {against}"

    @property
    def _interval_text(self) -> str:
        difference = self.difference
        assert difference is not None
        detectable = ""
        if self.outcome == "not distinguishable" and self.relation == "better":
            detectable = f"; smallest detectable difference {format_magnitude(difference.smallest_detectable)}"
        return f"95 % CI {format_interval(difference)}; {describe_run_counts(difference)}{detectable}"

    @property
    def _syntax_text(self) -> str:
        answer = self.syntax_answer
        if answer == "yes":
            leads = _join_with_and(
                [
                    f"{name} trees ({_format_with_interval(control.parser_advantage)})"
                    for name, control in self.control_results.items()
                ]
            )
            return f", and better than itself with {leads}"
        if answer == "not shown":
            equals = {
                name: control for name, control in self.control_results.items() if not control.parser_advantage.is_gain
            }
            leads = _join_with_and(
                [
                    f"{name} trees ({_format_with_interval(control.parser_advantage)})"
                    for name, control in equals.items()
                ]
            )
            return f"; syntax is not shown to be the reason: it is not measurably better than with {leads}"
        if answer == "open":
            return f"; whether syntax is the reason is open without {' and '.join(self.missing_controls)}"
        return ""

    @property
    def _controls_text(self) -> str:
        gains = [
            f"with {name} trees {format_difference(control.control_gain.value)}"
            for name, control in self.control_results.items()
        ]
        untested = [f"{name} trees: {reason}" for name, reason in self.untested_controls.items()]
        return "".join(f"; {text}" for text in [*([", ".join(gains)] if gains else []), *untested])

    @property
    def _published_text(self) -> str:
        if self.outcome not in ("not distinguishable", "contradicted") or not self.published_exclusions:
            return ""
        texts = [
            f"{format_difference(value, 2)} ({task}), {'excluded' if excluded else 'not excluded'} by the interval"
            for task, value, excluded in self.published_exclusions
        ]
        return f" Published: {'; '.join(texts)}."


def describe_run_counts(difference: SystemDifference) -> str:
    """Describe the numbers of runs, and the assumption on the variance between runs of a single one."""
    first, second = difference.run_counts
    runs = (
        f"{first} run{'s' * (first > 1)} each"
        if first == second
        else f"{first} run{'s' * (first > 1)} against {second}"
    )
    if difference.run_variance_origin == "same networks":
        return f"{runs}, searches of the same trained networks"
    if difference.run_variance_origin == "measured":
        return runs
    source = "pooled over systems with several runs" if difference.run_variance_origin == "pooled" else "the default"
    return f"{runs}, assuming a standard deviation of {difference.run_deviation:.2g} between runs ({source})"


def format_difference(value: float, decimals: int = 1) -> str:
    """Format a difference with its sign; only an exact 0 is shown as 0."""
    return f"{value:+.{_count_decimals(value, decimals)}f}" if value else "0"


def format_magnitude(value: float) -> str:
    """Format a positive number; only an exact 0 is shown as 0."""
    return f"{value:.{_count_decimals(value, 1)}f}" if value else "0"


def format_interval(difference: SystemDifference) -> str:
    """Format the ends of a 95 % interval."""
    return f"[{format_difference(difference.low)}, {format_difference(difference.high)}]"


def _count_decimals(value: float, min_decimals: int) -> int:
    """Return as many decimals as show the first digit of a number that is not 0."""
    return max(min_decimals, -floor(log10(abs(value)) + 1e-9)) if abs(value) < 0.5 * 10**-min_decimals else min_decimals


def _format_with_interval(difference: SystemDifference) -> str:
    return f"{format_difference(difference.value)} {format_interval(difference)}"


def _join_with_and(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))
