"""Rows of a TSV file whose columns are known."""

import csv
from collections.abc import Sequence
from pathlib import Path

from pipeline_py.stage import InputError
from pipeline_py.text import read_lines


def read_rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read the rows of a file, each as a mapping of columns to what stands there.

    Quotes mean nothing: a sentence may begin with one.

    Args:
        path: the file; it may have further columns.
        columns: those that it must have.

    Raises:
        InputError: if a column is missing, or a row has more or fewer cells than the header.
    """
    lines = csv.reader(read_lines(path), delimiter="\t", quoting=csv.QUOTE_NONE)
    header = next(lines, [])
    if missing := [column for column in columns if column not in header]:
        raise InputError(f"the file has no column {missing[0]!r}; make it anew", path, 1)
    rows = []
    for cells in lines:
        if len(cells) != len(header):
            raise InputError(
                f"the row has {len(cells)} cells and the header {len(header)}; make the file anew", path, lines.line_num
            )
        rows.append(dict(zip(header, cells, strict=True)))
    return rows


def number(row: dict[str, str], column: str, path: Path) -> float:
    """The number in a cell.

    Raises:
        InputError: if there is none.
    """
    try:
        return float(row[column])
    except ValueError:
        raise InputError(f"{column} is no number but {row[column]!r}; make the file anew", path) from None
