"""Significance marks: symbols after scores that are significantly better or worse than those of other rows."""

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
    """Computes the significance marks of a table's cells.

    Attributes:
        mark_groups: groups of marks; from each group, a score gets the first applicable mark for better and the first
            for worse.
        test: the significance test.
        comparisons: comparisons of all marked pairs on all sets.
        labels: display names of rows that differ from their names.
        set_names: display names of sets that differ from their names.
        has_output: returns True if a row has translations of a set; a mark needs translations of all its rows.
        untrained_systems: rows that have not learned to translate; they get no marks and are not compared.
    """

    mark_groups: Sequence[Sequence[MarkConfig]]
    test: SignificanceTest
    comparisons: ComparisonIndex
    labels: Mapping[str, str]
    set_names: Mapping[str, str]
    has_output: Callable[[str, str], bool]
    untrained_systems: Collection[str] = ()

    def get_symbols(self, row: str, split: str, metric: str) -> str:
        """Return the symbols of a row's score on a set, or ""."""
        return "".join(
            mark.better_and_worse_symbols[is_worse] for mark, is_worse in self._select_marks((row, split, metric))
        )

    def describe_marks(self, cells: Iterable[CellKey]) -> list[str]:
        """Explain the marks of these cells or their absence, and list disagreements of score and sign test."""
        cells = [*cells]
        if not any(self.mark_groups) or not cells:
            return []
        used_meanings = {self._describe_mark(*mark) for cell in cells for mark in self._select_marks(cell)}
        all_meanings = [
            self._describe_mark(mark, is_worse)
            for group in self.mark_groups
            for is_worse in (False, True)
            for mark in group
        ]
        legend = [sentence for sentence in all_meanings if sentence in used_meanings]
        comparisons = [*self._iterate_comparisons(cells)]
        testable = [comparison for comparison in comparisons if not isnan(comparison.p_values[self.test][0])]
        if testable:
            absence_note = f"No marks: no compared difference is significant ({TEST_NAMES[self.test]}, uncorrected)."
        elif comparisons:
            absence_note = f"No marks: no difference can be tested ({TEST_NAMES[self.test]})."
        else:
            absence_note = "No marks: no rows can be compared."
        return [
            *dict.fromkeys(legend or [absence_note]),
            *(describe_run_deviations(testable) if self.test == "systems" else ()),
            *dict.fromkeys(self._describe_contradictions(cells)),
        ]

    def _iterate_comparisons(self, cells: Sequence[CellKey]) -> Iterator[SystemComparison]:
        """Yield every comparison behind a mark of these cells."""
        for cell in cells:
            for mark in (mark for group in self.mark_groups for mark in group if self._is_applicable(mark, cell)):
                yield from self._get_comparisons(mark, cell)

    def _describe_mark(self, mark: MarkConfig, is_worse: bool) -> str:
        against = _join_names([self.labels.get(row, row) for row in mark.against])
        return (
            f"{mark.better_and_worse_symbols[is_worse]}: significantly {'worse' if is_worse else 'better'} than "
            f"{against} at p < {mark.level:g} ({TEST_NAMES[self.test]}, uncorrected)."
        )

    def _select_marks(self, cell: CellKey) -> Iterator[tuple[MarkConfig, bool]]:
        """Yield the marks of a cell, each with True if it means worse."""
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
        """Return the significantly better side if it also has the better score, else 0."""
        side = pair.get_significant_side(self.test, level)
        return side if side == pair.get_favoured_side("systems") else 0

    def _describe_contradictions(self, cells: Sequence[CellKey]) -> Iterator[str]:
        if self.test == "sign":
            for cell in cells:
                set_name = self.set_names.get(cell[1], cell[1])
                for comparison in self._iterate_comparisons([cell]):
                    if (sentence := comparison.describe_contradiction(self.labels, set_name)) is not None:
                        yield sentence

    def _is_applicable(self, mark: MarkConfig, cell: CellKey) -> bool:
        row, split, _ = cell
        rows = (row, *mark.against)
        return (
            row in mark.rows
            and not {*rows} & {*self.untrained_systems}
            and all(self.has_output(marked_row, split) for marked_row in rows)
        )

    def _get_comparisons(self, mark: MarkConfig, cell: CellKey) -> Iterator[SystemComparison]:
        row, split, metric = cell
        for other_row in mark.against:
            yield self.comparisons[split, metric, row, other_row]


def build_mark_groups(
    style: MarkStyle,
    rows: Sequence[str],
    baseline: str,
    best_baseline: str | None,
    proposed_rows: Sequence[str],
    candidate_count: int,
) -> list[list[MarkConfig]]:
    """Build the marks of a paper's tables, in groups for `SignificanceMarker`.

    Args:
        style: sdatt: * and ** against the baseline, † of proposed rows against the best other row (Chen et al. 2018,
            Tables 1 and 2); sdrnmt: * and ** of proposed rows only (Chen et al. 2017, Table 1).
        rows: rows of the table.
        baseline: the row of the baseline.
        best_baseline: the best row that is not proposed, if any.
        proposed_rows: proposed rows.
        candidate_count: number of rows from which the best was selected by the same scores; divides the level of †
            (Bonferroni).
    """
    groups = []
    starred_rows = {"sdatt": [row for row in rows if row != baseline], "sdrnmt": proposed_rows, "none": []}[style]
    if starred_rows:
        levels = (("**", 0.01), ("*", SIGNIFICANCE_LEVEL))
        groups.append(
            [
                MarkConfig(symbol=symbol, rows=[*starred_rows], against=[baseline], level=level)
                for symbol, level in levels
            ]
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
