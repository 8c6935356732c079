"""Tables of what was measured of parsers and their trees: TSV, all of it text."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pipeline_py.artifact import writing
from pipeline_py.input_error import InputError
from pipeline_py.text import read_lines

MEASURES = ("split", "trees", "measure", "value")
"""Columns of what is said of the trees of a parser, or of two."""

RAW_TEXT = " (raw text)"
"""Follows the name of a metric that is measured on the words that the pipeline makes of the text."""

Row: TypeAlias = tuple[str, str, str, str]


class Accuracy(NamedTuple):
    """One metric of a parser; its names are the columns of a table of accuracies.

    Attributes:
        metric: its name, e.g. LAS.
        value: as it is written; per cent, or a number of sentences.
        sentences: on how many it was measured; empty where the table does not say.
        words: likewise.
    """

    metric: str
    value: str
    sentences: str = ""
    words: str = ""


def write_measures(path: Path, rows: Iterable[Sequence[str]], columns: Sequence[str] = MEASURES) -> None:
    """Write one measure a line."""
    with writing(path) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)


def read_accuracies(path: Path) -> list[Accuracy]:
    """Read a table of accuracies; it has a metric and a value at least.

    Raises:
        InputError: if it has not.
    """
    lines = (line.split("\t") for line in read_lines(path))
    header = next(lines, [])
    if not {"metric", "value"} <= {*header}:
        raise InputError("the file has no columns metric and value; measure the parser again", path, 1)
    rows = (dict(zip(header, cells, strict=False)) for cells in lines)
    return [Accuracy(*(row.get(column, "") for column in Accuracy._fields)) for row in rows]
