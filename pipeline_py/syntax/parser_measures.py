"""Tables of what was measured of parsers and their trees: TSV, all of it text."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pipeline_py.files.artifacts import open_atomic_text_file
from pipeline_py.files.text_files import read_lines

MEASURE_COLUMNS = ("split", "trees", "measure", "value")
"""Columns of what is said of the trees of a parser, or of two."""

ALL_SPLITS = "all"
"""The split of a row about all splits."""

RAW_TEXT_SUFFIX = " (raw text)"
"""Follows the name of a metric that is measured on the words that the pipeline makes of the text."""

MULTIWORD_COUNT_METRIC, UNDIVIDED_SHARE_METRIC = "multi-word tokens", "multi-word tokens left whole (%)"
"""Metrics on raw text: the number in the gold trees, and the share of them that the pipeline did not divide."""

MIN_MULTIWORD_TOKENS, MAX_UNDIVIDED_PERCENT = 20, 10.0
"""A share above the second of at least the first number of multi-word tokens is worth a warning.

The table of words leaves 4 % whole in French, where the same multi-word tokens occur again, and more than half in
Arabic and Turkish, where most are new. Of fewer than 20, two tokens are more than 10 %.
"""

MeasureRow: TypeAlias = tuple[str, str, str, str]


class AccuracyRow(NamedTuple):
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


def write_measures(path: Path, rows: Iterable[Sequence[str]], columns: Sequence[str] = MEASURE_COLUMNS) -> None:
    """Write one measure a line."""
    with open_atomic_text_file(path) as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)


def format_undivided_warning(accuracy_rows: Iterable[AccuracyRow]) -> str | None:
    """Return a warning if the pipeline leaves many multi-word tokens of the gold text whole; None if it does not."""
    values = {accuracy.metric: accuracy.value for accuracy in accuracy_rows}
    number, share = (
        values.get(MULTIWORD_COUNT_METRIC + RAW_TEXT_SUFFIX),
        values.get(UNDIVIDED_SHARE_METRIC + RAW_TEXT_SUFFIX),
    )
    if not number or not share or int(number) < MIN_MULTIWORD_TOKENS or float(share) <= MAX_UNDIVIDED_PERCENT:
        return None
    return (
        f"{float(share):.0f} % of the {number} multi-word tokens of the test text are left whole, and so are those of "
        "your text; set `words: stanza` for this parser, or give it a larger treebank if that is set"
    )


def read_accuracy_rows(path: Path) -> list[AccuracyRow]:
    """Read a table of accuracies; it has a metric and a value at least."""
    lines = (line.split("\t") for line in read_lines(path))
    header = next(lines, [])
    rows = (dict(zip(header, cells, strict=False)) for cells in lines)
    return [AccuracyRow(*(row.get(column, "") for column in AccuracyRow._fields)) for row in rows]
