"""Files of comparisons in the format of `evaluation.compare_systems`."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pipeline_py.report.tables.system_comparison import SYSTEM_COMPARISON_COLUMNS, TEST_NAMES


@dataclass(frozen=True)
class ComparisonRow:
    """A compared pair; p-values are uncorrected or pairs of uncorrected and corrected values, by default 1."""

    system: str
    other_system: str
    scores: tuple[float, float]
    sentence_counts: tuple[int, int, int] | None = None
    p_values: Mapping[str, float | tuple[float, float]] = field(default_factory=dict)
    metric: str = "bleu"
    runs: tuple[int, int] = (3, 3)
    run_deviation_from: str = "measured"

    def to_cells(self) -> list[object]:
        """Return the row of the file; by default, more sentences favour the higher score."""
        difference = self.scores[0] - self.scores[1]
        better, worse, ties = self.sentence_counts or ((30, 10, 60) if difference > 0 else (10, 30, 60))
        values = [self.p_values.get(test, 1.0) for test in TEST_NAMES]
        p_value_pairs = [value if isinstance(value, tuple) else (value, value) for value in values]
        cells: dict[str, object] = {
            "metric": self.metric,
            "system": self.system,
            "other": self.other_system,
            "runs_system": self.runs[0],
            "runs_other": self.runs[1],
            "score_system": self.scores[0],
            "score_other": self.scores[1],
            "difference": difference,
            "low": difference - 0.75,
            "high": difference + 0.75,
            "detectable": 1.0,
            "run_deviation": 0.6 if self.run_deviation_from in ("pooled", "default") else 0.0,
            "run_deviation_from": self.run_deviation_from,
            "low_outputs": difference - 0.5,
            "high_outputs": difference + 0.5,
            **{"better": better, "worse": worse, "ties": ties},
            **{f"p_{test}": uncorrected for test, (uncorrected, _) in zip(TEST_NAMES, p_value_pairs, strict=True)},
            **{f"p_{test}_holm": corrected for test, (_, corrected) in zip(TEST_NAMES, p_value_pairs, strict=True)},
        }
        return [cells.get(column, "") for column in SYSTEM_COMPARISON_COLUMNS]


def write_comparisons(path: Path, rows: Iterable[ComparisonRow]) -> Path:
    """Write the TSV file."""
    lines = ["\t".join(SYSTEM_COMPARISON_COLUMNS), *("\t".join(map(str, row.to_cells())) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
