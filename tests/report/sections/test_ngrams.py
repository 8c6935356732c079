"""Tests of the section on n-grams."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline_py.config.tables import BleuTableConfig, MeasureTableConfig
from pipeline_py.evaluation.compare_ngrams import NGRAM_COLUMNS
from pipeline_py.report.sections.ngrams import build_ngram_tables
from pipeline_py.report.table_chapter import TableChapter

SYSTEMS, LABELS = ["Base", "Mine", "Other"], {"Other": "Another"}
BLEU_TABLE = BleuTableConfig(title="x", systems=SYSTEMS, labels=LABELS, baseline="Base", proposed=["Other", "Mine"])
MEASURES_TABLE = MeasureTableConfig(type="measures", title="x", systems=SYSTEMS, labels=LABELS, columns=["bleu"])
MINE, BASE = ("Mine", "Base", '"mein', 3, 1, 4, 4 / 6), ("Base", "Mine", "c d", 12, 0, 12, 13 / 14)
OTHER, AGAINST_OTHER = ("Other", "Base", "e", 2, 1, 9, 3 / 5), ("Base", "Other", "f", 1, 0, 1, 2 / 3)


def build_chapter(table: BleuTableConfig | MeasureTableConfig) -> TableChapter:
    """Build the chapter of a table without files."""
    proposed = [(row, table.baseline) for row in table.proposed] if isinstance(table, BleuTableConfig) else []
    manifest: Any = SimpleNamespace(
        experiment=SimpleNamespace(tables={"t": table}, get_proposed_comparisons=lambda _: proposed)
    )
    return TableChapter(manifest, "t", {})


def write_ngrams(folder: Path, *rows: tuple[object, ...]) -> Path:
    path = folder / "ngrams.tsv"
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in (NGRAM_COLUMNS, *rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("table", "rows", "heads"),
    [
        (BLEU_TABLE, [MINE, BASE, OTHER, AGAINST_OTHER], [("Another", "Base"), ("Base", "Another")]),
        (BLEU_TABLE, [MINE, BASE, AGAINST_OTHER], [("Base", "Another")]),
        (BLEU_TABLE, [MINE, BASE], [("Mine", "Base"), ("Base", "Mine")]),
        (MEASURES_TABLE, [MINE, BASE, OTHER], [("Mine", "Base"), ("Base", "Mine")]),
        (BLEU_TABLE, [], []),
    ],
    ids=["first proposed", "better at nothing", "equal to the baseline", "nothing proposed", "nothing at all"],
)
def test_ngram_tables_show_main_pair(tmp_path, table, rows, heads):
    tables = [*build_ngram_tables(write_ngrams(tmp_path, *rows), build_chapter(table), "mixed")]
    assert [tuple(column.head for column in sheet.columns[1:3]) for sheet in tables] == heads


def test_ngram_table_has_counts_and_share(tmp_path):
    first, second = build_ngram_tables(
        write_ngrams(tmp_path, MINE, ("Mine", "Base", "a b", 1, 0, 2, 2 / 3), BASE),
        build_chapter(MEASURES_TABLE),
        "mixed",
    )
    assert [[cell.text for cell in row] for row in first.rows] == [
        ['"mein', "3", "1", "4", "0.667"],
        ["a b", "1", "0", "2", "0.667"],
    ]
    assert [cell.numeric_value for cell in second.rows[0][1:]] == [12, 0, 12, 0.929]
    assert first.title.startswith("N-grams that Mine gets right more often than Base on mixed")
