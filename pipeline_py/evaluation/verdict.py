"""What a difference says of a claim, as a word and as a sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from pipeline_py.evaluation.significance.runs_and_sentences import Difference

Word = Literal["confirmed", "contradicted", "not distinguishable"]
OfSyntax = Literal["", "yes", "not shown", "untested"]


@dataclass(frozen=True)
class Verdict:
    """A system beside the one that it is said to be better than.

    Attributes:
        system, other: what they are called.
        label: of the metric.
        found: the system's score minus the other's.
        is_twin: whether the system reads trees and the other none, so that the claim is that trees help.
        is_answer: whether the sentence answers the question whether syntax helps, and not only if the claim holds.
        controls: by the parser of trees that mean nothing, the system with these minus the other.
        against_controls: the system minus itself with these.
        instead_of: labels of metrics that the claim is of and the experiment has not.
        on: what scores are of, where it is not the mean over the test sets.
    """

    system: str
    other: str
    label: str
    found: Difference
    is_twin: bool = False
    is_answer: bool = False
    controls: Mapping[str, Difference] = field(default_factory=dict)
    against_controls: Mapping[str, Difference] = field(default_factory=dict)
    instead_of: Sequence[str] = ()
    on: str = ""

    @property
    def word(self) -> Word:
        """Confirmed or contradicted where the whole interval is on one side of 0."""
        if self.found.is_gain:
            return "confirmed"
        return "contradicted" if self.found.is_loss else "not distinguishable"

    @property
    def of_syntax(self) -> OfSyntax:
        """Whether a confirmed gain is syntax's, as trees that mean nothing give less; empty if none is confirmed."""
        if self.word != "confirmed":
            return ""
        if not self.against_controls:
            return "untested" if self.is_twin else ""
        return "yes" if all(found.is_gain for found in self.against_controls.values()) else "not shown"

    @property
    def sentence(self) -> str:
        """The whole answer."""
        said = f"{self.system}{'' if self.is_answer else f' above {self.other}'}: {self._answer}, {self._numbers}"
        if self.of_syntax == "not shown":
            not_less = {name: found for name, found in self.against_controls.items() if not found.is_gain}
            minus = ", ".join(f"{name} {_with_interval(found)}" for name, found in not_less.items())
            said += f"; minus itself with trees that mean nothing: {minus}"
        if self.of_syntax == "untested":
            said += "; not tried with trees that mean nothing, so it need not be syntax"
        if self.controls:
            said += "; " + ", ".join(f"{name} trees: {signed(found.value)}" for name, found in self.controls.items())
        return f"{said}."

    @property
    def _answer(self) -> str:
        if self.word == "confirmed":
            if self.of_syntax == "yes" and self.is_answer:
                return "yes"
            better = "better" if self.is_answer else "confirmed"
            return better + (", but syntax is not shown to be the reason" if self.of_syntax == "not shown" else "")
        if self.word == "contradicted":
            return "no, worse" if self.is_answer else "contradicted"
        return "no gain seen" if self.is_answer else "not distinguishable"

    @property
    def _numbers(self) -> str:
        found = self.found
        numbers = f"{_with_interval(found)} {self.label}"
        against = f" against {self.other}" if self.is_answer else ""
        runs = f"{found.runs} seeds" if found.runs > 1 else "1 run: variation between runs is not included"
        visible = ""
        if self.word == "not distinguishable":
            same = found.low == found.high == 0
            visible = "; both score the same" if same else f"; visible from {abs(found.visible):.1f}"
        instead = f", as {' and '.join(self.instead_of)} is not counted here" if self.instead_of else ""
        return f"{numbers}{against}{f' on {self.on}' if self.on else ''}{instead} ({runs}{visible})"


def _with_interval(found: Difference) -> str:
    return f"{signed(found.value)} [{signed(found.low)}, {signed(found.high)}]"


def signed(value: float) -> str:
    """A difference with its sign, to one digit, and to two near 0, where a rounded end would be on neither side."""
    return f"{value:+.{1 if abs(value) >= 0.05 else 2}f}" if round(value, 2) else "0.0"
