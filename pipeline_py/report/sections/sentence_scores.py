"""Section on the distribution of sentence scores, and on sentences with a higher score than the baseline."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pipeline_py.report.grouped_scores import GroupedScores, build_group_sections
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter

PAGE_ORDER = 50


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """Yield figures and tables of sentence scores for each set."""
    yield from build_group_sections(
        chapter,
        "sentence_scores",
        "Distribution of sentence scores",
        lambda path: read_sentence_scores(path, chapter.display_names),
        is_folded=True,
    )


def read_sentence_scores(path: Path, display_names: Mapping[str, str]) -> list[GroupedScores]:
    """Read the TSV of `evaluation.score_sentence_groups`; `display_names` has the display names of systems."""
    table = read_tsv(path, ["percent"])

    def build_groups(kind: str, grouping_label: str, bound: Literal["", "lower"], is_drawn: bool) -> GroupedScores:
        kind_rows = table[table["by"] == kind]
        values = kind_rows.set_index(["system", "bucket"])["percent"].to_dict()
        sizes = dict.fromkeys(kind_rows["bucket"], "")
        return GroupedScores(
            grouping_label, "Percent of sentences", sizes, "sentence", values, named_bound=bound, is_drawn=is_drawn
        )

    baselines = table.loc[table["by"] == "difference", "other"].unique()
    return [
        build_groups("score", "Sentence chrF", "lower", is_drawn=True),
        *(
            build_groups(
                "difference", f"chrF compared with {display_names.get(baseline, baseline)}", "", is_drawn=False
            )
            for baseline in baselines
        ),
    ]
