"""How often words are right, by how often they occur in the training text."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py.report.groups import Groups, parts
from pipeline_py.report.page_parts import Part
from pipeline_py.report.stage_results import read_table
from pipeline_py.report.table_chapter import TableChapter

PLACE = 60


def section(chapter: TableChapter) -> Iterator[Part]:
    """Groups of words of each set."""
    yield from parts(chapter, "words", "Word accuracy by training frequency", read_words, folded=True)


def read_words(path: Path) -> list[Groups]:
    """Read the TSV of `evaluation.words`."""
    table = read_table(path, ["f1", "f1_low", "f1_high"], ["words"])
    of_place = table.set_index(["system", "frequency"])
    return [
        Groups(
            "Frequency in the training text",
            "F1 of words",
            dict(zip(table["frequency"], table["words"].map(str), strict=True)),
            "word",
            of_place["f1"].to_dict(),
            of_place[["f1_low", "f1_high"]].apply(tuple, axis=1).to_dict(),
        )
    ]
