"""Cells of a page: what they are sorted by."""

import pytest

from pipeline_py.report.page_table import PageCell, PageColumn, beside, cell, from_sheet, leading_number, signed
from pipeline_py.report.tables.sheet import Cell, Column, Sheet


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("31.25", 31.25),
        ("31.25 ± 0.40", 31.25),
        ("1.50M", 1_500_000),
        ("126,893,261", 126_893_261),
        ("−1.32", -1.32),
        ("+1.32", 1.32),
        ("3.77e-05", 3.77e-05),
        ("–", None),
        ("yes", None),
        ("", None),
    ],
)
def test_a_text_is_sorted_by_the_number_that_it_begins_with(text, value):
    assert leading_number(text) == value
    assert cell(text).value == value and cell(text).text == (text or "–")


@pytest.mark.parametrize("value", [-20.5, 0.0, 1.254])
def test_a_difference_is_read_as_it_is_written(value):
    assert leading_number(signed(value)) == pytest.approx(round(value, 2)) and signed(value)[0] in "+−"


def test_a_sheet_keeps_its_marks_and_gets_columns_beside_it():
    columns = [Column("system", "System"), Column("dev", "dev"), Column("dev_published", "dev (paper)", "paper")]
    rows = [[Cell("3A"), Cell("30.10", marks="**", bold=True), Cell("31.2")]]
    sheet = Sheet("T", columns, rows, ["A note."], "better")
    table = beside(from_sheet(sheet, "caption"), [PageColumn("Words/s", "cost")], [[PageCell("9")]])
    assert [(column.head, column.origin) for column in table.columns] == [
        ("System", ""),
        ("dev", ""),
        ("dev (paper)", "paper"),
        ("Words/s", "cost"),
    ]
    ((name, dev, paper, cost),) = table.rows
    assert (name.value, dev.marks, dev.bold, dev.value, paper.value, cost.text) == (None, "**", True, 30.1, 31.2, "9")
    assert table.notes == ["A note.", "Bold: better."]
