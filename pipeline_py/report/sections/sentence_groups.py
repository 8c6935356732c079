"""Scores by kinds of sentences: how long they are, and what their trees are like."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py.evaluation.metric import named
from pipeline_py.report.groups import Groups, parts
from pipeline_py.report.page_parts import Part
from pipeline_py.report.stage_results import read_table
from pipeline_py.report.table_chapter import TableChapter

PLACE = 40
LENGTH = "Words of the source"
KINDS = {
    "length": LENGTH,
    "depth": "Depth of the dependency tree",
    "dependency_length": "Mean dependency length",
    "phrase_depth": "Depth of the phrase tree",
    "parse": "Parse",
}


def section(chapter: TableChapter) -> Iterator[Part]:
    """Groups of the sentences of each set."""
    metrics = chapter.experiment.evaluation.metrics
    labels = ", ".join(named(metric).label for metric in metrics)
    yield from parts(
        chapter, "breakdown", f"{labels} by kinds of sentences", lambda path: read_breakdown(path, metrics)
    )


def read_breakdown(path: Path, metrics: list[str]) -> list[Groups]:
    """Read the TSV of `evaluation.breakdown`, one object for each kind of groups and metric."""
    numbers = [f"{name}{end}" for name in metrics for end in ("", "_low", "_high")]
    table = read_table(path, numbers, ["sentences"])
    return [
        Groups(
            KINDS.get(str(kind), str(kind)),
            named(metric).label,
            dict(zip(of_kind["bucket"], of_kind["sentences"].map(str), strict=True)),
            "sentence",
            of_kind.set_index(["system", "bucket"])[metric].to_dict(),
            of_kind.set_index(["system", "bucket"])[[f"{metric}_low", f"{metric}_high"]].apply(tuple, axis=1).to_dict(),
            bound="" if kind == "parse" else "upper",
        )
        for kind, of_kind in table.groupby("by", sort=False)
        for metric in metrics
    ]
