"""Tables of a stage as TSV."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pipeline_py.artifact import writing


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]], quoted: bool = True) -> None:
    """Write rows under their header; None is an empty field.

    Args:
        path: the file.
        columns: the header.
        rows: as many cells each.
        quoted: whether a cell with a quote or a tab is quoted; else none may have a tab.
    """
    plain: dict[str, Any] = {} if quoted else {"quoting": csv.QUOTE_NONE, "quotechar": None}
    with writing(path) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n", **plain)
        table.writerow(columns)
        table.writerows(rows)
