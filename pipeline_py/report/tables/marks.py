"""Significance marks: symbols behind scores that are significantly better, or worse, than those of other rows."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal

from pipeline_py.config.tables import MarkConfig
from pipeline_py.report.tables.system_comparison import (
    SIGNIFICANCE_LEVEL,
    TEST_NAMES,
    ComparisonIndex,
    SignificanceTest,
    SystemComparison,
    describe_run_deviations,
)

MarkStyle = Literal["sdatt", "sdrnmt", "none"]
CellKey = tuple[str, str, str]
"""A cell: row, set and metric."""


@dataclass(frozen=True)
class SignificanceMarker:
    """Puts marks on a table's cells.

    Attributes:
        mark_groups: of each group a score gets the first mark that it deserves for being better, and the first for being
            worse.
        test: by which test.
        comparisons: of all pairs that marks compare, on all sets.
        labels: what rows are called, where not by their names.
        set_names: the same of sets.
        has_output: whether a row has translations of a set; where one of those that a mark compares has none, it says
            nothing.
        untrained_systems: rows that have not learned to translate, which are neither marked nor compared with.
    """

    mark_groups: Sequence[Sequence[MarkConfig]]
    test: SignificanceTest
    comparisons: ComparisonIndex
    labels: Mapping[str, str]
    set_names: Mapping[str, str]
    has_output: Callable[[str, str], bool]
    untrained_systems: Collection[str] = ()

    def get_symbols(self, row: str, split: str, metric: str) -> str:
        """The symbols behind a row's score on a set, "" where it deserves none."""
        return "".join(
            mark.better_and_worse_symbols[is_worse] for mark, is_worse in self._select_marks((row, split, metric))
        )

    def describe_marks(self, cells: Iterable[CellKey]) -> list[str]:
        """Say what the marks of these cells mean, that there are none, and where score and sign test disagree."""
        cells = [*cells]
        if not any(self.mark_groups) or not cells:
            return []
        occurring = {self._describe_mark(*deserved) for place in cells for deserved in self._select_marks(place)}
        known = [
            self._describe_mark(mark, is_worse)
            for group in self.mark_groups
            for is_worse in (False, True)
            for mark in group
        ]
        legend = [sentence for sentence in known if sentence in occurring]
        compared = [*self._iterate_comparisons(cells)]
        tested = [comparison for comparison in compared if not isnan(comparison.p_values[self.test][0])]
        if tested:
            none = f"No marks: no compared difference is significant ({TEST_NAMES[self.test]}, uncorrected)."
        elif compared:
            none = f"No marks: no difference can be tested ({TEST_NAMES[self.test]})."
        else:
            none = "No marks: no rows can be compared."
        return [
            *dict.fromkeys(legend or [none]),
            *(describe_run_deviations(tested) if self.test == "systems" else ()),
            *dict.fromkeys(self._describe_contradictions(cells)),
        ]

    def _iterate_comparisons(self, cells: Sequence[CellKey]) -> Iterator[SystemComparison]:
        """Give every comparison that a mark of these cells rests on."""
        for place in cells:
            for mark in (mark for group in self.mark_groups for mark in group if self._is_applicable(mark, place)):
                yield from self._get_comparisons(mark, place)

    def _describe_mark(self, mark: MarkConfig, is_worse: bool) -> str:
        against = _join_names([self.labels.get(row, row) for row in mark.against])
        return (
            f"{mark.better_and_worse_symbols[is_worse]}: significantly {'worse' if is_worse else 'better'} than {against} at "
            f"p < {mark.level:g} ({TEST_NAMES[self.test]}, uncorrected)."
        )

    def _select_marks(self, cell: CellKey) -> Iterator[tuple[MarkConfig, bool]]:
        """The marks of a cell, and whether each stands for worse."""
        for group in self.mark_groups:
            for direction in (1, -1):
                for mark in group:
                    if self._is_applicable(mark, cell) and all(
                        self._find_better_side(pair, mark.level) == direction
                        for pair in self._get_comparisons(mark, cell)
                    ):
                        yield mark, direction < 0
                        break

    def _find_better_side(self, pair: SystemComparison, level: float) -> int:
        """Return the side that the test finds better, as long as it has the better score, or 0."""
        side = pair.get_significant_side(self.test, level)
        return side if side == pair.get_favoured_side("systems") else 0

    def _describe_contradictions(self, cells: Sequence[CellKey]) -> Iterator[str]:
        if self.test == "sign":
            for place in cells:
                on = self.set_names.get(place[1], place[1])
                for comparison in self._iterate_comparisons([place]):
                    if (sentence := comparison.describe_contradiction(self.labels, on)) is not None:
                        yield sentence

    def _is_applicable(self, mark: MarkConfig, cell: CellKey) -> bool:
        row, on, _ = cell
        rows = (row, *mark.against)
        return (
            row in mark.rows
            and not {*rows} & {*self.untrained_systems}
            and all(self.has_output(each, on) for each in rows)
        )

    def _get_comparisons(self, mark: MarkConfig, cell: CellKey) -> Iterator[SystemComparison]:
        row, on, metric = cell
        for other in mark.against:
            yield self.comparisons[on, metric, row, other]


def build_mark_groups(
    style: MarkStyle,
    rows: Sequence[str],
    baseline: str,
    best_baseline: str | None,
    proposed_rows: Sequence[str],
    candidate_count: int,
) -> list[list[MarkConfig]]:
    """The marks of a paper's tables, in groups as `SignificanceMarker` takes them.

    Args:
        style: sdatt: * and ** against the baseline, † of what is proposed against the best of the other rows (Chen et
            al. 2018, Tables 1 and 2); sdrnmt: only * and **, and only of what is proposed (Chen et al. 2017, Table 1).
        rows: of the table.
        baseline: one of them.
        best_baseline: the best row that is not proposed, if any.
        proposed_rows: further ones.
        candidate_count: number of rows from which the best was chosen by the same scores; divides the level of † (Bonferroni).
    """
    groups = []
    starred = {"sdatt": [row for row in rows if row != baseline], "sdrnmt": proposed_rows, "none": []}[style]
    if starred:
        levels = (("**", 0.01), ("*", SIGNIFICANCE_LEVEL))
        groups.append(
            [MarkConfig(symbol=symbol, rows=[*starred], against=[baseline], level=level) for symbol, level in levels]
        )
    if style == "sdatt" and proposed_rows and best_baseline is not None:
        groups.append(
            [
                MarkConfig(
                    symbol="†",
                    rows=[*proposed_rows],
                    against=[best_baseline],
                    level=SIGNIFICANCE_LEVEL / max(candidate_count, 1),
                )
            ]
        )
    return groups


def _join_names(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
