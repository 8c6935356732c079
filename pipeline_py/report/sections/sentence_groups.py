"""Scores by kinds of sentences: how long they are, and what their trees are like."""

from collections.abc import Iterator
from pathlib import Path

from pipeline_py.evaluation.metric import named
from pipeline_py.report.groups import Groups, parts
from pipeline_py.report.page_parts import Part
from pipeline_py.report.table_chapter import TableChapter
from pipeline_py.report.tsv_rows import count, number, read_rows

PLACE = 40
COLUMNS = ("by", "bucket", "sentences", "system")
KINDS = {
    "length": "Words of the source",
    "depth": "Depth of the tree",
    "dependency_length": "Mean dependency length",
    "phrase_depth": "Depth of the source's phrase tree",
    "parse": "Parse",
}


def section(chapter: TableChapter) -> Iterator[Part]:
    """Groups of the sentences of each set."""
    metrics = chapter.experiment.evaluation.metrics
    yield from parts(chapter, "breakdown", "BLEU by kinds of sentences", lambda path: read_breakdown(path, metrics))


def read_breakdown(path: Path, metrics: list[str]) -> list[Groups]:
    """Read the TSV of `evaluation.breakdown`, one object for each kind of groups and metric.

    Raises:
        InputError: if the file is none.
    """
    rows = read_rows(path, [*COLUMNS, *(f"{name}{end}" for name in metrics for end in ("", "_low", "_high"))])
    found = []
    for kind in dict.fromkeys(row["by"] for row in rows):
        of_kind = [row for row in rows if row["by"] == kind]
        for metric in metrics:
            ends = {
                (row["system"], row["bucket"]): (
                    number(row, f"{metric}_low", path),
                    number(row, f"{metric}_high", path),
                )
                for row in of_kind
            }
            found.append(
                Groups(
                    KINDS.get(kind, kind),
                    named(metric).label,
                    {row["bucket"]: str(count(row, "sentences", path)) for row in of_kind},
                    "sentence",
                    {(row["system"], row["bucket"]): number(row, metric, path) for row in of_kind},
                    ends,
                    bound="" if kind == "parse" else "upper",
                )
            )
    return found
