"""Significance marks: symbols behind scores that are significantly better, or worse, than those of other rows."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal

from pipeline_py.config.tables import Mark
from pipeline_py.report.tables.system_comparison import (
    LEVEL,
    TESTS,
    Comparisons,
    SystemComparison,
    Test,
    describe_run_deviations,
)

MarkStyle = Literal["sdatt", "sdrnmt", "none"]
Place = tuple[str, str, str]
"""A cell: row, set and metric."""


@dataclass(frozen=True)
class Marks:
    """Puts marks on a table's cells.

    Attributes:
        groups: of each group a score gets the first mark that it deserves for being better, and the first for being
            worse.
        test: by which test.
        comparisons: of all pairs that marks compare, on all sets.
        labels: what rows are called, where not by their names.
        set_names: the same of sets.
        has_output: whether a row has translations of a set; where one of those that a mark compares has none, it says
            nothing.
        excluded: rows that have not learned to translate, which are neither marked nor compared with.
    """

    groups: Sequence[Sequence[Mark]]
    test: Test
    comparisons: Comparisons
    labels: Mapping[str, str]
    set_names: Mapping[str, str]
    has_output: Callable[[str, str], bool]
    excluded: Collection[str] = ()

    def of(self, row: str, on: str, metric: str) -> str:
        """The symbols behind a row's score on a set, "" where it deserves none."""
        return "".join(mark.symbols[is_worse] for mark, is_worse in self._deserved((row, on, metric)))

    def notes(self, places: Iterable[Place]) -> list[str]:
        """Say what the marks of these cells mean, that there are none, and where score and sign test disagree."""
        places = [*places]
        if not any(self.groups) or not places:
            return []
        occurring = {self._meaning(*deserved) for place in places for deserved in self._deserved(place)}
        known = [self._meaning(mark, is_worse) for group in self.groups for is_worse in (False, True) for mark in group]
        legend = [sentence for sentence in known if sentence in occurring]
        compared = [*self._compared(places)]
        tested = [comparison for comparison in compared if not isnan(comparison.p[self.test][0])]
        if tested:
            none = f"No marks: no compared difference is significant ({TESTS[self.test]}, uncorrected)."
        elif compared:
            none = f"No marks: no difference can be tested ({TESTS[self.test]})."
        else:
            none = "No marks: no rows can be compared."
        return [
            *dict.fromkeys(legend or [none]),
            *(describe_run_deviations(tested) if self.test == "systems" else ()),
            *dict.fromkeys(self._contradictions(places)),
        ]

    def _compared(self, places: Sequence[Place]) -> Iterator[SystemComparison]:
        """Give every comparison that a mark of these cells rests on."""
        for place in places:
            for mark in (mark for group in self.groups for mark in group if self._compares(mark, place)):
                yield from self._pairs(mark, place)

    def _meaning(self, mark: Mark, is_worse: bool) -> str:
        against = _joined([self.labels.get(row, row) for row in mark.against])
        return (
            f"{mark.symbols[is_worse]}: significantly {'worse' if is_worse else 'better'} than {against} at "
            f"p < {mark.level:g} ({TESTS[self.test]}, uncorrected)."
        )

    def _deserved(self, place: Place) -> Iterator[tuple[Mark, bool]]:
        """The marks of a cell, and whether each stands for worse."""
        for group in self.groups:
            for direction in (1, -1):
                for mark in group:
                    if self._compares(mark, place) and all(
                        self._found(pair, mark.level) == direction for pair in self._pairs(mark, place)
                    ):
                        yield mark, direction < 0
                        break

    def _found(self, pair: SystemComparison, level: float) -> int:
        """Return the side that the test finds better, as long as it has the better score, or 0."""
        side = pair.significant_side(self.test, level)
        return side if side == pair.favoured_side("systems") else 0

    def _contradictions(self, places: Sequence[Place]) -> Iterator[str]:
        if self.test == "sign":
            for place in places:
                on = self.set_names.get(place[1], place[1])
                for comparison in self._compared([place]):
                    if (sentence := comparison.describe_contradiction(self.labels, on)) is not None:
                        yield sentence

    def _compares(self, mark: Mark, place: Place) -> bool:
        row, on, _ = place
        rows = (row, *mark.against)
        return row in mark.rows and not {*rows} & {*self.excluded} and all(self.has_output(each, on) for each in rows)

    def _pairs(self, mark: Mark, place: Place) -> Iterator[SystemComparison]:
        row, on, metric = place
        for other in mark.against:
            yield self.comparisons[on, metric, row, other]


def of_style(
    style: MarkStyle, rows: Sequence[str], baseline: str, best: str | None, proposed: Sequence[str], choices: int
) -> list[list[Mark]]:
    """The marks of a paper's tables, in groups as `Marks` takes them.

    Args:
        style: sdatt: * and ** against the baseline, † of what is proposed against the best of the other rows (Chen et
            al. 2018, Tables 1 and 2); sdrnmt: only * and **, and only of what is proposed (Chen et al. 2017, Table 1).
        rows: of the table.
        baseline: one of them.
        best: the best row that is not proposed, if any.
        proposed: further ones.
        choices: number of rows from which the best was chosen by the same scores; divides the level of † (Bonferroni).
    """
    groups = []
    starred = {"sdatt": [row for row in rows if row != baseline], "sdrnmt": proposed, "none": []}[style]
    if starred:
        levels = (("**", 0.01), ("*", LEVEL))
        groups.append(
            [Mark(symbol=symbol, rows=[*starred], against=[baseline], level=level) for symbol, level in levels]
        )
    if style == "sdatt" and proposed and best is not None:
        groups.append([Mark(symbol="†", rows=[*proposed], against=[best], level=LEVEL / max(choices, 1))])
    return groups


def _joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
