"""N-grams on the page: those of the two systems that a table is about, a table in either direction."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pipeline_py.config.tables import BleuTableConfig, MeasureTableConfig
from pipeline_py.evaluation.compare_ngrams import NGRAM_COLUMNS
from pipeline_py.report.sections.ngrams import build_ngram_tables
from pipeline_py.report.table_chapter import TableChapter

SYSTEMS, LABELS = ["Base", "Mine", "Other"], {"Other": "Another"}
OF_BLEU = BleuTableConfig(title="x", systems=SYSTEMS, labels=LABELS, baseline="Base", proposed=["Other", "Mine"])
OF_MEASURES = MeasureTableConfig(type="measures", title="x", systems=SYSTEMS, labels=LABELS, columns=["bleu"])
MINE, BASE = ("Mine", "Base", '"mein', 3, 1, 4, 4 / 6), ("Base", "Mine", "c d", 12, 0, 12, 13 / 14)
OTHER, AGAINST_OTHER = ("Other", "Base", "e", 2, 1, 9, 3 / 5), ("Base", "Other", "f", 1, 0, 1, 2 / 3)


def chapter(table: BleuTableConfig | MeasureTableConfig) -> TableChapter:
    """What is known of a table of which there is no file."""
    proposed = [(row, table.baseline) for row in table.proposed] if isinstance(table, BleuTableConfig) else []
    known: Any = SimpleNamespace(
        experiment=SimpleNamespace(tables={"t": table}, get_proposed_comparisons=lambda _: proposed)
    )
    return TableChapter(known, "t", {})


def written(folder: Path, *rows: tuple[object, ...]) -> Path:
    path = folder / "ngrams.tsv"
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in (NGRAM_COLUMNS, *rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("table", "rows", "heads"),
    [
        (OF_BLEU, [MINE, BASE, OTHER, AGAINST_OTHER], [("Another", "Base"), ("Base", "Another")]),
        (OF_BLEU, [MINE, BASE, AGAINST_OTHER], [("Base", "Another")]),
        (OF_BLEU, [MINE, BASE], [("Mine", "Base"), ("Base", "Mine")]),
        (OF_MEASURES, [MINE, BASE, OTHER], [("Mine", "Base"), ("Base", "Mine")]),
        (OF_BLEU, [], []),
    ],
    ids=["first proposed", "better at nothing", "equal to the baseline", "nothing proposed", "nothing at all"],
)
def test_the_pair_that_is_shown(tmp_path, table, rows, heads):
    found = [*build_ngram_tables(written(tmp_path, *rows), chapter(table), "mixed")]
    assert [tuple(column.head for column in each.columns[1:3]) for each in found] == heads


def test_what_stands_in_the_cells(tmp_path):
    found, reversed_ = build_ngram_tables(
        written(tmp_path, MINE, ("Mine", "Base", "a b", 1, 0, 2, 2 / 3), BASE), chapter(OF_MEASURES), "mixed"
    )
    assert [[cell.text for cell in row] for row in found.rows] == [
        ['"mein', "3", "1", "4", "0.667"],
        ["a b", "1", "0", "2", "0.667"],
    ]
    assert [cell.numeric_value for cell in reversed_.rows[0][1:]] == [12, 0, 12, 0.929]
    assert found.title.startswith("N-grams that Mine gets right more often than Base on mixed")
