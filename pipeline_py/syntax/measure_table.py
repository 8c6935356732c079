"""What is said of the trees of a parser, or of two: TSV with the columns split, trees, measure and value."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from pipeline_py.artifact import writing

COLUMNS = ("split", "trees", "measure", "value")

Row: TypeAlias = tuple[str, str, str, str]


def write_measures(path: Path, rows: Iterable[Row]) -> None:
    """Write one measure a line."""
    with writing(path) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows(rows)
