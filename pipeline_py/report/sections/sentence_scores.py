"""How the scores of single sentences are distributed, and how many are higher than the baseline's."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pipeline_py.report.groups import Groups, parts
from pipeline_py.report.page_parts import Part
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tsv_rows import number, read_rows

PLACE = 50
COLUMNS = ("by", "bucket", "system", "other", "percent")


def section(chapter: TableChapter) -> Iterator[Part]:
    """Groups of scores of each set."""
    yield from parts(
        chapter,
        "sentence_scores",
        "Distribution of sentence scores",
        lambda path: read_sentence_scores(path, chapter.called),
    )


def read_sentence_scores(path: Path, called: Mapping[str, str]) -> list[Groups]:
    """Read the TSV of `evaluation.breakdown`; `called` is what systems are called.

    Raises:
        InputError: if the file is none.
    """
    rows = read_rows(path, COLUMNS)

    def groups(kind: str, by: str, bound: Literal["", "lower"], is_drawn: bool) -> Groups:
        found = [row for row in rows if row["by"] == kind]
        values = {(row["system"], row["bucket"]): number(row, "percent", path) for row in found}
        sizes = {row["bucket"]: "" for row in found}
        return Groups(by, "Percent of sentences", sizes, "sentence", values, bound=bound, is_drawn=is_drawn)

    others = dict.fromkeys(row["other"] for row in rows if row["by"] == "difference")
    return [
        groups("score", "chrF of the sentence", "lower", is_drawn=True),
        *(
            groups("difference", f"chrF beside that of {called.get(other, other)}", "", is_drawn=False)
            for other in others
        ),
    ]
