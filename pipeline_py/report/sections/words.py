"""How often words are right, by how often they occur in the training text."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py.report.groups import Groups, parts
from pipeline_py.report.page_parts import Part
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tsv_rows import count, number, read_rows

PLACE = 60
COLUMNS = ("frequency", "system", "f1", "f1_low", "f1_high", "words")


def section(chapter: TableChapter) -> Iterator[Part]:
    """Groups of words of each set."""
    yield from parts(chapter, "words", "Word accuracy by training frequency", read_words)


def read_words(path: Path) -> list[Groups]:
    """Read the TSV of `evaluation.words`.

    Raises:
        InputError: if the file is none.
    """
    rows = read_rows(path, COLUMNS)
    return [
        Groups(
            "Frequency in the training text",
            "F1 of words",
            {row["frequency"]: row["words"] and str(count(row, "words", path)) for row in rows},
            "word",
            {(row["system"], row["frequency"]): number(row, "f1", path) for row in rows},
            {
                (row["system"], row["frequency"]): (number(row, "f1_low", path), number(row, "f1_high", path))
                for row in rows
            },
        )
    ]
