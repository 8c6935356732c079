"""What is measured of a parser, as a table: TSV with the columns metric, value, sentences and words."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pipeline_py.artifact import writing
from pipeline_py.stage import InputError
from pipeline_py.text import read_lines


class Accuracy(NamedTuple):
    """One metric of a parser.

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


def write_accuracies(path: Path, accuracies: Iterable[Accuracy]) -> None:
    """Write one metric a line."""
    with writing(path) as file:
        for row in (Accuracy._fields, *accuracies):
            file.write("\t".join(row) + "\n")


def read_accuracies(path: Path) -> list[Accuracy]:
    """Read a table; it has a metric and a value at least.

    Raises:
        InputError: if it has not.
    """
    lines = (line.split("\t") for line in read_lines(path))
    header = next(lines, [])
    if not {"metric", "value"} <= {*header}:
        raise InputError("the file has no columns metric and value; measure the parser again", path, 1)
    rows = (dict(zip(header, cells, strict=False)) for cells in lines)
    return [Accuracy(*(row.get(column, "") for column in Accuracy._fields)) for row in rows]
