"""How the scores of single sentences are distributed, and how many are higher than the baseline's."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pipeline_py.report.groups import Groups, parts
from pipeline_py.report.page_parts import Part
from pipeline_py.report.stage_results import read_table
from pipeline_py.report.table_chapter import TableChapter

PLACE = 50


def section(chapter: TableChapter) -> Iterator[Part]:
    """Groups of scores of each set."""
    yield from parts(
        chapter,
        "sentence_scores",
        "Distribution of sentence scores",
        lambda path: read_sentence_scores(path, chapter.called),
        folded=True,
    )


def read_sentence_scores(path: Path, called: Mapping[str, str]) -> list[Groups]:
    """Read the TSV of `evaluation.breakdown`; `called` is what systems are called."""
    table = read_table(path, ["percent"])

    def groups(kind: str, by: str, bound: Literal["", "lower"], is_drawn: bool) -> Groups:
        found = table[table["by"] == kind]
        values = found.set_index(["system", "bucket"])["percent"].to_dict()
        sizes = dict.fromkeys(found["bucket"], "")
        return Groups(by, "Percent of sentences", sizes, "sentence", values, bound=bound, is_drawn=is_drawn)

    others = table.loc[table["by"] == "difference", "other"].unique()
    return [
        groups("score", "Sentence chrF", "lower", is_drawn=True),
        *(
            groups("difference", f"chrF compared with {called.get(other, other)}", "", is_drawn=False)
            for other in others
        ),
    ]
