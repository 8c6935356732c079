"""Tables of other stages, as pandas reads them, with what is wrong told by its line."""

from collections.abc import Callable, Sequence
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline_py.input_error import InputError
from pipeline_py.text import is_number, read_lines

if TYPE_CHECKING:
    import pandas as pd


def read_table(
    path: Path,
    texts: Sequence[str],
    numbers: Sequence[str] = (),
    counts: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> "pd.DataFrame":
    """Read a TSV; quotes mean nothing, as a sentence may begin with one.

    Args:
        path: the file; it may have further columns, which are text.
        texts: columns that it must have.
        numbers: columns that it must have, of numbers.
        counts: columns that it must have, of whole numbers.
        optional: columns of numbers that it may have; an empty cell is NaN there.

    Raises:
        InputError: if a column is missing, a row has more or fewer cells than the header, or a cell is no number.
    """
    import pandas as pd

    lines = (line.split("\t") for line in read_lines(path))
    header = next(lines, [])
    if missing := [column for column in (*texts, *numbers, *counts) if column not in header]:
        raise InputError(f"the file has no column {missing[0]!r}; make it again", path, 1)
    rows = []
    for line, cells in enumerate(lines, start=2):
        if len(cells) != len(header):
            raise InputError(
                f"the row has {len(cells)} cells and the header {len(header)}; make the file again", path, line
            )
        rows.append(cells)
    table = pd.DataFrame(rows, columns=header, dtype=object)
    kinds: tuple[tuple[Sequence[str], Callable[[str], float | None], str], ...] = (
        (numbers, _number, "number"),
        (counts, lambda text: int(text) if is_number(text) else None, "whole number"),
        ([column for column in optional if column in header], lambda text: _number(text) if text else nan, "number"),
    )
    for columns, read, kind in kinds:
        for column in columns:
            values = [read(text) for text in table[column]]
            if None in values:
                line = values.index(None)
                text = table[column].iloc[line]
                raise InputError(f"{column} must be a {kind}, not {text!r}; make the file again", path, line + 2)
            table[column] = pd.Series(values, dtype=object)
    return table


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
