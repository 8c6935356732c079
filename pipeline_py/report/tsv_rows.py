"""Rows of a TSV file whose columns are known."""

from collections.abc import Sequence
from pathlib import Path

from pipeline_py.stage import InputError
from pipeline_py.text import is_number, read_lines


class Row(dict[str, str]):
    """What stands in a row by its column, and the number of its line."""

    line: int


def read_rows(path: Path, columns: Sequence[str]) -> list[Row]:
    """Read the rows of a file, each as a mapping of columns to what stands there.

    Quotes mean nothing: a sentence may begin with one.

    Args:
        path: the file; it may have further columns.
        columns: those that it must have.

    Raises:
        InputError: if a column is missing, or a row has more or fewer cells than the header.
    """
    lines = (line.split("\t") for line in read_lines(path))
    header = next(lines, [])
    if missing := [column for column in columns if column not in header]:
        raise InputError(f"the file has no column {missing[0]!r}; make it anew", path, 1)
    rows = []
    for line, cells in enumerate(lines, start=2):
        if len(cells) != len(header):
            raise InputError(
                f"the row has {len(cells)} cells and the header {len(header)}; make the file anew", path, line
            )
        row = Row(zip(header, cells, strict=True))
        row.line = line
        rows.append(row)
    return rows


def number(row: Row, column: str, path: Path) -> float:
    """The number in a cell.

    Raises:
        InputError: if there is none.
    """
    try:
        return float(row[column])
    except ValueError:
        raise InputError(f"{column} is no number but {row[column]!r}; make the file anew", path, row.line) from None


def count(row: Row, column: str, path: Path) -> int:
    """The whole number in a cell.

    Raises:
        InputError: if there is none.
    """
    if not is_number(row[column]):
        raise InputError(f"{column} is no whole number but {row[column]!r}; make the file anew", path, row.line)
    return int(row[column])
