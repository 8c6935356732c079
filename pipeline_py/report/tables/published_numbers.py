"""Published numbers of papers, from `workflow/published/`: one TSV file per paper, one number a line.

A file begins with lines that start with `#`: the source, then remarks on its numbers. A header and the rows follow,
with these columns, all as printed in the paper:

- `table`: the number of the table, or the section of a number in the text (`Section 4.1`);
- `task`: source and target language, as `zh-en`;
- `system` and `set`: the row and the column of the table;
- `role`: whether the number is of `dev`, a `test` set, the `average` of the test sets, or of the training text or a
  training (`train`), such as counts, parameters and times;
- `metric`: BLEU in percent, or another measure with its unit; `value`: the number, without separators;
- `marks`: the marks after the number (`**†`), may be empty.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import isfinite
from pathlib import Path

from pipeline_py.files.text_files import read_lines
from pipeline_py.report.tables.sheet import Cell
from pipeline_py.run.errors import InputError

SET_ROLES = ("dev", "test", "average", "train")


@dataclass(frozen=True)
class PublishedNumber:
    """A published number."""

    table: str
    task: str
    system: str
    set: str
    role: str
    metric: str
    value: float
    marks: str


PUBLISHED_COLUMNS = tuple(field.name for field in fields(PublishedNumber))


def read_published_numbers(path: Path) -> list[PublishedNumber]:
    """Read the printed numbers of a paper.

    Args:
        path: a TSV as in `workflow/published/`.

    Returns:
        The numbers in the order of the file.

    Raises:
        InputError: if the header or a row is malformed, or a number is given twice.
    """
    rows: list[PublishedNumber] = []
    line_of: dict[tuple[str, ...], int] = {}
    header = False
    for number, line in enumerate(read_lines(path), start=1):
        if not header:
            if line.startswith("#"):
                continue
            if tuple(line.split("\t")) != PUBLISHED_COLUMNS:
                raise InputError(
                    f"the header is not {', '.join(PUBLISHED_COLUMNS)}, separated by tabs; write it", path, number
                )
            header = True
            continue
        row = _parse_published_number(line, path, number)
        cell = (row.table, row.task, row.system, row.set, row.metric)
        first = line_of.setdefault(cell, number)
        if first != number:
            raise InputError(
                f"{row.metric} of {row.system!r} on {row.set!r} is already in line {first}; remove one",
                path,
                number,
            )
        rows.append(row)
    if not header:
        raise InputError(f"the file has no header; begin with {', '.join(PUBLISHED_COLUMNS)}, separated by tabs", path)
    return rows


def _parse_published_number(line: str, path: Path, line_number: int) -> PublishedNumber:
    cells = line.split("\t")
    if len(cells) != len(PUBLISHED_COLUMNS):
        raise InputError(
            f"the row has {len(cells)} columns and the header {len(PUBLISHED_COLUMNS)}; separate them by one tab each",
            path,
            line_number,
        )
    table, task, system, name, role, metric, printed, marks = cells
    for column, cell in zip(PUBLISHED_COLUMNS[:-1], cells, strict=False):
        if not cell:
            raise InputError(f"`{column}` is empty; only `marks` may be", path, line_number)
    if role not in SET_ROLES:
        raise InputError(f"unknown role {role!r}; write one of {', '.join(SET_ROLES)}", path, line_number)
    try:
        value = float(printed)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise InputError(
            f"the value {printed!r} is not a number; write one, and its marks in `marks`", path, line_number
        )
    return PublishedNumber(table, task, system, name, role, metric, value, marks)


def find_published_number(
    numbers: Iterable[PublishedNumber], table: str, task: str, system: str, set_name: str, metric: str = "BLEU"
) -> PublishedNumber | None:
    """Find one printed number.

    Args:
        numbers: the numbers of a paper.
        table: number of the table in the paper.
        task: source and target language, as `zh-en`.
        system: name of the row, as printed.
        set_name: name of the column, as printed; `AVG` is the average.
        metric: name of the measure.

    Returns:
        The number, or None if the paper does not print it.
    """
    cell = (table, task, system, set_name, metric)
    return next((row for row in numbers if (row.table, row.task, row.system, row.set, row.metric) == cell), None)


def count_decimals(values: Iterable[float]) -> int:
    """Return the largest number of decimals among values, without trailing zeros."""
    return max(len(f"{value:.10g}".partition(".")[2]) for value in values)


def build_number_cell(number: PublishedNumber, decimals: int) -> Cell:
    """Build the cell of a number and its marks, with separators of thousands for readers."""
    return Cell(f"{number.value:,.{decimals}f}", f"{number.value:.{decimals}f}", marks=number.marks)
