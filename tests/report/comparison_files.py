"""Comparisons of systems as `evaluation.comparisons` writes them, for the tests of what reads them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline_py.report.tables.system_comparison import COLUMNS, TESTS


@dataclass(frozen=True)
class Row:
    """One pair; p of all tests is 1 unless it is given: uncorrected, or with the corrected one behind it."""

    system: str
    other: str
    scores: tuple[float, float]
    counts: tuple[int, int, int] | None = None
    p: Mapping[str, float | tuple[float, float]] = field(default_factory=dict)
    metric: str = "bleu"

    def cells(self) -> list[object]:
        """The row of the file; by default more sentences speak for the higher score."""
        difference = self.scores[0] - self.scores[1]
        counts = self.counts or ((30, 10, 60) if difference > 0 else (10, 30, 60))
        values = [self.p.get(test, 1.0) for test in TESTS]
        both = [value if isinstance(value, tuple) else (value, value) for value in values]
        interval = difference - 0.5, difference + 0.5
        p_values = [each for pair in both for each in pair]
        return [self.metric, self.system, self.other, *self.scores, difference, *interval, *counts, *p_values]


def write_comparisons(path: Path, rows: Iterable[Row]) -> Path:
    """Write the TSV."""
    lines = ["\t".join(COLUMNS), *("\t".join(map(str, row.cells())) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
