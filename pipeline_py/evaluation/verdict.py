"""The verdict on one comparison of two systems, as a word and as a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, log10
from typing import Literal

from pipeline_py.config.claims import Relation
from pipeline_py.config.parsers import ORDER_PRESERVING
from pipeline_py.evaluation.significance.system_difference import Difference

Word = Literal["confirmed", "contradicted", "not distinguishable", "not tested", ""]
SyntaxAnswer = Literal["", "yes", "not shown", "open"]


@dataclass(frozen=True)
class ControlResult:
    """A system with control trees.

    Attributes:
        shape: the shape of the trees.
        gain: the score with control trees minus that of the other system.
        lead: the score with the parser's trees minus that with control trees.
    """

    shape: str
    gain: Difference
    lead: Difference


@dataclass(frozen=True)
class Verdict:
    """A system compared with the one that a claim says it is better than, not worse than, or comparable to.

    Attributes:
        system, other: their names.
        metric: the metric's name for people.
        difference: the system's score minus that of the other; None if it cannot be tested.
        reasons: why it cannot be tested; empty if it can.
        relation: the relation that is claimed.
        margin: for the relations `not worse` and `comparable`, in points.
        is_twin: whether the system reads trees and the other reads none, so that a gain may be due to syntax.
        is_answer: whether the sentence answers whether syntax helps, and not only whether the claim holds.
        controls: results with control trees, by their parser.
        untested_controls: why control trees have no result, by their parser.
        published: differences that papers print in the same metric, with the task of each.
        missing_metrics: names of metrics that the claim is about and that are not computed.
        scope: which sets or sentences scores are of, unless it is the mean over the test sets.
        is_final: whether all runs and control trees of the experiment are included; if not, there is no verdict.
    """

    system: str
    other: str
    metric: str
    difference: Difference | None
    reasons: Sequence[str] = ()
    relation: Relation = "better"
    margin: float | None = None
    is_twin: bool = False
    is_answer: bool = False
    controls: Mapping[str, ControlResult] = field(default_factory=dict)
    untested_controls: Mapping[str, str] = field(default_factory=dict)
    published: Sequence[tuple[str, float]] = ()
    missing_metrics: Sequence[str] = ()
    scope: str = ""
    is_final: bool = True

    @property
    def word(self) -> Word:
        """The verdict; empty if it needs more runs or control trees of the same experiment."""
        if not self.is_final:
            return ""
        difference = self.difference
        if difference is None:
            return "not tested"
        if self.relation == "comparable":
            assert self.margin is not None
            if difference.is_within(self.margin):
                return "confirmed"
            is_outside = difference.low > self.margin or difference.high < -self.margin
            return "contradicted" if is_outside else "not distinguishable"
        if self.relation == "not worse":
            assert self.margin is not None
            if difference.is_above(self.margin):
                return "confirmed"
            return "contradicted" if difference.is_below(self.margin) else "not distinguishable"
        if difference.is_gain:
            return "confirmed"
        return "contradicted" if difference.is_loss else "not distinguishable"

    @property
    def missing_controls(self) -> list[str]:
        """The kinds of control trees without a result that an answer about syntax needs."""
        shapes = {control.shape for control in self.controls.values()}
        random = [] if "random" in shapes else ["random trees"]
        ordered = [] if shapes & {*ORDER_PRESERVING} else ["order-preserving trees (right-branching or a chain)"]
        return [*random, *ordered]

    @property
    def syntax_answer(self) -> SyntaxAnswer:
        """Whether a confirmed gain is due to syntax; empty if no gain of a system with trees is confirmed.

        `yes` needs random trees and order-preserving trees, and every kind of control trees to score lower. Where one
        kind does not, the answer is `not shown`; where a kind is missing, it is `open`.
        """
        if not self.is_twin or self.relation != "better" or self.word != "confirmed":
            return ""
        if not all(control.lead.is_gain for control in self.controls.values()):
            return "not shown"
        return "open" if self.missing_controls else "yes"

    @property
    def exclusions(self) -> list[tuple[str, float, bool]]:
        """The published differences: task, difference, and whether the interval excludes it."""
        if self.difference is None:
            return []
        return [(task, value, self.difference.excludes(value)) for task, value in self.published]

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        if self.difference is None:
            scope = f" on {self.scope}" if self.scope else ""
            return f"{self.system}: not tested against {self.other}{scope}, since {' and '.join(self.reasons)}."
        return f"{self._finding}{self._syntax}{self._controls}.{self._published}"

    @property
    def _finding(self) -> str:
        difference = self.difference
        assert difference is not None
        value = format_difference(difference.value)
        size = format_difference(abs(difference.value)).removeprefix("+")
        interval = f"({self._interval})"
        scope = f" on {self.scope}" if self.scope else ""
        verb = "is" if len(self.missing_metrics) == 1 else "are"
        instead = f", since {_join(self.missing_metrics)} {verb} not computed" if self.missing_metrics else ""
        against = f"{value} {self.metric} against {self.other}{scope}{instead} {interval}"
        if self.relation != "better" and self.word:
            margin = f"{self.margin:g} {self.metric}"
            claim = f"{self.relation} to {self.other} within" if self.relation == "comparable" else "not worse by"
            return f"{self.system}, {claim} {margin}: {self.word}, {against}"
        if self.word == "confirmed":
            yes = "yes, " if self.is_answer and self.syntax_answer == "yes" else ""
            return f"{self.system}: {yes}{size} {self.metric} better than {self.other}{scope}{instead} {interval}"
        if self.word == "contradicted":
            no = "no, " if self.is_answer else ""
            return f"{self.system}: {no}{size} {self.metric} worse than {self.other}{scope}{instead} {interval}"
        if self.word == "not distinguishable":
            return f"{self.system}: no {'gain' if self.is_answer else 'difference'} found, {against}"
        return f"{self.system}: {against}"

    @property
    def _interval(self) -> str:
        difference = self.difference
        assert difference is not None
        detectable = ""
        if self.word == "not distinguishable" and self.relation == "better":
            detectable = f"; smallest detectable difference {format_size(difference.detectable)}"
        return f"95 % CI {format_interval(difference)}; {describe_runs(difference)}{detectable}"

    @property
    def _syntax(self) -> str:
        answer = self.syntax_answer
        if answer == "yes":
            leads = _join([f"{name} trees ({_with_interval(one.lead)})" for name, one in self.controls.items()])
            return f", and better than itself with {leads}"
        if answer == "not shown":
            equals = {name: control for name, control in self.controls.items() if not control.lead.is_gain}
            leads = _join([f"{name} trees ({_with_interval(one.lead)})" for name, one in equals.items()])
            return f"; syntax is not shown to be the reason: it is not measurably better than with {leads}"
        if answer == "open":
            return f"; whether syntax is the reason is open without {' and '.join(self.missing_controls)}"
        return ""

    @property
    def _controls(self) -> str:
        gains = [f"with {name} trees {format_difference(one.gain.value)}" for name, one in self.controls.items()]
        untested = [f"{name} trees: {reason}" for name, reason in self.untested_controls.items()]
        return "".join(f"; {text}" for text in [*([", ".join(gains)] if gains else []), *untested])

    @property
    def _published(self) -> str:
        if self.word not in ("not distinguishable", "contradicted") or not self.exclusions:
            return ""
        texts = [
            f"{format_difference(value, 2)} ({task}), {'excluded' if excluded else 'not excluded'} by the interval"
            for task, value, excluded in self.exclusions
        ]
        return f" Published: {'; '.join(texts)}."


def describe_runs(difference: Difference) -> str:
    """Describe the numbers of runs, and the assumption on the variance between runs of a single one."""
    first, second = difference.runs
    runs = (
        f"{first} run{'s' * (first > 1)} each"
        if first == second
        else f"{first} run{'s' * (first > 1)} against {second}"
    )
    if difference.origin == "same networks":
        return f"{runs}, searches of the same trained networks"
    if difference.origin == "measured":
        return runs
    source = "pooled over systems with several runs" if difference.origin == "pooled" else "the default"
    return f"{runs}, assuming a standard deviation of {difference.run_deviation:.2g} between runs ({source})"


def format_difference(value: float, decimals: int = 1) -> str:
    """Format a difference with its sign; only an exact 0 is shown as 0."""
    return f"{value:+.{_decimals(value, decimals)}f}" if value else "0"


def format_size(value: float) -> str:
    """Format a positive number; only an exact 0 is shown as 0."""
    return f"{value:.{_decimals(value, 1)}f}" if value else "0"


def format_interval(difference: Difference) -> str:
    """Format the ends of a 95 % interval."""
    return f"[{format_difference(difference.low)}, {format_difference(difference.high)}]"


def _decimals(value: float, least: int) -> int:
    """Return as many decimals as show the first digit of a number that is not 0."""
    return max(least, -floor(log10(abs(value)) + 1e-9)) if abs(value) < 0.5 * 10**-least else least


def _with_interval(difference: Difference) -> str:
    return f"{format_difference(difference.value)} {format_interval(difference)}"


def _join(texts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))
