"""Marks of the paired bootstrap: symbols behind scores that are better than those of other rows."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline_py.config.tables import Mark
from pipeline_py.evaluation.named_files import named_files
from pipeline_py.stage import InputError
from pipeline_py.text import read_lines

Comparisons = dict[tuple[str, str, str, str], tuple[float, float]]
"""(set, metric, system, other) → how much the system's score is higher, and p."""


@dataclass(frozen=True)
class BootstrapMarks:
    """Puts marks on a table's cells; `labels` is what its rows are called."""

    marks: Sequence[Mark]
    comparisons: Comparisons
    labels: Mapping[str, str]

    def of(self, row: str, on: str, metric: str) -> str:
        """The first mark that a row's score on a set deserves, or "".

        Raises:
            InputError: if it was not compared.
        """
        for mark in self.marks:
            if row in mark.rows and all(self._is_better(row, other, on, metric, mark.level) for other in mark.against):
                return mark.symbol
        return ""

    def legend(self) -> list[str]:
        """A sentence for each symbol and what it compares with."""
        sentences = [
            f"{mark.symbol}: significantly better than {_joined([self.labels.get(row, row) for row in mark.against])} "
            f"at p < {mark.level:g} (paired bootstrap)."
            for mark in self.marks
        ]
        return list(dict.fromkeys(sentences))

    def _is_better(self, row: str, other: str, on: str, metric: str, level: float) -> bool:
        found = self.comparisons.get((on, metric, row, other))
        if found is None:
            raise InputError(
                f"{row!r} and {other!r} are not compared by {metric} on {on!r}; give --bootstrap {on}=FILE with both"
            )
        difference, p_value = found
        return difference > 0 and p_value < level


def read_bootstrap(pairs: Sequence[str]) -> Comparisons:
    """Read `SET=FILE`, TSV of `evaluation.bootstrap`.

    Raises:
        InputError: if a file is malformed.
    """
    comparisons: Comparisons = {}
    for on, path in named_files(pairs, "--bootstrap").items():
        lines = csv.DictReader(read_lines(path), delimiter="\t")
        for row in lines:
            try:
                key = (on, row["metric"], row["system"], row["other"])
                comparisons[key] = float(row["difference"]), float(row["p_value"])
            except (KeyError, ValueError, TypeError):
                raise InputError("no row of a paired bootstrap; make the file anew", path, lines.line_num) from None
    return comparisons


def _joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
