"""How the scores of single sentences are distributed, and how many are higher than the baseline's."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pipeline_py.report.grouped_scores import GroupedScores, build_group_sections
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter

PAGE_ORDER = 50


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """Groups of scores of each set."""
    yield from build_group_sections(
        chapter,
        "sentence_scores",
        "Distribution of sentence scores",
        lambda path: read_sentence_scores(path, chapter.display_names),
        is_folded=True,
    )


def read_sentence_scores(path: Path, display_names: Mapping[str, str]) -> list[GroupedScores]:
    """Read the TSV of `evaluation.score_sentence_groups`; `display_names` is what systems are called."""
    table = read_tsv(path, ["percent"])

    def groups(kind: str, by: str, bound: Literal["", "lower"], is_drawn: bool) -> GroupedScores:
        found = table[table["by"] == kind]
        values = found.set_index(["system", "bucket"])["percent"].to_dict()
        sizes = dict.fromkeys(found["bucket"], "")
        return GroupedScores(
            by, "Percent of sentences", sizes, "sentence", values, named_bound=bound, is_drawn=is_drawn
        )

    others = table.loc[table["by"] == "difference", "other"].unique()
    return [
        groups("score", "Sentence chrF", "lower", is_drawn=True),
        *(
            groups("difference", f"chrF compared with {display_names.get(other, other)}", "", is_drawn=False)
            for other in others
        ),
    ]
