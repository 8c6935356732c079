"""Significance marks: which rows a paper compares a row with, and the symbols it raises behind a score."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from pipeline_py.report.results import Results

MarkStyle = Literal["sdatt", "sdrnmt", "none"]


@dataclass(frozen=True)
class Mark:
    """One comparison of a paper's table.

    Attributes:
        against: "baseline" is the row that the table names, "best" the best row that is not proposed.
        levels: (alpha, symbol), strictest first; a score gets the first symbol whose alpha it reaches.
        proposed_only: whether only proposed rows are marked.
    """

    against: Literal["baseline", "best"]
    levels: Sequence[tuple[float, str]]
    proposed_only: bool


STYLES: dict[MarkStyle, Sequence[Mark]] = {
    # Chen et al. (2018), Tables 1 and 2.
    "sdatt": (
        Mark(against="baseline", levels=((0.01, "**"), (0.05, "*")), proposed_only=False),
        Mark(against="best", levels=((0.05, "†"),), proposed_only=True),
    ),
    # Chen et al. (2017), Table 1: the marked rows are the proposed ones.
    "sdrnmt": (Mark(against="baseline", levels=((0.01, "**"), (0.05, "*")), proposed_only=True),),
    "none": (),
}


@dataclass(frozen=True)
class Marker:
    """Puts the marks of one style on a table's cells."""

    results: Results
    style: MarkStyle
    baseline: str
    best: str | None
    proposed: Sequence[str]
    label: Callable[[str], str]

    def marks(self, row: str, test: str) -> str:
        """Symbols behind the score of `row` on a test set, "" where it is not significantly better."""
        symbols = ""
        for mark in STYLES[self.style]:
            other = self._other(mark)
            if other is None or other == row or (mark.proposed_only and row not in self.proposed):
                continue
            comparison = self.results.comparison(test, row, other)
            symbols += next((symbol for alpha, symbol in mark.levels if comparison.is_better(alpha)), "")
        return symbols

    def legend(self) -> list[str]:
        """One sentence for each symbol that may stand in the table."""
        return [
            f"{symbol}: significantly better than {self.label(other)} at p < {alpha} (sign test)."
            for mark in STYLES[self.style]
            if (other := self._other(mark)) is not None and not (mark.proposed_only and not self.proposed)
            for alpha, symbol in reversed(mark.levels)
        ]

    def _other(self, mark: Mark) -> str | None:
        return self.baseline if mark.against == "baseline" else self.best
