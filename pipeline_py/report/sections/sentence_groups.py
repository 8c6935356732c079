"""Section on scores by sentence length and tree properties."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py.evaluation.metric import get_metric_class
from pipeline_py.report.grouped_scores import GroupedScores, build_group_sections
from pipeline_py.report.page_parts import PageSection
from pipeline_py.report.stage_results import read_tsv
from pipeline_py.report.table_chapter import TableChapter

PAGE_ORDER = 40
LENGTH_LABEL = "Words of the source"
GROUPING_LABELS = {
    "length": LENGTH_LABEL,
    "depth": "Depth of the dependency tree",
    "dependency_length": "Mean dependency length",
    "phrase_depth": "Depth of the phrase tree",
    "parse": "Parse",
}


def build_sections(chapter: TableChapter) -> Iterator[PageSection]:
    """Yield figures and tables of scores by sentence group for each set."""
    metrics = chapter.experiment.evaluation.metrics
    labels = ", ".join(get_metric_class(metric).label for metric in metrics)
    yield from build_group_sections(
        chapter, "breakdown", f"{labels} by kinds of sentences", lambda path: read_breakdown(path, metrics)
    )


def read_breakdown(path: Path, metrics: list[str]) -> list[GroupedScores]:
    """Read the TSV of `evaluation.score_sentence_groups`, one object for each grouping and metric."""
    number_columns = [f"{name}{end}" for name in metrics for end in ("", "_low", "_high")]
    table = read_tsv(path, number_columns, ["sentences"])
    return [
        GroupedScores(
            GROUPING_LABELS.get(str(grouping), str(grouping)),
            get_metric_class(metric).label,
            dict(zip(group_rows["bucket"], group_rows["sentences"].map(str), strict=True)),
            "sentence",
            group_rows.set_index(["system", "bucket"])[metric].to_dict(),
            group_rows.set_index(["system", "bucket"])[[f"{metric}_low", f"{metric}_high"]]
            .apply(tuple, axis=1)
            .to_dict(),
            named_bound="" if grouping == "parse" else "upper",
        )
        for grouping, group_rows in table.groupby("by", sort=False)
        for metric in metrics
    ]
