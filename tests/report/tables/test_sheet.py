"""Tests of cells and sheets."""

import pytest

from pipeline_py.report.tables.sheet import Cell, build_sheet, format_signed


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        (Cell("31.25"), 31.25),
        (Cell("31.25 ± 0.40", "31.25"), 31.25),
        (Cell("126,893,261"), 126_893_261),
        (Cell("−1.32"), -1.32),
        (Cell("+1.32"), 1.32),
        (Cell("3.77e-05"), 3.77e-05),
        (Cell("–"), None),
        (Cell("yes"), None),
        (Cell("nan"), None),
        (Cell(""), None),
    ],
)
def test_numeric_value_parses_raw_text(cell, number):
    assert cell.numeric_value == number


@pytest.mark.parametrize("value", [-20.5, 0.0, 1.254])
def test_numeric_value_parses_signed_differences(value):
    assert (
        Cell(format_signed(value)).numeric_value == pytest.approx(round(value, 2)) and format_signed(value)[0] in "+−0"
    )


def test_build_sheet_converts_texts_to_cells():
    table = build_sheet("T", ["System", "Other", "BLEU"], [["A", Cell(""), ""]], text_heads=["Other"])
    assert [[cell.text for cell in row] for row in table.rows] == [["A", "", "–"]]
    assert [column.is_text for column in table.columns] == [False, True, False]
