"""TSV tables of measures of parsers and their trees."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pipeline_py.files.text_files import read_lines

MEASURE_COLUMNS = ("split", "trees", "measure", "value")
"""Columns of reports on the trees of one or two parsers."""

RAW_TEXT_SUFFIX = " (raw text)"
"""Suffix of metrics that are measured on the words into which the pipeline divides the text."""

MULTIWORD_COUNT_METRIC, UNDIVIDED_SHARE_METRIC = "multi-word tokens", "multi-word tokens left whole (%)"
"""Metrics on raw text: their number in the gold trees, and the share that the pipeline did not divide."""

MIN_MULTIWORD_TOKENS, MAX_UNDIVIDED_PERCENT = 20, 10.0
"""Limits for a warning about undivided multi-word tokens.

The word table leaves 4 % undivided in French, where the same multi-word tokens recur, and more than half in Arabic and
Turkish, where most are new.
"""

MeasureRow: TypeAlias = tuple[str, str, str, str]


class AccuracyRow(NamedTuple):
    """A row of an accuracy table; the fields are its columns.

    Attributes:
        metric: Name, e.g. LAS.
        value: Formatted value; percent, or a number of sentences.
        sentences: Number of sentences on which it was measured; empty if unknown.
        words: Number of words on which it was measured; empty if unknown.
    """

    metric: str
    value: str
    sentences: str = ""
    words: str = ""


def format_undivided_warning(accuracy_rows: Iterable[AccuracyRow]) -> str | None:
    """Return a warning if the pipeline leaves many multi-word tokens of the gold text whole, else None."""
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
    """Read an accuracy table, which has at least the columns metric and value."""
    lines = (line.split("\t") for line in read_lines(path))
    header = next(lines, [])
    rows = (dict(zip(header, cells, strict=False)) for cells in lines)
    return [AccuracyRow(*(row.get(column, "") for column in AccuracyRow._fields)) for row in rows]
