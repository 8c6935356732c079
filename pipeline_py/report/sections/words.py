"""Section on word accuracy by frequency in the training text."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py.report.grouped_scores import GroupedScores, build_group_sections
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter

PAGE_ORDER = 60


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """Yield figures and tables of word accuracy for each set."""
    yield from build_group_sections(
        chapter, "words", "Word accuracy by training frequency", read_word_accuracies, is_folded=True
    )


def read_word_accuracies(path: Path) -> list[GroupedScores]:
    """Read the TSV of `evaluation.measure_word_accuracy`."""
    table = read_tsv(path, ["f1", "f1_low", "f1_high"], ["words"])
    scores = table.set_index(["system", "frequency"])
    return [
        GroupedScores(
            "Frequency in the training text",
            "F1 of words",
            dict(zip(table["frequency"], table["words"].map(str), strict=True)),
            "word",
            scores["f1"].to_dict(),
            scores[["f1_low", "f1_high"]].apply(tuple, axis=1).to_dict(),
        )
    ]
